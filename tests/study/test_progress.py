"""The progress line: what it says, and that it keeps quiet where nobody watches."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import TextIO

import pytest

from bough.errors import StudyError
from bough.space import Choice, Float, Int, Space
from bough.study import minimize
from bough.study.running.progress import Event, Progress, bar, describe, log_lines, reporter, sparkline
from bough.trial import Trial

BEST = Trial(3, {"model": "svm", "C": 2.0}, "done", value=0.0213)
NOW = Trial(41, {"model": "forest", "trees": 5}, "done", value=0.3)


def event(kind: str = "trial", **changes: object) -> Event:
    values: dict[str, object] = dict(
        kind=kind, study="s", direction="minimize", trial=NOW, finished=42, failed=2, limit=60, running=1,
        best=BEST, elapsed=21.0,
    )  # fmt: skip
    return Event(**{**values, **changes})  # type: ignore[arg-type]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_line_says_how_far_how_good_where_and_how_long():
    line = describe(event(), [0.5, 0.3, 0.0213], fresh=42)
    for part in ("42/60", "best 0.0213 (svm)", "now forest", "2.0/s", "0:09 left", "2 failed"):
        assert part in line
    assert describe(event(kind="end", trial=None), [0.5], 42).endswith("in 0:21  2 failed")


def test_nothing_is_invented_before_the_first_result():
    line = describe(event(kind="start", trial=None, best=None, finished=0, failed=0, elapsed=0.0), [], 0)
    assert "best" not in line and "left" not in line and "/s" not in line
    assert describe(event(limit=None), [1.0], 1).startswith("42 trials")


def test_a_sparkline_follows_the_values():
    assert sparkline([3.0, 2.0, 1.0], 10) == "█▅▁"
    assert sparkline([1.0, 1.0], 10) == ""
    assert len(sparkline(list(range(1000)), 10)) == 10
    assert sparkline(list(range(1000)), 10)[-1] == "█"


def test_a_terminal_rewrites_one_line():
    stream = Terminal()
    report = bar(stream)
    for kind in ("start", "trial", "end"):
        report(event(kind=kind))
    text = stream.getvalue()
    assert text.count("\n") == 1 and text.endswith("\n")
    assert text.count("\r\x1b[K") >= 2


def test_a_notebook_cell_is_replaced_in_place(monkeypatch: pytest.MonkeyPatch):
    shown: list[tuple[str, str]] = []

    class Handle:
        def update(self, line: dict[str, str], raw: bool) -> None:
            shown.append(("update", line["text/plain"]))

    def display(line: dict[str, str], raw: bool, display_id: bool) -> Handle:
        shown.append(("display", line["text/plain"]))
        return Handle()

    kernel = SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: kernel))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    report = bar(io.StringIO())
    for kind in ("start", "trial", "end"):
        report(event(kind=kind))
    assert shown[0][0] == "display"
    assert {how for how, _ in shown[1:]} == {"update"}
    assert "42/60" in shown[-1][1]


def test_a_log_gets_a_line_per_value():
    stream = io.StringIO()
    report = log_lines(stream)
    report(event(kind="start", trial=None))
    report(event())
    report(event(trial=Trial(42, {}, "failed", error="no"), limit=None))
    report(event(kind="end", trial=None))
    assert stream.getvalue() == "bough: trial 41: 0.3 (forest), best 0.0213 (trial 3), 42/60\n"


@pytest.mark.parametrize("reporter_of", [bar, log_lines])
def test_a_terminal_that_is_gone_ends_no_run(reporter_of: Callable[[TextIO], Progress]):
    class Gone(Terminal):
        def write(self, text: str) -> int:
            raise OSError(5, "Input/output error")

    report = reporter_of(Gone())
    for kind in ("start", "trial", "end"):
        report(event(kind=kind))


@pytest.mark.parametrize("progress", ["loud", 3.0])
def test_odd_values_of_progress(progress: object):
    with pytest.raises(StudyError, match="progress must be True, False, None, 'bar', 'log' or a callable"):
        reporter(progress)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("space", "options", "said"),
    [
        (Space({"x": Float(0, 1)}), {}, True),
        (Space({"x": Float(0, 1)}), {"trials": 2}, False),
        (Space({"x": Float(0, 1)}), {"timeout": 60}, False),
        (Space({"x": Float(0, 1)}), {"budget": 60}, False),
        (Space({"x": Int(0, 5)}), {}, False),
    ],
)
def test_a_run_without_a_limit_says_how_to_end_it(
    space: Space, options: dict[str, float], said: bool, caplog: pytest.LogCaptureFixture
):
    def objective(config: dict[str, float]) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        minimize(objective, space, method="random", progress=False, **options)  # type: ignore[arg-type]
    assert ("this run has no limit, such as trials= or timeout=: Ctrl-C ends it" in caplog.text) is said


def test_a_run_names_parameters_that_are_never_active(caplog: pytest.LogCaptureFixture):
    model = Choice({"net": {"layers": Int(1, 4)}, "bayes": {}})
    space = Space(
        {
            "model": model,
            "a": Int(0, 3),
            "gap": Float(0, 1, when="a > 2 and a < 1"),
            "units": Float(0, 1, when="model == 'bayes' and layers > 1"),
            "shut": Float(0, 1, when="a == 3"),
            "open": Float(0, 1, when="layers > 3 and a < 1"),
        },
        forbid=["a == 3"],
    )
    minimize(lambda config: 1.0, space, 1, method="random", seed=0, progress=False)
    named = [record.message.split("'")[1] for record in caplog.records if "never active" in record.message]
    assert named == ["gap", "units", "shut"]
    assert "parameter 'gap' is never active: no configuration meets a > 2 and a < 1" in caplog.text


@pytest.mark.parametrize(("trials", "said"), [(50, True), (3, False), (None, False)])
def test_a_run_says_that_a_small_space_ended_it(
    trials: int | None, said: bool, caplog: pytest.LogCaptureFixture
):
    study = minimize(lambda config: 1.0, Space({"x": Int(1, 3)}), trials, method="random", progress=False)
    assert len(study.trials) == 3
    text = "the run ends early: all 3 configurations of the space have been tried"
    assert (text in caplog.text) is said
