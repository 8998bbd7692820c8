"""Results that a change of the space withdrew: the model learns from them, but nothing has to beat them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import bough
from bough.acquisition.maximise.candidates import near_incumbents
from bough.history import History
from bough.space import Space
from bough.space.fidelity import full_space
from bough.strategies.branch_exploration import other_branches
from bough.strategies.context import ProposalContext
from bough.strategies.goal_based import GoalBased
from bough.strategies.model_based import ModelBased, not_withdrawn

WIDE = Space({"x": bough.Float(0, 1), "y": bough.Float(0, 1)})
NARROW = Space({"x": bough.Float(0.5, 1), "y": bough.Float(0, 1)})

MODELS: dict[str, Any] = {
    "old": {"p": bough.Float(0, 1)},
    "mid": {"q": bough.Float(0, 1), "r": bough.Float(0, 1)},
    "third": {"w": bough.Float(0, 1)},
}
WITH_OLD = Space({"kind": bough.Choice(MODELS)})
WITHOUT_OLD = Space({"kind": bough.Choice({kind: MODELS[kind] for kind in ("mid", "third")})})


def bowl(config: dict[str, Any]) -> float:
    return float((config["x"] - 0.2) ** 2 + (config["y"] - 0.4) ** 2)


def best_when_old(config: dict[str, Any]) -> float:
    if config["kind"] == "old":
        return -1.0 + float(config["p"]) ** 2
    if config["kind"] == "mid":
        return 1.0 + float((config["q"] - 0.3) ** 2 + (config["r"] - 0.5) ** 2)
    return 1.2 + float((config["w"] - 0.4) ** 2)


def narrowed(trials: int = 20) -> bough.Study:
    study = bough.Study(WIDE, seed=0).run(bowl, trials=trials, progress=False)
    study.change(NARROW)
    return study


def seen_by(study: bough.Study) -> tuple[Space, History]:
    """The space and the history that the method gets."""
    with study._current() as view:
        return study._in_use(view)[0].space, study._history(view)


def context_of(study: bough.Study) -> ProposalContext:
    strategy = study._strategy
    assert isinstance(strategy, ModelBased)
    return strategy._context(*seen_by(study))


@pytest.mark.parametrize(
    ("before", "after", "objective", "optimum"),
    [(WIDE, NARROW, bowl, 0.09), (WITH_OLD, WITHOUT_OLD, best_when_old, 1.0)],
    ids=["a range", "a branch"],
)
def test_a_search_settles_although_a_better_result_was_withdrawn(
    before: Space, after: Space, objective: Any, optimum: float
) -> None:
    study = bough.Study(before, seed=0).run(objective, trials=20, progress=False)
    study.change(after)
    study.run(objective, trials=60, until="settled", progress=False)
    assert len(study.trials) < 45
    assert study.best.value == pytest.approx(optimum, abs=2e-3)
    left = study.remaining_gain()
    assert left.settled
    assert left.expected < 0.01 and 0 < left.possible < 0.01


def test_what_a_branch_reached_is_the_best_of_its_present_trials() -> None:
    study = narrowed()
    study.run(bowl, trials=30, progress=False)
    (told,) = study.explain()["branches"]
    assert min(trial.value for trial in study.trials) < 0.01 < told["best"]
    assert told["best"] == study.best.value
    assert told["may_reach"] > 0.08
    assert told["trials"] == 30


def test_a_result_beyond_a_limit_is_not_the_best_of_its_branch() -> None:
    study = bough.Study(WIDE, seed=0, constraints=["memory <= 1"])
    for x, memory in ((0.2, 2.0), (0.6, 0.5)):
        study.add({"x": x, "y": 0.4}, {"value": x, "memory": memory})
    (told,) = study.explain()["branches"]
    assert told["best"] == study.best.value == 0.6


def test_a_branch_reaches_nothing_that_is_forbidden() -> None:
    space = Space({"x": bough.Float(0, 1), "y": bough.Float(0, 1)}, forbid=["x < 0.5 and y < 0.5"])
    study = bough.minimize(lambda config: config["x"] + config["y"], space, 16, seed=0, progress=False)
    assert study.explain(branch={})["may_reach"] > 0.45


def test_steps_start_and_end_at_legal_points() -> None:
    space = Space({"x": bough.Float(0, 1)}, forbid=["x < 0.5"])
    near = space.encode([{"x": 0.9}])
    withdrawn = replace(near, x=np.array([[0.1]]), hashes=None)
    for points in (near, withdrawn):
        steps = near_incumbents(space, points, 8, np.random.default_rng(0))
        assert space.legal(steps).all()
        assert len(steps) == (16 if points is near else 0)


def test_searches_start_near_results_of_the_current_space_alone() -> None:
    study = narrowed()
    study.run(bowl, trials=24, progress=False)
    space, history = seen_by(study)
    legal, context = space.legal(history.done), context_of(study)
    assert 0 < legal.sum() < len(legal)
    assert len(context.near) == legal.sum() and space.legal(context.near).all()
    np.testing.assert_array_equal(context.level, np.where(legal, context.model.z, np.inf))
    assert min(context.model.best) == context.level.min()


def test_all_results_count_while_the_current_space_has_none() -> None:
    study = bough.Study(WIDE, seed=0)
    for x in (0.1, 0.2, 0.3):
        study.add({"x": x, "y": 0.5}, value=x)
    study.change(NARROW)
    context = context_of(study)
    assert len(context.near) == 3 and np.isfinite(context.level).all()
    assert np.isfinite(study.remaining_gain().possible)
    study.run(bowl, trials=8, progress=False)


def test_a_branch_is_compared_by_its_present_results() -> None:
    """Its best one was withdrawn; the others are what it may improve on."""
    before = Space({"kind": bough.Choice({"a": {"x": bough.Float(0, 1)}, "b": {"y": bough.Float(0, 1)}})})
    after = Space({"kind": bough.Choice({"a": {"x": bough.Float(0, 1)}, "b": {"y": bough.Float(0.5, 1)}})})
    study = bough.Study(before, seed=0)
    for y, value in ((0.1, -5.0), (0.2, -4.0), (0.7, 1.0), (0.8, 2.0)):
        study.add({"kind": "b", "y": y}, value=value)
    study.add({"kind": "a", "x": 0.5}, value=0.0)
    study.change(after)
    (branch,) = other_branches(context_of(study))
    assert branch.rows.tolist() == [2, 3]


def test_a_result_at_a_lower_fidelity_was_not_withdrawn() -> None:
    """The space of the method forbids every fidelity but the highest."""
    space = Space({"x": bough.Float(0, 1), "epochs": bough.Int(1, 9, fidelity=True)})
    study = bough.Study(space, seed=0)
    for x, epochs in ((0.1, 1), (0.2, 1), (0.3, 9)):
        study.add({"x": x, "epochs": epochs}, value=x)
    seen, history = seen_by(study)
    assert seen.layout.columns == full_space(space).layout.columns
    column = [parameter.name for parameter in seen].index("epochs")
    history = replace(history, fidelity=(column, float(history.done.x[2, column])))
    assert seen.legal(history.done).tolist() == [False, False, True]
    assert not_withdrawn(seen, history, history.done).all()


def test_searches_for_several_objectives_start_at_present_results() -> None:
    study = bough.Study(WIDE, objectives=["a", "b"], seed=0)
    study.run(lambda c: {"a": bowl(c), "b": c["x"] + c["y"]}, trials=14, progress=False)
    study.change(NARROW)
    space, history = seen_by(study)
    strategy, rng = study._strategy, np.random.default_rng(0)
    assert isinstance(strategy, GoalBased)
    models = strategy._models(space, history, np.ones(2))
    near = strategy._context(space, history, models, rng).near
    assert 0 < len(near) == space.legal(history.done).sum() < 14
