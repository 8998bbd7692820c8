"""Hydra sweeps a space file: one job per trial, with overrides for active parameters only."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import bough

pytest.importorskip("hydra", reason="needs Hydra: pip install hydra-core")

PROGRAM = """
import hydra

@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(config):
    if config.model.rate < config.get("no_number_below", 0):
        return "no number"
    if config.fails or config.model.rate > 5:
        raise ValueError("diverged")
    if config.get("stops"):
        import bough
        bough.open_study("s", "sqlite:///a.db").stop_runs("enough")
    print("JOB", config.model.name, config.data, config.model.get("momentum"))
    if config.get("several"):
        return {"error": config.model.rate, "size": 9 - config.model.rate}
    return config.model.rate

if __name__ == "__main__":
    main()
"""
CONFIG = """
defaults: [_self_, {model: plain}, {override hydra/sweeper: bough}]
data: small
several: false
fails: false
hydra:
  sweep: {dir: sweep}
  sweeper: {space: space.yaml, trials: 8, seed: 0, method: random}
"""
SPACE = """
model:
  type: choice
  options:
    plain: {}
    heavy: {model.momentum: {type: float, low: 0, high: 1}}
model.rate: {type: float, low: 0.001, high: 9}
data: {type: categorical, options: ["a b", "it's", "1", "null"]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "conf" / "model").mkdir(parents=True)
    (tmp_path / "main.py").write_text(PROGRAM)
    (tmp_path / "conf" / "config.yaml").write_text(CONFIG)
    (tmp_path / "space.yaml").write_text(SPACE)
    (tmp_path / "conf" / "model" / "plain.yaml").write_text("{name: plain, rate: 1}")
    (tmp_path / "conf" / "model" / "heavy.yaml").write_text("{name: heavy, rate: 1, momentum: -1}")
    return tmp_path


def sweep(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "main.py", "--multirun", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_sweep_is_a_study_that_goes_on(folder: Path):
    stored = ("hydra.sweeper.storage=sqlite:///a.db", "hydra.sweeper.name=s")
    first = sweep(folder, *stored, "hydra.sweeper.trials=5", "hydra.sweeper.workers=2")
    second = sweep(folder, *stored)
    assert second.returncode == 0, second.stderr
    study = bough.open_study("s", f"sqlite:///{folder}/a.db")
    jobs = [line.split(maxsplit=2) for line in (first.stdout + second.stdout).splitlines() if "JOB" in line]
    done = [trial for trial in study.trials if trial.state == "done"]
    assert len(study.trials) == 8 and len(jobs) == len(done)
    for (_, model, rest), trial in zip(jobs, done, strict=True):
        assert model == trial.config["model"]
        assert rest == f"{trial.config['data']} {trial.config.get('model.momentum')}"
    assert any(trial.state == "failed" and "ValueError: diverged" in trial.error for trial in study.trials)
    found = yaml.safe_load((folder / "sweep" / "optimization_results.yaml").read_text())
    assert found == {
        "name": "bough",
        "best_evaluated_params": study.best.config,
        "best_evaluated_result": study.best.value,
    }


@pytest.mark.slow
def test_a_sweep_that_is_asked_to_stop_launches_no_further_job(folder: Path):
    stored = ("hydra.sweeper.storage=sqlite:///a.db", "hydra.sweeper.name=s")
    ended = sweep(folder, *stored, "+stops=true", "hydra.job.chdir=false")
    assert ended.returncode == 0, ended.stderr
    assert len(bough.open_study("s", f"sqlite:///{folder}/a.db").trials) == 1


@pytest.mark.slow
def test_a_job_that_returns_no_number_is_a_failed_trial(folder: Path):
    stored = ("hydra.sweeper.storage=sqlite:///a.db", "hydra.sweeper.name=s", "hydra.sweeper.trials=8")
    ended = sweep(folder, *stored, "+no_number_below=2", "hydra.job.chdir=false")
    assert ended.returncode == 0, ended.stderr
    trials = bough.open_study("s", f"sqlite:///{folder}/a.db").trials
    errors = [trial.error for trial in trials if trial.config["model.rate"] < 2]
    assert len(trials) == 8 and errors
    assert set(errors) == {"the objective returned 'no number' (str), not a number"}
    assert ended.stdout.count("failed: the objective returned 'no number'") == len(errors)


@pytest.mark.slow
def test_several_objectives_leave_a_front(folder: Path):
    goals = "hydra.sweeper.objectives={error:minimize,size:minimize}"
    ended = sweep(folder, goals, "several=true", "hydra.sweeper.trials=4")
    assert ended.returncode == 0, ended.stderr
    found = yaml.safe_load((folder / "sweep" / "optimization_results.yaml").read_text())
    assert all(set(each["best_evaluated_result"]) == {"error", "size"} for each in found["solutions"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ("hydra.sweeper.space=nowhere.yaml", "nowhere.yaml cannot be read: No such file"),
        ("several=true,false", "'several' is swept on the command line: declare it in the space file"),
        ("hydra.sweeper.trials=0", "hydra.sweeper.trials must be at least 1, not 0"),
        ("hydra.sweeper.direction=up", "direction must be 'minimize' or 'maximize', not 'up'"),
        ("model.rate=9", "'model.rate' is a parameter of the space: leave it out on the command line"),
        ("hydra.sweeper.space=null", "hydra.sweeper.space must name a space file, not None"),
        (
            "fails=true hydra.sweeper.trials=20",
            "all 10 trials failed, the last one with: ValueError: diverged",
        ),
        ("fails=true hydra.sweeper.trials=2", "all 2 trials failed, the last one with: ValueError: diverged"),
    ],
)
def test_mistakes_are_told_in_one_line(folder: Path, argument: str, says: str):
    ended = sweep(folder, *argument.split())
    assert ended.returncode == 1
    assert says in ended.stderr and "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    "value",
    [
        "plain",
        "a b",
        "it's",
        "",
        "1",
        "null",
        "True",
        "a,b",
        "x=1",
        "back\\slash",
        "end\\",
        "\\'",
        "${a}",
        None,
        True,
        3,
        1e-9,
        0.1,
    ],
)
def test_hydra_reads_the_value_that_was_meant(value: Any):
    from hydra.core.override_parser.overrides_parser import OverridesParser

    from hydra_plugins.bough_sweeper import overrides_of

    (override,) = OverridesParser.create().parse_overrides(overrides_of({"name": value}))
    read = override.value()
    assert (str(read) if isinstance(value, str) else read) == value
    assert isinstance(value, str) or type(read) is type(value)
