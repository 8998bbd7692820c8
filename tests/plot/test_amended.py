"""Figures of studies with retracted results and changed spaces."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import bough
from bough import plot
from bough.plot.snapshot import StudySnapshot

BEFORE = bough.Space(
    {
        "model": bough.Choice({"a": {"x": bough.Float(0, 1)}, "b": {"y": bough.Float(0, 1)}}),
        "z": bough.Int(1, 3),
    }
)
AFTER = bough.Space({"model": bough.Choice({"a": {"x": bough.Float(0, 1)}, "c": {}}), "z": bough.Int(1, 3)})


def amended() -> bough.Study:
    study = bough.Study(BEFORE, seed=0, method="random")
    study.add_many((config, float(i)) for i, config in enumerate(BEFORE.sample(8, 1)))
    study.retract(0, "<off>")
    study.change(AFTER)
    study.add_many((config, 9.0) for config in AFTER.sample(4, 1))
    return study


def test_the_snapshot_knows_what_counts() -> None:
    study = amended()
    snapshot = StudySnapshot.of(study)
    assert all("y" not in trial.config for trial in snapshot.trials)
    assert len(snapshot.trials) + len(snapshot.earlier) == 12
    assert 0 not in [trial.number for trial in snapshot.done]


def test_every_figure_draws() -> None:
    study = amended()
    for name in ("history", "tree", "parallel", "slice", "importance", "branches"):
        getattr(plot, name)(study)
    drawn = plot.history(study)
    assert "of an earlier space not shown" in drawn.layout.title.text
    marks = [trace for trace in drawn.data if trace.name == "retracted"]
    snapshot = StudySnapshot.of(study)
    assert len(marks) == len(snapshot.retracted)
    for trace in marks:
        assert "<s>" in trace.text[0] and "&lt;off&gt;" in trace.text[0]


def test_lines_of_branches_show_what_counts() -> None:
    space = bough.Space({"model": BEFORE.declared["model"], "epochs": bough.Int(1, 9, fidelity=True)})
    study = bough.Study(space, seed=0, method="random", constraints=["memory <= 1"])
    for epochs, memory, value in ((9, 0, 5.0), (1, 0, 4.0), (9, 2, 3.0), (9, 0, 2.0)):
        study.add({"model": "a", "x": value / 9, "epochs": epochs}, {"value": value, "memory": memory})
    study.retract(3, "off")
    best = [trace for trace in plot.branches(study).data if trace.yaxis == "y2" and trace.mode == "lines"]
    assert [value for trace in best for value in trace.y] == [5.0] * 4


@pytest.mark.filterwarnings("error")
def test_regret_starts_where_something_is_feasible() -> None:
    study = bough.Study(AFTER, seed=0, method="random", constraints=["memory <= 1"])
    drawn = plot.regret(study)
    for memory in (2, 2, 0):
        study.add(AFTER.sample(1, memory)[0], {"value": float(memory), "memory": memory})
        drawn = plot.regret(study)
    assert [value for value in drawn.data[0].y if value == value] == [0.0]
    assert all(map(math.isfinite, drawn.layout.yaxis.range))


def test_the_report_strikes_through(tmp_path: Path) -> None:
    study = bough.Study(AFTER, seed=0, method="random")
    study.add_many((config, float(i)) for i, config in enumerate(AFTER.sample(3, 1)))
    study.retract(0, "<off>")
    plot.report(study, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "retracted: &lt;off&gt;" in page
    assert "<s>" in page
