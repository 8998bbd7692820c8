"""What a branch may still reach, which branch that is best for, and the improvement that decisions see."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.strategies.histories import history

import bough
from bough.acquisition.criterion import Expected
from bough.acquisition.functions import LOG_EI
from bough.gp.output_transform import OutputTransform
from bough.points import Points
from bough.registry import build, method
from bough.strategies.branch_exploration import Branch, improve, other_branches, promising
from bough.strategies.context import Choice, ConditionedModel, ProposalContext
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

    has_noise = False

    def predict(self, points: Points) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(len(points)), np.ones(len(points))


class Level:
    """A criterion that is ``level`` everywhere, a bit more for larger values."""

    def __init__(self, level: float) -> None:
        self.level = level

    def __call__(self, points: Points) -> np.ndarray:
        return self.level + 1e-3 * np.where(SPACE.layout.active(points.on), points.x, 0).sum(axis=1)

    def with_gradient(self, points: Points) -> tuple[np.ndarray, np.ndarray]:
        real = SPACE.layout.active(points.on) & (SPACE.layout.levels == 0)
        return self(points), 1e-3 * real


def context_of(results: list[tuple[dict[str, object], float]], level: float) -> ProposalContext:
    done = SPACE.encode([config for config, _ in results])
    z = np.array([value for _, value in results])
    return ProposalContext(
        space=SPACE,
        model=ConditionedModel(OutputTransform(), [Flat()], [float(z.min())], z),  # type: ignore[list-item]
        make_criterion=lambda rows=None, sd_share=1.0: Level(level),
        improvement=Level(level),
        done=done,
        near=done.take(np.argsort(z, kind="stable")),
        avoid=done,
        number=2,
        level=z,
        find_early=lambda: done.take([]),
    )


def known(context: ProposalContext, rng: np.random.Generator) -> Choice:
    return Choice(SPACE.encode([{"kind": "a", "x": 0.25}]))


OPTIMISM = 3.0

LEADER = [({"kind": "a", "x": 0.1 * i}, -2.0 + 0.01 * i) for i in range(5)]


def test_the_branch_that_may_reach_the_lowest_value_gets_the_turn() -> None:
    poor_but_new = ({"kind": "b", "y": 0.3}, 0.9)
    better_known = [({"kind": "c", "z": 0.1 * i}, 0.0) for i in range(1, 5)]
    context = context_of([*LEADER, poor_but_new, *better_known], level=-10.0)
    assert 0.0 - OPTIMISM / math.sqrt(4) > 0.9 - OPTIMISM
    branch = promising(context, other_branches(context))
    assert branch is not None
    assert branch.rows.tolist() == [5]
    point = improve(context, branch, np.random.default_rng(0)).points
    assert SPACE.decode(point)[0]["kind"] == "b"


def test_no_branch_is_promising_where_none_can_beat_the_incumbent() -> None:
    hopeless = [({"kind": "b", "y": 0.01 * i}, 3.0) for i in range(20)]
    context = context_of([*hopeless, ({"kind": "only"}, 0.0), *reversed(LEADER)], level=-10.0)
    assert promising(context, other_branches(context)) is None


@pytest.mark.parametrize(
    ("free", "trials", "may_win"), [(1, 2, False), (2, 2, True), (2, 4, False), (8, 4, True)]
)
def test_trials_say_less_about_a_branch_with_more_parameters(free: int, trials: int, may_win: bool) -> None:
    """After n trials in d dimensions a branch may still fall by 3 n^(−2/d)."""
    context = context_of(LEADER, level=0.0)
    best = context.level.min() + 1.0
    context = replace(context, level=np.append(context.level, [best] * trials))
    branch = Branch(len(LEADER) + np.arange(trials), free, SPACE.tree.all_paths(4)[0])
    assert (OPTIMISM / trials ** (2 / free) > 1.0) == may_win
    assert (promising(context, [branch]) is branch) == may_win


@pytest.mark.parametrize("acquisition", ["log-ei", "log-pi", "lcb"])
def test_the_improvement_does_not_depend_on_the_criterion(acquisition: str) -> None:
    strategy = build(method("auto", acquisition=acquisition, initial=1), SPACE)
    assert isinstance(strategy, ModelBased)
    told = history(SPACE, [*LEADER, ({"kind": "b", "y": 0.3}, 0.9)])
    seen: list[ProposalContext] = []

    def decide(context: ProposalContext, rng: np.random.Generator) -> Choice:
        seen.append(context)
        return known(context, rng)

    replace(strategy, decide=decide).propose(SPACE, told, np.random.default_rng(0))
    (context,) = seen
    expected = Expected(context.model.posteriors, context.model.best, LOG_EI)(context.done)
    np.testing.assert_array_equal(context.improvement(context.done), expected)
