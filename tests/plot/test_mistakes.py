"""Wrong arguments of figures: one line that says what would be right."""

from __future__ import annotations

import pytest

import bough
from bough.errors import StudyError


def test_a_figure_of_something_else():
    for wrong in (None, [1.0], bough.Space({"x": bough.Float(0, 1)})):
        with pytest.raises(StudyError, match=f"shows a study of bough, not {type(wrong).__name__}"):
            bough.plot.history(wrong)


def test_something_else_than_a_figure_is_not_saved(tmp_path):
    study = bough.Study(bough.Space({"x": bough.Float(0, 1)}), method="random", seed=0)
    for wrong in (study, str(tmp_path / "a.html")):
        with pytest.raises(StudyError, match=r"takes a figure and then a path: .*, not (Study|str)"):
            bough.plot.save(wrong, tmp_path / "a.html")
    assert not list(tmp_path.iterdir())
