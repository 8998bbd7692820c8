"""Trials as lines of CSV."""

from __future__ import annotations

import csv

from bough.space import Categorical, Choice, Float, Space
from bough.study.tables import csv_lines
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
