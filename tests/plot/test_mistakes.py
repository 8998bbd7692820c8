"""Wrong arguments of figures: one line that says what would be right."""

from __future__ import annotations

import pytest

import bough
from bough.errors import ConfigError, StudyError


def test_a_figure_of_something_else():
    for wrong in (None, [1.0], bough.Space({"x": bough.Float(0, 1)})):
        with pytest.raises(StudyError, match=f"shows a study of bough, not {type(wrong).__name__}"):
            bough.plot.history(wrong)


def test_a_branch_and_a_parameter_that_are_none():
    study = bough.Study(bough.Space({"m": bough.Choice({"a": {}, "b": {}})}), method="random", seed=0)
    for figure in (bough.plot.tree, bough.plot.importance):
        with pytest.raises(ConfigError, match="a branch is a dict of switches and their values, not 'a'"):
            figure(study, branch="a")
    with pytest.raises(ConfigError, match="the space has no parameter 3; it has m"):
        bough.plot.slice(study, 3)


def test_wrong_arguments_of_a_report(tmp_path):
    study = bough.Study(bough.Space({"x": bough.Float(0, 1)}), method="random", seed=0)
    with pytest.raises(StudyError, match=r"against is a list of studies, not Study: against=\[other\]"):
        bough.plot.report(study, tmp_path / "r.html", against=study)
    with pytest.raises(StudyError, match="a file is named by its path, not 3"):
        bough.plot.report(study, 3)
    with pytest.raises(StudyError, match=r"'r.csv' must end in .html or .pdf; export_study writes tables"):
        bough.plot.report(study, "r.csv")
    assert not list(tmp_path.iterdir())


def test_something_else_than_a_figure_is_not_saved(tmp_path):
    study = bough.Study(bough.Space({"x": bough.Float(0, 1)}), method="random", seed=0)
    for wrong in (study, str(tmp_path / "a.html")):
        with pytest.raises(StudyError, match=r"takes a figure and then a path: .*, not (Study|str)"):
            bough.plot.save(wrong, tmp_path / "a.html")
    assert not list(tmp_path.iterdir())
