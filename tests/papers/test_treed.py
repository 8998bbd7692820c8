"""Treed Gaussian processes: pooling by direct computation, and the plain process as a special case."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from tests.surrogates.fitting import fit

from bough import Categorical, Choice, Float, Space
from bough.gp.kernels import Matern52, Scale
from bough.gp.likelihood import Data, GPModel
from bough.gp.params import LogNormal
from bough.gp.posterior import posterior
from bough.papers.assael2014 import pooled_density
from bough.papers.assael2014.cart import leaves
from bough.papers.assael2014.pooled_density import Densities, padded, sample_targets
from bough.papers.assael2014.pooling import Hyper, Part, Target, ancestors, pool
from bough.papers.assael2014.treed import Treed
from bough.points import Points

PLANE = Space({"a": Float(0, 1), "b": Float(0, 1)})
BRANCHES = Space(
    {
        "top": Choice(
            {
                "l": {"sub": Choice({"u": {"x": Float(0, 1)}, "v": {"x": Float(0, 1)}}), "s": Float(0, 1)},
                "r": {"y": Float(0, 1), "kind": Categorical(["p", "q", "w"])},
            }
        ),
        "z": Float(0, 1),
    }
)

SWITCHES = Space(
    {
        "kind": Categorical(["p", "q", "w"]),
        "on": Choice({"yes": {"shade": Categorical(["x", "y"])}, "no": {}}),
    }
)
"""Nothing numeric."""


def sample(space: Space, n: int, seed: int) -> tuple[Points, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    points = space.encode(space.sample(n, rng))
    # what stands under an inactive column must never be read
    x = np.where(space.layout.active(points.on), points.x, np.nan)
    y = np.sin(9 * np.nansum(x, axis=1)) + 0.3 * points.on.sum(axis=1)
    return Points(x, points.on), (y - y.mean()) / y.std(), np.full(n, np.nan)


def targets_of(surrogate: Treed, data: Data) -> list[Target]:
    return surrogate.targets(data, surrogate.partition(data))


def matern(x: np.ndarray, lengths: np.ndarray, variance: float) -> np.ndarray:
    """The Matérn-5/2 covariance, by the formula."""
    r = np.sqrt(np.sum(((x[:, None] - x[None]) / lengths) ** 2, axis=2))
    return variance * (1 + np.sqrt(5) * r + 5 * r**2 / 3) * np.exp(-np.sqrt(5) * r)


def test_weights_fall_harmonically_and_parts_exclude_the_child() -> None:
    leaf, parent, root = np.array([1, 4]), np.array([0, 1, 4, 7]), np.arange(9)
    parts = pool([leaf, parent, parent, root], first=2.0)
    assert [part.weight for part in parts] == pytest.approx([2.0, 1.0, 2 / 3])
    assert [part.rows.tolist() for part in parts] == [[1, 4], [0, 7], [2, 3, 5, 6, 8]]


def test_pseudo_likelihood_of_a_three_level_tree_by_direct_computation() -> None:
    points, y, noise = sample(PLANE, 40, 3)
    surrogate = Treed(PLANE.layout, PLANE.tree, weight=2.0)
    data = Data(points, y, noise)
    (region,) = surrogate.partition(data).values()
    paths = list(leaves(region.root))
    number = next(i for i, path in enumerate(paths) if len(path) == 3)
    targets = targets_of(surrogate, data)
    target = targets[number]

    mean, variance, lengths, sigma2 = 0.3, 1.7, np.array([0.4, 0.9]), 0.02
    theta = np.array([mean, *np.log([variance, *lengths, sigma2])])

    def log_normal(rows: list[int]) -> float:
        covariance = matern(points.x[rows], lengths, variance) + sigma2 * np.eye(len(rows))
        return float(multivariate_normal.logpdf(y[rows], np.full(len(rows), mean), covariance))

    leaf, parent, root = (set(node.rows.tolist()) for node in paths[number])
    expected = (
        2 * log_normal(sorted(leaf))
        + 2 / 2 * log_normal(sorted(parent - leaf))
        + 2 / 3 * log_normal(sorted(root - parent))
    )
    prior = -0.5 * mean**2
    for param, value in zip(np.repeat(target.hyper.params, [p.size for p in target.hyper.params]), theta[1:]):
        prior += float(param.prior.log_density(np.array([value]))[0][0])
    thetas = [t.hyper.start for t in targets]
    thetas[number] = theta
    together = Densities(surrogate.compared, targets, data)(padded([t[1:] for t in thetas]))
    assert together.at(np.array([t[0] for t in thetas]))[number] == pytest.approx(expected + prior, rel=1e-9)


def log_density(surrogate: Treed, target: Target, theta: np.ndarray, data: Data) -> float:
    """Prior and weighted likelihood of each part and signature, through the kernel and scipy's normal."""
    total = -0.5 * theta[0] ** 2
    for param, value in zip(np.repeat(target.hyper.params, [p.size for p in target.hyper.params]), theta[1:]):
        total += float(param.prior.log_density(np.array([value]))[0][0])
    for part in target.parts:
        for signature in np.unique(data.points.on[part.rows], axis=0):
            rows = part.rows[(data.points.on[part.rows] == signature).all(axis=1)]
            some = data.points.take(rows)
            covariance, _ = surrogate.kernel(target.hyper.kernel_theta(theta), some, some)
            covariance = covariance + np.diag(data.variances(theta[target.hyper.noise])[rows])
            total += part.weight * float(
                multivariate_normal.logpdf(data.y[rows], np.full(len(rows), theta[0]), covariance)
            )
    return total


@pytest.mark.parametrize("warp", [False, True])
@pytest.mark.parametrize("space", [PLANE, BRANCHES, SWITCHES], ids=["plane", "branches", "switches"])
def test_all_leaves_at_once_are_each_alone(space: Space, warp: bool) -> None:
    points, y, noise = sample(space, 45, 21)
    noise[::3] = 0.1
    surrogate = Treed(space.layout, space.tree, warp=warp)
    data = Data(points, y, noise)
    targets = targets_of(surrogate, data)
    densities = Densities(surrogate.compared, targets, data)
    rng = np.random.default_rng(0)
    usual = [np.append(0.0, target.hyper.start[1:]) for target in targets]
    for theta, target in zip(usual, targets):
        theta[target.hyper.noise] = np.log(1e-3)  # beside which the nugget of a stack is nothing
    first = [theta + rng.normal(0, 0.4, len(theta)) for theta in usual]
    other = [theta + rng.normal(0, 0.4, len(theta)) for theta in usual]
    partly = [np.where(np.arange(len(a)) % 2, a, b) for a, b in zip(first, other)]
    for thetas in (usual, first, first, partly, other):  # what a call leaves behind must not show in the next
        found = densities(padded([theta[1:] for theta in thetas])).at(
            np.array([theta[0] for theta in thetas])
        )
        expected = [log_density(surrogate, target, theta, data) for target, theta in zip(targets, thetas)]
        np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_the_mean_is_integrated_out_and_drawn_again() -> None:
    points, y, noise = sample(PLANE, 20, 4)
    surrogate = Treed(PLANE.layout, PLANE.tree)
    data = Data(points, y, noise)
    targets = targets_of(surrogate, data)
    terms = Densities(surrogate.compared, targets, data)(padded([t.hyper.start[1:] for t in targets]))
    grid = np.linspace(-8, 8, 4001)
    density = np.exp(np.stack([terms.at(np.full(len(targets), m)) for m in grid]) - terms.marginal())
    mass = density.sum(axis=0) * (grid[1] - grid[0])
    np.testing.assert_allclose(mass, np.sqrt(2 * np.pi), rtol=1e-9)
    draws = np.stack([terms.draw_mean(rng) for rng in [np.random.default_rng(1)] for _ in range(4000)])
    centre = (grid[:, None] * density).sum(axis=0) / density.sum(axis=0)
    spread = np.sqrt((grid[:, None] ** 2 * density).sum(axis=0) / density.sum(axis=0) - centre**2)
    np.testing.assert_allclose(draws.mean(axis=0), centre, atol=0.1)
    np.testing.assert_allclose(draws.std(axis=0), spread, rtol=0.1)


def test_samples_follow_the_density() -> None:
    """One leaf of one column: variance and noise all but known, so the length-scale has a density to plot."""
    space = Space({"a": Float(0, 1)})
    points, y, noise = sample(space, 8, 2)
    surrogate = Treed(space.layout, space.tree, least=8)
    data = Data(points, y, noise)
    (target,) = targets_of(surrogate, data)
    tight = tuple(
        param if param.name == "lengthscale" else replace(param, prior=LogNormal(np.log(v), 1e-4))
        for param, v in zip(target.hyper.params, (1.0, None, 1e-2))
    )
    target = Target(Hyper(tight, target.hyper.places, target.hyper.noise), target.parts)
    chains = sample_targets(
        surrogate.compared, [target] * 6, data, np.random.default_rng(3), samples=200, burn=20
    )
    theta = np.concatenate(chains)
    grid = np.linspace(np.log(0.021), np.log(49), 600)
    densities = Densities(surrogate.compared, [target] * len(grid), data)
    density = np.exp(densities(np.array([[0.0, length, np.log(1e-2)] for length in grid])).marginal())
    cumulative = np.cumsum(density) / density.sum()
    for level in (0.1, 0.5, 0.9):
        below = np.mean(theta[:, 2] < np.interp(level, cumulative, grid))
        assert below == pytest.approx(level, abs=0.07)


def test_portions_and_ends_of_chains_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    points, y, noise = sample(BRANCHES, 40, 6)
    surrogate = Treed(BRANCHES.layout, BRANCHES.tree, warp=True)
    data = Data(points, y, noise)
    targets = targets_of(surrogate, data)
    assert len(targets) > 3
    once = sample_targets(surrogate.compared, targets, data, np.random.default_rng(0), samples=2, burn=1)
    monkeypatch.setattr(pooled_density, "MATRIX_ENTRIES_PER_BATCH", 1)
    alone = sample_targets(surrogate.compared, targets, data, np.random.default_rng(0), samples=2, burn=1)
    for a, b in zip(once, alone):
        np.testing.assert_allclose(a[:, 1:], b[:, 1:], rtol=1e-6)


def test_the_known_tree_continues_the_path() -> None:
    points, _, _ = sample(BRANCHES, 60, 5)
    depths = BRANCHES.tree.depths
    assert depths[0] == 0
    assert depths.max() == 2
    signature = points.on[0]
    nested = ancestors(points.on, signature, depths)
    assert [len(rows) for rows in nested] == sorted(len(rows) for rows in nested)
    assert nested[0].tolist() == np.flatnonzero((points.on == signature).all(axis=1)).tolist()
    assert nested[-1].tolist() == list(range(60))


def test_rows_of_other_branches_are_independent_given_the_hyperparameters() -> None:
    points, y, noise = sample(BRANCHES, 30, 7)
    surrogate = Treed(BRANCHES.layout, BRANCHES.tree, least=100)  # no learned split
    data = Data(points, y, noise)
    target = targets_of(surrogate, data)[0]
    theta = target.hyper.start + np.random.default_rng(0).normal(0, 0.3, len(target.hyper.start))

    def likelihood(parts: list[Part]) -> float:
        several = Densities(surrogate.compared, [Target(target.hyper, parts), Target(target.hyper, [])], data)
        found = several(padded([theta[1:]] * 2)).at(np.full(2, theta[0]))
        return float(found[0] - found[1])

    total = 0.0
    for part in target.parts:
        for signature in np.unique(points.on[part.rows], axis=0):
            rows = part.rows[(points.on[part.rows] == signature).all(axis=1)]
            total += likelihood(pool([rows], part.weight))
    assert likelihood(list(target.parts)) == pytest.approx(total, rel=1e-9)


def test_without_a_split_the_posterior_is_that_of_a_plain_process() -> None:
    points, y, noise = sample(PLANE, 12, 1)
    theta = np.log([1.3, 0.5, 0.8, 1e-3])
    plain = posterior(GPModel(Scale(Matern52((0, 1)))), theta, Data(points, y, noise))
    surrogate = Treed(PLANE.layout, PLANE.tree, least=12)
    (treed,) = surrogate.posterior(np.array([[0.0, *theta]]), Data(points, y, noise))
    test, more = sample(PLANE, 25, 2)[0], sample(PLANE, 3, 4)
    for ours, theirs in ((treed, plain), (treed.condition(*more[:2]), plain.condition(*more[:2]))):
        for a, b in zip(ours.predict_grad(test), theirs.predict_grad(test)):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)


def test_each_leaf_predicts_from_its_own_rows_and_interpolates_the_shared_one() -> None:
    points, y, noise = sample(PLANE, 50, 9)
    surrogate = Treed(PLANE.layout, PLANE.tree)
    data = Data(points, y, noise)
    targets = targets_of(surrogate, data)
    assert len(targets) > 2
    quiet = np.concatenate([[*target.hyper.start[:-1], np.log(1e-6)] for target in targets])
    (treed,) = surrogate.posterior(quiet[None], Data(points, y, noise))
    mean, sd = treed.predict(points)
    # a row on a threshold is data of both leaves, so there is no gap in which neither knows it
    np.testing.assert_allclose(mean, y, atol=0.02)
    assert sd.max() < 0.05


def test_a_signature_without_data_has_the_pooled_prior_until_it_gets_some() -> None:
    points, y, noise = sample(BRANCHES, 40, 11)
    right = points.on[:, BRANCHES.layout.group[list(BRANCHES.layout.kinds).index("nominal", 1)]]
    seen = points.take(~right) if right.any() else points
    unseen = points.take(right)
    assert 0 < len(unseen) < 40
    surrogate = Treed(BRANCHES.layout, BRANCHES.tree, samples=2)
    rows = np.flatnonzero(~right)
    fitted = fit(surrogate, seen, y[rows], noise[rows], np.random.default_rng(0))
    assert len(fitted.posteriors) == 2
    for known in fitted.posteriors:
        mean, sd = known.predict(unseen)
        assert np.ptp(mean) == 0
        assert np.ptp(sd) == 0
        after = known.condition(unseen, y[right])
        assert np.all(after.predict(unseen)[1] < sd)
        np.testing.assert_allclose(after.predict(seen)[0], known.predict(seen)[0])
        assert known.sample(points, 3, np.random.default_rng(1)).shape == (3, 40)


def test_fit_is_reproducible_from_theta() -> None:
    points, y, noise = sample(BRANCHES, 25, 13)
    for warp in (False, True):
        surrogate = Treed(BRANCHES.layout, BRANCHES.tree, warp=warp, samples=2)
        fitted = fit(surrogate, points, y, noise, np.random.default_rng(2))
        again = surrogate.posterior(fitted.theta, Data(points, y, noise))
        test = sample(BRANCHES, 20, 14)[0]
        for one, other in zip(fitted.posteriors, again):
            np.testing.assert_array_equal(one.predict(test), other.predict(test))
        other = surrogate.posterior(fitted.theta, Data(points, y + np.arange(25) % 2, noise))
        assert not np.array_equal(other[0].predict(test), fitted.posteriors[0].predict(test))
