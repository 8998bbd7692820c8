"""The commands that read: what they print, for people and for scripts."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import bough
from bough.cli import main
from bough.cli.digits import load_digits
from bough.cli.main import COMMANDS
from bough.space import Choice, Float, Space
from bough.study import Study, failure

from .programs import STORED_SPACE, call


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
    assert Space.from_json(shown["space"]) == STORED_SPACE
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
    Path("space.json").write_text(STORED_SPACE.to_json())
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
        (("export", "-o", "r.2024"), (".csv", ".jsonl")),
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


@pytest.mark.parametrize("name", ["r", "r.2024", "r.jsonl.bak", "r.txt"])
def test_other_suffixes_are_names(name: str, stored: Path, capsys: pytest.CaptureFixture[str]):
    words = () if name == "r" else ("--format", "csv")
    assert call(capsys, "export", "-o", name, *words)[0] == 0
    assert Path(name).read_text().startswith("number,state,value")
    assert call(capsys, "report", "-o", name)[0] == 0
    assert Path(name).read_text().startswith("<!doctype html>")


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


def test_version(capsys: pytest.CaptureFixture[str]):
    assert call(capsys, "--version")[1].splitlines()[0] == f"bough {bough.__version__}"


def test_report_writes_one_file(stored: Path, capsys: pytest.CaptureFixture[str]):
    code, out, err = call(capsys, "report", "-o", "out/page.html")
    assert (code, out, err) == (0, "", "wrote out/page.html\n")
    assert "mine" in (stored / "out" / "page.html").read_text("utf-8")


def test_reports_of_studies_with_similar_names_are_kept_apart(
    stored: Path, capsys: pytest.CaptureFixture[str]
):
    for name in ("a_b", "a b", "é" * 200):
        bough.Study(STORED_SPACE, name=name, storage="sqlite:///bough.db", method="random")
        assert call(capsys, "report", name)[0] == 0
    assert "<title>a_b" in Path("a_b.html").read_text("utf-8")
    assert len(list(stored.glob("*.html"))) == 3


def test_delete_asks_first(stored: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    code, _, err = call(capsys, "delete", "mine")
    assert code == 0 and "with its 4 trials" in err and "nothing was deleted" in err
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    code, _, err = call(capsys, "delete", "mine")
    assert code == 2 and "bough: nobody answered on standard input: --yes says yes" in err
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
    for option, has in (("--method", "random"), ("--seed", "2")):
        code, _, err = call(capsys, "demo", "--trials", "7", option, "3")
        name = option.removeprefix("--")
        assert code == 2
        assert err == f"bough: {option} 3: the demo was begun with {name} {has}; --fresh starts again\n"
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


def test_the_tree_says_how_many_names_it_leaves_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    leaves = {f"parameter_{i}": Float(0, 1) for i in range(5)}
    Study(Space({"m": Choice({"a": leaves, "b": {}})}), name="s", storage="sqlite:///bough.db")
    assert "[parameter_0, parameter_1 and 3 more]" in call(capsys, "show")[1]


def test_output_that_nobody_reads_is_no_mistake() -> None:
    """As in ``bough methods | head -1``."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "bough", "methods"]
    with os.fdopen(writer) as closed:
        ended = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_the_list_of_commands_cuts_no_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = call(capsys, "--help")[1].partition("Commands:")[2].splitlines()
    assert len(lines) > len(COMMANDS) and not [line for line in lines if line.endswith("...")]
