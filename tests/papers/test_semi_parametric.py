"""The semi-parametric tree against the formulas of Jenatton et al. 2017, written out naively."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from tests.surrogates.fitting import fit

import bough
from bough.acquisition.functions import log_ei
from bough.gp.likelihood import Data
from bough.gp.posterior import GPPosterior
from bough.papers.jenatton2017.semi_parametric import SemiParametric
from bough.points import Points, row_keys
from bough.space.roles import ROLE_PATHS

Float, Int, Categorical, Choice, Space = bough.Float, bough.Int, bough.Categorical, bough.Choice, bough.Space


def side(name: str) -> Choice:
    return Choice({"0": {f"{name}0": Float(-1, 1)}, "1": {f"{name}1": Float(-1, 1), f"{name}n": Int(1, 4)}})


SPACES = {
    "tree": Space(
        {"d": Choice({"0": {"r0": Float(0, 1), "a": side("a")}, "1": {"r1": Float(0, 1), "b": side("b")}})}
    ),
    "empty options": Space(
        {"m": Choice({"svm": {"C": Float(1e-3, 1e3, log=True)}, "bayes": {}, "none": {}})}
    ),
    "dag": Space(
        {
            "m": Choice({"a": {"x": Float(0, 1)}, "b": {"k": Categorical(["u", "v", "w"])}, "c": {}}),
            "s": Categorical(["none", "std", "max"]),
            "shrink": Float(0, 1, when="m in ('a', 'b') and s != 'none'"),
        }
    ),
    "numeric switch": Space(
        {"layers": Int(1, 3), **{f"u{i}": Int(4, 64, when=f"layers >= {i}") for i in (1, 2, 3)}}
    ),
    "flat": Space({"x": Float(0, 1), "k": Categorical(["a", "b", "c"]), "i": Int(0, 5)}),
    "no numbers": Space(
        {"m": Choice({"a": {"k": Categorical(["u", "v"])}, "b": {}}), "s": Categorical([1, 2, 3])}
    ),
}

PRODUCT = Space({f"c{i}": Choice({o: {f"x{i}{o}": Float(0, 1)} for o in "ab"}) for i in range(12)})


def observations(space: Space, n: int, seed: int = 0) -> tuple[Points, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return space.encode(space.sample(n, rng)), rng.normal(size=n), np.full(n, np.nan)


def poisoned(space: Space, points: Points) -> Points:
    return Points(np.where(space.layout.active(points.on), points.x, np.nan), points.on)


@pytest.mark.parametrize("nonlinear", [False, True])
@pytest.mark.parametrize("name", SPACES)
def test_tree_is_marginal_as_a_posterior(name: str, nonlinear: bool) -> None:
    space = SPACES[name]
    tree = SemiParametric(space.layout, space.tree, nonlinear=nonlinear, frequencies=3)
    marginal = SemiParametric(space.layout, space.tree, nonlinear=nonlinear, frequencies=3, structured=False)
    points, y, noise = observations(space, tree.features.size + 10)
    new = poisoned(space, observations(space, 15, seed=1)[0])
    theta = tree.model.prior.draw(np.random.default_rng(2))
    theta[-1] = np.log(1e-3)
    data = Data(poisoned(space, points), y, noise)
    (ours,), (theirs,) = (s.posterior(theta, data) for s in (tree, marginal))
    assert type(ours.solver) is not type(theirs.solver)
    for method in ("predict", "predict_grad", "path_predict", "joint"):
        for left, right in zip(getattr(ours, method)(new), getattr(theirs, method)(new)):
            assert np.isfinite(left).all()
            np.testing.assert_allclose(left, right, rtol=1e-6, atol=1e-8)


def by_the_paper(theta: np.ndarray, points: Points, y: np.ndarray, new: Points) -> dict[str, np.ndarray]:
    """Sections 2.2 and 3.2 on the space "tree", as printed: with Σ_c⁻¹, Λ_c and explicit inverses.

    theta: variance and length-scales of each leaf; variances of the root's constant, of the sides'
    constants, of the sides' slopes, of the leaves' constants; noise variance.
    """
    column = {parameter.name: i for i, parameter in enumerate(SPACES["tree"].parameters)}
    leaves = [("a", "0"), ("a", "1"), ("b", "0"), ("b", "1")]

    def leaf_of(x: np.ndarray) -> int:
        side, choice = (0, "a") if x[column["d"]] < 0.5 else (2, "b")
        return side + int(x[column[choice]] > 0.5)

    def z(x: np.ndarray) -> np.ndarray:
        leaf = leaf_of(x)
        out = np.zeros(9)  # root | d=0, d=1 | r0, r1 | four leaves
        out[0], out[1 + leaf // 2], out[5 + leaf] = 1, 1, 1
        out[3 + leaf // 2] = 2 * x[column["r0" if leaf < 2 else "r1"]] - 1
        return out

    position, leaf_theta = 0, []
    for _, option in leaves:
        size = 2 if option == "0" else 3
        leaf_theta.append(np.exp(theta[position : position + size]))
        position += size
    root, offsets, slopes, leaf_offsets = np.exp(theta[position : position + 4])
    noise = np.exp(theta[-1])
    sigma_c = np.diag([root, offsets, offsets, slopes, slopes, *[leaf_offsets] * 4])

    def k(x: np.ndarray, other: np.ndarray) -> float:
        letter, option = leaves[leaf_of(x)]
        own = [column[letter + option]] + ([column[letter + "n"]] if option == "1" else [])
        variance, *lengths = leaf_theta[leaf_of(x)]
        r = np.sqrt(5 * np.sum(((x[own] - other[own]) / lengths) ** 2))
        return float(variance * (1 + r + r**2 / 3) * np.exp(-r))

    lambda_c, f_c = np.linalg.inv(sigma_c), np.zeros(9)
    rows = {p: [i for i, x in enumerate(points.x) if leaf_of(x) == p] for p in range(4)}
    m_inverse, zs = {}, {}
    for p, members in rows.items():
        gram = np.array([[k(points.x[i], points.x[j]) for j in members] for i in members])
        m_inverse[p] = np.linalg.inv(gram.reshape(len(members), len(members)) + noise * np.eye(len(members)))
        zs[p] = np.array([z(points.x[i]) for i in members]).reshape(-1, 9).T
        lambda_c += zs[p] @ m_inverse[p] @ zs[p].T
        f_c += zs[p] @ m_inverse[p] @ y[members]
    covariance = np.linalg.inv(lambda_c)
    out: dict[str, list[float]] = {"mean": [], "sd": [], "path mean": [], "path sd": []}
    for x in new.x:
        p = leaf_of(x)
        kp = np.array([k(x, points.x[i]) for i in rows[p]])
        t = z(x) - zs[p] @ m_inverse[p] @ kp
        out["mean"].append(kp @ m_inverse[p] @ y[rows[p]] + t @ covariance @ f_c)
        out["sd"].append(np.sqrt(k(x, x) - kp @ m_inverse[p] @ kp + t @ covariance @ t))
        out["path mean"].append(z(x) @ covariance @ f_c)
        out["path sd"].append(np.sqrt(z(x) @ covariance @ z(x)))
    return {key: np.array(values) for key, values in out.items()}


@pytest.mark.parametrize("n", [4, 40])  # fewer and more observations than features
def test_posterior_and_path_are_those_of_the_paper(n: int) -> None:
    space = SPACES["tree"]
    surrogate = SemiParametric(space.layout, space.tree)
    points, y, noise = observations(space, n)
    new, *_ = observations(space, 12, seed=1)
    theta = surrogate.model.prior.draw(np.random.default_rng(3))
    theta[-1] = np.log(1e-2)
    (posterior,) = surrogate.posterior(theta, Data(points, y, noise))
    expected = by_the_paper(theta, points, y, new)
    mean, sd = posterior.predict(new)
    path_mean, path_sd = posterior.path_predict(new)
    np.testing.assert_allclose(mean, expected["mean"], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(sd, expected["sd"], rtol=1e-7)
    np.testing.assert_allclose(path_mean, expected["path mean"], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(path_sd, expected["path sd"], rtol=1e-7)


def test_a_better_branch_has_the_lower_path_mean_and_the_larger_improvement() -> None:
    """The printed ξ has the wrong sign; E[(y_min − m)₊] must grow as the mean falls."""
    space = SPACES["tree"]
    points, _, noise = observations(space, 40)
    good = points.x[:, 0] < 0.5
    y = np.where(good, -1.0, 1.0)
    surrogate = SemiParametric(space.layout, space.tree)
    (posterior,) = fit(surrogate, points, y, noise, np.random.default_rng(0)).posteriors
    mean, sd = posterior.path_predict(points)
    assert mean[good].max() < mean[~good].min()
    improvement = np.exp(log_ei(mean, sd, y.min())[0])
    assert improvement[good].min() > improvement[~good].max()
    xi = (y.min() - mean) / sd
    np.testing.assert_allclose(improvement, sd * (xi * norm.cdf(xi) + norm.pdf(xi)), rtol=1e-6, atol=1e-12)


def test_eq_5_and_6_are_convex_in_linear_shared_variables() -> None:
    """So that the best value of a shared parameter under `tree` is an end of its range."""
    space = SPACES["tree"]
    surrogate = SemiParametric(space.layout, space.tree)
    (posterior,) = fit(surrogate, *observations(space, 30), np.random.default_rng(0)).posteriors
    row = space.encode([{"d": "0", "r0": 0.5, "a": "0", "a0": 0.3}])
    x = np.repeat(row.x, 21, axis=0)
    x[:, 1] = np.linspace(0, 1, 21)
    line = Points(x, np.repeat(row.on, 21, axis=0))
    for law in (posterior.predict, posterior.path_predict):
        value = np.exp(log_ei(*law(line), -1.0)[0])
        assert (np.diff(value, 2) > -1e-12).all()


@pytest.mark.parametrize("name", SPACES)
def test_gradients_conditioning_and_samples(name: str) -> None:
    space, rng = SPACES[name], np.random.default_rng(4)
    surrogate = SemiParametric(space.layout, space.tree, nonlinear=True, frequencies=3)
    points, y, noise = observations(space, 20)
    theta = surrogate.model.prior.draw(rng)
    theta[-1] = np.log(1e-2)
    (posterior,) = surrogate.posterior(theta, Data(points, y, noise))
    new, *_ = observations(space, 6, seed=5)
    mean, sd, d_mean, d_sd = posterior.predict_grad(new)
    np.testing.assert_array_equal([mean, sd], posterior.predict(new))
    h = 1e-5
    for column in np.flatnonzero(~space.layout.nominal):
        step = h * (np.arange(space.layout.columns) == column)
        up, down = (posterior.predict(Points(new.x + s * step, new.on)) for s in (1, -1))
        np.testing.assert_allclose(d_mean[:, column], (up[0] - down[0]) / (2 * h), rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(d_sd[:, column], (up[1] - down[1]) / (2 * h), rtol=1e-4, atol=1e-6)
    assert (d_mean[:, space.layout.nominal] == 0).all()

    keys = row_keys(space.layout, new)
    one_each = new.take([keys.index(key) for key in dict.fromkeys(keys)])
    y_new = rng.normal(size=len(one_each))  # exact values: one per point
    both = Points.concat([points, one_each])
    exact = Data(both, np.append(y, y_new), np.append(noise, np.zeros(len(y_new))))
    (refit,) = surrogate.posterior(theta, exact)
    there = observations(space, 9, seed=6)[0]
    for left, right in zip(posterior.condition(one_each, y_new).predict(there), refit.predict(there)):
        np.testing.assert_allclose(left, right, rtol=1e-4, atol=1e-5)  # up to the jitter of exact rows

    draws = posterior.sample(there, 4000, rng)
    mean, sd = posterior.predict(there)
    assert (np.abs(draws.mean(axis=0) - mean) < 5 * sd / np.sqrt(4000) + 1e-5).all()


def test_fitting_raises_the_density_and_starts_from_an_earlier_fit() -> None:
    space = SPACES["tree"]
    surrogate = SemiParametric(space.layout, space.tree)
    points, _, noise = observations(space, 40)
    y = np.nan_to_num(points.x[:, 1]) + np.sin(6 * points.x[:, 3])
    y = (y - y.mean()) / y.std()
    first = fit(surrogate, points, y, noise, np.random.default_rng(0))
    again = fit(surrogate, points, y, noise, np.random.default_rng(1), start=first.theta)
    np.testing.assert_allclose(again.theta, first.theta, atol=0.05)
    dense = SemiParametric(space.layout, space.tree, structured=False)
    np.testing.assert_allclose(
        fit(dense, points, y, noise, np.random.default_rng(0)).theta, first.theta, atol=0.05
    )
    posterior = first.posteriors[0]
    assert isinstance(posterior, GPPosterior)
    precision = np.diag(posterior.solver.inverse())
    assert np.mean((posterior.alpha / precision) ** 2) < 0.3  # leave-one-out errors


@pytest.mark.parametrize("n", [1, 2, 9])
@pytest.mark.parametrize("name", SPACES)
def test_degenerate_data(name: str, n: int) -> None:
    space = SPACES[name]
    one = space.encode(space.sample(1, np.random.default_rng(0)))
    same = Points(np.repeat(one.x, n, axis=0), np.repeat(one.on, n, axis=0))
    new = observations(space, 5)[0]
    for y in (np.zeros(n), np.linspace(-1, 1, n)):
        surrogate = SemiParametric(space.layout, space.tree)
        (posterior,) = fit(surrogate, same, y, np.full(n, np.nan), np.random.default_rng(0)).posteriors
        mean, sd = posterior.predict(new)
        assert np.isfinite(mean).all() and (sd > 0).all()


def test_roles_of_groups() -> None:
    def described(name: str) -> tuple[list[list[str]], list[str]]:
        space = SPACES[name]
        found = space.tree.roles
        texts = ["root" if g.condition is None else str(g.condition) for g in space.tree.groups]
        return [[texts[g] for g in leaf] for leaf in found.leaves], [texts[g] for g in found.shared]

    leaves, shared = described("tree")
    assert shared == ["root", "d == '0'", "d == '1'"] and len(leaves) == 4
    leaves, shared = described("flat")
    assert leaves == [["root"]] and shared == []
    leaves, shared = described("numeric switch")
    assert leaves == [["layers >= 3"]] and "layers >= 2" in shared
    leaves, shared = described("empty options")
    assert shared == ["root"] and len(leaves) == 3


def test_products_of_choices_are_all_shared_and_never_multiplied_out() -> None:
    assert len(PRODUCT.tree.all_paths(ROLE_PATHS)) > ROLE_PATHS
    found = PRODUCT.tree.roles
    assert found.leaves == () and len(found.shared) == 25
    surrogate = SemiParametric(PRODUCT.layout, PRODUCT.tree, nonlinear=True)
    points, y, noise = observations(PRODUCT, 15)
    mean, sd = fit(surrogate, points, y, noise, np.random.default_rng(0)).posteriors[0].predict(points)
    assert np.isfinite(mean).all() and (sd > 0).all()
