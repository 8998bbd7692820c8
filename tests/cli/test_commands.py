"""The commands that read: what they print, for people and for scripts; and every way to call them wrongly."""

from __future__ import annotations

import csv
import io
import json
import os
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

import bough
from bough.cli import main
from bough.cli.digits import load_digits
from bough.cli.main import COMMANDS
from bough.space import Categorical, Choice, Float, Space
from bough.study import Study, export_study, failure

from .programs import write_space

SPACE = Space(
    {
        "model": Choice({"svm": {"C": Float(1e-3, 1e3, log=True)}, "bayes": {}}),
        "note": Categorical(["=1+1", "plain", None]),
    }
)


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a study of four trials, two of them done, in the default storage."""
    monkeypatch.chdir(tmp_path)
    study = Study(SPACE, name="mine", storage="sqlite:///bough.db", method="random", seed=0)
    study.add({"model": "svm", "C": 2.0, "note": "=1+1"}, 0.5)
    study.add({"model": "bayes", "note": None}, 0.25)
    study.fail(study.ask(), "=cmd()")
    study.ask()
    return tmp_path


def call(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    out, err = capsys.readouterr()
    return code, out, err


def test_show_prints_branches_and_best_trials(stored: Path, capsys: pytest.CaptureFixture[str]):
    code, out, _ = call(capsys, "show")
    assert code == 0
    assert "mine: minimize, method random, 2 done, 1 failed, 1 running" in out
    counts = {line.split()[1]: line for line in out.splitlines() if line.startswith(("├─", "└─"))}
    assert "0.5" in counts["svm"] and "0.25 *" in counts["bayes"]
    assert "model=bayes note=None" in out


def test_json_output_is_json(stored: Path, capsys: pytest.CaptureFixture[str]):
    shown = json.loads(call(capsys, "show", "mine", "--json")[1])
    assert [t["state"] for t in shown["trials"]] == ["done", "done", "failed", "running"]
    assert not {"request", "holder"} & shown["trials"][0].keys()
    assert Space.from_json(shown["space"]) == SPACE
    best = json.loads(call(capsys, "best", "--json")[1])
    assert best == {"number": 1, "value": 0.25, "noise": None, "config": {"model": "bayes", "note": None}}
    listed = json.loads(call(capsys, "studies", "--json")[1])
    assert [(s["name"], s["trials"], s["method"]) for s in listed] == [("mine", 4, "random")]
    assert json.loads(call(capsys, "methods", "--json")[1]) == bough.methods()


def test_best_studies_and_methods_in_words(stored: Path, capsys: pytest.CaptureFixture[str]):
    assert "value  0.25   (trial 1 of study 'mine')" in call(capsys, "best")[1]
    assert "mine" in call(capsys, "studies")[1]
    listed = call(capsys, "methods")[1]
    assert all(name in listed for name in bough.methods())


def test_export_defuses_formulas_and_tells_none_from_inactive(
    stored: Path, capsys: pytest.CaptureFixture[str]
):
    rows = list(csv.DictReader(io.StringIO(call(capsys, "export")[1])))
    assert rows[0]["note"] == "'=1+1" and rows[0]["C"] == "2.0"
    assert rows[1]["note"] == "None" and rows[1]["C"] == ""
    assert rows[2]["error"] == "'=cmd()"
    code, _, err = call(capsys, "export", "mine", "-o", "trials.jsonl")
    assert code == 0 and "wrote trials.jsonl" in err
    study, *lines = [json.loads(line) for line in Path("trials.jsonl").read_text().splitlines()]
    assert study["name"] == "mine"
    assert [line["value"] for line in lines] == [0.5, 0.25, None, None]


def test_an_exported_study_can_be_imported(stored: Path, capsys: pytest.CaptureFixture[str]):
    Path("piped.jsonl").write_text(call(capsys, "export", "--format", "jsonl")[1])
    assert call(capsys, "export", "-o", "written.json")[0] == 0
    assert Path("written.json").read_text() == Path("piped.jsonl").read_text()
    code, out, err = call(
        capsys, "import", "piped.jsonl", "--storage", "sqlite:///other.db", "--name", "copy"
    )
    assert (code, out, err) == (0, "", "imported 'copy' with 4 trials\n")
    copy, mine = (
        bough.open_study("copy", "sqlite:///other.db"),
        bough.open_study("mine", "sqlite:///bough.db"),
    )
    assert copy.space == mine.space
    assert [t.value for t in copy.trials] == [0.5, 0.25, None, None]
    assert [t.error for t in copy.trials] == [t.error for t in mine.trials]


def test_an_export_of_version_0_1_is_imported_with_its_space(
    stored: Path, capsys: pytest.CaptureFixture[str]
):
    lines = call(capsys, "export", "--format", "jsonl")[1].splitlines(keepends=True)
    Path("old.jsonl").write_text("".join(lines[1:]))
    Path("space.json").write_text(SPACE.to_json())
    code, _, err = call(capsys, "import", "old.jsonl")
    assert code == 2 and len(err.splitlines()) == 1 and "space" in err
    code, _, err = call(capsys, "import", "old.jsonl", "--name", "old", "--space", "space.json")
    assert code == 0, err
    assert [t.value for t in bough.open_study("old", "sqlite:///bough.db").trials] == [0.5, 0.25, None, None]


@pytest.mark.parametrize(
    ("words", "formats"),
    [
        (("export", "-o", "r.xlsx"), (".csv", ".jsonl")),
        (("export", "-o", "r.parquet"), (".csv", ".jsonl")),
        (("report", "-o", "r.docx"), (".html", ".pdf")),
    ],
)
def test_files_of_other_formats_are_refused(
    words: tuple[str, ...], formats: tuple[str, ...], stored: Path, capsys: pytest.CaptureFixture[str]
):
    code, out, err = call(capsys, *words)
    assert code == 2 and out == "" and len(err.splitlines()) == 1
    assert all(suffix in err for suffix in formats)
    assert not Path(words[-1]).exists()


def test_show_one_trial(stored: Path, capsys: pytest.CaptureFixture[str]):
    study = bough.open_study("mine", "sqlite:///bough.db")
    trial = study.ask()
    study.tell(trial, {"value": 0.125, "noise": 0.5, "memory": 512}, notes={"command": "./train --fast"})
    out = call(capsys, "show", "--trial", str(trial.number))[1]
    for part in (
        "trial 4: done, started",
        "0.125",
        "0.5",
        "memory",
        "512",
        "./train --fast",
        "config",
        "model",
    ):
        assert part in out
    assert "=cmd()" in call(capsys, "show", "-t", "2")[1]
    assert json.loads(call(capsys, "show", "-t", "2", "--json")[1])["error"] == "=cmd()"
    for number in ("5", "-1"):
        code, _, err = call(capsys, "show", "--trial", number)
        assert code == 2 and f"has no trial {number}: its trials are 0 to 4" in err


def test_a_traceback_is_shown_with_its_trial(stored: Path, capsys: pytest.CaptureFixture[str]):
    study = bough.open_study("mine", "sqlite:///bough.db")
    trial = study.ask()
    failed = failure(trial.number, "ZeroDivisionError: division by zero", trial.attempt)
    study.record_result(replace(failed, traceback="Traceback:\n  in objective\nZeroDivisionError\n"))
    out = call(capsys, "show", "--trial", str(trial.number))[1]
    assert "error\n  ZeroDivisionError: division" in out
    assert "traceback\nTraceback:\n  in objective\nZeroDivisionError" in out


def test_escape_sequences_do_not_reach_the_terminal(
    stored: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    study = bough.open_study("mine", "sqlite:///bough.db")
    study.fail(study.ask(), "red \x1b[31m, bell \a, right-to-left \u202e")
    study.fail(study.ask(), "title \x1b]0;owned\a")
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda *_: False)  # as on a terminal
    for words in (("show",), ("show", "-t", "4"), ("show", "\x1b[31m"), ("\x1b[31m",)):
        _, out, err = call(capsys, *words)
        assert not set("\a\u202e") & set(out + err)
        assert "\x1b[31m" not in out + err and "\x1b]" not in out + err
    assert "\\x1b[31m" in call(capsys, "show", "-t", "4")[1]


def test_no_color_removes_all_escapes(
    stored: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda *_: False)
    assert "\x1b" in call(capsys, "show")[1]
    monkeypatch.setenv("NO_COLOR", "1")
    for words in (("show",), ("show", "-t", "0"), ("studies",), ("methods",)):
        assert "\x1b" not in call(capsys, *words)[1]


def test_a_mistyped_command_gets_a_suggestion(capsys: pytest.CaptureFixture[str]):
    assert "no such command 'shwo'; did you mean 'show'?" in call(capsys, "shwo")[2]
    assert "there are demo, run, show" in call(capsys, "frobnicate")[2]


def test_an_option_of_a_program_without_two_dashes_gets_a_hint(capsys: pytest.CaptureFixture[str]):
    code, _, err = call(capsys, "run", "space.yaml", "-n", "3", "./train", "--rate", "{rate}")
    assert code == 2 and "write -- before the program" in err


def test_version(capsys: pytest.CaptureFixture[str]):
    assert call(capsys, "--version")[1].splitlines()[0] == f"bough {bough.__version__}"


def test_report_writes_one_file(stored: Path, capsys: pytest.CaptureFixture[str]):
    code, out, _ = call(capsys, "report", "-o", "out/page.html")
    assert code == 0 and out == "wrote out/page.html\n"
    assert "mine" in (stored / "out" / "page.html").read_text("utf-8")


def test_delete_asks_first(stored: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    code, _, err = call(capsys, "delete", "mine")
    assert code == 130 and "with its 4 trials" in err
    assert len(bough.studies("sqlite:///bough.db")) == 1
    assert call(capsys, "delete", "mine", "--yes")[0] == 0
    assert bough.studies("sqlite:///bough.db") == []


def test_a_demo_runs_resumes_and_starts_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    features, labels = load_digits()
    monkeypatch.setattr("bough.cli.demo.load_digits", lambda: (features[:300], labels[:300]))
    code, out, err = call(capsys, "demo", "--trials", "6", "--method", "random")
    assert code == 0, err
    for part in (
        "The winner",
        "Where the trials went",
        "Against random search",
        "bough-demo/report.html",
        "Next",
    ):
        assert part in out
    assert "naive-bayes" in (tmp_path / "bough-demo" / "report.html").read_text("utf-8")
    assert "continuing after 6 trials" in call(capsys, "demo", "--trials", "7")[1]
    assert {record.trials for record in bough.studies("sqlite:///bough-demo/demo.db")} == {7}
    out = call(capsys, "demo", "--trials", "5", "--method", "random", "--fresh")[1]
    assert "continuing" not in out
    assert {record.trials for record in bough.studies("sqlite:///bough-demo/demo.db")} == {5}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str, capsys: pytest.CaptureFixture[str]):
    code, out, _ = call(capsys, "completion", shell)
    assert code == 0 and "_BOUGH_COMPLETE" in out


def test_completion_knows_commands_options_and_studies(
    stored: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("_BOUGH_COMPLETE", "bash_complete")

    def completed(*words: str) -> list[str]:
        monkeypatch.setenv("COMP_WORDS", " ".join(("bough", *words)))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        with pytest.raises(SystemExit):
            main([])
        return [line.partition(",")[2] for line in capsys.readouterr().out.splitlines()]

    assert completed("sh") == ["show"]
    assert "--storage" in completed("show", "--st")
    assert completed("best", "mi") == ["mine"]
    assert completed("run", "--method", "tp") == ["tpe"]


@pytest.mark.parametrize("command", [*COMMANDS, None])
def test_every_command_has_help_with_an_example(command: str | None, capsys: pytest.CaptureFixture[str]):
    code, out, _ = call(capsys, *([command] if command else []), "--help")
    assert code == 0
    assert "bough " in out and ("Examples:" in out or "Commands:" in out)


@pytest.mark.parametrize("group", [(), ("token",)])
def test_a_group_without_a_command_prints_its_help(
    group: tuple[str, ...], capsys: pytest.CaptureFixture[str]
):
    assert call(capsys, *group) == call(capsys, *group, "--help")


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
    "no end": ("run", "space.yaml", "--", "true"),
    "bad number": ("run", "space.yaml", "-n", "many", "--", "true"),
    "no trials": ("run", "space.yaml", "-n", "0", "--", "true"),
    "bad timeout": ("run", "space.yaml", "-n", "1", "--timeout", "-3", "--", "true"),
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
    assert err.startswith("bough: ") and "Traceback" not in err and "SECRET" not in err


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


def test_the_tree_says_how_many_names_it_leaves_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    leaves = {f"parameter_{i}": Float(0, 1) for i in range(5)}
    Study(Space({"m": Choice({"a": leaves, "b": {}})}), name="s", storage="sqlite:///bough.db")
    assert "[parameter_0, parameter_1 and 3 more]" in call(capsys, "show")[1]


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
    Study(SPACE, name="x", storage="sqlite:///bough.db", method="random")
    main(["delete", "x", "--yes"])
    capsys.readouterr()
    assert "no studies yet" in call(capsys, "studies")[1]
    code, _, err = call(capsys, "show")
    assert code == 2 and "bough run" in err
