"""Progress of a run: its events, and one line that rewrites itself in a terminal or a notebook cell.

    ━━━━━━━━━━━━╌╌╌╌ 42/60  best 0.0213 (svm)  ▇▆▅▃▂▁  now forest  3.2/s  0:06 left  2 failed

It is written to stderr, to keep the program's output clean. If stderr is neither a terminal nor a notebook,
each trial is a log line instead:

    trial 41: 0.3 (forest), best 0.0213 (trial 3), 42/60
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, TextIO

from bough.errors import StudyError
from bough.trial import Trial

__all__ = ["Event", "Progress", "ProgressOption", "bar", "describe", "log_lines", "reporter", "sparkline"]

_BLOCKS = "▁▂▃▄▅▆▇█"
_BAR = 16
_REDRAW_SECONDS = 0.1

_log = logging.getLogger("bough")


@dataclass(frozen=True)
class Event:
    """An event of a run, as passed to progress functions.

    kind:     "start", then "trial" for each trial that this run finished, then "end" (always sent).
    study:    the study's name; direction: "minimize" or "maximize".
    trial:    the trial that was just finished.
    finished: trials of the study that are done, failed or stopped; failed, stopped: how many of them.
    limit:    the number of finished trials at which the run ends; None without a limit.
    running:  evaluations of this run that are in progress.
    best:     the best trial so far; None before the first value.
    elapsed:  seconds since the start of this run.
    objectives: their names.
    """

    kind: Literal["start", "trial", "end"]
    study: str
    direction: str
    trial: Trial | None
    finished: int
    failed: int
    limit: int | None
    running: int
    best: Trial | None
    elapsed: float
    objectives: tuple[str, ...] = ("value",)
    stopped: int = 0


Progress = Callable[[Event], None]

ProgressOption = bool | Literal["bar", "log"] | Progress | None
"""True and None show a bar in terminals and notebooks, otherwise a log line per trial."""


def reporter(progress: ProgressOption) -> Progress:
    """The function that gets the events: the user's, one that shows a bar or log lines, or a silent one."""
    if callable(progress):
        return progress
    if progress is False:
        return lambda event: None
    if progress not in (None, True, "bar", "log"):
        raise StudyError(f"progress must be True, False, None, 'bar', 'log' or a callable, not {progress!r}")
    watched = progress != "log" and (sys.stderr.isatty() or _in_notebook())
    return bar() if progress == "bar" or watched else log_lines()


def bar(stream: TextIO | None = None) -> Progress:
    """A reporter that rewrites one line, of a notebook cell or else of a terminal."""
    stream = sys.stderr if stream is None else stream
    if _in_notebook() and not stream.isatty():
        return _Line(_Cell(), lambda: None)
    return _Line(lambda text: _rewrite(stream, text), lambda: _write(stream, "\n"))


def log_lines(stream: TextIO | None = None) -> Progress:
    """A reporter that logs each trial that did not fail, to the logger "bough" with level INFO.

    A program that has not set up logging gets the lines on stderr, unless it raised the level of that logger.
    Failed trials are logged as warnings by the run itself.
    """

    def report(event: Event) -> None:
        if event.kind != "trial" or event.trial is None or event.trial.state == "failed":
            return
        text = describe_trial(event.trial, event)
        if _log.hasHandlers() and stream is None:
            _log.info("%s", text)
        elif _log.level <= logging.INFO:
            _write(sys.stderr if stream is None else stream, f"bough: {text}\n")

    return report


def describe_trial(trial: Trial, event: Event) -> str:
    """The log line of a trial."""
    total = f"{event.finished}/{event.limit}" if event.limit else f"{event.finished} trials"
    measured = {name: trial.measures.get(name, trial.value) for name in event.objectives}
    several = ", ".join(f"{name} {number:.6g}" for name, number in measured.items() if number is not None)
    result = several if len(measured) > 1 else f"{trial.value:.6g}" if trial.value is not None else "stopped"
    infeasible = " infeasible" if trial.violated else ""
    parts = [f"trial {trial.number}: {result}{_branch(trial, ' ({})')}{infeasible}"]
    if event.best is not None and event.best.value is not None:
        parts.append(f"best {event.best.value:.6g} (trial {event.best.number})")
    return ", ".join([*parts, total])


class _Line:
    """Shows events in one line, with the best values so far; ``write`` shows it, ``end`` finishes it."""

    def __init__(self, write: Callable[[str], None], end: Callable[[], None]) -> None:
        self._write, self._end = write, end
        self._course: list[float] = []
        self._already = 0
        self._drawn = -float("inf")

    def __call__(self, event: Event) -> None:
        if event.kind == "start":
            self._already = event.finished
        if event.best is not None and event.best.value is not None:
            self._course.append(event.best.value)
        now = time.monotonic()
        if event.kind != "trial" or now - self._drawn >= _REDRAW_SECONDS:
            self._drawn = now
            self._write(describe(event, self._course, event.finished - self._already))
        if event.kind == "end":
            self._end()


def describe(event: Event, course: Sequence[float], fresh: int) -> str:
    """The line for an event; ``course``: best values so far, ``fresh``: trials that this run finished."""
    parts = []
    if event.limit:
        full = round(_BAR * min(event.finished / event.limit, 1.0))
        parts.append(f"{'━' * full}{'╌' * (_BAR - full)} {event.finished}/{event.limit}")
    else:
        parts.append(f"{event.finished} trials")
    if event.best is not None and event.best.value is not None:
        parts.append(f"best {event.best.value:.5g}{_branch(event.best, ' ({})')}")
        parts.append(sparkline(course, 10))
    if event.trial is not None and event.kind == "trial":
        parts.append(_branch(event.trial, "now {}"))
    if fresh and event.elapsed > 0:
        rate = fresh / event.elapsed
        parts.append(f"{rate:.1f}/s" if rate >= 1 else f"{1 / rate:.1f} s each")
        if event.limit and event.kind != "end":
            parts.append(f"{_clock(max(event.limit - event.finished, 0) / rate)} left")
    if event.kind == "end":
        parts.append(f"in {_clock(event.elapsed)}")
    if event.stopped:
        parts.append(f"{event.stopped} stopped")
    if event.failed:
        parts.append(f"{event.failed} failed")
    return "  ".join(part for part in parts if part)


def sparkline(values: Sequence[float], width: int) -> str:
    """The course of some values in ``width`` characters or fewer; empty unless they vary."""
    if len(values) > width:
        values = [values[(i + 1) * len(values) // width - 1] for i in range(width)]
    low, high = min(values, default=0.0), max(values, default=0.0)
    if not high > low:
        return ""
    return "".join(_BLOCKS[round((value - low) / (high - low) * (len(_BLOCKS) - 1))] for value in values)


def _branch(trial: Trial, form: str) -> str:
    """The first two text values of a config, which usually name the branch."""
    words = [value for value in trial.config.values() if isinstance(value, str)][:2]
    return form.format("/".join(words)) if words else ""


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _rewrite(stream: TextIO, text: str) -> None:
    width = shutil.get_terminal_size().columns - 1
    _write(stream, "\r\x1b[K" + text[:width])


def _write(stream: TextIO, text: str) -> None:
    """Write the text, if the stream still works: a run continues without its terminal."""
    with contextlib.suppress(OSError, ValueError):  # the terminal is gone, or the stream is closed
        stream.write(text)
        stream.flush()


def _in_notebook() -> bool:
    """Whether this is a Jupyter kernel. A kernel always loads IPython, so without it the answer is no."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and "IPKernelApp" in shell.config


class _Cell:
    """A line of a notebook cell that is replaced in place."""

    def __init__(self) -> None:
        self._handle: Any = None

    def __call__(self, text: str) -> None:
        display: Any = import_module("IPython.display").display  # its types are incomplete
        line = {"text/plain": text}
        if self._handle is None:
            self._handle = display(line, raw=True, display_id=True)
        else:
            self._handle.update(line, raw=True)
