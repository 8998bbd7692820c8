"""One process per path: each is a plain Gaussian process of its own rows."""

from __future__ import annotations

import numpy as np
from tests.surrogates.fitting import fit

import bough
from bough.gp.likelihood import Data
from bough.gp.posterior import posterior
from bough.papers.jenatton2017.independent import Independent
from bough.points import Points

SPACE = bough.Space(
    {
        "m": bough.Choice({"a": {"x": bough.Float(0, 1)}, "b": {"k": bough.Categorical([1, 2, 3])}, "c": {}}),
        "r": bough.Float(0, 1, when="m != 'c'"),
    }
)
SURROGATE = Independent(SPACE.layout, SPACE.tree)


def observations(n: int, seed: int = 0) -> tuple[Points, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return SPACE.encode(SPACE.sample(n, rng)), rng.normal(size=n), np.full(n, np.nan)


def branch(points: Points) -> np.ndarray:
    return np.floor(3 * points.x[:, 0]).astype(int)


def test_each_path_is_a_process_of_its_own() -> None:
    points, y, noise = observations(30)
    fitted = fit(SURROGATE, points, y, noise, np.random.default_rng(0))
    new = observations(20, seed=1)[0]
    mean, sd, *gradients = fitted.posteriors[0].predict_grad(new)
    position = 0
    for path in dict.fromkeys(branch(points).tolist()):  # in order of occurrence
        mine, there = branch(points) == path, branch(new) == path
        model = SURROGATE.model(points.on[mine][0])
        theta = fitted.theta[position : position + sum(p.size for p in model.params)]
        position += len(theta)
        alone = posterior(model, theta, Data(points.take(mine), y[mine], noise[mine]))
        expected = alone.predict_grad(new.take(there))
        for ours, theirs in zip((mean, sd, *gradients), expected):
            np.testing.assert_allclose(ours[there], theirs, atol=1e-12)
    assert position == len(fitted.theta)


def test_a_path_does_not_learn_from_another() -> None:
    points, y, noise = observations(30)
    (before,) = fit(SURROGATE, points, y, noise, np.random.default_rng(0)).posteriors
    changed = np.where(branch(points) == 0, y + 100, y)
    (after,) = fit(SURROGATE, points, changed, noise, np.random.default_rng(0)).posteriors
    others = points.take(branch(points) != 0)
    np.testing.assert_allclose(before.predict(others), after.predict(others), rtol=1e-6)


def test_a_path_without_data_is_at_its_prior() -> None:
    points, y, noise = observations(30)
    seen = branch(points) != 0
    (known,) = fit(SURROGATE, points.take(seen), y[seen], noise[seen], np.random.default_rng(0)).posteriors
    mean, sd = known.predict(points.take(~seen))
    np.testing.assert_array_equal(mean, 0.0)
    np.testing.assert_allclose(sd, sd[0])
    assert sd[0] > 1


def test_theta_of_a_prefix_begins_theta() -> None:
    points, y, noise = observations(30)
    theta = fit(SURROGATE, points, y, noise, np.random.default_rng(0)).theta
    few = points.take(slice(0, 2))
    begin = fit(SURROGATE, few, y[:2], noise[:2], np.random.default_rng(0)).theta
    assert len(begin) < len(theta)
    (known,) = SURROGATE.posterior(begin, Data(points, y, noise))  # paths beyond it are at their median
    assert np.isfinite(known.predict(points)[0]).all()
    warm = fit(SURROGATE, points, y, noise, np.random.default_rng(0), start=begin).theta
    assert len(warm) == len(theta)


def test_conditioning_equals_refitting_with_exact_values_and_rows_keep_their_order() -> None:
    """The last path has no parameters: several values at its one point cannot all be exact."""
    points, y, noise = observations(20)
    theta = fit(SURROGATE, points, y, noise, np.random.default_rng(0)).theta
    believed = (np.arange(20) >= 12) & (branch(points) != 2)
    (whole,) = SURROGATE.posterior(theta, Data(points, y, np.where(believed, 0.0, noise)))
    head = Data(points.take(~believed), y[~believed], noise[~believed])
    (part,) = SURROGATE.posterior(theta, head)
    grown = part.condition(points.take(believed), y[believed])
    for left, right in zip(grown.predict(points), whole.predict(points)):
        np.testing.assert_allclose(left, right, rtol=1e-6, atol=1e-8)


def test_samples_have_the_mean_and_deviation_of_the_posterior() -> None:
    points, y, noise = observations(20)
    (known,) = fit(SURROGATE, points, y, noise, np.random.default_rng(0)).posteriors
    new = observations(8, seed=2)[0]
    mean, sd = known.predict(new)
    draws = known.sample(new, 5000, np.random.default_rng(3))
    assert (np.abs(draws.mean(axis=0) - mean) < 5 * sd / np.sqrt(5000) + 1e-5).all()
    np.testing.assert_allclose(draws.std(axis=0), sd, rtol=0.1, atol=1e-4)
