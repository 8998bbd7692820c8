"""A study in memory can be pickled; one in a database says how to reach it instead."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

import bough

SPACE = bough.Space({"x": bough.Float(0, 1)})


def test_a_study_in_memory_is_copied_with_its_trials() -> None:
    study = bough.minimize(lambda config: config["x"], SPACE, trials=5, seed=0, progress=False)
    other = copy.deepcopy(study)
    assert other.trials == study.trials
    assert other.ask().config == study.ask().config
    other.tell(other.trials[-1], 0.5)
    assert study.trials[-1].state == "running"


def test_a_study_in_a_database_is_not(tmp_path: Path) -> None:
    study = bough.Study(SPACE, name="s", storage=f"sqlite:///{tmp_path}/s.db")
    with pytest.raises(TypeError, match="open it there"):
        copy.deepcopy(study)
