"""Warns if every trial of a branch fails in the same way: probably a bug in the objective."""

from __future__ import annotations

import re

from bough.errors import ConfigError
from bough.study.running.runnable import RunnableStudy
from bough.trial import Trial

__all__ = ["RepeatedFailures"]

MIN_FAILURES = 3

MAX_CHARACTERS = 300
"""The part of an error that a warning quotes."""


class RepeatedFailures:
    """Watches the results of one run."""

    def __init__(self, study: RunnableStudy) -> None:
        self._study = study
        self._kinds: set[str] = set()
        self._watch_branches()

    def _watch_branches(self) -> None:
        self._space = self._study.space
        self._worked: set[bytes] = set()  # branches with a result
        self._failures: dict[tuple[bytes, str], int] = {}

    def is_new(self, trial: Trial) -> bool:
        """Whether this error is new in this run."""
        kind = _kind(trial)
        new = kind not in self._kinds
        self._kinds.add(kind)
        return new

    def warning(self, trial: Trial) -> str | None:
        """A warning if all trials of the branch failed in the same way; None otherwise."""
        if not trial.learn:
            return None
        if self._study.space is not self._space:  # the space was learned again, or changed
            self._watch_branches()
        try:
            branch = self._space.tree.path_of(self._space.encode([trial.config]))[0].key
        except ConfigError:  # a trial of an earlier space
            return None
        if trial.state != "failed":
            self._worked.add(branch)
            return None
        key = branch, _kind(trial)
        self._failures[key] = self._failures.get(key, 0) + 1
        if branch in self._worked or self._failures[key] != MIN_FAILURES:
            return None
        error = trial.error or ""
        shown = error if len(error) <= MAX_CHARACTERS else error[:MAX_CHARACTERS] + "…"
        return (
            f"all {MIN_FAILURES} trials{self._where(trial)} failed in the same way: {shown}; "
            "this looks like a bug in the objective"
        )

    def _where(self, trial: Trial) -> str:
        names = [self._space.parameters[column].name for column in self._space.tree.switches]
        chosen = [f"{name}={trial.config[name]!r}" for name in names if name in trial.config]
        return f" with {', '.join(chosen)}" if chosen else ""


def _kind(trial: Trial) -> str:
    """The error without numbers, which differ from trial to trial, but with its line number."""
    text, found, place = (trial.error or "").rpartition(" (line ")
    return re.sub(r"\d[\d.e+-]*", "#", text) + place if found else re.sub(r"\d[\d.e+-]*", "#", place)
