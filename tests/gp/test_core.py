"""The compiled core against NumPy: covariances, gradients, ascents, whole proposals; and wrong cores."""

from __future__ import annotations

import copy
import importlib
import importlib.util
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from tests.strategies.histories import history

import bough
from bough.acquisition.criterion import Criterion, Expected, Total
from bough.acquisition.functions import LOG_EI, LOG_PI, Acquisition, Price
from bough.acquisition.hypervolume import ExpectedHypervolumeImprovement, free_boxes
from bough.acquisition.maximise.alternate import alternate_search
from bough.acquisition.maximise.exchanges import exchanges, score_moves
from bough.acquisition.maximise.gradient import compiled_ascent, gradient_ascent
from bough.auto import Auto
from bough.errors import MethodError, MissingExtraError
from bough.gp import core
from bough.gp.likelihood import Data, log_posterior, log_posterior_on
from bough.points import Points
from bough.registry import build
from bough.space.sampling import sample_points
from bough.surrogates.base import KernelGP
from bough.surrogates.nested import nested

from .spaces import poisoned, random_points, random_space

T = TypeVar("T")

needs_core = pytest.mark.skipif(
    importlib.util.find_spec("bough_core") is None, reason="needs the compiled core: make core"
)


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    core.compiled_core.cache_clear()
    yield
    core.compiled_core.cache_clear()


def by(engine: str, work: Callable[[], T]) -> T:
    """What ``work`` returns when this engine computes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BOUGH_CORE", engine)
        core.compiled_core.cache_clear()
        assert (core.compiled_core() is None) == (engine == "numpy")
        result = work()
    core.compiled_core.cache_clear()
    return result


def wide_space() -> bough.Space:
    branches = {
        f"b{i}": {
            f"x{i}_{j}": bough.Float(0, 1) if j % 3 else bough.Categorical([1, 2, 3]) for j in range(13)
        }
        for i in range(10)
    }
    shared = {f"s{i}": bough.Int(1, 9) for i in range(7)}
    return bough.Space({"arm": bough.Choice(branches), **shared})


def cases() -> list[tuple[str, bough.Space, int, int]]:
    rng = np.random.default_rng(0)
    random = [(f"random {i}", random_space(rng), 9, 14) for i in range(12)]
    flat = bough.Space({"x": bough.Float(0, 1)})
    only_switch = bough.Space({"arm": bough.Choice({"a": {}, "b": {}})})
    return [
        *random,
        ("one row each", flat, 1, 1),
        ("no rows", flat, 0, 5),
        ("only a switch", only_switch, 4, 6),
        ("138 parameters", wide_space(), 6, 11),
    ]


@needs_core
@pytest.mark.parametrize(("name", "space", "rows", "others"), cases(), ids=[case[0] for case in cases()])
def test_covariances_and_gradients(name: str, space: bough.Space, rows: int, others: int) -> None:
    rng = np.random.default_rng(len(name))
    kernel = nested(space.layout, space.tree).model.kernel
    theta = rng.normal(0, 0.4, sum(param.size for param in kernel.params))
    a, b = random_points(space, rows, rng), random_points(space, others, rng)
    weight, square = rng.normal(size=(rows, others)), rng.normal(size=(rows, rows))

    def everything() -> list[np.ndarray]:
        left, right = poisoned(space, a), poisoned(space, b)
        k, pull = kernel(theta, left, right)
        own, pull_own = kernel(theta, left, left)
        toward, pull_toward = kernel.toward(theta, right)(left)
        return [
            *(k, pull.theta(weight), pull.a(weight), pull.b(weight)),
            *(own, pull_own.theta(square), pull_own.a(square), pull_own.b(square)),
            *(toward, pull_toward.a(weight)),
        ]

    for ours, theirs in zip(by("compiled", everything), by("numpy", everything), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


CRITERIA = [
    "improvement",
    "exploiting",
    "limits",
    "improvement under limits",
    "hypervolume under a limit",
    "improvement at a price",
    "all",
]


def criterion_of(kind: str, surrogate: Any, points: Points, rng: np.random.Generator) -> Criterion:
    """A criterion over posteriors of its own."""

    def posterior() -> Any:
        theta = rng.normal(0, 0.2, sum(p.size for p in surrogate.model.params))
        theta[-1] = np.log(1e-3)
        data = Data(points, rng.normal(size=len(points)), np.full(len(points), np.nan))
        return surrogate.posterior(theta, data)[0]

    improvement = Expected(
        [posterior()], [-1.0], replace(LOG_EI, sd_share=0.3 if kind == "exploiting" else 1.0)
    )
    limits = [Expected([posterior()], [best], LOG_PI) for best in (-0.5, 0.3)]
    price = Expected([posterior()], [0.8], Acquisition(Price(0.7, 10.0, 2.0, -4.0, 1.5, -1.0), log=True))
    boxes = free_boxes(rng.normal(size=(7, 3)), np.full(3, 2.0))
    gain = ExpectedHypervolumeImprovement([posterior() for _ in range(3)], boxes, 0.7)
    return {
        "improvement": improvement,
        "exploiting": improvement,
        "limits": Total(limits),
        "improvement under limits": Total([improvement, *limits]),
        "hypervolume under a limit": Total([gain, limits[0]]),
        "improvement at a price": Total([improvement, price]),
        "all": Total([price, limits[0], gain]),
    }[kind]


@needs_core
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", CRITERIA)
def test_an_ascent_takes_the_same_steps(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    space = random_space(rng)
    surrogate = nested(space.layout, space.tree)
    points = sample_points(space, 25, rng)
    starts = sample_points(space, 8, rng)
    boxes = space.tree.path_of(starts)
    low, high = np.stack([box.low for box in boxes]), np.stack([box.high for box in boxes])
    moving = space.layout.active(starts.on) & (space.layout.levels == 0) & (low < high)

    def climb() -> tuple[Points, np.ndarray]:
        criterion = criterion_of(kind, surrogate, points, np.random.default_rng(seed))
        reached = compiled_ascent(criterion, starts, low, high, moving)
        assert (reached is None) == (core.compiled_core() is None)
        return gradient_ascent(criterion, starts, low, high, moving)

    (ours, our_value), (theirs, their_value) = by("compiled", climb), by("numpy", climb)
    np.testing.assert_allclose(our_value, their_value, rtol=1e-6, atol=1e-6)
    active = space.layout.active(starts.on)
    np.testing.assert_allclose(ours.x[active], theirs.x[active], atol=1e-5)


@needs_core
@pytest.mark.parametrize(("name", "space", "rows", "others"), cases(), ids=[case[0] for case in cases()])
def test_the_log_posterior_of_hyperparameters(name: str, space: bough.Space, rows: int, others: int) -> None:
    rng = np.random.default_rng(len(name))
    model = nested(space.layout, space.tree).model
    points = poisoned(space, random_points(space, others, rng))
    noise = np.where(np.arange(others) % 3 == 0, 0.1, np.nan)
    data = Data(points, rng.normal(size=others), noise)
    theta = rng.normal(0, 0.4, sum(param.size for param in model.params))
    value, gradient = by("compiled", lambda: log_posterior_on(model, data)(theta))
    slope = gradient()
    expected, expected_slope = by("numpy", lambda: log_posterior(model, theta, data))
    assert value == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(slope, expected_slope, rtol=1e-7, atol=1e-8)


@needs_core
@pytest.mark.parametrize("seed", range(4))
def test_predictions_and_their_gradients(seed: int) -> None:
    rng = np.random.default_rng(seed)
    space = wide_space() if seed == 0 else random_space(rng)
    surrogate = nested(space.layout, space.tree)
    data = Data(poisoned(space, sample_points(space, 19, rng)), rng.normal(size=19), np.full(19, np.nan))
    theta = np.concatenate([rng.normal(0, 0.3, sum(p.size for p in surrogate.model.params) - 1), [-4.0]])
    points = poisoned(space, sample_points(space, 7, rng))

    def predictions() -> list[np.ndarray]:
        posterior = surrogate.posterior(theta, data)[0]
        return [*posterior.predict(points), *posterior.predict_grad(points)]

    for ours, theirs in zip(by("compiled", predictions), by("numpy", predictions), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-8)


@needs_core
def test_a_matrix_that_needs_jitter_is_left_to_numpy() -> None:
    space = bough.Space({"x": bough.Float(0, 1)})
    model = nested(space.layout, space.tree).model
    points = space.encode([{"x": 0.5}] * 30)
    data = Data(points, np.zeros(30), np.full(30, np.nan))
    theta = np.zeros(sum(param.size for param in model.params))
    theta[0] = 40.0  # variances far above the noise
    theta[-1] = -40.0
    value, gradient = by("compiled", lambda: log_posterior_on(model, data)(theta))
    slope = gradient()
    assert np.isfinite(value) and np.isfinite(slope).all()


def a_search(seed: int) -> tuple[bough.Space, KernelGP, Points, Points, np.ndarray, np.ndarray]:
    """A space, its surrogate, observed points, and starts of a search with the boxes of their paths."""
    rng = np.random.default_rng(seed)
    space = wide_space() if seed == 0 else random_space(rng)
    points = sample_points(space, 21, rng)
    starts = poisoned(space, sample_points(space, 6, rng))
    boxes = space.tree.path_of(starts)
    low, high = np.stack([box.low for box in boxes]), np.stack([box.high for box in boxes])
    return space, nested(space.layout, space.tree), points, starts, low, high


@needs_core
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", CRITERIA)
def test_scores_of_exchanges(seed: int, kind: str) -> None:
    space, surrogate, points, bases, low, high = a_search(seed)
    moves = exchanges(space, bases, low, high)

    def scores() -> np.ndarray:
        return score_moves(criterion_of(kind, surrogate, points, np.random.default_rng(seed)), moves)

    np.testing.assert_allclose(by("compiled", scores), by("numpy", scores), rtol=1e-7, atol=1e-7)


@needs_core
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", CRITERIA)
def test_scores_and_searches(seed: int, kind: str) -> None:
    """Scores of points agree, and an alternating search ends at the same points."""
    space, surrogate, points, starts, low, high = a_search(seed)

    def search() -> tuple[np.ndarray, Points, np.ndarray]:
        criterion = criterion_of(kind, surrogate, points, np.random.default_rng(seed))
        return criterion(starts), *alternate_search(space, criterion, starts, low, high)

    our_score, ours, our_value = by("compiled", search)
    their_score, theirs, their_value = by("numpy", search)
    np.testing.assert_allclose(our_score, their_score, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(our_value, their_value, rtol=1e-6, atol=1e-6)
    active = space.layout.active(starts.on)
    np.testing.assert_allclose(ours.x[active], theirs.x[active], atol=1e-5)


@needs_core
def test_whole_proposals_agree() -> None:
    space = bough.Space(
        {
            "model": bough.Choice(
                {
                    "a": {"x": bough.Float(0, 1), "y": bough.Float(0, 1)},
                    "b": {"n": bough.Int(1, 30), "c": bough.Categorical(["p", "q", "r"])},
                }
            ),
            "s": bough.Float(0, 1),
        }
    )

    def objective(config: dict[str, Any]) -> float:
        if config["model"] == "a":
            return (config["x"] - 0.3) ** 2 + (config["y"] - 0.8) ** 2 * (1 + config["s"])
        return 0.1 + abs(config["n"] - 17) / 40 + 0.1 * (config["c"] != "q") + (config["s"] - 0.5) ** 2

    same = proposals = 0
    for seed in range(3):
        study = bough.Study(space, seed=seed)
        for number in range(20):
            ours = by("compiled", lambda study=study: copy.deepcopy(study).ask())
            trial = by("numpy", study.ask)
            assert ours.config["model"] == trial.config["model"]
            numbers = [(ours.config[n], v) for n, v in trial.config.items() if isinstance(v, (int, float))]
            same += all(abs(left - right) < 1e-6 for left, right in numbers)
            proposals += 1
            if number in (5, 10, 15, 19):  # after the initial design, with and without exploitation
                one, other = by("numpy", lambda: acquisition_at(study, number, [ours.config, trial.config]))  # noqa: B023
                assert abs(one - other) < 1e-3 * (1 + abs(other))
            study.tell(trial, objective(trial.config))
    assert same >= 0.95 * proposals


def acquisition_at(study: bough.Study, number: int, configs: list[dict[str, Any]]) -> list[float]:
    """The criterion of trial ``number`` at some configs, given the trials before it."""
    told = [(trial.config, trial.value) for trial in study.trials[:number]]
    strategy, points = build("auto", study.space), study.space.encode(configs)
    context = strategy._context(study.space, history(study.space, told, seed=study.seed))
    options = Auto()
    exploits = number % options.exploit_every == options.exploit_every - 1
    return context.make_criterion(sd_share=options.exploit_sd_share if exploits else 1.0)(points).tolist()


def test_a_core_of_another_version_is_reported_and_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = types.ModuleType("bough_core")
    fake.ABI_VERSION = core.ABI_VERSION + 1  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "bough_core", fake)
    monkeypatch.delenv("BOUGH_CORE", raising=False)
    with pytest.warns(UserWarning, match="version"):
        assert core.compiled_core() is None
    assert core.describe() == "NumPy, no compiled core"


def test_a_broken_core_is_reported_once_and_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / f"bough_core{EXTENSION_SUFFIXES[-1]}").write_bytes(b"no library")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "bough_core", raising=False)
    monkeypatch.delenv("BOUGH_CORE", raising=False)
    with pytest.warns(UserWarning, match="without its compiled core: it cannot be loaded") as warned:
        values = [study_in_numpy(seed) for seed in (0, 1)]
    assert len(warned) == 1
    assert "\n" not in str(warned[0].message)
    assert np.isfinite(values).all()
    core.compiled_core.cache_clear()
    monkeypatch.setenv("BOUGH_CORE", "compiled")
    with pytest.raises(MissingExtraError, match="it cannot be loaded"):
        core.compiled_core()


def study_in_numpy(seed: int) -> float:
    study = bough.Study(bough.Space({"x": bough.Float(0, 1)}), seed=seed)
    value = study.run(lambda config: config["x"], trials=6, progress=False).best.value
    assert core.compiled_core() is None and value is not None
    return value


def test_a_missing_core_is_an_error_only_if_it_is_demanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bough_core", None)  # type: ignore[arg-type]
    monkeypatch.delenv("BOUGH_CORE", raising=False)
    assert core.compiled_core() is None
    core.compiled_core.cache_clear()
    monkeypatch.setenv("BOUGH_CORE", "compiled")
    with pytest.raises(MissingExtraError, match="not installed"):
        core.compiled_core()
    monkeypatch.setenv("BOUGH_CORE", "fast")
    with pytest.raises(MethodError, match="set it to numpy or compiled"):
        core.compiled_core()


@needs_core
def test_arrays_of_the_wrong_size_are_refused() -> None:
    module = importlib.import_module("bough_core")
    one, two, on = np.zeros(1), np.zeros(2), np.ones(1, dtype=bool)
    zero, first = np.zeros(1, np.intc), np.array([0, 1], np.intc)
    shape = (1, 1, 1, zero, zero, zero, first, zero)
    model, out = (shape, np.zeros(5), (1, one, on)), np.empty(1)
    module.cross(model, (1, one, on), False, out)
    with pytest.raises(ValueError, match="x must have 1 entries, not 2"):
        module.cross(model, (1, two, on), False, out)
    with pytest.raises(TypeError, match="theta must hold doubles"):
        module.cross((shape, np.zeros(5, np.float32), model[2]), (1, one, on), False, out)
    with pytest.raises(TypeError, match="on must hold booleans"):
        module.cross(model, (1, one, one), False, out)
    with pytest.raises(ValueError, match="a group that does not exist"):
        module.cross(((*shape[:7], zero + 3), *model[1:]), (1, one, on), False, out)
    with pytest.raises(ValueError, match="a column that does not exist"):
        module.cross(((*shape[:3], zero + 1, *shape[4:]), *model[1:]), (1, one, on), False, out)
    with pytest.raises(ValueError, match="first must rise"):
        module.cross(
            ((*shape[:6], np.array([0, 5], np.intc), *shape[7:]), *model[1:]), (1, one, on), False, out
        )
    with pytest.raises(ValueError, match="must be those of the model"):
        module.cross(model, (2, two, np.ones(2, dtype=bool)), True, two)
