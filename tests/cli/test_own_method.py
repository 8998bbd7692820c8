"""``bough run --method MODULE:CLASS``: a method of the user, from the current folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bough import open_study
from bough.cli import main

SPACE = '{"x": {"type": "float", "low": 0, "high": 1}}'
CODE = """
class Middle:
    def propose(self, space, history, rng):
        return space.snap([[0.5]])
class Needy:
    def __init__(self, must): ...
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "space.json").write_text(SPACE)
    (tmp_path / "own_middle.py").write_text(CODE)
    monkeypatch.delitem(sys.modules, "own_middle", raising=False)


def run(method: str) -> int:
    words = ["run", "space.json", "--name", "s", "-n", "2", "--storage", "sqlite:///s.db", "--method", method]
    return main([*words, "--", "echo", "{x}"])


def test_a_class_of_the_current_folder_is_a_method() -> None:
    path = list(sys.path)
    assert run("own_middle:Middle") == 0
    assert sys.path == path
    study = open_study("s", "sqlite:///s.db")
    assert study.method.name == "Middle"
    assert [trial.config for trial in study.trials] == [{"x": 0.5}, {"x": 0.5}]


@pytest.mark.parametrize("method", ["own_nowhere:Middle", "own_middle:Missing", "own_middle:Needy"])
def test_a_class_that_cannot_be_made_is_an_error_of_one_line(
    method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(method) == 2
    error = capsys.readouterr().err
    assert f"--method {method}: " in error
    assert "Traceback" not in error
