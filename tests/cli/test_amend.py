"""bough change, retract and correct."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import bough
from bough.cli import main

SPACE = bough.Space({"x": bough.Float(0, 1), "kind": bough.Categorical(["a", "b"])})
MORE = bough.Space({"x": bough.Float(0, 2), "kind": bough.Categorical(["a", "b"]), "z": bough.Int(1, 3)})


@pytest.fixture
def url(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/s.db"
    study = bough.Study(SPACE, name="s", storage=url, method="random", seed=0)
    study.add_many(({"x": i / 10, "kind": "a"}, i / 10) for i in range(4))
    (tmp_path / "more.json").write_text(MORE.to_json())
    return url


@dataclass(frozen=True)
class Said:
    exit_code: int
    output: str


Command = Callable[..., Said]


@pytest.fixture
def bough_(url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments: str, answer: str = "") -> Said:
        monkeypatch.setattr("sys.stdin", io.StringIO(answer))
        code = main([*arguments, "--storage", url])
        captured = capsys.readouterr()
        return Said(code, captured.out + captured.err)

    return run


def test_retract_and_correct(bough_: Command) -> None:
    assert bough_("retract", "s", "0", "--reason", "off").exit_code == 0
    assert bough_("correct", "s", "3", "-1.5", "--reason", "sign").exit_code == 0
    shown = bough_("show", "s").output
    assert "3 done, 1 retracted" in shown
    assert "trial 0: 0 retracted: off" in shown
    one = bough_("show", "s", "--trial", "3").output
    assert "sign (told: 0.3)" in one
    assert "retracted\n  off" in bough_("show", "s", "--trial", "0").output
    assert "-1.5" in bough_("best", "s").output
    rows = bough_("export", "s", "--format", "csv").output.splitlines()
    assert rows[0].endswith("retracted,corrected,value_before")


def test_change_shows_the_difference_first(url: str, bough_: Command, tmp_path: Path) -> None:
    refused = bough_("change", "s", str(tmp_path / "more.json"), answer="n\n")
    assert "~ x: Float(0.0, 1.0) -> Float(0.0, 2.0)\n+ z: Int(1, 3)" in refused.output
    assert "nothing was changed" in refused.output
    assert bough.open_study("s", url).space == SPACE
    done = bough_("change", "s", str(tmp_path / "more.json"), "--backfill", "z=2", "--yes")
    assert done.exit_code == 0, done.output
    study = bough.open_study("s", url)
    assert study.space == MORE
    assert study.amendments[0].body["backfill"] == {"z": 2}
    again = bough_("change", "s", str(tmp_path / "more.json"))
    assert "nothing differs" in again.output


def test_a_change_that_cannot_be_is_refused_before_the_question(bough_: Command, tmp_path: Path) -> None:
    refused = bough_("change", "s", str(tmp_path / "more.json"), "--backfill", "z=9", answer="y\n")
    assert refused == Said(2, "bough: backfill: parameter 'z' must be a whole number from 1 to 3, not 9\n")


def test_a_change_by_somebody_else_before_the_answer_is_not_undone(
    url: str, bough_: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = bough.Space({"x": bough.Float(-1, 1), "kind": bough.Categorical(["a", "b"])})

    def late(*_: object, **__: object) -> bool:
        bough.open_study("s", url).change(other)
        return True

    monkeypatch.setattr("click.confirm", late)
    refused = bough_("change", "s", str(tmp_path / "more.json"))
    assert "bough: another change of the space came first: look at it, then try again" in refused.output
    assert refused.exit_code == 2
    assert bough.open_study("s", url).space == other


def test_a_changed_study_is_shown_and_reported(url: str, bough_: Command, tmp_path: Path) -> None:
    (tmp_path / "less.json").write_text(bough.Space({"kind": bough.Categorical(["a", "b"])}).to_json())
    assert bough_("change", "s", str(tmp_path / "less.json"), "--yes").exit_code == 0
    assert "4 of an earlier space" in bough_("show", "s").output
    assert json.loads(bough_("show", "s", "--json").output)["trials"][0]["config"] == {
        "x": 0.0,
        "kind": "a",
    }
    assert bough_("report", "s", "-o", str(tmp_path / "r.html")).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["retract", "s", "9", "--reason", "x"], "the study has no trial 9"),
        (["retract", "s", "0"], "Missing option '--reason'"),
        (["correct", "s", "0", "low", "--reason", "x"], "VALUE must be a number or a JSON object, not 'low'"),
        (["correct", "s", "0", "NaN", "--reason", "x"], "the value is nan; retract it instead"),
        (["change", "s", "nowhere.yaml"], "nowhere.yaml"),
        (["change", "other", "more.json"], "there is no study 'other'"),
    ],
)
def test_mistakes_are_one_line(bough_: Command, arguments: list[str], message: str) -> None:
    result = bough_(*arguments)
    assert result.exit_code
    assert message in result.output


def test_beliefs_are_told_shown_and_withdrawn(url: str, bough_: Command) -> None:
    bough.Study(SPACE, name="b", storage=url, seed=0)
    assert "there are no beliefs" in bough_("believe", "b").output
    told = bough_("believe", "b", "x=[0.25, 0.5]", 'kind={"a": 3, "b": 1}')
    assert told.output.splitlines() == [
        "x: likely (0.25, 0.5)",
        "kind: likely {'a': 3, 'b': 1}",
        "believed from trial 0 of 'b' on",
    ]
    assert bough_("believe", "b", "x=null").output.splitlines()[0] == "kind: likely {'a': 3, 'b': 1}"
    assert "there are no beliefs" in bough_("believe", "b", "--withdraw-all").output


def test_a_name_and_a_value_may_have_equals_signs(url: str, bough_: Command) -> None:
    space = bough.Space({"m": bough.Choice({"a=1": {"x": bough.Float(0, 1)}, "b": {"x": bough.Float(0, 1)}})})
    bough.Study(space, name="e", storage=url, seed=0)
    assert "m=b/x: likely (0.1, 0.2)" in bough_("believe", "e", "m=b/x=[0.1, 0.2]").output
    assert "m: likely {'a=1': 1}" in bough_("believe", "e", 'm=["a=1"]').output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["believe", "b", "x"], "'x' must be NAME=VALUE"),
        (["believe", "b", "x=0.5"], "parameter 'x': likely must be a range (low, high), not 0.5"),
        (["believe", "b", "x=0.2,0.4"], "x=0.2,0.4 must be a list or an object, such as 'x=[0.2, 0.4]'"),
        (["believe", "b", "kind=a"], "such as 'kind=[\"a\"]'"),
        (["believe", "b", "x=[0.5, 2]"], "must be a range inside [0.0, 1.0]"),
        (["believe", "b", "knd=[1]"], "did you mean 'kind'?"),
        (["believe", "b", "x=[0, 1]", "--withdraw-all"], "--withdraw-all takes no"),
        (["believe", "s", "x=[0, 1]"], "method 'random' cannot use beliefs"),
        (["believe", "none", "x=[0, 1]"], "no study 'none'"),
        (["stop", "none"], "no study 'none'"),
    ],
)
def test_mistaken_beliefs_change_nothing(
    url: str, bough_: Command, arguments: list[str], message: str
) -> None:
    study = bough.Study(SPACE, name="b", storage=url, seed=0)
    said = bough_(*arguments)
    assert said.exit_code == 2
    assert message in said.output
    assert len(said.output.splitlines()) == 1
    assert study.amendments == []


def test_stop_is_recorded(url: str, bough_: Command) -> None:
    said = bough_("stop", "s", "--reason", "good enough")
    assert said.output == "asked the runs of 's' to stop; trials running under a lease: 0\n"
    made = bough.open_study("s", url).amendments[-1]
    assert (made.kind, made.body) == ("stop", {"reason": "good enough"})
