"""Reads the reports of a running program: lines such as ``{"step": 3, "value": 0.25}`` in its output."""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

from bough.errors import StudyError, TrialError
from bough.study import Study
from bough.trial import Trial

__all__ = ["ReportedLines"]

LONGEST_LINE = 10_000
"""The longest report in bytes; longer lines are ignored."""

_log = logging.getLogger("bough")


class ReportedLines:
    """Passes the reports in a program's output to its study. After a refused report, further reports are
    ignored; the program continues, and its result counts."""

    def __init__(self, study: Study, trial: Trial, output: Path, ignored: bool = False) -> None:
        self._study, self._trial, self._output = study, trial, output
        self._offset = 0
        self._needed = () if study.goals.is_single else study.goals.needed
        self._refused = ignored

    def should_stop(self, deadline: float = math.inf) -> bool:
        """Store the reports since the last call; returns whether the program should stop now.

        deadline: a time of ``time.monotonic`` after which no further report is stored. A program may print
        faster than reports are stored.
        """
        return self._pass_on(self._study.report, deadline)

    def keep(self) -> None:
        """Store the reports since the last call of a program that has ended, without stopping the trial."""
        self._pass_on(self._study.keep_report, math.inf)

    def _pass_on(self, report: Callable[[Trial, Any, Any], bool], deadline: float) -> bool:
        reports = takewhile(lambda _: time.monotonic() < deadline, self._new())
        try:
            return any(report(self._trial, self._value(given), given["step"]) for given in reports)
        except (TrialError, StudyError) as error:
            _log.warning("trial %d: its reports are ignored from now on: %s", self._trial.number, error)
            self._refused = True
            return False

    def _value(self, given: dict[str, Any]) -> Any:
        """The reported value, or with several goals a dict of all their measures."""
        needed = self._needed
        return {name: given[name] for name in needed} if needed else given["value"]

    def _new(self) -> Iterator[dict[str, Any]]:
        if self._refused:
            return
        with self._output.open("rb") as file:
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    return  # the rest of the line is not written yet
                self._offset += len(line)
                if line.lstrip().startswith(b"{") and len(line) <= LONGEST_LINE:
                    try:
                        found = json.loads(line)
                    except (ValueError, RecursionError):
                        continue
                    if "step" in found and all(name in found for name in self._needed or ("value",)):
                        yield found
