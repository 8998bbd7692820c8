"""The contract of kernels, for every one in the list, on random points of random spaces."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import bough
from bough.gp.kernels import (
    SE,
    Imputed,
    Kernel,
    Laplace,
    LogNormal,
    Matern32,
    Matern52,
    Param,
    SameSignature,
    Stationary,
    WhereActive,
)
from bough.gp.params import JointPrior, total_size
from bough.points import FloatArray, Points, rows_by_signature

from .kernel_list import KERNELS, Entry, everything, groups
from .spaces import poisoned, random_points, random_space

STEP = 1e-6


class Case:
    """One kernel on one random space, at random hyperparameters, points and weights."""

    def __init__(self, entry: Entry, seed: int) -> None:
        rng = np.random.default_rng([seed, len(entry.name)])
        self.space: bough.Space = random_space(rng)
        self.kernel: Kernel = entry.build(self.space.layout)
        self.theta = JointPrior(self.kernel.params).draw(rng)
        self.a, self.b = random_points(self.space, 9, rng), random_points(self.space, 7, rng)
        self.w, self.v = rng.normal(size=(9, 7)), rng.normal(size=9)
        layout = self.space.layout
        # Columns that may be moved: active and not nominal. Reals are kept off the ends, where a warp
        # may have infinite slope.
        self.free_a = layout.active(self.a.on) & ~layout.nominal
        self.free_b = layout.active(self.b.on) & ~layout.nominal

    def loss(self, theta: FloatArray, a: Points, b: Points) -> float:
        return float((self.w * self.kernel(theta, a, b)[0]).sum())

    def diag_loss(self, theta: FloatArray, a: Points) -> float:
        return float(self.v @ self.kernel.diag(theta, a)[0])


_case = cache(Case)


@pytest.fixture(
    params=[(entry, seed) for entry in KERNELS for seed in range(2)],
    ids=lambda pair: f"{pair[0].name}-{pair[1]}",
)
def case(request: pytest.FixtureRequest) -> Case:
    return _case(*request.param)


@pytest.fixture(
    params=[(entry, seed) for entry in KERNELS if entry.smooth for seed in range(2)],
    ids=lambda pair: f"{pair[0].name}-{pair[1]}",
)
def smooth(request: pytest.FixtureRequest) -> Case:
    return _case(*request.param)


def moved(points: Points, row: int, column: int, step: float) -> Points:
    x = points.x.copy()
    x[row, column] += step
    return Points(x, points.on)


def test_symmetric_and_positive_semidefinite(case: Case) -> None:
    both = Points.concat([case.a, case.b])
    gram, _ = case.kernel(case.theta, both, both)
    crossed, _ = case.kernel(case.theta, case.b, case.a)
    np.testing.assert_allclose(gram, gram.T, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(case.kernel(case.theta, case.a, case.b)[0], crossed.T, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(gram[:9, 9:], crossed.T, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(case.kernel.diag(case.theta, both)[0], np.diag(gram), rtol=1e-9, atol=1e-9)
    assert np.linalg.eigvalsh(gram).min() >= -1e-9 * max(1.0, np.trace(gram))


def test_theta_has_the_size_of_params(case: Case) -> None:
    pull = case.kernel(case.theta, case.a, case.b)[1]
    assert pull.theta(case.w).shape == (total_size(case.kernel.params),) == case.theta.shape


def test_gradient_of_hyperparameters(smooth: Case) -> None:
    case = smooth
    steps = STEP * np.eye(len(case.theta))
    for loss, exact in [
        (lambda t: case.loss(t, case.a, case.b), case.kernel(case.theta, case.a, case.b)[1].theta(case.w)),
        (lambda t: case.diag_loss(t, case.a), case.kernel.diag(case.theta, case.a)[1].theta(case.v)),
    ]:
        numeric = [(loss(case.theta + s) - loss(case.theta - s)) / (2 * STEP) for s in steps]
        np.testing.assert_allclose(exact, numeric, rtol=1e-5, atol=1e-7)


def test_gradient_of_inputs(smooth: Case) -> None:
    case = smooth
    pull = case.kernel(case.theta, case.a, case.b)[1]
    diag = case.kernel.diag(case.theta, case.a)[1]
    for exact, free, points, loss in [
        (pull.a(case.w), case.free_a, case.a, lambda p: case.loss(case.theta, p, case.b)),
        (pull.b(case.w), case.free_b, case.b, lambda p: case.loss(case.theta, case.a, p)),
        (diag.a(case.v), case.free_a, case.a, lambda p: case.diag_loss(case.theta, p)),
    ]:
        assert exact.shape == points.x.shape
        numeric = np.zeros_like(exact)
        for row, column in zip(*np.nonzero(free)):
            ends = [loss(moved(points, row, column, step)) for step in (STEP, -STEP)]
            numeric[row, column] = (ends[0] - ends[1]) / (2 * STEP)
        np.testing.assert_allclose(exact, numeric, rtol=1e-5, atol=1e-6)


def test_what_stands_under_inactive_columns_is_never_read(case: Case) -> None:
    a, b = poisoned(case.space, case.a), poisoned(case.space, case.b)
    (k, pull), (k_nan, pull_nan) = case.kernel(case.theta, case.a, case.b), case.kernel(case.theta, a, b)
    np.testing.assert_array_equal(k_nan, k)
    for part, part_nan in zip(pull(case.w), pull_nan(case.w)):
        np.testing.assert_array_equal(part_nan, part)
    (d, pull_d), (d_nan, pull_d_nan) = case.kernel.diag(case.theta, case.a), case.kernel.diag(case.theta, a)
    np.testing.assert_array_equal(d_nan, d)
    np.testing.assert_array_equal(pull_d_nan.a(case.v), pull_d.a(case.v))


def test_gram_matrix_of_one_object_and_of_its_copy_agree(case: Case) -> None:
    copy = Points(case.a.x.copy(), case.a.on.copy())
    w = np.outer(case.v, case.v)
    (k, pull), (k_copy, pull_copy) = (case.kernel(case.theta, case.a, other) for other in (case.a, copy))
    np.testing.assert_allclose(k, k_copy, rtol=1e-12, atol=1e-12)
    for part, part_copy in zip(pull(w), pull_copy(w)):
        np.testing.assert_allclose(part, part_copy, rtol=1e-9, atol=1e-9)


def test_gradients_are_finite_where_points_coincide(case: Case) -> None:
    twice = case.a.take([0, 0, 1, 1])
    parts = case.kernel(case.theta, twice, case.a.take([0, 1]))[1](np.ones((4, 2)))
    assert all(np.all(np.isfinite(part)) for part in parts)


def test_no_rows(case: Case) -> None:
    none = case.a.take(slice(0, 0))
    k, pull = case.kernel(case.theta, none, case.b)
    assert k.shape == (0, 7)
    dtheta, da, db = pull(k)
    assert not dtheta.any() and da.shape == (0, case.a.x.shape[1]) and not db.any()


def test_adding_to_a_matrix(case: Case) -> None:
    out = np.ones((9, 7))
    pull = case.kernel.add_to(out, case.theta, case.a, case.b)
    k, direct = case.kernel(case.theta, case.a, case.b)
    np.testing.assert_allclose(out, 1.0 + k, rtol=1e-12)
    np.testing.assert_array_equal(pull.theta(case.w), direct.theta(case.w))


def test_toward_some_points_is_the_covariance_with_them(case: Case) -> None:
    k, pull = case.kernel(case.theta, case.a, case.b)
    again, pull_again = case.kernel.toward(case.theta, case.b)(case.a)
    np.testing.assert_array_equal(again, k)
    for mine, other in zip(pull_again(case.w), pull(case.w), strict=True):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("kernel", [Matern52((0, 1), (2, 3)), Laplace((0, 1), (2, 3))], ids=["2", "1"])
def test_distances_of_many_points_are_those_of_a_few_rows_at_a_time(kernel: Kernel) -> None:
    """More pairs than one strip holds, against a loop over single rows."""
    rng = np.random.default_rng(0)
    x = np.hstack([rng.random((400, 2)), rng.integers(0, 3, (400, 2)) / 3])
    points = Points(x, np.ones((400, 1), dtype=bool))
    a, b = points.take(slice(0, 90)), points.take(slice(90, None))
    theta, weight = rng.normal(size=4), rng.normal(size=(90, 310))
    k, pull = kernel(theta, a, b)
    singly = [kernel(theta, a.take([i]), b) for i in range(90)]
    np.testing.assert_allclose(k, np.vstack([row for row, _ in singly]), rtol=1e-12)
    by_theta = sum(one.theta(weight[[i]]) for i, (_, one) in enumerate(singly))
    np.testing.assert_allclose(pull.theta(weight), by_theta, rtol=1e-9)


@pytest.mark.parametrize("entry", KERNELS, ids=lambda entry: entry.name)
def test_under_on_two_inactive_points_do_not_covary(entry: Entry) -> None:
    case = Case(entry, 7)
    for group in range(1, case.space.layout.groups):
        k, _ = WhereActive(group, case.kernel)(case.theta, case.a, case.b)
        either_off = ~(case.a.on[:, group][:, None] & case.b.on[:, group])
        assert not k[either_off].any()
        inner = case.kernel(case.theta, case.a, case.b)[0]
        np.testing.assert_allclose(k[~either_off], inner[~either_off], rtol=1e-9, atol=1e-12)


def test_formulas_against_scalars() -> None:
    """Each stationary kernel, one pair at a time, from its textbook formula."""
    rng = np.random.default_rng(0)
    a, b = (Points(rng.random((4, 3)), np.ones((4, 1), dtype=bool)) for _ in range(2))
    b.x[:2, 2] = a.x[:2, 2]
    length = np.array([0.3, 0.7, 1.1])
    for build, formula in [
        (SE, lambda r: np.exp(-(r**2) / 2)),
        (Matern32, lambda r: (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r)),
        (Matern52, lambda r: (1 + np.sqrt(5) * r + 5 * r**2 / 3) * np.exp(-np.sqrt(5) * r)),
    ]:
        k, _ = build((0, 1), (2,))(np.log(length), a, b)
        for i in range(4):
            for j in range(4):
                gap = [a.x[i, 0] - b.x[j, 0], a.x[i, 1] - b.x[j, 1], float(a.x[i, 2] != b.x[j, 2])]
                assert k[i, j] == pytest.approx(formula(np.linalg.norm(gap / length)), rel=1e-10)
    k, _ = Laplace((0, 1), (2,))(np.log(length), a, b)
    gap = np.abs(a.x[0, :2] - b.x[3, :2]) / length[:2]
    assert k[0, 3] == pytest.approx(np.exp(-gap.sum() - 1 / length[2]))


class Forgetful(Stationary):
    """A profile with a hyperparameter, but without the derivative by it."""

    shape = (Param("alpha", 1, LogNormal(0.0, 1.0), 0.05, 50.0),)

    def profile(self, s2: FloatArray, values: FloatArray):
        return np.exp(-s2), lambda: -np.exp(-s2)


def test_a_profile_without_a_derivative_is_named() -> None:
    points = Points(np.array([[0.1], [0.7]]), np.ones((2, 1), dtype=bool))
    with pytest.raises(TypeError, match=r"Forgetful\.profile must return .* each of the 1 values of shape"):
        Forgetful((0,))(np.zeros(2), points, points)


def test_conditional_kernel_vanishes_between_signatures() -> None:
    """Lévesque 2017, eq. (6), by a loop over pairs."""
    rng = np.random.default_rng(3)
    space = random_space(rng)
    inner = Imputed(Matern52(*everything(space.layout)), groups(space.layout))
    kernel, points = SameSignature(inner), random_points(space, 40, rng)
    theta = JointPrior(kernel.params).draw(rng)
    k, full = kernel(theta, points, points)[0], inner(theta, points, points)[0]
    same = np.array([[np.array_equal(p, q) for q in points.on] for p in points.on])
    assert same.sum() > len(points)
    np.testing.assert_allclose(k, np.where(same, full, 0.0), atol=1e-12)
    assert len(rows_by_signature(points.on)) == len({p.tobytes() for p in points.on})


def test_imputed_reads_the_middle() -> None:
    rng = np.random.default_rng(4)
    space = random_space(rng)
    columns = everything(space.layout)
    points = random_points(space, 12, rng)
    plain = Matern52(*columns)
    theta = JointPrior(plain.params).draw(rng)
    filled = Points(np.where(space.layout.active(points.on), points.x, 0.5), points.on)
    k, _ = Imputed(plain, groups(space.layout))(theta, poisoned(space, points), poisoned(space, points))
    np.testing.assert_allclose(k, plain(theta, filled, filled)[0], rtol=1e-12)
