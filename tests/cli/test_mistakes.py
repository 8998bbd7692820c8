"""Every way to call the commands wrongly: one clear line, and nothing created."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

import bough
from bough.cli import main
from bough.study import Study, export_study

from .programs import STORED_SPACE, call, write_space


def test_a_mistyped_command_gets_a_suggestion(capsys: pytest.CaptureFixture[str]):
    assert "no such command 'shwo'; did you mean 'show'?" in call(capsys, "shwo")[2]
    assert "there are demo, run, show" in call(capsys, "frobnicate")[2]


def test_a_text_in_place_of_a_number(capsys: pytest.CaptureFixture[str]):
    for option, kind in (("--trials", "integer"), ("--timeout", "float")):
        code, _, err = call(capsys, "run", "space.yaml", option, "x", "--", "true")
        assert code == 2 and f"'x' is not a valid {kind}." in err


def test_an_option_of_a_program_without_two_dashes_gets_a_hint(capsys: pytest.CaptureFixture[str]):
    code, _, err = call(capsys, "run", "space.yaml", "-n", "3", "./train", "--rate", "{rate}")
    assert code == 2 and "write -- before the program" in err


def test_a_program_in_the_place_of_the_space_gets_a_hint(capsys: pytest.CaptureFixture[str]):
    code, _, err = call(capsys, "run", "-n", "3", "--", "echo", "{rate}")
    assert code == 2 and "the space comes first, bough run SPACE -- echo" in err


BAD_USES = {
    "unknown command": ("frobnicate",),
    "unknown option": ("show", "--frobnicate"),
    "unknown study": ("show", "nobody"),
    "unknown study, best": ("best", "nobody"),
    "unknown study, export": ("export", "nobody"),
    "unknown study, report": ("report", "nobody"),
    "unknown study, delete": ("delete", "nobody"),
    "no study named": ("delete",),
    "unknown study to compare": ("report", "mine", "--against", "nobody"),
    "missing database": ("show", "--storage", "sqlite:///nowhere.db"),
    "missing database, studies": ("studies", "--storage", "sqlite:///no/where.db"),
    "bad url": ("studies", "--storage", "nonsense"),
    "unknown kind of url": ("studies", "--storage", "mongodb://host/db"),
    "two slashes": ("studies", "--storage", "sqlite://x.db"),
    "bad port": ("studies", "--storage", "postgresql://me:SECRET@host:bad/db"),
    "in memory": ("studies", "--storage", "sqlite:///"),
    "another program's database": ("studies", "--storage", "sqlite:///other.db"),
    "not a database": ("studies", "--storage", "sqlite:///garbage.db"),
    "missing space": ("run", "no.yaml", "-n", "1", "--", "true"),
    "space is a folder": ("run", ".", "-n", "1", "--", "true"),
    "malformed yaml": ("run", "malformed.yaml", "-n", "1", "--", "true"),
    "malformed space": ("run", "wrong.json", "-n", "1", "--", "true"),
    "bad condition": ("run", "condition.json", "-n", "1", "--", "true"),
    "empty space": ("run", "empty.json", "-n", "1", "--", "true"),
    "missing command": ("run", "space.yaml", "-n", "1"),
    "program not found": ("run", "space.yaml", "-n", "1", "--", "no-such-program"),
    "program not executable": ("run", "space.yaml", "-n", "1", "--", "./space.yaml"),
    "unknown placeholder": ("run", "space.yaml", "-n", "1", "--", "echo", "{speling}"),
    "empty name": ("run", "space.yaml", "-n", "1", "--name", "", "--", "true"),
    "no end": ("run", "space.yaml", "--", "true"),
    "bad number": ("run", "space.yaml", "-n", "many", "--", "true"),
    "no trials": ("run", "space.yaml", "-n", "0", "--", "true"),
    "bad timeout": ("run", "space.yaml", "-n", "1", "--timeout", "-3", "--", "true"),
    "no time": ("run", "space.yaml", "-n", "1", "--trial-timeout", "nan", "--", "true"),
    "unknown method": ("run", "space.yaml", "-n", "1", "--method", "rnadom", "--", "true"),
    "other space": ("run", "other.yaml", "-n", "1", "--name", "mine", "--method", "random", "--", "true"),
    "unwritable report": ("report", "mine", "-o", "garbage.db/report.html"),
    "unwritable export": ("export", "mine", "-o", "garbage.db/trials.csv"),
    "unwritable demo": ("demo", "--folder", "garbage.db", "--trials", "5"),
    "import of a missing file": ("import", "no.jsonl"),
    "import of something else": ("import", "garbage.db"),
    "import of a study that exists": ("import", "mine.jsonl"),
    "unclear flag before several lines": ("run", "space.yaml", "-n", "1", "--", "sh", "-c", "echo\n{trees}"),
    "unclear flag": ("run", "space.yaml", "-n", "1", "--", "true", "-k", "{C}"),
    "unknown progress": ("run", "space.yaml", "-n", "1", "--progress", "loud", "--", "true"),
    "unknown format": ("export", "mine", "--format", "xml"),
    "negative seed, dry run": ("run", "space.yaml", "--dry-run", "--seed", "-1", "--", "true"),
    "deep value": ("correct", "mine", "0", "[" * 5000, "--reason", "x"),
    "deep belief": ("believe", "mine", "C=" + "[" * 5000),
    "deep backfill": ("change", "mine", "space.yaml", "--yes", "--backfill", "x=" + "[" * 5000),
    "no trials to list": ("show", "-n", "-1"),
    "unknown shell": ("completion", "tcsh"),
}


@pytest.mark.parametrize("what", BAD_USES)
def test_bad_uses_are_one_clear_line_and_exit_code_2(
    what: str, stored: Path, capsys: pytest.CaptureFixture[str]
):
    write_space(stored)
    (stored / "other.yaml").write_text("z: {type: float, low: 0, high: 1}")
    (stored / "garbage.db").write_text("this is not a database " * 100)
    with sqlite3.connect(stored / "other.db") as database:
        database.execute("CREATE TABLE theirs (a)")
    (stored / "empty.json").write_text(
        '{"parameters": {"a": {"type": "categorical", "options": [1, 2]}}, "forbid": ["a > 0"]}'
    )
    (stored / "malformed.yaml").write_text("a: [1, 2")
    (stored / "wrong.json").write_text('{"x": {"type": "float", "low": 3, "high": 1}}')
    (stored / "condition.json").write_text('{"x": {"type": "float", "low": 0, "high": 1, "when": "y = 3"}}')
    export_study(bough.open_study("mine", "sqlite:///bough.db"), "mine.jsonl")
    code, out, err = call(capsys, *BAD_USES[what])
    assert code == 2, (out, err)
    assert out == "" or what == "unwritable demo"
    assert len(err.strip().splitlines()) == 1, err
    assert len(err) < 500
    assert err.startswith("bough: ") and "Traceback" not in err and "SECRET" not in err


@pytest.mark.parametrize("name", ["copy.sqlite3", "trials.csv.gz", "trials.csv.bak"])
def test_an_export_under_another_suffix_is_refused(
    name: str, stored: Path, capsys: pytest.CaptureFixture[str]
):
    Path(name).write_text("former")
    code, out, err = call(capsys, "export", "-o", name)
    assert code == 2 and out == "" and len(err.splitlines()) == 1
    assert f"'{name}' must end in .csv" in err and "say --format csv" in err
    assert Path(name).read_text() == "former"


@pytest.mark.parametrize("name", ["copy.sqlite3", "page.html.gz"])
def test_a_report_under_the_suffix_of_another_format_is_refused(
    name: str, stored: Path, capsys: pytest.CaptureFixture[str]
):
    code, out, err = call(capsys, "report", "-o", name)
    assert code == 2 and out == "" and f"'{name}' must end in .html or .pdf" in err
    assert not Path(name).exists()


@pytest.mark.parametrize(
    "words", [("studies",), ("show",), ("best",), ("report",), ("export",), ("delete", "x")]
)
def test_reading_creates_nothing(
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    assert call(capsys, *words)[0] == 2
    assert list(tmp_path.iterdir()) == []
    with sqlite3.connect("theirs.db") as database:
        database.execute("CREATE TABLE theirs (a)")
    database.close()
    before = Path("theirs.db").read_bytes()
    code, _, err = call(capsys, *words, "--storage", "sqlite:///theirs.db")
    assert code == 2 and "has no bough studies" in err
    assert Path("theirs.db").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["theirs.db"]


@pytest.mark.slow
def test_a_server_that_does_not_answer_is_one_clear_line(capsys: pytest.CaptureFixture[str]):
    """Slow because the storage waits half a minute for a database to come back."""
    code, _, err = call(capsys, "studies", "--storage", "postgresql://nobody:secret@127.0.0.1:1/none")
    assert code == 2 and len(err.strip().splitlines()) == 1
    assert "secret" not in err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_no_permission_is_one_clear_line(stored: Path, capsys: pytest.CaptureFixture[str]):
    path = write_space(stored)
    path.chmod(0)
    code, _, err = call(capsys, "run", "space.yaml", "-n", "1", "--", "true")
    assert code == 2 and "ermission" in err
    (stored / "bough.db").chmod(0)
    code, _, err = call(capsys, "show")
    assert code == 2 and len(err.splitlines()) == 1


def test_an_empty_storage_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    Study(STORED_SPACE, name="x", storage="sqlite:///bough.db", method="random")
    main(["delete", "x", "--yes"])
    capsys.readouterr()
    assert "no studies yet" in call(capsys, "studies")[1]
    code, _, err = call(capsys, "show")
    assert code == 2 and "bough run" in err
