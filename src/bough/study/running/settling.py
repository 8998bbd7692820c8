"""``run(until="settled")``: whether the model says several times in a row that nothing is left to gain."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from bough.errors import StudyError
from bough.history import History
from bough.space import Space
from bough.storage import Amendment
from bough.strategies import streams
from bough.strategies.base import ForeseesGain, RemainingGain, Strategy

__all__ = ["ForeseenStudy", "Settling", "check_until", "gain_after"]

SETTLED_RESULTS = 5
"""So many results in a row must leave nothing to gain."""

MIN_RESULTS = 10
"""Before this many results a model cannot know."""

_log = logging.getLogger("bough")


class ForeseenStudy(Protocol):
    """The part of a study that ``Settling`` needs."""

    @property
    def amendments(self) -> Sequence[Amendment]:
        """The amendments of the study: a correction changes the gain that was left."""
        ...

    def count_results(self) -> int:
        """How many results the method has: of trials that are done, and predicted ones of stopped trials."""
        ...

    def remaining_gain(self, results: int | None = None) -> RemainingGain:
        """The gain that was left after the first ``results`` results; None: now."""
        ...


def check_until(until: str | None, study: object) -> None:
    """StudyError unless a run can go on ``until`` that."""
    if until is None:
        return
    if until != "settled":
        raise StudyError(f"until must be 'settled' or None, not {until!r}")
    foreseen = getattr(study, "can_foresee", None)
    if foreseen is None:
        raise StudyError("until='settled' needs the study's storage: a served study cannot say what is left")
    foreseen()


def check_foresees(strategy: Strategy, method: str) -> ForeseesGain:
    if not isinstance(strategy, ForeseesGain):
        raise StudyError(
            f"until='settled' needs one objective and a method that can say what is left to gain, such as "
            f"'auto'; {method!r} cannot"
        )
    return strategy


def gain_after(strategy: ForeseesGain, space: Space, history: History, results: int | None) -> RemainingGain:
    """The gain that is left after the first ``results`` results, a function of the stored history alone."""
    count = len(history.done) if results is None else results
    first = slice(0, count)
    latest = int(history.done_numbers[first].max(initial=0))
    failed = np.flatnonzero(history.failed_numbers < latest)
    past = replace(
        history,
        number=latest + 1,
        done=history.done.take(first),
        y=history.y[first],
        noise=history.noise[first],
        done_numbers=history.done_numbers[first],
        failed=history.failed.take(failed),
        failed_numbers=history.failed_numbers[failed],
        pending=history.pending.take([]),
        pending_numbers=history.pending_numbers[:0],
        stopped=None if history.stopped is None else history.stopped[first],
        spending=None,
    )
    return strategy.remaining_gain(
        space, past, np.random.default_rng([history.seed, count, streams.REMAINING_GAIN])
    )


class Settling:
    """Asks a study what was left after each of the last results; keeps the answers until it is amended."""

    def __init__(self, study: ForeseenStudy) -> None:
        self._study = study
        self._known: dict[int, RemainingGain] = {}
        self._said = 0  # how many amendments those answers know of
        self._finished = -1

    def settled(self, finished: int) -> bool:
        """Whether the last results all left nothing to gain. It says so in the log.

        finished: how many trials are over; the answer is looked for once for each such number.
        """
        if finished == self._finished:
            return False
        if (said := len(self._study.amendments)) != self._said:
            self._said, self._known = said, {}
        self._finished, results = finished, self._study.count_results()
        if results < max(MIN_RESULTS, SETTLED_RESULTS):
            return False
        for count in range(results, results - SETTLED_RESULTS, -1):
            if count not in self._known:
                self._known[count] = self._study.remaining_gain(count)
            if not self._known[count].settled:
                return False
        left = self._known[results]
        _log.warning(
            "settled: another trial is expected to gain %.3g, and with 95 %% confidence the optimum is at "
            "most %.3g better than the best trial",
            left.expected,
            left.possible,
        )
        return True
