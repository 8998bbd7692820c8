"""``run(until="settled")`` ends when the model predicts, several results in a row, no further gain."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np

from bough.errors import StudyError
from bough.history import History
from bough.space import Space
from bough.strategies import streams
from bough.strategies.base import ForeseesGain, RemainingGain, Strategy
from bough.study.goals import Goals

__all__ = ["Settling", "check_until", "gain_after"]

SETTLED_RESULTS = 5
"""Results in a row after which the model must see nothing left to gain; one alone may be chance."""

MIN_RESULTS = 10
"""Results before which no run counts as settled: the model knows too little."""

_log = logging.getLogger("bough")


def check_until(until: str | None, study: object) -> None:
    """StudyError unless ``until`` is valid and the study supports it."""
    if until is None:
        return
    if until != "settled":
        raise StudyError(f"until must be 'settled' or None, not {until!r}")
    foreseen = getattr(study, "can_foresee", None)
    if foreseen is None:
        raise StudyError("until='settled' needs the study's storage: a served study cannot say what is left")
    try:
        foreseen()
    except StudyError as error:
        raise StudyError(f"until='settled' cannot work: {error}") from None


def check_foresees(strategy: Strategy, method: str, goals: Goals) -> ForeseesGain:
    if not goals.is_single:
        raise StudyError("what is left to gain is known for one objective without constraints only")
    if not isinstance(strategy, ForeseesGain):
        raise StudyError(f"method {method!r} cannot say what is left to gain; 'auto' can")
    return strategy


def gain_after(strategy: ForeseesGain, space: Space, history: History, results: int | None) -> RemainingGain:
    """The remaining gain after the first ``results`` results; it depends only on the stored history."""
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
    """Checks the remaining gain after each of the last results; caches it until the study is amended."""

    def __init__(self, study: Any) -> None:  # a local study, as ``check_until`` made sure
        self._study = study
        self._known: dict[int, RemainingGain] = {}
        self._said = 0  # how many amendments the cached gains include
        self._finished = -1

    def settled(self, finished: int) -> bool:
        """Whether nothing was left to gain after each of the last results; if so, it is logged.

        finished: the number of finished trials; the check runs once for each number.
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
