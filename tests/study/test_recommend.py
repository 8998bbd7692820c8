"""A recommendation follows the model, not one lucky value."""

from __future__ import annotations

import numpy as np
import pytest

import bough
from bough.errors import StudyError

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
