"""A study in memory can be pickled; one in a database says how to reach it instead."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import bough
from bough.history import History
from bough.points import Points

SPACE = bough.Space({"x": bough.Float(0, 1)})


def test_a_study_in_memory_is_copied_with_its_trials() -> None:
    study = bough.minimize(lambda config: config["x"], SPACE, trials=5, seed=0, progress=False)
    other = copy.deepcopy(study)
    assert other.trials == study.trials
    assert other.ask().config == study.ask().config
    other.tell(other.trials[-1], 0.5)
    assert study.trials[-1].state == "running"


class Middle:
    """A method that is an object."""

    def propose(self, space: bough.Space, history: History, rng: np.random.Generator) -> Points:
        return space.encode([{"x": 0.5}])


def test_a_method_that_is_an_object_is_copied_too() -> None:
    study = bough.Study(SPACE, method=Middle(), seed=0)
    for other in (copy.deepcopy(study), pickle.loads(pickle.dumps(study))):  # noqa: S301 (our own)
        assert other.ask().config == {"x": 0.5}


def test_what_is_pickled_changes_no_more() -> None:
    """Another thread may ask and tell while the study is pickled."""
    study = bough.Study(SPACE, method="random", seed=0)
    study.report(study.ask(), 0.5, 1)
    restore, given = study._storage.__reduce__()
    study.report(0, 0.25, 2)
    study.tell(0, 0.5)
    study.ask()
    study.note("later")
    before = bough.Study.of_record(study.record, restore(*given))
    assert [(trial.state, trial.curve) for trial in before.trials] == [("running", ((1, 0.5),))]
    assert before.amendments == []


def test_a_study_in_a_database_is_not(tmp_path: Path) -> None:
    study = bough.Study(SPACE, name="s", storage=f"sqlite:///{tmp_path}/s.db")
    with pytest.raises(TypeError, match="open it there"):
        copy.deepcopy(study)
