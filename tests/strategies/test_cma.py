"""CMA-ES: a replayed search is the search that ran."""

from __future__ import annotations

import numpy as np
from cmaes import CMA
from tests.strategies.histories import drive, history

from bough import Choice, Float, Int, Space
from bough.strategies.cma import CmaSearch

BOWL = Space({f"x{i}": Float(-1, 1) for i in range(4)})
BRANCHES = Space(
    {"m": Choice({"a": {"x": Float(0, 1), "n": Int(1, 9)}, "b": {"y": Float(0, 1)}}), "z": Float(0, 1)}
)


def bowl(config: dict[str, float]) -> float:
    return sum((value - 0.3) ** 2 * 2**i for i, value in enumerate(config.values()))


def test_proposals_are_those_of_one_optimiser_that_was_never_dropped() -> None:
    told = drive(CmaSearch(), BOWL, bowl, 60, seed=3)
    rng = np.random.default_rng([3, 2**31 + 4])
    one = CMA(
        mean=rng.uniform(0.25, 0.75, 4),
        sigma=0.25,
        bounds=np.tile([0.0, 1.0], (4, 1)),
        n_max_resampling=10,
        seed=int(rng.integers(2**31)),
    )
    for start in range(0, 60 - one.population_size, one.population_size):
        generation = []
        for config, value in told[start : start + one.population_size]:
            x = one.ask()
            np.testing.assert_allclose([config[f"x{i}"] for i in range(4)], 2 * x - 1, atol=1e-9)
            generation.append((x, value))
        one.tell(generation)


def test_it_converges_on_a_bowl() -> None:
    values = [value for _, value in drive(CmaSearch(), BOWL, bowl, 160, seed=1)]
    assert np.median(values[-40:]) < 0.02 * np.median(values[:40])


def test_a_branching_search_is_replayed_with_what_was_inactive() -> None:
    def function(config: dict[str, float]) -> float:
        return (config["z"] - 0.2) ** 2 + (config["m"] == "b") + config.get("x", 0.0)

    told = drive(CmaSearch(), BRANCHES, function, 40, seed=2)
    search = CmaSearch()
    seen = history(BRANCHES, told, seed=2)
    optimiser, unused = search._replay(BRANCHES, seen)
    assert unused == 40 % optimiser.population_size
    # all trials came from the optimiser itself, so every vector told is a draw of its own, inside the cube
    rng = np.random.default_rng([2, 2**31 + 4])
    one = search._start(BRANCHES, rng, None)
    size = one.population_size
    for start in range(0, 40 - size + 1, size):
        one.tell([(one.ask(), value) for _, value in told[start : start + size]])
    assert one.generation == optimiser.generation
    np.testing.assert_array_equal(one.ask(), optimiser.ask())


def test_failures_rank_last_and_strangers_are_told_as_they_are() -> None:
    told = [({f"x{i}": 0.5 for i in range(4)}, 1.0)] * 3
    failed = [{f"x{i}": -0.5 for i in range(4)}] * 5
    search = CmaSearch(population=8)
    before, _ = search._replay(BOWL, history(BOWL, []))
    after, unused = search._replay(BOWL, history(BOWL, told, failed=failed))
    assert (before.generation, after.generation, unused) == (0, 1, 0)
    # 0.5 is 0.75 in the unit cube, -0.5 is 0.25: the mean moves towards the three that did not fail
    draws = [np.mean([optimiser.ask() for _ in range(400)]) for optimiser in (before, after)]
    assert draws[1] > draws[0] + 0.03


def test_one_column_is_enough() -> None:
    told = drive(CmaSearch(), Space({"x": Float(0, 1)}), lambda c: (c["x"] - 0.7) ** 2, 40)
    assert min(value for _, value in told) < 1e-3
