"""The guard: whose turn it is, that it improves on its own best, and when it rests."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.strategies.histories import history

import bough
from bough.acquisition.criterion import Expected
from bough.acquisition.functions import LOG_EI
from bough.gp.targets import Targets
from bough.points import Points
from bough.registry import method, strategy_for
from bough.strategies.decisions import STALE, Model, Situation
from bough.strategies.guard import REACH, guarded, promising, rivals
from bough.strategies.model_based import ModelBased

SPACE = bough.Space(
    {
        "kind": bough.Choice(
            {
                "a": {"x": bough.Float(0, 1)},
                "b": {"y": bough.Float(0, 1)},
                "c": {"z": bough.Float(0, 1)},
                "only": {},
            }
        )
    }
)


class Flat:
    """A posterior that expects zero everywhere and is equally unsure about it."""

    noisy = False

    def predict(self, points: Points) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(len(points)), np.ones(len(points))


class Worth:
    """A criterion that is ``level`` everywhere, a bit more for larger values."""

    def __init__(self, level: float) -> None:
        self.level = level

    def __call__(self, points: Points) -> np.ndarray:
        return self.level + 1e-3 * np.where(SPACE.layout.active(points.on), points.x, 0).sum(axis=1)

    def with_gradient(self, points: Points) -> tuple[np.ndarray, np.ndarray]:
        real = SPACE.layout.active(points.on) & (SPACE.layout.levels == 0)
        return self(points), 1e-3 * real


def situation(results: list[tuple[dict[str, object], float]], level: float, number: int = 2) -> Situation:
    done = SPACE.encode([config for config, _ in results])
    z = np.array([value for _, value in results])
    return Situation(
        space=SPACE,
        model=Model(Targets(), [Flat()], [float(z.min())], z),  # type: ignore[list-item]
        worth=lambda best, share=1.0: Worth(level),
        gain=Worth(level),
        done=done,
        avoid=done,
        number=number,
    )


def known(now: Situation, rng: np.random.Generator) -> Points:
    return SPACE.encode([{"kind": "a", "x": 0.25}])


LEADER = [({"kind": "a", "x": 0.1 * i}, -2.0 + 0.01 * i) for i in range(5)]


def test_the_branch_with_most_left_to_hope_for_gets_the_turn() -> None:
    poor_but_new = ({"kind": "b", "y": 0.3}, 0.9)
    better_known = [({"kind": "c", "z": 0.1 * i}, 0.0) for i in range(1, 5)]
    now = situation([*LEADER, poor_but_new, *better_known], level=-10.0)
    assert 0.0 - REACH / math.sqrt(4) > 0.9 - REACH
    branch = promising(now, rivals(now))
    assert branch is not None
    assert branch.rows.tolist() == [5]
    point = guarded(known)(now, np.random.default_rng(0))
    assert SPACE.decode(point)[0]["kind"] == "b"


def test_it_rests_where_nothing_can_be_hoped_for() -> None:
    hopeless = [({"kind": "b", "y": 0.01 * i}, 3.0) for i in range(20)]
    now = situation([*hopeless, ({"kind": "only"}, 0.0), *reversed(LEADER)], level=-10.0)
    assert promising(now, rivals(now)) is None
    assert SPACE.decode(guarded(known)(now, np.random.default_rng(0)))[0] == {"kind": "a", "x": 0.25}


@pytest.mark.parametrize(("level", "number"), [(-1.0, 2), (-10.0, 3)])
def test_it_waits_while_the_model_sees_something_to_gain_and_every_other_trial(
    level: float, number: int
) -> None:
    now = situation([*LEADER, ({"kind": "b", "y": 0.3}, 0.9)], level, number)
    assert SPACE.decode(guarded(known)(now, np.random.default_rng(0)))[0] == {"kind": "a", "x": 0.25}


def test_stuck_without_hope_it_looks_anywhere_in_the_branch_with_fewest_trials() -> None:
    hopeless = [({"kind": "b", "y": 0.01 * i}, 3.0) for i in range(20)]
    fewer = [({"kind": "c", "z": 0.01 * i}, 3.0) for i in range(10)]
    now = situation([*LEADER, *hopeless, *fewer], level=-1.0)
    assert promising(now, rivals(now)) is None
    looks = [SPACE.decode(guarded(known)(now, np.random.default_rng(seed)))[0] for seed in range(20)]
    assert {look["kind"] for look in looks} == {"c"}
    places = np.sort([look["z"] for look in looks])
    assert places[0] < 0.25
    assert places[-1] > 0.75
    assert np.diff(places).max() < 0.4


def test_it_acts_when_promises_have_not_come_true_for_long() -> None:
    promising_branch = ({"kind": "b", "y": 0.3}, 0.0)
    fruitless = [({"kind": "a", "x": 0.5 + 0.01 * i}, -1.0) for i in range(STALE)]
    for count, kind in ((STALE - 2, "a"), (STALE - 1, "b")):
        now = situation([LEADER[0], promising_branch, *fruitless[:count]], level=-1.0)
        assert SPACE.decode(guarded(known)(now, np.random.default_rng(0)))[0]["kind"] == kind


@pytest.mark.parametrize("acquisition", ["log-ei", "ei", "pi", "lcb"])
def test_what_there_is_to_gain_does_not_depend_on_the_criterion(acquisition: str) -> None:
    strategy = strategy_for(method("auto", acquisition=acquisition, initial=4), SPACE)
    assert isinstance(strategy, ModelBased)
    told = history(SPACE, [*LEADER, ({"kind": "b", "y": 0.3}, 0.9)])
    seen: list[Situation] = []

    def decide(now: Situation, rng: np.random.Generator) -> Points:
        seen.append(now)
        return known(now, rng)

    replace(strategy, decide=decide).propose(SPACE, told, np.random.default_rng(0))
    (now,) = seen
    expected = Expected(now.model.posteriors, now.model.best, LOG_EI)(now.done)
    np.testing.assert_array_equal(now.gain(now.done), expected)
