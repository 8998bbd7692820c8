"""A study with a fidelity, as its method sees it.

The fidelity is a column of the space like any other, and everything that may be proposed has its highest
value (``space.fidelity.full_space``). A model of all results therefore learns how results at different
fidelities are related: the covariance over this column is the context kernel of Jenatton et al. 2017, sec. 5.
Only improvement at the highest fidelity counts. The median change from a lower fidelity to the highest is
added to values at the lower one; otherwise the model would explain a mere difference of levels by smoothness.
``strategies.fidelity_gain`` says which configuration is evaluated next, and at which fidelity.

Configurations without a result at the highest fidelity count as pending there. So no method proposes them
again, and a model assumes its own predictions for them.

A method without a model cannot compare results of different fidelities. It sees one fidelity alone: the
highest at which there are at least two results more than parameters (BOHB, Falkner et al. 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bough.history import SAME_POSITION, History
from bough.points import FloatArray, IntArray, Points, row_keys
from bough.space import Space
from bough.strategies.base import tried_with_numbers

__all__ = ["at_fidelity", "first_trials", "history_with_fidelity"]

MORE_THAN_COLUMNS = 2
"""Results that a method without a model needs at one fidelity, besides one per parameter."""

LARGEST_VALUE = 1e300
"""Values beyond this are cut off: their sums and differences must stay finite."""


def at_fidelity(points: Points, fidelity: tuple[int, float]) -> Points:
    """The same configurations at another fidelity: its column, and the position there."""
    x = points.x.copy()
    x[:, fidelity[0]] = fidelity[1]
    return Points(x, points.on)


def first_trials(space: Space, points: Points, numbers: IntArray) -> dict[bytes, int]:
    """The row of the first trial of each configuration, by its key, in the order of trial numbers."""
    keys, first = row_keys(space.layout, points), dict[bytes, int]()
    for row in np.argsort(numbers, kind="stable").tolist():
        first.setdefault(keys[row], row)
    return first


def history_with_fidelity(
    space: Space, history: History, fidelity: tuple[int, float], rungs: Sequence[float], learns: bool
) -> History:
    """The history for a method; its number and those of beliefs count configurations instead of trials.

    fidelity: as in ``History``. rungs: the positions of all rungs. learns: whether the method has a model.
    """
    history = replace(history, fidelity=fidelity)
    if learns:
        history = _at_one_level(space, history, rungs)
    else:
        history = _one_fidelity(history, rungs)
    every, numbers = tried_with_numbers(history)
    every = at_fidelity(every, fidelity)
    first = first_trials(space, every, numbers)
    over = np.flatnonzero(~history.is_lower)
    failed = len(history.done) + np.arange(len(history.failed))
    given_up = np.arange(len(every) - (0 if history.given_up is None else len(history.given_up)), len(every))
    finished = set(row_keys(space.layout, every.take(np.concatenate([over, failed, given_up]))))
    waiting = [row for key, row in first.items() if key not in finished]
    begun = numbers[list(first.values())]
    return replace(
        history,
        number=len(first),
        failed=every.take(failed),
        pending=every.take(waiting),
        pending_numbers=numbers[waiting],
        given_up=every.take(given_up) if len(given_up) else None,
        beliefs=tuple(replace(each, since=int(np.sum(begun < each.since))) for each in history.beliefs),
    )


def _at_one_level(space: Space, history: History, rungs: Sequence[float]) -> History:
    """The history with every value, objective and slack shifted to the level of the highest rung."""
    outcomes = history.outcomes
    if outcomes is not None:
        values, slacks = (
            np.array([_shifted(space, history, column, rungs) for column in table.T]).reshape(table.T.shape).T
            for table in (outcomes.values, outcomes.slacks)
        )
        outcomes = replace(outcomes, values=values, slacks=slacks)
    return replace(history, y=_shifted(space, history, history.y, rungs), outcomes=outcomes)


def _shifted(space: Space, history: History, y: FloatArray, rungs: Sequence[float]) -> FloatArray:
    """Values (n,) plus the median change from their rung to the highest one, over configurations with both.

    Only changes on the same branch count, and only the first 1, 2, 4, 8, ... of them: if values changed with
    every trial, the model would have to fit its whole past again each time.
    """
    assert history.fidelity is not None
    y = np.clip(y, -LARGEST_VALUE, LARGEST_VALUE)
    keys = row_keys(space.layout, at_fidelity(history.done, history.fidelity))
    branches = space.tree.branch_ids(history.done).tolist() if len(keys) else []
    rung, top = _rung(history, rungs).tolist(), len(rungs) - 1
    results: dict[bytes, dict[int, float]] = {}
    changes: dict[tuple[int, int], list[float]] = {}
    for row, key in enumerate(keys):
        mine = results.setdefault(key, {})
        mine[rung[row]] = float(y[row])
        if rung[row] == top:
            for lower in range(top):
                if lower in mine:
                    changes.setdefault((branches[row], lower), []).append(mine[top] - mine[lower])
    shift = {
        place: float(np.median(known[: 1 << (len(known).bit_length() - 1)]))
        for place, known in changes.items()
    }
    shifts = [shift.get(place, 0.0) for place in zip(branches, rung)]
    return np.asarray(y + np.array(shifts, np.float64))


def _rung(history: History, rungs: Sequence[float]) -> IntArray:
    """(n,) the highest rung that each finished trial reaches."""
    assert history.fidelity is not None
    position = history.done.x[:, history.fidelity[0]] + SAME_POSITION
    return np.asarray(np.maximum(np.searchsorted(np.asarray(rungs), position, side="right") - 1, 0), np.intp)


def _one_fidelity(history: History, rungs: Sequence[float]) -> History:
    """Only the results at one rung, as if it were the highest; the others count as pending."""
    assert history.fidelity is not None
    rung = _rung(history, rungs)
    counts = np.bincount(rung, minlength=len(rungs))
    needed = history.done.x.shape[1] + MORE_THAN_COLUMNS
    enough = np.flatnonzero(counts >= needed)
    chosen = int(enough[-1]) if len(enough) else int(np.argmax(counts))
    kept, others = np.flatnonzero(rung == chosen), np.flatnonzero(rung != chosen)
    pending = Points.concat([history.pending, history.done.take(others)])
    return replace(
        _rows(history, kept),
        done=at_fidelity(history.done.take(kept), history.fidelity),
        pending=pending,
        pending_numbers=np.concatenate([history.pending_numbers, history.done_numbers[others]]),
    )


def _rows(history: History, rows: IntArray) -> History:
    """Only some of the finished trials."""
    outcomes, spending = history.outcomes, history.spending
    if outcomes is not None:
        outcomes = replace(
            outcomes,
            values=outcomes.values[rows],
            slacks=outcomes.slacks[rows],
            noise=outcomes.noise[rows],
            slack_noise=outcomes.slack_noise[rows],
        )
    return replace(
        history,
        y=history.y[rows],
        noise=history.noise[rows],
        done_numbers=history.done_numbers[rows],
        outcomes=outcomes,
        spending=None if spending is None else replace(spending, costs=spending.costs[rows]),
        stopped=None if history.stopped is None else history.stopped[rows],
    )
