"""What a method sees of a study with a fidelity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough
from bough.history import History, Outcomes
from bough.points import Points
from bough.strategies.fidelity_history import history_with_fidelity

SPACE = bough.Space({"x": bough.Float(0, 1), "epochs": bough.Int(1, 9, fidelity=True)})
RUNGS = (1, 3, 9)


def positions() -> list[float]:
    return SPACE.encode([{"x": 0.5, "epochs": epochs} for epochs in RUNGS]).x[:, 1].tolist()


def history_of(done: Points, outcomes: Outcomes | None, y: Any = None) -> History:
    nothing, none = done.take([]), np.arange(0)
    return History(
        seed=0,
        number=len(done),
        done=done,
        y=np.array(y, float) if outcomes is None else outcomes.values[:, 0],
        noise=np.full(len(done), np.nan),
        done_numbers=np.arange(len(done)),
        failed=nothing,
        failed_numbers=none,
        pending=nothing,
        pending_numbers=none,
        outcomes=outcomes,
    )


def test_every_objective_and_limit_is_shifted_to_the_level_of_the_highest_rung() -> None:
    results = [  # x, epochs, error, memory, slack: from 3 to 9 epochs they change by -1, +2 and +3
        (0.1, 3, 5.0, 10.0, -1.0), (0.1, 9, 4.0, 12.0, 2.0),
        (0.2, 3, 7.0, 20.0, 0.0), (0.2, 9, 6.0, 22.0, 3.0), (0.3, 3, 3.0, 30.0, 1.0),
    ]  # fmt: skip
    done = SPACE.encode([{"x": x, "epochs": epochs} for x, epochs, *_ in results])
    values = np.array([row[2:4] for row in results])
    slacks = np.array([row[4:] for row in results])
    outcomes = Outcomes(
        values, slacks, np.full(2, np.nan), ("error", "memory"), ("slack",), values * np.nan, slacks * np.nan
    )
    seen = history_with_fidelity(
        SPACE, history_of(done, outcomes), (1, positions()[-1]), positions(), learns=True
    )
    assert seen.y.tolist() == [4.0, 4.0, 6.0, 6.0, 2.0]
    assert seen.outcomes is not None
    assert seen.outcomes.values.tolist() == [[4, 12], [4, 12], [6, 22], [6, 22], [2, 32]]
    assert seen.outcomes.slacks.tolist() == [[2], [2], [3], [3], [4]]


def test_goals_without_limits_have_no_slacks_to_shift() -> None:
    done = SPACE.encode([{"x": 0.1, "epochs": 3}])
    values = np.array([[1.0, 2.0]])
    empty = np.empty((1, 0))
    outcomes = Outcomes(values, empty, np.full(2, np.nan), ("a", "b"), (), values * np.nan, empty)
    seen = history_with_fidelity(
        SPACE, history_of(done, outcomes), (1, positions()[-1]), positions(), learns=True
    )
    assert seen.outcomes is not None
    assert seen.outcomes.slacks.shape == (1, 0)
    assert seen.outcomes.values.tolist() == [[1.0, 2.0]]


def test_values_at_the_end_of_the_range_stay_finite() -> None:
    """Some objectives return the largest float for a configuration that does not work."""
    largest = np.finfo(float).max
    results = [(0.1, 3, -1.0), (0.1, 9, largest), (0.2, 3, -largest), (0.2, 9, largest), (0.3, 3, largest)]
    done = SPACE.encode([{"x": x, "epochs": epochs} for x, epochs, _ in results])
    values, nothing = np.array([[value] for *_, value in results]), np.empty((len(results), 0))
    outcomes = Outcomes(values, nothing, np.full(1, np.nan), ("error",), (), values * np.nan, nothing)
    with np.errstate(all="raise"):
        seen = history_with_fidelity(
            SPACE, history_of(done, outcomes), (1, positions()[-1]), positions(), learns=True
        )
    assert np.isfinite(seen.y).all()
    assert seen.y[4] == seen.y.max()


def seen_by(results: list[tuple[float, int, float]], learns: bool) -> History:
    """What a method sees of results (x, epochs, value)."""
    done = SPACE.encode([{"x": x, "epochs": epochs} for x, epochs, _ in results])
    told = history_of(done, None, [value for *_, value in results])
    return history_with_fidelity(SPACE, told, (1, positions()[-1]), positions(), learns)


def test_shifts_change_only_when_the_number_of_known_changes_doubles() -> None:
    """Otherwise a model would fit its whole past again after each result."""
    both = [(0.1, -1.0), (0.2, -3.0), (0.3, -9.0), (0.4, -9.0)]  # x, and the change from 3 to 9 epochs
    results = [each for x, change in both for each in ((x, 3, 10.0), (x, 9, 10.0 + change))]
    lowest = [float(seen_by(results[: 2 * known], learns=True).y[0]) for known in (1, 2, 3, 4)]
    assert lowest == [9.0, 8.0, 8.0, 4.0], "medians of the first 1, 2, 2 and 4 changes"


def test_a_method_without_a_model_sees_the_highest_fidelity_with_enough_results() -> None:
    """Enough are two more than columns, so 4 here."""
    low = [(0.1 * k, 1, float(k)) for k in range(1, 8)]
    high = [(0.1 * k, 3, 10.0 + k) for k in range(1, 5)]
    few, enough = seen_by([*low, *high[:3]], learns=False), seen_by([*low, *high], learns=False)
    assert sorted(few.y.tolist()) == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    assert sorted(enough.y.tolist()) == [11.0, 12.0, 13.0, 14.0]
    assert enough.pending.x[:, 0].tolist() == pytest.approx([0.5, 0.6, 0.7]), "the others are not repeated"
