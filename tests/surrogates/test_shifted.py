"""A process around a prior mean, against universal kriging written out and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

import bough
from bough.gp.likelihood import Data
from bough.gp.posterior import GPPosterior, Posterior
from bough.points import Points
from bough.space.sampling import sample_points
from bough.surrogates import nested
from bough.surrogates.shifted import SCALE_PRIOR_ROWS, SLOPE_PRECISION, Shifted, shifted

SPACE = bough.Space(
    {
        "m": bough.Choice({"a": {"x": bough.Float(0, 1)}, "b": {"c": bough.Categorical(["p", "q", "r"])}}),
        "w": bough.Float(0, 1),
    }
)


def process(n: int, seed: int, sign: float = 1.0) -> GPPosterior:
    rng = np.random.default_rng(seed)
    points = sample_points(SPACE, n, rng)
    active = SPACE.layout.active(points.on)
    y = sign * (np.where(active, np.sin(4 * points.x), 0.0).sum(axis=1) - 0.5)
    surrogate = nested(SPACE.layout, SPACE.tree)
    data = Data(points, y, np.full(n, np.nan))
    theta = surrogate.fit(data, rng)
    return surrogate.posterior(theta, data)[0]


@pytest.fixture(scope="module")
def made() -> tuple[GPPosterior, list[Posterior], Shifted]:
    own, members = process(7, 0), [process(20, 1), process(15, 2)]
    found = shifted(own, members, np.array([0.5, 0.3]))
    assert isinstance(found, Shifted)
    return own, members, found


def test_the_noise_is_scaled_like_the_rest(made) -> None:
    own, members, _ = made
    told = Data(own.data.points, own.data.y, np.full(len(own.data.y), 0.2))
    noisy = nested(SPACE.layout, SPACE.tree).posterior(own.theta, told)[0]
    found = shifted(noisy, members, np.array([0.5, 0.3]))
    assert isinstance(found, Shifted) and found.scale != 1.0
    assert found.observation_noise == pytest.approx(0.2 * found.scale)


def test_against_universal_kriging_written_out(made) -> None:
    own, members, found = made
    kernel, theta, X, y = own.model.kernel, own.theta[:-1], own.data.points, own.data.y
    M = kernel(theta, X, X)[0] + np.diag(own.data.variances(own.theta[-1]))
    at = sample_points(SPACE, 30, np.random.default_rng(3))

    def g(points: Points) -> np.ndarray:
        return 0.5 * members[0].predict(points)[0] + 0.3 * members[1].predict(points)[0]

    inverse = np.linalg.inv(M)
    H = np.stack([np.ones(len(y)), g(X)], axis=1)
    ridge = np.diag([1e-6, SLOPE_PRECISION])
    b = np.linalg.solve(H.T @ inverse @ H + ridge, H.T @ inverse @ y + ridge @ [0, 1])
    rest = y - H @ b
    cross = kernel(theta, at, X)[0]
    mean = b[0] + b[1] * g(at) + cross @ inverse @ rest
    scale = np.sqrt((rest @ inverse @ rest + SCALE_PRIOR_ROWS) / (len(y) + SCALE_PRIOR_ROWS))
    found_mean, found_sd = found.predict(at)
    assert np.allclose(found_mean, mean, atol=1e-6)
    assert np.allclose(found_sd, scale * own.predict(at)[1])
    # The results themselves are met, whatever the earlier studies say.
    assert np.allclose(found.predict(X)[0], y, atol=0.05)


def test_conditioning_on_more_results_meets_them(made) -> None:
    _, _, found = made
    new = sample_points(SPACE, 2, np.random.default_rng(4))
    assert np.allclose(found.condition(new, np.array([3.0, -2.0])).predict(new)[0], [3.0, -2.0], atol=0.1)


def test_gradients(made) -> None:
    _, _, found = made
    at = sample_points(SPACE, 8, np.random.default_rng(5))
    mean, sd, mean_slope, sd_slope = found.predict_grad(at)
    assert np.allclose(found.predict(at), (mean, sd))
    step = 1e-6
    real = np.array([kind == "real" for kind in SPACE.layout.kinds]) & SPACE.layout.active(at.on)
    for column in np.flatnonzero(real.any(axis=0)):
        shift = np.zeros(at.x.shape)
        shift[:, column] = step * real[:, column]
        (up, up_sd), (down, down_sd) = (found.predict(Points(at.x + s, at.on)) for s in (shift, -shift))
        assert np.allclose(mean_slope[:, column], (up - down) / (2 * step), atol=1e-3)
        assert np.allclose(sd_slope[:, column], (up_sd - down_sd) / (2 * step), atol=1e-3)


def test_draws_have_its_moments(made) -> None:
    _, _, found = made
    at = sample_points(SPACE, 5, np.random.default_rng(6))
    drawn = found.sample(at, 20000, np.random.default_rng(7))
    mean, sd = found.predict(at)
    assert np.allclose(drawn.mean(axis=0), mean, atol=5 * sd.max() / np.sqrt(20000))
    assert np.allclose(drawn.std(axis=0), sd, rtol=0.05)


def test_members_that_point_the_other_way_are_left_out() -> None:
    own = process(12, 0)
    assert shifted(own, [process(30, 1, sign=-1.0)], np.array([1.0])) is own
