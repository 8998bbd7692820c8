"""Trackers get one run per trial, with active parameters only, and never twice."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import bough
from bough.integrations.tracking import facts

SPACE = bough.Space(
    {
        "model": bough.Choice({"svm": {"C": bough.Float(1e-3, 1e3, log=True)}, "bayes": {}}),
        "scale": bough.Categorical(["none", "standard"]),
    }
)


def objective(config: dict[str, Any]) -> dict[str, float]:
    if config["model"] == "bayes" and config["scale"] == "none":
        raise ValueError("no bayes without scale")
    return {"value": config.get("C", 0.5), "memory": 100.0}


def finished_study() -> bough.Study:
    study = bough.Study(SPACE, name="a study's name", seed=0)
    configs: list[dict[str, Any]] = [
        {"model": "svm", "C": 2.0, "scale": "none"},
        {"model": "bayes", "scale": "none"},
        {"model": "bayes", "scale": "standard"},
    ]
    for config in configs:
        study.enqueue(config)
    study.run(objective, trials=3, progress=False)
    return study


def test_facts_name_active_parameters_measures_and_the_branch():
    study = finished_study()
    done = facts(study, study.trials[0])
    assert done.parameters == {"model": "svm", "C": 2.0, "scale": "none"}
    assert done.metrics["value"] == 2.0
    assert done.metrics["memory"] == 100.0
    assert done.metrics["seconds"] >= 0
    assert done.tags["branch"] == "model=svm"
    failed = facts(study, study.trials[1])
    assert failed.tags["state"] == "failed"
    assert "no bayes without scale" in failed.tags["error"]
    assert "value" not in failed.metrics


@pytest.mark.slow
def test_mlflow_gets_each_trial_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("mlflow", reason="needs MLflow: pip install mlflow-skinny")
    from mlflow.tracking import MlflowClient

    from bough.integrations.mlflow import MLflowCallback

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # its databases need the whole of MLflow
    uri = (tmp_path / "runs").as_uri()
    callback = MLflowCallback(experiment="tuning", tracking_uri=uri)
    study = finished_study()
    callback(study, study.trials[0])
    callback.log_study(study)
    callback.log_study(study)
    client = MlflowClient(tracking_uri=uri)
    experiment = client.get_experiment_by_name("tuning")
    runs = {run.data.tags["bough.trial"]: run for run in client.search_runs([experiment.experiment_id])}
    assert sorted(runs) == ["0", "1", "2", "all"]
    assert len(client.search_runs([experiment.experiment_id])) == 4
    assert runs["0"].data.params == {"model": "svm", "C": "2.0", "scale": "none"}
    assert runs["0"].data.metrics["memory"] == 100.0
    assert runs["0"].data.tags["mlflow.parentRunId"] == runs["all"].info.run_id
    assert runs["1"].info.status == "FAILED"
    assert runs["1"].data.tags["bough.branch"] == "model=bayes"
    assert runs["2"].data.params == {"model": "bayes", "scale": "standard"}


@pytest.mark.slow
def test_tensorboard_gets_each_trial_once(tmp_path: Path):
    pytest.importorskip("tensorboardX", reason="needs tensorboardX")
    from bough.integrations.tensorboard import TensorBoardCallback

    callback = TensorBoardCallback(tmp_path)
    study = finished_study()
    callback.log_study(study)
    before = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    callback.log_study(study)
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == before
    assert len({path.parent.name for path in before}) == 3
    (folder,) = tmp_path.glob("a study_s name-????????")
    first = (folder / "trial-00000").glob("*")
    assert b"svm" in b"".join(path.read_bytes() for path in first)


@pytest.mark.slow
def test_tensorboard_keeps_studies_apart_whose_names_become_the_same(tmp_path: Path):
    pytest.importorskip("tensorboardX", reason="needs tensorboardX")
    from bough.integrations.tensorboard import TensorBoardCallback

    callback = TensorBoardCallback(tmp_path)
    for name in ("a_b", "a/b"):
        study = bough.Study(SPACE, name=name, method="random", seed=0)
        study.run(objective, trials=2, callbacks=[callback], progress=False)
    assert len(list(tmp_path.glob("a_b/trial-*"))) == 2
    assert len(list(tmp_path.glob("a_b-????????/trial-*"))) == 2


@pytest.mark.slow
def test_tensorboard_gets_all_trials_of_a_study_that_began_without_it(tmp_path: Path):
    pytest.importorskip("tensorboardX", reason="needs tensorboardX")
    from bough.integrations.tensorboard import TensorBoardCallback

    other, study = (bough.Study(SPACE, name=name, method="random", seed=0) for name in ("a_b", "a/b"))
    other.run(objective, trials=5, callbacks=[TensorBoardCallback(tmp_path)], progress=False)
    study.run(objective, trials=2, progress=False)
    study.run(objective, trials=5, callbacks=[TensorBoardCallback(tmp_path)], progress=False)
    assert len(list(tmp_path.glob("a_b/trial-*"))) == 5
    assert len(list(tmp_path.glob("a_b-????????/trial-*"))) == 3


@pytest.mark.slow
def test_wandb_gets_each_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("wandb", reason="needs W&B: pip install wandb")
    from bough.integrations.wandb import WandbCallback

    monkeypatch.setenv("WANDB_SILENT", "true")
    study = finished_study()
    WandbCallback(project="tuning", mode="offline", dir=str(tmp_path)).log_study(study)
    runs = list(tmp_path.rglob("*.wandb"))
    assert len(runs) == 3
    named = bough.Study(SPACE, name="a/b:c#d", seed=0)
    named.run(
        objective, trials=1, callbacks=[WandbCallback(mode="offline", dir=str(tmp_path))], progress=False
    )
    assert len(list(tmp_path.rglob("*.wandb"))) == 4


@pytest.mark.slow
def test_a_callback_logs_while_a_study_runs(tmp_path: Path):
    pytest.importorskip("tensorboardX", reason="needs tensorboardX")
    from bough.integrations.tensorboard import TensorBoardCallback

    study = bough.Study(SPACE, name="run", seed=1)
    study.run(objective, trials=4, callbacks=[TensorBoardCallback(tmp_path)], progress=False)
    assert len(list((tmp_path / "run").glob("trial-*"))) == 4


def test_facts_of_a_study_without_objectives():
    study = bough.Study(SPACE, objectives={}, constraints=["memory <= 50"], method="random", seed=0)
    trial = study.tell(study.ask(), {"memory": 100.0})
    assert facts(study, trial).metrics["memory"] == 100.0


@pytest.fixture
def mlflow_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A callback for MLflow, and a function that reads the runs of trials."""
    pytest.importorskip("mlflow", reason="needs MLflow: pip install mlflow-skinny")
    from bough.integrations.mlflow import MLflowCallback

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    callback = MLflowCallback("tuning", (tmp_path / "runs").as_uri())

    def runs() -> list[Any]:
        experiment = callback._client.get_experiment_by_name("tuning").experiment_id
        return callback._client.search_runs([experiment], "tags.`bough.trial` != 'all'")

    return callback, runs


def test_mlflow_takes_any_name(mlflow_runs):
    callback, runs = mlflow_runs
    space = bough.Space(
        {name: bough.Int(1, 2) for name in ("a=b (c)", "/x", "..", "train/rate", "é", "n" * 300)}
    )
    study = bough.Study(space, seed=0)
    study.run(lambda config: {"value": 1.0, "<m>": 2.0, "": 3.0, "a//b": 4.0}, trials=1, callbacks=[callback])
    (run,) = runs()
    assert max(map(len, run.data.params)) == 250
    assert {re.sub("-[0-9a-f]{8}$", "-HASH", name) for name in run.data.params} == {
        "a_b _c_-HASH", "__x-HASH", "___-HASH", "train/rate", "é", "n" * 241 + "-HASH",
    }  # fmt: skip
    metrics = {re.sub("-[0-9a-f]{8}$", "-HASH", name): value for name, value in run.data.metrics.items()}
    assert {"_m_-HASH": 2.0, "_-HASH": 3.0, "_a__b-HASH": 4.0}.items() <= metrics.items()


def test_mlflow_keeps_names_apart_that_it_does_not_allow(mlflow_runs):
    callback, runs = mlflow_runs
    space = bough.Space({name: bough.Categorical([name]) for name in ("a?", "a*", "a_")})
    study = bough.Study(space, method="random", seed=0)
    study.run(lambda config: {"value": 1.0, "b?": 2.0, "b*": 3.0}, trials=1, callbacks=[callback])
    (run,) = runs()
    assert sorted(run.data.params.values()) == ["a*", "a?", "a_"] and run.data.params["a_"] == "a_"
    assert {2.0, 3.0} <= set(run.data.metrics.values())


def test_a_study_goes_on_without_mlflow(
    mlflow_runs, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    from mlflow.exceptions import MlflowException

    callback, runs = mlflow_runs

    def fails(*_: Any, **__: Any) -> None:
        raise MlflowException("the server is away\nin detail")

    with monkeypatch.context() as patched:
        patched.setattr(callback._client, "create_run", fails)
        study = bough.Study(SPACE, method="random", seed=0)
        study.run(lambda config: 1.0, trials=1, callbacks=[callback], progress=False)
        assert caplog.messages == ["trial 0 is not in MLflow: the server is away; log_study tries again"]
        with pytest.raises(MlflowException, match="the server is away"):
            callback.log_study(study)
    assert len(caplog.messages) == 1
    callback.log_study(study)
    assert len(runs()) == 1


def test_a_study_goes_on_without_the_folder_of_mlflow(
    mlflow_runs, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    callback, _ = mlflow_runs

    def without_folder(config: dict[str, Any]) -> float:
        shutil.rmtree(tmp_path / "runs", ignore_errors=True)
        (tmp_path / "runs").write_text("in its place")  # root may write into any folder
        return 1.0

    study = bough.Study(SPACE, method="random", seed=0)
    study.run(without_folder, trials=3, callbacks=[callback], progress=False)
    assert [trial.state for trial in study.trials] == ["done"] * 3
    told = [message for message in caplog.messages if "is not in MLflow: " in message]
    assert [message.partition(" is not")[0] for message in told] == ["trial 0", "trial 1", "trial 2"]
    with pytest.raises(Exception, match="runs"):
        callback.log_study(study)


def test_mlflow_ends_a_run_that_was_cut_off(mlflow_runs, monkeypatch: pytest.MonkeyPatch):
    callback, runs = mlflow_runs
    study = finished_study()
    end = callback._client.set_terminated

    def cut_off(run_id: str, **named: Any) -> None:
        if named:  # the run of a trial
            raise KeyboardInterrupt
        end(run_id)

    monkeypatch.setattr(callback._client, "set_terminated", cut_off)
    with pytest.raises(KeyboardInterrupt):
        callback(study, study.trials[0])
    monkeypatch.setattr(callback._client, "set_terminated", end)
    callback(study, study.trials[0])
    (run,) = runs()
    assert run.info.status == "FINISHED" and run.data.tags["bough.complete"] == "true"
