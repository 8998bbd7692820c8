"""What is printed where standard output cannot hold every character, and numbers that JSON cannot hold."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from tests.cli.programs import bough_here

import bough
from bough.cli import main

SPACE = bough.Space({"m": bough.Choice({"日本🌳": {"x": bough.Float(0, 1)}, "b": {}})})


@pytest.fixture
def storage(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/s.db"
    study = bough.Study(SPACE, name="s", storage=url, method="random", seed=0)
    study.add({"m": "日本🌳", "x": 0.5}, 0.25)
    return url


def printed(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> bytes:
    """What a command writes where the encoding of standard output has no Japanese."""
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="cp1252")
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", out)
        assert main(arguments) == 0
    out.flush()
    return raw.getvalue()


def test_text_has_escapes_for_characters_that_standard_output_lacks(
    storage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = printed(monkeypatch, "show", "s", "--storage", storage).decode("ascii")
    assert r"\u65e5\u672c\U0001f333" in shown


def test_json_stays_json(storage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    best = json.loads(printed(monkeypatch, "best", "s", "--json", "--storage", storage))
    assert best["config"] == {"m": "日本🌳", "x": 0.5}


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_an_export_is_utf_8_as_in_a_file(
    storage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    written = printed(monkeypatch, "export", "s", "--format", format, "--storage", storage)
    bough_here("export", "s", "-o", f"s.{format}", "--storage", storage, cwd=tmp_path)
    assert written.splitlines() == (tmp_path / f"s.{format}").read_bytes().splitlines()


def test_json_has_null_for_an_infinite_hypervolume(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/h.db"
    study = bough.Study(SPACE, name="h", storage=url, method="random", objectives=["p", "q"])
    for p in (-1e300, 1e300):
        study.add({"m": "b"}, {"p": p, "q": -p})
    found = bough_here("best", "h", "--json", "--storage", url, cwd=tmp_path)
    assert json.loads(found.stdout)["hypervolume"] is None
