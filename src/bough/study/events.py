"""What a run reports while it goes on, to whoever shows its progress."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from bough.errors import StudyError
from bough.trial import Trial

__all__ = ["Event", "Progress", "reporter"]


@dataclass(frozen=True)
class Event:
    """A moment of a run.

    kind:     "start", then "trial" for each trial that this run finished, then "end" (always sent).
    study:    the study's name; direction: "minimize" or "maximize".
    trial:    the trial that was just finished.
    finished: trials of the study that are done or failed, and how many of them failed.
    limit:    how many the run is to reach; None without a limit.
    running:  evaluations going on in this run.
    best:     the best trial so far; None before the first value.
    elapsed:  seconds since the start of this run.
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


Progress = Callable[[Event], None]


def reporter(progress: bool | Progress | None) -> Progress:
    """The function to report to: a user's own, the terminal's, or one that keeps silent."""
    if callable(progress):
        return progress
    if progress not in (None, True, False):
        raise StudyError(f"progress must be True, False, None or a callable, not {progress!r}")
    if progress or (progress is None and sys.stderr.isatty()):
        from bough.study.progress import terminal

        return terminal()
    return lambda event: None
