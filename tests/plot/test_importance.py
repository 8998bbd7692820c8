"""Importance against exact decompositions: every conditional mean computed by enumerating a finite space."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from bough import Study, plot
from bough.plot import StudySnapshot
from bough.plot.decomposition import decompose, dependencies
from bough.plot.draw_importance import _short_names, importances
from bough.plot.ensemble import fit_ensemble
from bough.points import FloatArray, Points
from bough.space import Categorical, Choice, Int, Space
from bough.trial import Trial

Function = Callable[[Space, Points], FloatArray]
TOLERANCE = 0.03
"""About five standard errors of a covariance of 4096 quasi-random draws."""


def active_values(space: Space, points: Points) -> FloatArray:
    return np.where(space.layout.active(points.on), points.x, 0.0)


def exact(space: Space, function: Function) -> tuple[float, dict[str, tuple[float, float]]]:
    """Share between branches, and (main, total) by path, from the definition, over all cells of the cube."""
    cells = [(np.arange(m) + 0.5) / m for m in space.layout.levels]
    cube = np.array(list(itertools.product(*cells)))
    y = function(space, space.snap(cube))

    def explained(kept: np.ndarray) -> float:
        """Var(E[f | kept]) / Var(f)"""
        if not kept.any():
            return 0.0
        _, cell = np.unique(cube[:, kept], axis=0, return_inverse=True)
        cell = cell.ravel()
        mean = np.bincount(cell, y) / np.bincount(cell)
        return float(mean[cell].var() / y.var())

    above = _above(space)
    found = {}
    for i, parameter in enumerate(space.parameters):
        itself = np.arange(len(space)) == i
        rest = ~above[:, i] & ~itself
        main = explained(above[i] | itself) - explained(above[i])
        found[parameter.path] = (main, explained(rest | itself) - explained(rest))
    return explained(space.layout.switch), found


def _above(space: Space) -> np.ndarray:
    """Which columns decide the activity of which, found by trying: flipping j changes whether i is active."""
    rng = np.random.default_rng(0)
    u = rng.random((2000, len(space)))
    base = space.layout.active(space.snap(u).on)
    above = np.zeros((len(space), len(space)), dtype=bool)
    for j in range(len(space)):
        changed = u.copy()
        changed[:, j] = rng.random(len(u))
        above[:, j] = (space.layout.active(space.snap(changed).on) != base).any(axis=0)
    return above


def additive(space: Space, points: Points) -> FloatArray:
    return active_values(space, points) @ np.linspace(1, 3, len(space))


def interacting(space: Space, points: Points) -> FloatArray:
    x = active_values(space, points)
    return x[:, 0] + 4 * (x[:, 1] - 0.5) * (x[:, 2] - 0.5) + 2 * x[:, 0] * x[:, -1]


def branching(space: Space, points: Points) -> FloatArray:
    x = active_values(space, points)
    weights = np.random.default_rng(3).normal(size=len(space))
    return x @ weights + 3 * x[:, 1] * x[:, 2] + points.on @ np.arange(points.on.shape[1]) * 0.3


FLAT = Space({name: Int(0, 5) for name in "abcd"})
TREE = Space(
    {
        "m": Choice(
            {
                "a": {"x": Int(0, 4), "y": Int(0, 4), "k": Choice({"p": {"q": Int(0, 4)}, "r": {}})},
                "b": {"x": Int(0, 9)},
                "c": {},
            }
        )
    }
)
GRAPH = Space(
    {
        "m": Categorical(["a", "b", "c"]),
        "s": Int(0, 3),
        "t": Int(0, 4, when="m == 'a' or s > 1"),
        "v": Int(0, 4, when="m != 'c' and t > 2"),
        "w": Int(0, 3),
    }
)
CASES = [
    (FLAT, additive),
    (FLAT, interacting),
    (TREE, additive),
    (TREE, branching),
    (GRAPH, branching),
    (GRAPH, interacting),
]


@pytest.mark.parametrize(("space", "function"), CASES)
def test_estimates_agree_with_the_exact_decomposition(space: Space, function: Function):
    found = decompose(lambda points: function(space, points), space, np.random.default_rng(0))
    between, shares = exact(space, function)
    assert found.between == pytest.approx(between, abs=TOLERANCE)
    for share in found.shares:
        main, total = shares[share.path]
        assert share.main == pytest.approx(main, abs=TOLERANCE), share.path
        assert share.total == pytest.approx(total, abs=TOLERANCE), share.path


def test_an_additive_function_has_the_shares_that_theory_says():
    """Var of weight * uniform grid; main = total = weight² / sum of weights²."""
    found = decompose(lambda points: additive(FLAT, points), FLAT, np.random.default_rng(1))
    weights = np.linspace(1, 3, 4) ** 2
    assert [share.main for share in found.shares] == pytest.approx(weights / weights.sum(), abs=TOLERANCE)
    assert [share.total for share in found.shares] == pytest.approx(weights / weights.sum(), abs=TOLERANCE)
    assert found.between == 0


def test_a_pure_interaction_has_no_main_effect():
    def saddle(points: Points) -> FloatArray:
        return (points.x[:, 0] - 0.5) * (points.x[:, 1] - 0.5)

    found = decompose(saddle, FLAT, np.random.default_rng(1))
    assert [share.main for share in found.shares] == pytest.approx([0, 0, 0, 0], abs=TOLERANCE)
    assert [share.total for share in found.shares] == pytest.approx([1, 1, 0, 0], abs=TOLERANCE)


def test_two_branches_known_by_hand():
    """f = 0 on one branch and x in {0, 1} on the other: mean 1/4, variance 3/16, a third of it between."""
    space = Space({"m": Choice({"a": {}, "b": {"x": Int(0, 1)}})})
    found = decompose(
        lambda points: np.where(points.on[:, -1], points.x[:, 1] > 0.5, 0.0), space, np.random.default_rng(0)
    )
    assert found.between == pytest.approx(1 / 3, abs=TOLERANCE)
    assert found.shares[1].main == pytest.approx(2 / 3, abs=TOLERANCE)


def test_dependencies_are_those_that_trying_finds():
    for space in (FLAT, TREE, GRAPH):
        assert np.array_equal(dependencies(space), _above(space))


def test_a_constant_explains_nothing():
    found = decompose(lambda points: np.full(len(points), 7.0), TREE, np.random.default_rng(0))
    assert found.between == 0
    assert all(share.main == share.total == 0 for share in found.shares)


def as_study(space: Space, function: Function, n: int) -> StudySnapshot:
    rng = np.random.default_rng(5)
    configs = space.sample(n, rng)
    values = function(space, space.encode(configs))
    trials = (Trial(i, config, "done", value=float(v)) for i, (config, v) in enumerate(zip(configs, values)))
    return StudySnapshot("study", space, "minimize", tuple(trials))


@pytest.mark.parametrize(("space", "function"), [(FLAT, additive), (FLAT, interacting), (TREE, branching)])
def test_importance_from_trials_comes_near_the_truth(space: Space, function: Function):
    found, skill = importances(as_study(space, function, 1500))
    _, shares = exact(space, function)
    assert skill > 0.9
    for share in found.shares:
        # greedy trees smooth a pure interaction away a little, and what they miss falls to the others
        assert share.main == pytest.approx(shares[share.path][0], abs=0.12), share.path
        assert share.total == pytest.approx(shares[share.path][1], abs=0.15), share.path


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_a_few_diverged_values_are_cut_off(direction: str) -> None:
    sign = 1.0 if direction == "minimize" else -1.0
    usual = replace(as_study(FLAT, lambda s, p: sign * additive(s, p), 400), direction=direction)
    far = tuple(replace(t, value=sign * 1e3) if t.number % 80 == 0 else t for t in usual.trials)
    diverged = replace(usual, trials=far)
    (found, skill), (wanted, _) = importances(diverged), importances(usual)
    assert diverged.ensemble.skill < 0.1 < 0.7 < skill
    assert [share.main for share in found.shares] == pytest.approx(
        [share.main for share in wanted.shares], abs=0.1
    )
    assert "far values cut off" in plot.importance(diverged).layout.title.text


def test_importance_within_a_branch_is_that_of_the_branch():
    """On branch b only x is left, so it explains everything there."""
    snapshot = as_study(TREE, additive, 600).within({"m": "b"})
    found, _ = importances(snapshot)
    shares = {share.path: share for share in found.shares}
    assert shares["m=b/x"].total == pytest.approx(1, abs=0.02)
    assert shares["m"].total == shares["m=a/x"].total == 0


def test_the_ensemble_never_reads_inactive_values():
    snapshot = as_study(TREE, branching, 200)
    ensemble = fit_ensemble(TREE.layout, snapshot.points, snapshot.values, np.random.default_rng(0))
    poisoned = Points(np.where(snapshot.active, snapshot.points.x, np.nan), snapshot.points.on)
    again = fit_ensemble(TREE.layout, poisoned, snapshot.values, np.random.default_rng(0))
    assert np.array_equal(ensemble.predict(snapshot.points)[0], again.predict(poisoned)[0])


def test_the_ensemble_knows_when_it_knows_nothing():
    snapshot = as_study(FLAT, additive, 300)
    noise = np.random.default_rng(0).normal(size=300)
    assert fit_ensemble(FLAT.layout, snapshot.points, noise, np.random.default_rng(0)).skill < 0.2
    assert np.isnan(fit_ensemble(FLAT.layout, snapshot.points, np.ones(300), np.random.default_rng(0)).skill)


@pytest.mark.parametrize(
    ("space", "kinds"),
    [
        (Space({"x": Int(0, 9), "y": Int(0, 9)}), {"by itself"}),
        (
            Space({"x": Choice({"a": {"y": Int(0, 9)}, "b": {}})}),
            {"between branches: by itself", "within branches: by itself"},
        ),
    ],
)
def test_the_legend_names_only_what_is_drawn(space: Space, kinds: set[str]) -> None:
    study = Study(space, method="random", seed=0)
    study.run(lambda config: 3 * (config["x"] in ("a", 0, 1, 2)) + config.get("y", 0), 60, progress=False)
    bars = plot.importance(study).data
    assert {bar.name for bar in bars if bar.showlegend is not False} == kinds


def test_long_paths_show_their_ends() -> None:
    deep = "choice_at_level_1=go_deeper_1/"
    paths = [
        "scale",
        f"{deep}rate_at_level_1",
        f"{deep}choice_at_level_2=one/width",
        f"{deep}other=two/width",
    ]
    short = _short_names(paths)
    assert short[:2] == ["scale", "…/rate_at_level_1"]
    assert len(set(short)) == 4 and max(map(len, short)) <= 40
    assert all(name.endswith("/width") for name in short[2:])


@pytest.mark.parametrize("factor", [2.0**1000, 2.0**-1000])
def test_shares_do_not_depend_on_the_unit_of_values(factor: float) -> None:
    usual, scaled = (as_study(TREE, f, 60) for f in (branching, lambda s, p: factor * branching(s, p)))
    assert importances(scaled) == importances(usual)
    assert np.array_equal(
        scaled.ensemble.predict(usual.points), factor * np.array(usual.ensemble.predict(usual.points))
    )
