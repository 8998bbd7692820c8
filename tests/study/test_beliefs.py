"""Beliefs of a study: those of its space, and those told later."""

from __future__ import annotations

from typing import Any

import pytest

import bough
from bough.errors import StudyError
from bough.storage import MemoryStorage


def space(likely: Any = None) -> bough.Space:
    return bough.Space(
        {
            "model": bough.Choice({"svm": {"C": bough.Float(0, 1, likely=likely)}, "bayes": {}}),
            "w": bough.Float(0, 1),
        }
    )


@pytest.mark.parametrize("again", [None, (0.1, 0.2)])
def test_an_existing_study_is_reopened_with_its_beliefs_or_without(again: Any) -> None:
    storage = MemoryStorage()
    bough.Study(space((0.1, 0.2)), name="s", storage=storage)
    reopened = bough.Study(space(again), name="s", storage=storage)
    assert reopened.space["C"].domain.likely == (0.1, 0.2)


def test_other_beliefs_are_refused_with_the_difference() -> None:
    storage = MemoryStorage()
    bough.Study(space((0.1, 0.2)), name="s", storage=storage)
    with pytest.raises(
        StudyError, match=r"likely values of its 'model=svm/C' are \(0.1, 0.2\), not \(0.3, 0.4\)"
    ):
        bough.Study(space((0.3, 0.4)), name="s", storage=storage)
