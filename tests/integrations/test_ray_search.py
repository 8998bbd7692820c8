"""Ray Tune runs a branching space with bough's searcher."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bough
from bough.errors import StudyError

pytestmark = pytest.mark.slow
pytest.importorskip("ray.tune", reason="needs Ray Tune: pip install 'ray[tune]'", exc_type=ImportError)

from bough.integrations.ray import BoughSearch  # noqa: E402

from . import ray_program  # noqa: E402
from .ray_program import SPACE, train  # noqa: E402


def loss(config: dict[str, Any]) -> float:
    return abs(config.get("C", 500.0) - 2.0)


def test_suggestions_are_answered_and_learned_from():
    search = BoughSearch(SPACE, "loss", "min", seed=0)
    for number in range(12):
        config = search.suggest(f"ray-{number}")
        assert isinstance(config, dict)
        SPACE.validate(config)
        if number == 3:
            search.on_trial_complete("ray-3", error=True)
        elif number == 4:
            search.on_trial_complete("ray-4", {"other": 1.0})
        elif number == 5:
            search.on_trial_complete("ray-5", {"loss": None})
        else:
            search.on_trial_complete(f"ray-{number}", {"loss": loss(config), "time_total_s": 0.5})
    assert [trial.state for trial in search.study.trials].count("failed") == 3
    assert "no metric 'loss'" in search.study.trials[4].error
    assert search.study.trials[6].cost == 0.5


def test_a_saved_search_goes_on_as_it_would_have(tmp_path: Path):
    search = BoughSearch(SPACE, "loss", "min", seed=0)
    for number in range(8):
        config = search.suggest(f"ray-{number}")
        if number < 7:
            search.on_trial_complete(f"ray-{number}", {"loss": loss(config)})
    search.save(str(tmp_path / "state"))
    other = BoughSearch(SPACE, "loss", "min", seed=5)
    other.restore(str(tmp_path / "state"))
    # Ray goes on with the trial that was running, so nobody else gets it.
    assert search.suggest("next") == other.suggest("next")
    for each in (search, other):
        each.on_trial_complete("ray-7", {"loss": 1.0})
    assert search.suggest("another") == other.suggest("another")
    assert [trial.state for trial in other.study.trials[-3:]] == ["done", "running", "running"]


def test_a_save_that_is_cut_off_keeps_the_former_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    search = BoughSearch(SPACE, "loss", "min", seed=0)
    state = tmp_path / "state"
    search.save(str(state))
    assert list(tmp_path.iterdir()) == [state]
    former = state.read_text()

    def cut_off(*_: Any) -> None:
        raise KeyboardInterrupt

    search.suggest("ray-0")
    with monkeypatch.context() as patched:
        patched.setattr("os.replace", cut_off)
        with pytest.raises(KeyboardInterrupt):
            search.save(str(state))
    assert state.read_text() == former
    search.save(str(state))
    assert state.read_text() != former


def test_a_finite_space_ends():
    search = BoughSearch(bough.Space({"x": bough.Int(1, 2)}), "loss", "max")
    assert {search.suggest("a")["x"], search.suggest("b")["x"]} == {1, 2}
    assert search.suggest("c") == BoughSearch.FINISHED


def test_wrong_use_is_refused():
    with pytest.raises(StudyError, match=r"bough\.Space, not dict"):
        BoughSearch({"x": 1}, "loss", "min")
    with pytest.raises(StudyError, match="'min' or 'max', not 'best'"):
        BoughSearch(SPACE, "loss", "best")


@pytest.fixture
def cluster() -> Iterator[None]:
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.mark.usefixtures("cluster")
def test_a_tuner_uses_it(tmp_path: Path):
    from ray import tune

    search = BoughSearch(SPACE, "loss", "min", seed=0)
    tuner = tune.Tuner(
        train,
        param_space={"epochs": 3},
        tune_config=tune.TuneConfig(search_alg=search, num_samples=8, max_concurrent_trials=2),
        run_config=tune.RunConfig(storage_path=str(tmp_path), verbose=0),
    )
    results = tuner.fit()
    assert len(results) == 8
    assert not results.errors
    best = results.get_best_result("loss", "min")
    assert best.config["epochs"] == 3
    assert ("C" in best.config) == (best.config["model"] == "svm")


@pytest.mark.timeout(900)  # two clusters are started
@pytest.mark.usefixtures("cluster")
def test_a_tuner_whose_driver_died_goes_on(tmp_path: Path):
    from ray import tune

    # No pipe: what Ray leaves behind would hold it open.
    said = tmp_path / "said"
    with open(said, "w") as file:
        command = [sys.executable, ray_program.__file__, str(tmp_path)]
        died = subprocess.run(command, stdout=file, stderr=file, check=False)
    assert died.returncode == 7, said.read_text()[-2000:]
    results = tune.Tuner.restore(str(tmp_path / "run"), train, resume_unfinished=True).fit()
    assert len(results) == 12
    assert not results.errors
    state = max((tmp_path / "run").glob("searcher-state-*"))  # by their times, that of the second part
    search = BoughSearch(SPACE, "loss", "min")
    search.restore(str(state))
    told = [(trial.config, trial.value) for trial in search.study.trials if trial.state == "done"]
    assert sorted(told, key=repr) == sorted(((r.config, r.metrics["loss"]) for r in results), key=repr)


def test_wrong_arguments_and_states_are_named(tmp_path: Path) -> None:
    for metric, mode, message in ((None, "min", "metric must be"), ("loss", ["min"], "mode must be")):
        with pytest.raises(StudyError, match=message):
            BoughSearch(SPACE, metric, mode)  # type: ignore[arg-type]
    search = BoughSearch(SPACE, "loss", "min", seed=0)
    search.suggest("a")
    for text in ("", "no JSON\n", "{}\n", '{"running": {}}\n'):
        (tmp_path / "state").write_text(text)
        with pytest.raises(StudyError, match="state cannot be restored"):
            search.restore(str(tmp_path / "state"))
    with pytest.raises(StudyError, match="nothing cannot be restored"):
        search.restore(str(tmp_path / "nothing"))
    search.save(str(tmp_path / "state"))
    with pytest.raises(StudyError, match="another space or mode"):
        BoughSearch(SPACE, "loss", "max").restore(str(tmp_path / "state"))
    assert [trial.state for trial in search.study.trials] == ["running"], "a failed restore changes nothing"
