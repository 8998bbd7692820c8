"""Parzen estimators against quadrature, direct formulas and their own draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.stats import kstest, norm, truncnorm
from tests.strategies.histories import drive, history

from bough import Categorical, Choice, Float, Int, Space
from bough.strategies.parzen import Parzen, ParzenSearch

SPACE = Space(
    {
        "m": Choice({"a": {"x": Float(0, 1), "n": Int(1, 8)}, "b": {"k": Categorical(["p", "q", "r"])}}),
        "z": Float(-1, 1),
    }
)


def mixed(n: int, prior: float = 1.0) -> Parzen:
    """Two reals and a category of three."""
    rng = np.random.default_rng(n)
    centres = np.column_stack([rng.random((n, 2)), (rng.integers(0, 3, n) + 0.5) / 3])
    return Parzen(centres, np.array([0.0, 0.0, 3.0]), np.array([False, False, True]), prior)


@pytest.mark.parametrize("n", [0, 1, 7])
def test_densities_integrate_to_one(n: int) -> None:
    estimator = mixed(n, prior=0.7)
    total = 0.0
    for option in (1 / 6, 0.5, 5 / 6):
        total += dblquad(
            lambda b, a, c=option: float(np.exp(estimator.log_density(np.array([[a, b, c]]))[0])),
            0, 1, 0, 1, epsabs=1e-6,
        )[0]  # fmt: skip
    assert total == pytest.approx(1, abs=1e-4)


def test_density_is_the_mixture_of_its_definition() -> None:
    estimator = mixed(4, prior=0.5)
    n, options = 4, 3
    pseudo = 0.5 / (n + 1)
    x = np.random.default_rng(9).random((20, 2))
    for a, b in x:
        for option in (1 / 6, 0.5, 5 / 6):
            total = 0.5 / options
            for centre in estimator.centres:
                kernel = (float(centre[2] == option) + pseudo) / (1 + options * pseudo)
                for value, middle, width in zip((a, b), centre[:2], estimator.widths):
                    low, high = -middle / width, (1 - middle) / width
                    kernel *= truncnorm.pdf(value, low, high, loc=middle, scale=width)
                total += kernel
            density = np.exp(estimator.log_density(np.array([[a, b, option]])))[0]
            assert density == pytest.approx(total / (0.5 + n), rel=1e-9)


def test_bandwidth_is_scotts_rule_on_rows_and_prior() -> None:
    rng = np.random.default_rng(0)
    rows = rng.random((400, 1)) * 0.2 + 0.4
    wide = Parzen(rows, np.zeros(1), np.zeros(1, dtype=bool), prior=1.0)
    assert wide.widths[0] == pytest.approx(rows.std() * 400 ** (-1 / 5), rel=0.05)
    one = Parzen(np.array([[0.5]]), np.zeros(1), np.zeros(1, dtype=bool), prior=1.0)
    assert one.widths[0] == pytest.approx(np.sqrt(1 / 24))  # half the variance of a uniform variable
    levels = Parzen(np.full((50, 1), 0.25), np.full(1, 2.0), np.zeros(1, dtype=bool), prior=1.0)
    assert levels.widths[0] == 0.25  # never below half a level


def test_draws_follow_the_density() -> None:
    estimator = mixed(3)
    draws = estimator.sample(4000, np.random.default_rng(1))
    for column in (0, 1):

        def cdf(value: np.ndarray, column: int = column) -> np.ndarray:
            width, total = estimator.widths[column], np.asarray(value, dtype=float).copy()
            for middle in estimator.centres[:, column]:
                low, high = norm.cdf(0, middle, width), norm.cdf(1, middle, width)
                total += (norm.cdf(value, middle, width) - low) / (high - low)
            return total / 4

        assert kstest(draws[:, column], cdf).pvalue > 1e-3
    option = np.floor(draws[:, 2] * 3)
    probability = [
        np.mean(
            [
                estimator.blur[2] / 3 + (1 - estimator.blur[2]) * (c == (i + 0.5) / 3)
                for c in estimator.centres[:, 2]
            ]
        )
        for i in range(3)
    ]
    expected = (1 / 3 + 3 * np.array(probability)) / 4
    np.testing.assert_allclose(np.bincount(option.astype(int), minlength=3) / 4000, expected, atol=0.04)


def test_trials_split_at_the_quantile_and_failures_count_among_the_others() -> None:
    configs = [{"m": "b", "k": "p", "z": z} for z in np.linspace(-1, 1, 21)]
    told = [(config, float(i % 7)) for i, config in enumerate(configs)]
    seen = history(SPACE, told, failed=configs[:2], pending=configs[3:4])
    good, others = ParzenSearch(quantile=0.1).split(seen)
    assert len(good) == 3  # ceil(0.1 * 21)
    assert len(others) == 18 + 2 + 1
    zeros = {config["z"] for config, value in told if value == 0}
    assert {config["z"] for config in SPACE.decode(good)} == zeros


def test_the_best_of_the_candidates_is_chosen_by_the_ratio_of_densities() -> None:
    told = drive(ParzenSearch(), SPACE, lambda c: c["z"] ** 2 + (c["m"] == "a"), 40)
    seen = history(SPACE, told)
    search = ParzenSearch(candidates=16)
    point = search.propose(SPACE, seen, np.random.default_rng(4))

    good, others = search.split(seen)
    rng = np.random.default_rng(4)
    layout = SPACE.layout
    chosen = SPACE.snap(np.full((1, layout.columns), 0.5))
    for group in range(layout.groups):
        columns = layout.columns_of(group)
        if not chosen.on[0, group] or not len(columns):
            continue
        estimators = [search.estimator(SPACE, group, points) for points in (good, others)]
        x = np.repeat(chosen.x, 16, axis=0)
        x[:, columns] = estimators[0].sample(16, rng)
        drawn = SPACE.snap(x)
        ratios = [
            np.exp(estimators[0].log_density(row[None, columns]))[0]
            / np.exp(estimators[1].log_density(row[None, columns]))[0]
            for row in drawn.x
        ]
        chosen = drawn.take([int(np.argmax(ratios))])
    assert SPACE.decode(point) == SPACE.decode(chosen)


def test_good_regions_attract() -> None:
    told = drive(ParzenSearch(), SPACE, lambda c: abs(c["z"] - 0.4) + (c["m"] == "b"), 60, seed=2)
    late = [config for config, _ in told[40:]]
    assert np.mean([config["m"] == "a" for config in late]) > 0.6
    assert np.median([abs(config["z"] - 0.4) for config in late]) < 0.2


def count_draws(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that grows by one with each group whose candidates are drawn."""
    drawn: list[int] = []
    sample = Parzen.sample

    def counted(self: Parzen, n: int, rng: np.random.Generator) -> np.ndarray:
        drawn.append(n)
        return sample(self, n, rng)

    monkeypatch.setattr(Parzen, "sample", counted)
    return drawn


FEW = Space({"m": Choice({"few": {"n": Int(1, 12)}, "many": {"x": Float(0, 1)}, "none": {}})})


@pytest.mark.parametrize("used", [6, 11, 12])
def test_a_branch_that_is_all_but_used_up_costs_no_more_than_another(
    used: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The root, the best branch, and the next one where nothing new was drawn of the best."""
    told = [({"m": "few", "n": n}, 0.1 * n) for n in range(1, used + 1)]
    told += [({"m": "none"}, 0.9), *(({"m": "many", "x": x}, 5.0) for x in np.linspace(0, 1, 20).tolist())]
    drawn = count_draws(monkeypatch)
    for seed in range(20):
        drawn.clear()
        point = ParzenSearch().propose(FEW, history(FEW, told), np.random.default_rng(seed))
        (config,) = FEW.decode(point)
        assert config not in [config for config, _ in told]
        assert len(drawn) <= 3


def test_the_best_candidate_that_was_not_tried_is_chosen() -> None:
    space = Space({"k": Categorical(["p", "q", "r"]), "n": Int(1, 4)}, forbid=["k == 'q' and n == 2"])
    told = drive(ParzenSearch(), space, lambda c: c["n"] + (c["k"] == "p"), 8)
    seen = history(space, told[:-1], pending=[told[-1][0]])
    chosen = 0
    for seed in range(20):
        point = ParzenSearch(startup=5).propose(space, seen, np.random.default_rng(seed))

        good, others = ParzenSearch().split(seen)
        likely, usual = (ParzenSearch().estimator(space, 0, points) for points in (good, others))
        drawn = space.snap(likely.sample(24, np.random.default_rng(seed)))
        left = [
            (likely.log_density(x[None]) - usual.log_density(x[None]), config)
            for x, config in zip(drawn.x, space.decode(drawn))
            if config not in [config for config, _ in told] and (config["k"], config["n"]) != ("q", 2)
        ]
        (config,) = space.decode(point)
        if left:
            assert config == max(left, key=lambda pair: float(pair[0][0]))[1]
            chosen += 1
    assert chosen > 5
