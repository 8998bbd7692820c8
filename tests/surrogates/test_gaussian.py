"""Surrogates of one Gaussian process: one contract, degenerate data, what the papers claim."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from tests.surrogates.fitting import fit

import bough
from bough.gp.kernels import SE, Constant, Sum, WhereActive
from bough.gp.likelihood import Data
from bough.gp.output_transform import OutputTransform
from bough.gp.params import JointPrior, total_size
from bough.papers.assael2014.methods import warped_process
from bough.papers.jenatton2017.methods import arc_process
from bough.papers.levesque2017.surrogates import conditional, joint, mondrian
from bough.papers.ma2020.additive_tree import additive_tree
from bough.points import FloatArray, Points
from bough.space.sampling import sample_points
from bough.surrogates.base import KernelGP, flat

SURROGATES: dict[str, Callable[[bough.Space], KernelGP]] = {
    "add-tree": lambda s: additive_tree(s.layout, s.tree),
    "add-tree se": lambda s: additive_tree(s.layout, s.tree, base=SE),
    "add-tree interactions": lambda s: additive_tree(s.layout, s.tree, products="joint"),
    "conditional": lambda s: conditional(s.layout, samples=1),
    "matern": lambda s: joint(s.layout, samples=2),
    "laplace": lambda s: joint(s.layout, base="laplace", samples=2),
    "matern no impute": lambda s: joint(s.layout, impute=False, samples=2),
    "mondrian": lambda s: mondrian(s.layout, trees=20, samples=0),
    "arc": lambda s: arc_process(s.layout),
    "gp": lambda s: flat(s.layout),
    "gp-warp": lambda s: warped_process(s.layout),
}
READ_EVERYTHING = {"matern no impute", "gp", "gp-warp"}
"""They read columns as filled in upstream, so nothing may be missing."""

BRANCHING = {
    "model": bough.Choice({"svm": {"C": bough.Float(1e-3, 1e3, log=True), "g": bough.Float(0, 1)},
                           "forest": {"trees": bough.Int(1, 30), "kind": bough.Categorical(["a", "b", "c"])},
                           "none": {}}),
    "scale": bough.Categorical(["x", "y", "z"]),
    "shared": bough.Float(0, 1),
    "shrink": bough.Float(0, 1, when="scale in ('x', 'y')"),
}  # fmt: skip
SPACES = {
    "branching": bough.Space(BRANCHING),
    "no branching": bough.Space({"a": bough.Float(0, 1), "b": bough.Int(1, 5)}),
    "no continuous": bough.Space({"m": bough.Choice({"p": {}, "q": {"k": bough.Categorical(["u", "v"])}})}),
}


def untold(n: int) -> FloatArray:
    return np.full(n, np.nan)


@pytest.mark.parametrize("name", SURROGATES)
def test_contract(name: str) -> None:
    """Shapes, positive deviations, near interpolation, warm start, and posteriors from theta alone."""
    space, rng = SPACES["branching"], np.random.default_rng(0)
    surrogate, points = SURROGATES[name](space), sample_points(space, 25, rng)
    y = points.x[:, 0] + np.sin(4 * points.x[:, -1])
    y = (y - y.mean()) / y.std()
    fitted = fit(surrogate, points, y, untold(25), np.random.default_rng(1))
    assert len(fitted.posteriors) == max(surrogate.samples, 1)
    new = sample_points(space, 7, rng)
    for posterior in fitted.posteriors:
        mean, sd, d_mean, d_sd = posterior.predict_grad(new)
        assert mean.shape == sd.shape == (7,) and d_mean.shape == d_sd.shape == new.x.shape
        assert np.all(sd > 0) and np.all(np.isfinite(d_mean)) and np.all(np.isfinite(d_sd))
        assert not d_mean[:, space.layout.nominal].any()
        at_data = posterior.predict(points)
        assert np.mean((at_data[0] - y) ** 2) < 0.5 * np.var(y)
    again = surrogate.posterior(fitted.theta, Data(points, y, untold(25)))
    np.testing.assert_array_equal(again[-1].predict(new), fitted.posteriors[-1].predict(new))
    same = fit(surrogate, points, y, untold(25), np.random.default_rng(1))
    np.testing.assert_array_equal(same.theta, fitted.theta)
    warm = fit(surrogate, points, y, untold(25), np.random.default_rng(2), start=fitted.theta)
    assert warm.theta.shape == fitted.theta.shape


@pytest.mark.parametrize("name", [name for name in SURROGATES if name not in READ_EVERYTHING])
def test_values_under_inactive_columns_do_not_matter(name: str) -> None:
    space, rng = SPACES["branching"], np.random.default_rng(3)
    surrogate, points = SURROGATES[name](space), sample_points(space, 15, rng)
    new = sample_points(space, 5, rng)

    def nan(p: Points) -> Points:
        return Points(np.where(space.layout.active(p.on), p.x, np.nan), p.on)

    y = rng.normal(size=15)
    fits = [fit(surrogate, p, y, untold(15), np.random.default_rng(0)) for p in (points, nan(points))]
    np.testing.assert_array_equal(fits[0].theta, fits[1].theta)
    clean = fits[0].posteriors[0].predict_grad(new)
    for part, other in zip(clean, fits[1].posteriors[0].predict_grad(nan(new))):
        np.testing.assert_array_equal(part, other)


def degenerate(case: str, space: bough.Space, rng: np.random.Generator) -> tuple[Points, FloatArray]:
    points = sample_points(space, 8, rng)
    if case == "one point":
        return points.take([0]), np.array([3.0])
    if case == "identical points":
        return points.take([0] * 6), np.full(6, 2.0)
    if case == "constant":
        return points, np.full(8, -1.5)
    if case == "duplicates that differ":
        return points.take([0, 0, 1, 1, 2, 2]), np.array([0.0, 1.0, 5.0, -5.0, 2.0, 2.0])
    if case == "tiny":
        return points, 1e-300 * np.arange(8.0)
    assert case == "huge"
    return points, 1e300 * np.linspace(-1, 1, 8)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize(
    "case", ["one point", "identical points", "constant", "duplicates that differ", "tiny", "huge"]
)
@pytest.mark.parametrize("name", ["add-tree", "add-tree interactions", "conditional", "arc", "gp"])
def test_degenerate_data_neither_crash_nor_warn(name: str, case: str, space: str) -> None:
    rng = np.random.default_rng(4)
    points, y = degenerate(case, SPACES[space], rng)
    new = sample_points(SPACES[space], 6, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        targets = OutputTransform.fit(y)
        fitted = fit(SURROGATES[name](SPACES[space]), points, targets.forward(y), untold(len(y)), rng)
        for posterior in fitted.posteriors:
            parts = posterior.predict_grad(new)
            more = posterior.condition(new, np.zeros(6)).condition(new, np.ones(6)).predict(new)
            draws = posterior.sample(new, 3, rng)
            reported = targets.inverse(*posterior.predict(new))
    for part in (*parts, *more, draws, *reported):
        assert np.all(np.isfinite(part))


def test_a_leaf_without_data_keeps_its_prior_variance() -> None:
    space, rng = SPACES["branching"], np.random.default_rng(5)
    points = sample_points(space, 60, rng)
    svm = space.layout.columns_of(1)
    group = int(space.layout.group[svm[0]])
    seen, unseen = points.take(~points.on[:, group]), points.take(points.on[:, group])
    y = rng.normal(size=len(seen))
    for name in ("add-tree", "conditional", "arc"):
        posterior = fit(SURROGATES[name](space), seen, y, untold(len(y)), rng).posteriors[0]
        assert posterior.predict(unseen)[1].min() > posterior.predict(seen)[1].mean()


def test_additive_tree_is_algorithm_1_with_offsets() -> None:
    """k(x, x') = Σ over vertices active in both of o_v + s_v SE(x_v, x'_v), by loops over pairs."""
    space = bough.Space({
        "r": bough.Float(0, 1),
        "m": bough.Choice({"a": {"p": bough.Float(0, 1), "q": bough.Float(0, 1)},
                           "b": {"t": bough.Float(0, 1)}}),
    })  # fmt: skip
    surrogate = additive_tree(space.layout, space.tree, base=SE)
    rng = np.random.default_rng(6)
    points, kernel = sample_points(space, 10, rng), surrogate.model.kernel
    theta = JointPrior(kernel.params).median + rng.normal(size=len(JointPrior(kernel.params).median))
    assert [(p.name, p.size) for p in kernel.params] == [
        ("variance", 1), ("lengthscale", 1),
        ("offset", 1), ("variance", 1), ("lengthscale", 2),
        ("offset", 1), ("variance", 1), ("lengthscale", 1),
    ]  # fmt: skip
    names = [parameter.name for parameter in space.parameters]
    r, p, q, t = (names.index(name) for name in "rpqt")
    v = np.exp(theta)
    expected = np.empty((10, 10))
    for i in range(10):
        for j in range(10):
            gap = points.x[i] - points.x[j]
            value = v[0] * np.exp(-0.5 * (gap[r] / v[1]) ** 2)
            if points.on[i, 1] and points.on[j, 1]:
                value += v[2] + v[3] * np.exp(-0.5 * ((gap[p] / v[4]) ** 2 + (gap[q] / v[5]) ** 2))
            if points.on[i, 2] and points.on[j, 2]:
                value += v[6] + v[7] * np.exp(-0.5 * (gap[t] / v[8]) ** 2)
            expected[i, j] = value
    np.testing.assert_allclose(kernel(theta, points, points)[0], expected, rtol=1e-9)


def test_switches_are_seen_by_offsets_only_where_groups_stand_for_their_options() -> None:
    """``model`` has a group per option and no term; ``scale`` is read by ``in`` and has one of its own."""
    space = SPACES["branching"]
    kernel = additive_tree(space.layout, space.tree).model.kernel
    assert isinstance(kernel, Sum)
    root = kernel.terms[0]
    assert isinstance(root, WhereActive) and isinstance(root.inner, Sum) and len(root.inner.terms) == 2
    offsets = [t for t in kernel.terms if isinstance(t, WhereActive) and isinstance(t.inner, Sum)
               and any(isinstance(u, Constant) for u in t.inner.terms)]  # fmt: skip
    assert len(offsets) == space.layout.groups - 1
    points = sample_points(space, 40, np.random.default_rng(7))
    x = points.x.copy()
    names = [parameter.name for parameter in space.parameters]
    column = names.index("scale")
    x[:, column] = np.where(x[:, column] < 0.3, 0.5, x[:, column])  # x -> y: the same activity
    theta = JointPrior(kernel.params).median
    moved = kernel(theta, points, Points(x, points.on))[0]
    assert np.abs(np.diag(moved) - np.diag(kernel(theta, points, points)[0])).max() > 0.1


def test_slice_samples_differ_and_point_estimates_are_one() -> None:
    space, rng = SPACES["no branching"], np.random.default_rng(10)
    points = sample_points(space, 12, rng)
    y = rng.normal(size=12)
    sampled = fit(conditional(space.layout, samples=4), points, y, untold(12), rng)
    assert sampled.theta.shape[0] == 4 and len({row.tobytes() for row in sampled.theta}) == 4
    assert fit(flat(space.layout), points, y, untold(12), rng).theta.ndim == 1


def test_additive_model_shares_between_branches() -> None:
    """A shared parameter learned in one branch predicts in the other; the conditional kernel cannot."""
    space = bough.Space({
        "r": bough.Float(0, 1),
        "m": bough.Choice({"a": {"p": bough.Float(0, 1)}, "b": {"q": bough.Float(0, 1)}}),
    })  # fmt: skip
    rng = np.random.default_rng(11)
    many = sample_points(space, 80, rng)
    train = Points.concat([many.take(many.on[:, 1]), many.take(many.on[:, 2]).take([0, 1])])
    test = many.take(many.on[:, 2]).take(slice(2, None))
    truth: Callable[[Points], FloatArray] = lambda p: np.sin(7 * p.x[:, 0])  # noqa: E731
    error = {}
    for name in ("add-tree", "conditional"):
        fitted = fit(SURROGATES[name](space), train, truth(train), untold(len(train)), rng)
        error[name] = float(np.mean((fitted.posteriors[0].predict(test)[0] - truth(test)) ** 2))
    assert error["add-tree"] < 0.1 < error["conditional"]


def test_interactions_are_independent_between_leaves() -> None:
    """Ma & Blaschko App. E: the extra term covers one path at a time and lets its columns interact."""
    space, rng = SPACES["branching"], np.random.default_rng(12)
    plain, more = (additive_tree(space.layout, space.tree, products=p).model.kernel for p in (None, "joint"))
    points = sample_points(space, 30, rng)
    theta = JointPrior(more.params).median
    extra = more(theta, points, points)[0] - plain(theta[: total_size(plain.params)], points, points)[0]
    same = (points.on[:, None] == points.on).all(axis=2)
    assert np.abs(extra[~same]).max() < 1e-12 < extra[same].min()
    np.testing.assert_allclose(np.diag(extra), np.exp(-1.4))


def test_told_noise_is_believed() -> None:
    """The same value told with and without noise: the exact one is followed, the noisy one is not."""
    space = SPACES["no branching"]
    points = sample_points(space, 2, np.random.default_rng(13))
    y, noise = np.array([2.0, 2.0]), np.array([0.0, 10.0])
    for name in ("add-tree", "conditional", "gp"):
        fitted = fit(SURROGATES[name](space), points, y, noise, np.random.default_rng(0))
        mean, sd = fitted.posteriors[0].predict(points)
        assert mean[0] == pytest.approx(2.0, abs=0.05) and sd[0] < 0.05 < sd[1]
