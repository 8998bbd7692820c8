"""The events of a run, for those who show its progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from bough.errors import StudyError
from bough.trial import Trial

__all__ = ["Event", "Progress", "ProgressOption", "reporter"]


@dataclass(frozen=True)
class Event:
    """A moment of a run.

    kind:     "start", then "trial" for each trial that this run finished, then "end" (always sent).
    study:    the study's name; direction: "minimize" or "maximize".
    trial:    the trial that was just finished.
    finished: trials of the study that are done, failed or stopped; failed, stopped: how many of them.
    limit:    how many the run is to reach; None without a limit.
    running:  evaluations going on in this run.
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
"""True and None show what fits: a bar in terminals and notebooks, otherwise a log line per trial."""


def reporter(progress: ProgressOption) -> Progress:
    """The function to report to: the user's own, one that shows a bar or log lines, or a silent one."""
    if callable(progress):
        return progress
    if progress is False:
        return lambda event: None
    if progress not in (None, True, "bar", "log"):
        raise StudyError(f"progress must be True, False, None, 'bar', 'log' or a callable, not {progress!r}")
    from bough.study.running.progress import bar, log_lines, someone_watches

    return bar() if progress == "bar" or (progress != "log" and someone_watches()) else log_lines()
