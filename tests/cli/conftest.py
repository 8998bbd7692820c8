"""A study for the commands that read one."""

from __future__ import annotations

from pathlib import Path

import pytest

from bough.study import Study

from .programs import STORED_SPACE


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a study of four trials, two of them done, in the default storage."""
    monkeypatch.chdir(tmp_path)
    study = Study(STORED_SPACE, name="mine", storage="sqlite:///bough.db", method="random", seed=0)
    study.add({"model": "svm", "C": 2.0, "note": "=1+1"}, 0.5)
    study.add({"model": "bayes", "note": None}, 0.25)
    study.fail(study.ask(), "=cmd()")
    study.ask()
    return tmp_path
