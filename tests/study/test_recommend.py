"""A recommendation follows the model, not one lucky value."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import bough
from bough.cli.main import bough as command
from bough.errors import StudyError
from bough.study.analysis.recommend import is_noisy

SPACE = bough.Space({"x": bough.Float(0, 1)})


def truth(config: dict[str, float]) -> float:
    return (config["x"] - 0.4) ** 2


def noisy_study(seed: int, sign: float = 1.0) -> bough.Study:
    rng = np.random.default_rng(seed)
    direction = "minimize" if sign > 0 else "maximize"
    study = bough.Study(SPACE, seed=seed, direction=direction)
    for _ in range(20):
        trial = study.ask()
        study.tell(trial, sign * (truth(trial.config) + 0.1 * rng.standard_normal()))
    return study


def test_a_lucky_trial_is_not_recommended() -> None:
    study = bough.Study(SPACE, seed=0)
    for x in np.linspace(0.0, 1.0, 15):
        study.add({"x": float(x)}, truth({"x": float(x)}), 0.02)
    study.add({"x": 0.95}, -0.5, 1.0)
    assert study.best.config["x"] == 0.95
    assert abs(study.recommend().trial.config["x"] - 0.4) < 0.1


def test_it_is_the_argmin_of_the_predictions_with_their_interval() -> None:
    study = noisy_study(1)
    mean, sd = study.predict([trial.config for trial in study.trials])
    found = study.recommend()
    assert found.trial.number == int(np.argmin(mean))
    assert (found.mean, found.sd) == (mean.min(), sd[np.argmin(mean)])
    assert found.interval == (found.mean - 1.96 * found.sd, found.mean + 1.96 * found.sd)


def test_maximising_mirrors_minimising() -> None:
    assert noisy_study(2).recommend().trial.number == noisy_study(2, -1.0).recommend().trial.number


def test_without_a_model_the_best_value_decides() -> None:
    study = bough.Study(SPACE, method="random", seed=0)
    with pytest.raises(StudyError, match="no trial to recommend"):
        study.recommend()
    study.add({"x": 0.1}, 2.0, 0.5)
    assert study.recommend().interval == (2.0 - 0.98, 2.0 + 0.98)
    study.add({"x": 0.9}, 1.0)
    found = study.recommend()
    assert (found.trial.number, found.mean) == (1, 1.0)
    assert np.isnan([found.sd, *found.interval]).all()  # nothing tells how uncertain it is


def test_a_running_trial_makes_nothing_more_certain() -> None:
    study = noisy_study(0)
    before = study.recommend()
    study.enqueue(before.trial.config)
    assert study.ask().config == before.trial.config
    assert study.recommend() == before


def test_reported_noise_or_two_values_of_a_config_make_a_study_noisy() -> None:
    study = bough.Study(SPACE, seed=0)
    study.add_many([({"x": 0.1}, 1.0), ({"x": 0.1}, 1.0), ({"x": 0.2}, 3.0)])
    study.fail(study.ask(), "broken")
    assert not is_noisy(study.trials)
    told = study.add({"x": 0.3}, 1.0, 0.2)
    assert is_noisy([told])
    assert is_noisy([*study.trials[:3], bough.Trial(9, {"x": 0.2}, "done", value=2.0)])


def test_the_report_and_the_command_recommend_a_trial_under_noise_alone(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.db"
    study = bough.Study(SPACE, seed=0, storage=url, name="s")
    study.add_many([({"x": float(x)}, truth({"x": float(x)})) for x in np.linspace(0.0, 1.0, 12)])

    def told() -> tuple[str, str]:
        page = bough.plot.report(study, tmp_path / "s.html").read_text(encoding="utf-8")
        return page, CliRunner().invoke(command, ["best", "s", "--storage", url]).output

    assert all("recommends trial" not in text for text in told())
    study.add({"x": 0.95}, -0.5, 1.0)
    number = study.recommend().trial.number
    assert number != study.best.number
    assert all(f"recommends trial {number} and expects" in text for text in told())
