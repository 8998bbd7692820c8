"""The soak's own check finds what it looks for."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import bough
from benchmarks.soak import SPACE, check


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        ("SELECT 1", []),
        ("UPDATE bough_trials SET value = 9 WHERE number = 1", ["1 acknowledged values that are not stored"]),
        (
            "UPDATE bough_trials SET attempt = 2 WHERE number = 1",
            ["1 trials not done at their first attempt"],
        ),
        (
            "UPDATE bough_trials SET number = 3 WHERE number = 2",
            ["1 acknowledged values", "1 trials that", "1 gaps"],
        ),
    ],
)
def test_a_lost_or_doubled_trial_is_found(damage: str, found: list[str], tmp_path: Path) -> None:
    study = bough.Study(SPACE, name="soak", storage=f"sqlite:///{tmp_path}/soak.db", method="random")
    told = [(study.tell(trial, trial.number).number, float(trial.number)) for trial in study.ask(3)]
    with closing(sqlite3.connect(tmp_path / "soak.db")) as database, database:
        database.execute(damage)
    wrong = check(tmp_path / "soak.db", told)
    assert len(wrong) == len(found) and all(map(str.startswith, wrong, found))


def test_a_trial_told_twice_is_found(tmp_path: Path) -> None:
    study = bough.Study(SPACE, name="soak", storage=f"sqlite:///{tmp_path}/soak.db", method="random")
    study.tell(study.ask(), 1.0)
    assert check(tmp_path / "soak.db", [(0, 1.0), (0, 1.0)]) == ["1 trials told twice"]
