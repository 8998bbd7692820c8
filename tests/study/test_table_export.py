"""Trials as lines of CSV."""

from __future__ import annotations

import csv
import sys

import pytest

from bough.errors import MissingExtraError
from bough.space import Categorical, Choice, Float, Space
from bough.study.formats.table_export import csv_lines, table
from bough.trial import Trial


def test_csv_reads_back_and_is_harmless_in_a_spreadsheet():
    space = Space(
        {
            "m": Choice({"a": {"x": Float(0, 1)}, "b": {}}),
            "note": Categorical(["=1+1", None, 'two\nlines, "quoted"']),
            "value": Float(-1, 1),
        }
    )
    trials = [
        Trial(0, {"m": "a", "x": 0.1, "note": "=1+1", "value": -0.5}, "done", value=-2.5, worker="host:7"),
        Trial(1, {"m": "b", "note": None, "value": 0.5}, "failed", error="@SUM(A1)"),
        Trial(2, {"m": "b", "note": 'two\nlines, "quoted"', "value": 0.5}, "queued"),
    ]
    done, failed, queued = csv.DictReader("".join(csv_lines(space, trials)).splitlines(keepends=True))
    assert (done["value"], done["config.value"], done["worker"]) == ("-2.5", "-0.5", "host:7")
    assert (done["m"], done["x"], done["note"]) == ("a", "0.1", "'=1+1")
    assert (failed["error"], failed["x"], failed["note"]) == ("'@SUM(A1)", "", "None")
    assert queued["note"] == 'two\nlines, "quoted"'
    assert "x" in next(iter(csv_lines(space, [])))


def test_measures_and_notes_are_columns():
    space = Space({"x": Float(0, 1), "memory": Float(0, 1)})
    trials = [
        Trial(0, {"x": 0.1, "memory": 0.5}, "done", value=1.0, measures={"time": 3.0, "memory": 512.0}),
        Trial(1, {"x": 0.2, "memory": 0.5}, "failed", error="no", notes={"by": "hand"}),
    ]
    done, failed = csv.DictReader("".join(csv_lines(space, trials)).splitlines(keepends=True))
    assert (done["memory"], done["measures.memory"], done["time"], done["notes"]) == (
        "0.5",
        "512.0",
        "3.0",
        "",
    )
    assert (failed["time"], failed["notes"]) == ("", '{"by": "hand"}')
    frame = table(trials)
    assert frame["measures.memory"][0] == 512.0 and frame["notes"][1] == {"by": "hand"}
    assert list(frame["memory"]) == [0.5, 0.5]


def test_parameters_that_are_called_like_fields_of_a_trial():
    config = {"notes": 0.25, "retracted": 0.5}
    trials = [Trial(0, config, "done", value=1.0, notes={"by": "hand"}, retracted="wrong unit")]
    frame = table(trials)
    assert frame["config.notes"][0] == 0.25 and frame["notes"][0] == {"by": "hand"}
    assert frame["config.retracted"][0] == 0.5 and frame["retracted"][0] == "wrong unit"
    (row,) = csv.DictReader(csv_lines(Space({name: Float(0, 1) for name in config}), trials))
    assert (row["config.notes"], row["notes"], row["retracted"]) == ("0.25", '{"by": "hand"}', "wrong unit")


def test_a_frame_needs_pandas(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"frame\(\) needs pandas: pip install 'bough-opt\[pandas\]'"):
        table([])
