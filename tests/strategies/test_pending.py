"""Trials that run: they are believed to give what is expected of them, and that is to be beaten."""

from __future__ import annotations

import numpy as np
import pytest

import bough

SPACE = bough.Space({"x": bough.Float(0, 1), "y": bough.Float(0, 1)})


@pytest.mark.parametrize("seed", range(6))
def test_trials_asked_at_once_keep_apart(seed: int) -> None:
    study = bough.Study(SPACE, seed=seed)
    study.run(lambda c: (c["x"] - 0.3) ** 2 + (c["y"] - 0.6) ** 2, trials=8, progress=False)
    asked = np.array([list(trial.config.values()) for trial in study.ask(6)])
    apart = np.abs(asked[:, None] - asked[None]).max(axis=2)[np.triu_indices(6, 1)]
    assert apart.min() > 1e-3
