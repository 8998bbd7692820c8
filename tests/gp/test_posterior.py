"""Likelihood and posterior against scikit-learn, brute force and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor, kernels

import bough
from bough.gp.fit import fit_map
from bough.gp.kernels import SE, Constant, Imputed, Matern52, Scale, Sum, WhereActive
from bough.gp.likelihood import NOISE_FLOOR, Data, GPModel, log_density, log_likelihood, log_posterior
from bough.gp.posterior import GPPosterior, posterior
from bough.papers.ma2020.changes import AdditiveGP
from bough.points import FloatArray, Points

from .kernel_list import additive, everything, groups
from .spaces import random_points, random_space

seeds = st.integers(0, 2**32 - 1)


def flat_points(x: FloatArray) -> Points:
    return Points(x, np.ones((len(x), 1), dtype=bool))


def tree_case(seed: int, n: int = 12) -> tuple[bough.Space, GPModel, FloatArray, Data, np.random.Generator]:
    """A model with additive and joint terms on a random space; some rows with told noise."""
    rng = np.random.default_rng(seed)
    space = random_space(rng)
    joint = Scale(Imputed(Matern52(*everything(space.layout)), groups(space.layout)))
    model = GPModel(additive(space.layout) + joint)
    noise = np.where(rng.random(n) < 0.3, 0.2, np.nan)
    data = Data(random_points(space, n, rng), rng.normal(size=n), noise)
    return space, model, model.prior.draw(rng), data, rng


@pytest.mark.parametrize("name", ["se", "matern52"])
def test_plain_process_is_that_of_scikit_learn(name: str) -> None:
    rng = np.random.default_rng(0)
    x, y, new = rng.random((25, 3)), rng.normal(size=25), rng.random((8, 3))
    length, variance, noise = np.array([0.3, 0.8, 2.0]), 1.7, 0.05
    theirs = kernels.RBF(length) if name == "se" else kernels.Matern(length, nu=2.5)
    kernel = kernels.ConstantKernel(variance) * theirs + kernels.WhiteKernel(noise)
    known = GaussianProcessRegressor(kernel, optimizer=None, alpha=0.0).fit(x, y)
    model = GPModel(Scale((SE if name == "se" else Matern52)((0, 1, 2))))
    theta = np.log([variance, *length, noise])
    data = Data(flat_points(x), y, np.full(25, np.nan))
    value, gradient = log_likelihood(model, theta, data)
    known_value, known_gradient = known.log_marginal_likelihood(kernel.theta, eval_gradient=True)
    assert value == pytest.approx(known_value, rel=1e-10)
    np.testing.assert_allclose(gradient, known_gradient, rtol=1e-7, atol=1e-9)
    mean, sd = posterior(model, theta, data).predict(flat_points(new))
    known_mean, known_sd = known.predict(new, return_std=True)
    np.testing.assert_allclose(mean, known_mean, rtol=1e-9)
    np.testing.assert_allclose(sd**2, known_sd**2 - noise, rtol=1e-7)


@settings(max_examples=6, deadline=None)
@given(seeds)
def test_likelihood_is_the_normal_density_and_its_gradient_holds(seed: int) -> None:
    _, model, theta, data, _ = tree_case(seed)
    k, _ = model.kernel(theta[:-1], data.points, data.points)
    told = np.isnan(data.noise)
    covariance = k + np.diag(np.where(told, np.exp(theta[-1]), data.noise**2))
    value, _ = log_likelihood(model, theta, data)
    assert value == pytest.approx(stats.multivariate_normal(cov=covariance).logpdf(data.y), rel=1e-9)
    step = 1e-5
    moves = step * np.eye(len(theta))
    numeric = [
        (log_posterior(model, theta + m, data)[0] - log_posterior(model, theta - m, data)[0]) / (2 * step)
        for m in moves
    ]
    np.testing.assert_allclose(log_posterior(model, theta, data)[1], numeric, rtol=1e-4, atol=1e-5)
    assert log_density(model, theta, data) == pytest.approx(log_posterior(model, theta, data)[0], rel=1e-10)
    ordered = log_posterior(model, theta, data.sorted())
    assert ordered[0] == pytest.approx(log_posterior(model, theta, data)[0], rel=1e-9)


@settings(max_examples=6, deadline=None)
@given(seeds)
def test_prediction_is_the_conditional_normal(seed: int) -> None:
    """Mean, sd, joint covariance from the partitioned normal distribution, solved by numpy."""
    space, model, theta, data, rng = tree_case(seed)
    known = posterior(model, theta, data)
    new = random_points(space, 5, rng)
    both = Points.concat([data.points, new])
    k = model.kernel(theta[:-1], both, both)[0]
    n = len(data.y)
    k[:n, :n] += np.diag(data.variances(theta[-1]))
    mean = k[n:, :n] @ np.linalg.solve(k[:n, :n], data.y)
    covariance = k[n:, n:] - k[n:, :n] @ np.linalg.solve(k[:n, :n], k[:n, n:])
    np.testing.assert_allclose(known.predict(new)[0], mean, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(known.predict(new)[1] ** 2, np.diag(covariance), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(known.joint(new)[1], covariance, rtol=1e-6, atol=1e-8)


@settings(max_examples=6, deadline=None)
@given(seeds)
def test_means_at_the_data_are_those_at_equal_points(seed: int) -> None:
    _, model, theta, data, _ = tree_case(seed)
    known = posterior(model, theta, data)
    equal = data.points.take(np.arange(len(data.y)))
    np.testing.assert_allclose(known.predict_mean(data.points), known.predict(equal)[0], rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(known.predict_mean(equal), known.predict(equal)[0], rtol=1e-9, atol=1e-9)


@settings(max_examples=6, deadline=None)
@given(seeds)
def test_gradients_of_predictions(seed: int) -> None:
    space, model, theta, data, rng = tree_case(seed)
    known, new = posterior(model, theta, data), random_points(space, 4, rng)
    mean, sd, d_mean, d_sd = known.predict_grad(new)
    np.testing.assert_allclose([mean, sd], known.predict(new), rtol=1e-12)
    free = space.layout.active(new.on) & ~space.layout.nominal
    assert not d_mean[~free].any() and not d_sd[~free].any()
    step = 1e-6
    for column in range(space.layout.columns):
        shift = np.zeros_like(new.x)
        shift[:, column] = step
        up, down = known.predict(Points(new.x + shift, new.on)), known.predict(Points(new.x - shift, new.on))
        rows = free[:, column]
        for exact, ends in [(d_mean, (up[0], down[0])), (d_sd, (up[1], down[1]))]:
            numeric = (ends[0] - ends[1]) / (2 * step)
            np.testing.assert_allclose(exact[rows, column], numeric[rows], rtol=1e-4, atol=1e-5)


@settings(max_examples=6, deadline=None)
@given(seeds)
def test_conditioning_is_refitting_with_exact_values(seed: int) -> None:
    space, model, theta, data, rng = tree_case(seed)
    data = Data(data.points, data.y, np.where(np.arange(len(data.y)) < 7, data.noise, 0.0))
    whole, new = posterior(model, theta, data), random_points(space, 6, rng)
    first = Data(data.points.take(slice(0, 7)), data.y[:7], data.noise[:7])
    for part in (
        posterior(model, theta, first),
        posterior(model, theta, data.take(np.arange(7))),
    ):
        n = len(part.data.y)
        rest = part.condition(data.points.take(slice(n, None)), data.y[n:])
        np.testing.assert_allclose(rest.predict(new), whole.predict(new), rtol=1e-7, atol=1e-8)
    untold = posterior(model, theta, first).condition(new, np.zeros(6))
    again = posterior(model, theta, untold.data)
    np.testing.assert_allclose(untold.predict(data.points), again.predict(data.points), rtol=1e-7, atol=1e-8)


EMPTY = (np.empty(0), np.empty(0))


@settings(max_examples=6, deadline=None)
@given(seeds, st.sampled_from([1e-8, 1e-4, 0.05]))
def test_a_point_that_is_believed_twice_counts_once(seed: int, noise: float) -> None:
    """A configuration may run twice at once, and exact values at one point make a singular matrix."""
    space, model, theta, data, rng = tree_case(seed)
    theta[-1] = np.log(noise)
    known = posterior(model, theta, data)
    new, there = random_points(space, 3, rng), random_points(space, 20, rng)
    y = known.predict_mean(new)
    once = known.condition(new, y)
    for twice in (known.condition(Points.concat([new, new]), np.append(y, y)), once.condition(new, y)):
        for left, right in zip(twice.predict(there), once.predict(there)):
            np.testing.assert_allclose(left, right, rtol=1e-4, atol=1e-4)


def test_vertex_posteriors_add_up_and_bound_the_whole() -> None:
    rng = np.random.default_rng(5)
    space = random_space(rng)
    model = GPModel(additive(space.layout))
    theta = model.prior.draw(rng)
    data = Data(random_points(space, 20, rng), rng.normal(size=20), np.full(20, np.nan))
    known, new = posterior(model, theta, data), random_points(space, 10, rng)
    mean, sd = known.predict(new)
    parts = [known.predict(term(new, group)) for group in range(space.layout.groups)]
    np.testing.assert_allclose(sum(m for m, _ in parts), mean, rtol=1e-9, atol=1e-10)
    assert np.all(sum(s for _, s in parts) >= sd - 1e-9)
    # One vertex by hand: its own covariance against all data.
    group = 1
    kernel = model.kernel
    assert isinstance(kernel, Sum)
    own, part = kernel.terms[group], theta[kernel.parts[group]]
    assert isinstance(own, WhereActive) and own.group == group
    cross = own(part, new, data.points)[0]
    full = kernel(theta[:-1], data.points, data.points)[0] + np.exp(theta[-1]) * np.eye(20)
    variance = own.diag(part, new)[0] - np.einsum("ij,ji->i", cross, np.linalg.solve(full, cross.T))
    np.testing.assert_allclose(parts[group][1] ** 2, np.maximum(variance, 1e-12), rtol=1e-6, atol=1e-9)


def term(points: Points, group: int) -> Points:
    """The points with one group alone, so that the term of that group is all of f."""
    return Points(points.x, points.on & (np.arange(points.on.shape[1]) == group))


def test_changes_of_terms_from_anchors() -> None:
    rng = np.random.default_rng(6)
    space = random_space(rng)
    model = GPModel(additive(space.layout))
    theta = model.prior.draw(rng)
    data = Data(random_points(space, 20, rng), rng.normal(size=20), np.full(20, np.nan))
    known, new = posterior(model, theta, data), random_points(space, 10, rng)
    groups = range(space.layout.groups)
    # every term from two anchors, and from none (no group active), all in one call
    points = Points.concat([term(new, group) for group in groups])
    known_rows = data.points.take([3, 5])
    anchors = Points.concat([*(term(known_rows, group) for group in groups), term(known_rows.take([0]), -1)])
    group = np.repeat(groups, len(new))
    of = np.where(np.arange(len(points)) % 3 < 2, 2 * group + np.arange(len(points)) % 3, len(anchors) - 1)
    changes = AdditiveGP.of(known).changes(anchors)
    change = changes.predict_grad(points, of)
    mean, covariance = known.joint(Points.concat([points, anchors]))
    contrast = np.eye(len(points), len(mean)) - np.eye(len(mean))[len(points) + of]
    variance = np.diag(contrast @ covariance @ contrast.T)
    np.testing.assert_allclose(change[0], contrast @ mean, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(change[1] ** 2, np.maximum(variance, 1e-12), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(change[:2], changes.predict(points, of))
    smooth = change[1] > 1e-3  # at an anchor the deviation has a kink
    assert smooth.sum() > 20
    for column in np.flatnonzero(~space.layout.nominal):
        step = np.eye(space.layout.columns)[column] * 1e-5
        ahead = changes.predict(Points(points.x + step, points.on), of)
        behind = changes.predict(Points(points.x - step, points.on), of)
        for slope, up, down in zip(change[2:], ahead, behind, strict=True):
            numeric = (up - down)[smooth] / 2e-5
            np.testing.assert_allclose(slope[smooth, column], numeric, rtol=1e-3, atol=1e-5)


def test_joint_samples_have_the_joint_moments() -> None:
    space, model, theta, data, rng = tree_case(1)
    known, new = posterior(model, theta, data), random_points(space, 4, rng)
    draws = known.sample(new, 20000, rng)
    mean, covariance = known.joint(new)
    scale = np.sqrt(np.diag(covariance)).max()
    np.testing.assert_allclose(draws.mean(0), mean, atol=0.05 * scale)
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.06 * scale**2)


def test_reported_noise_replaces_fitted_noise() -> None:
    model = GPModel(SE((0,)))
    points, y = flat_points(np.array([[0.2], [0.8]])), np.array([1.0, -1.0])
    theta = np.array([np.log(0.1), np.log(0.5)])
    exact = posterior(model, theta, Data(points, y, np.array([0.0, 0.0])))
    np.testing.assert_allclose(exact.predict(points)[0], y, atol=1e-4)
    assert exact.data.reported == pytest.approx(NOISE_FLOOR) and not exact.has_noise
    assert exact.observation_noise == 0.0
    mixed = posterior(model, theta, Data(points, y, np.array([0.1, np.nan])))
    np.testing.assert_allclose(mixed.data.variances(theta[-1]), [0.01, 0.5])
    assert mixed.has_noise
    assert mixed.observation_noise == pytest.approx(np.sqrt(0.255))
    told = posterior(model, theta, Data(points, y, np.array([0.1, 0.1])))
    assert told.observation_noise == pytest.approx(0.1)
    running = flat_points(np.linspace(0.1, 0.9, 7)[:, None])
    assert told.condition(running, np.zeros(7)).observation_noise == pytest.approx(0.1)
    assert log_likelihood(model, theta, exact.data)[1][-1] == 0.0


def test_map_climbs_and_recovers_the_truth() -> None:
    """On data drawn from the model, the mode is near the truth and no start is better."""
    rng = np.random.default_rng(0)
    model = GPModel(Scale(SE((0, 1))))
    points = flat_points(rng.random((80, 2)))
    truth = np.log([1.0, 0.2, 1.0, 0.01])
    data = Data(points, np.zeros(80), np.full(80, np.nan))
    k = model.kernel(truth[:-1], points, points)[0] + 0.01 * np.eye(80)
    data = Data(points, np.linalg.cholesky(k) @ rng.normal(size=80), data.noise)
    found = fit_map(model, data, rng)
    low, high = model.prior.bounds
    assert np.all((found >= low) & (found <= high))
    assert log_posterior(model, found, data)[0] >= log_posterior(model, truth, data)[0]
    assert log_posterior(model, found, data)[0] >= log_posterior(model, model.prior.median, data)[0]
    np.testing.assert_allclose(found[[1, 3]], truth[[1, 3]], atol=0.5)
    assert np.abs(log_posterior(model, found, data)[1]).max() < 0.1
    again = fit_map(model, data, np.random.default_rng(1), start=found)
    np.testing.assert_allclose(again, found, atol=1e-2)
    assert len(fit_map(model, Data(points.take([]), *EMPTY), rng)) == 4


def test_prediction_far_from_data_is_the_prior_and_at_data_the_data() -> None:
    model = GPModel(Scale(SE((0,))) + Constant())
    theta = np.log([2.0, 0.02, 0.5, 1e-6])
    known: GPPosterior = posterior(
        model, theta, Data(flat_points(np.array([[0.1]])), np.ones(1), np.full(1, np.nan))
    )
    mean, sd = known.predict(flat_points(np.array([[0.1], [0.9]])))
    np.testing.assert_allclose(mean, [1.0, 0.2], atol=1e-4)
    np.testing.assert_allclose(sd, [1e-3, np.sqrt(2.5 - 0.1)], rtol=0.01)
