"""Maximum likelihood of type II in the leaves (Assael et al. 2014, eq. 8), and other kernels there."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import optimize
from scipy.stats import multivariate_normal
from tests.papers.test_treed import BRANCHES, PLANE, log_density, sample, targets_of

from bough.gp.likelihood import Data
from bough.gp.params import JointPrior
from bough.papers.assael2014.pooled_density import Densities, padded
from bough.papers.assael2014.treed import Treed
from bough.papers.assael2014.type_two import most_likely_theta


def log_likelihood(surrogate: Treed, target, data: Data, theta: np.ndarray, sign: float = 1.0) -> float:
    """Eq. (8) through the kernel and scipy's normal density."""
    total = 0.0
    for part in target.parts:
        some = data.points.take(part.rows)
        covariance, _ = surrogate.kernel(target.hyper.kernel_theta(theta), some, some)
        covariance = covariance + np.diag(data.variances(theta[target.hyper.noise])[part.rows])
        mean = np.full(len(part.rows), theta[0])
        total += part.weight * float(multivariate_normal.logpdf(data.y[part.rows], mean, covariance))
    return sign * total


def test_the_maximum_of_the_pseudo_likelihood_by_another_search() -> None:
    points, y, noise = sample(PLANE, 25, 3)
    surrogate = Treed(PLANE.layout, PLANE.tree, weight=2.0, samples=0, least=12)
    data = Data(points, y, noise)
    targets = targets_of(surrogate, data)
    assert len(targets) > 1
    for target, theta in zip(targets, most_likely_theta(surrogate.compared, targets, data)):
        value = partial(log_likelihood, surrogate, target, data)
        low, high = JointPrior(target.hyper.params).bounds
        box = [(-5.0, 5.0), *zip(low, high)]
        loss = partial(log_likelihood, surrogate, target, data, sign=-1.0)
        other = optimize.minimize(loss, theta, method="Nelder-Mead", bounds=box, options={"maxiter": 200})
        assert value(theta) >= -other.fun - 1e-3
        start = value(target.hyper.start)
        assert value(theta) > start


def test_samples_zero_gives_one_posterior() -> None:
    points, y, noise = sample(BRANCHES, 25, 4)
    surrogate = Treed(BRANCHES.layout, BRANCHES.tree, samples=0)
    data = Data(points, y, noise)
    theta = surrogate.fit(data, np.random.default_rng(0))
    assert theta.shape[0] == 1
    (posterior,) = surrogate.posterior(theta, data)
    mean, sd = posterior.predict(points)
    assert np.isfinite(mean).all() and (sd > 0).all()


@pytest.mark.parametrize("kernel", ["se", "matern32"])
def test_other_leaf_kernels_have_the_density_of_their_covariance(kernel: str) -> None:
    points, y, noise = sample(PLANE, 30, 21)
    surrogate = Treed(PLANE.layout, PLANE.tree, leaf_kernel=kernel)
    data = Data(points, y, noise)
    targets = targets_of(surrogate, data)
    thetas = [np.append(0.1, target.hyper.start[1:]) for target in targets]
    for theta, target in zip(thetas, targets):
        theta[target.hyper.noise] = np.log(1e-2)
    together = Densities(surrogate.compared, targets, data)(padded([theta[1:] for theta in thetas]))
    expected = [log_density(surrogate, target, theta, data) for target, theta in zip(targets, thetas)]
    np.testing.assert_allclose(together.at(np.full(len(targets), 0.1)), expected, rtol=1e-6)
