"""What a method sees of a study with a fidelity."""

from __future__ import annotations

import numpy as np

import bough
from bough.history import History, Outcomes
from bough.points import Points
from bough.strategies.fidelity_history import history_with_fidelity

SPACE = bough.Space({"x": bough.Float(0, 1), "epochs": bough.Int(1, 9, fidelity=True)})
RUNGS = (1, 3, 9)


def positions() -> list[float]:
    return SPACE.encode([{"x": 0.5, "epochs": epochs} for epochs in RUNGS]).x[:, 1].tolist()


def history_of(done: Points, outcomes: Outcomes) -> History:
    nothing, none = done.take([]), np.arange(0)
    return History(
        seed=0,
        number=len(done),
        done=done,
        y=outcomes.values[:, 0],
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
