"""Designs: their sequences, their coverage, and the end of a grid."""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy.stats import qmc
from tests.strategies.histories import drive, history

from bough import Categorical, Choice, Float, Int, Space
from bough.errors import ExhaustedError
from bough.registry import build, method
from bough.space.sampling import latin_hypercube
from bough.space.size import AtMost
from bough.strategies.designs import LatinHypercube, SobolSearch
from bough.strategies.grid import GridSearch

SQUARE = Space({"a": Float(0, 1), "b": Float(0, 1)})
THREE = Space(
    {
        "m": Choice(
            {
                "a": {"x": Float(1e-3, 1e3, log=True), "y": Int(1, 100)},
                "b": {"k": Categorical(["p", "q"])},
                "c": {},
            }
        ),
        "s": Float(-1, 1),
    }
)


def zero(config: dict[str, object]) -> float:
    return 0.0


def test_sobol_covers_a_square_better_than_chance() -> None:
    told = drive(SobolSearch(), SQUARE, zero, 64)
    x = np.array([[config["a"], config["b"]] for config, _ in told])
    # a (0, m, 2)-net: every elementary box of area 1/64 holds exactly one of the first 64 points
    for rows in (1, 2, 4, 8, 16, 32, 64):
        cells = Counter(zip((x[:, 0] * rows).astype(int), (x[:, 1] * (64 // rows)).astype(int)))
        assert set(cells.values()) == {1}


def test_sobol_skips_forbidden_points_but_keeps_its_order() -> None:
    free = drive(SobolSearch(), SQUARE, zero, 40)
    limited = Space({"a": Float(0, 1), "b": Float(0, 1)}, forbid=["a > 0.5 and b > 0.5"])
    expected = [config for config, _ in free if not (config["a"] > 0.5 and config["b"] > 0.5)]
    assert [config for config, _ in drive(SobolSearch(), limited, zero, 20)] == expected[:20]


def test_a_latin_hypercube_has_one_point_in_each_slice_of_each_column() -> None:
    cube = latin_hypercube(12, 2, np.random.default_rng(0))
    for column in cube.T:
        assert sorted((column * 12).astype(int).tolist()) == list(range(12))


def test_every_path_gets_its_latin_hypercube_in_turn() -> None:
    told = [config for config, _ in drive(LatinHypercube(points_per_path=8), THREE, zero, 24)]
    for start in range(0, 24, 3):
        assert {config["m"] for config in told[start : start + 3]} == {"a", "b", "c"}
    x = np.array([(np.log10(config["x"]) + 3) / 6 for config in told if config["m"] == "a"])
    assert sorted((x * 8).astype(int).tolist()) == list(range(8))


def test_a_grid_of_a_finite_space_is_the_space() -> None:
    space = Space(
        {
            "m": Choice({"a": {"i": Int(1, 5)}, "b": {"k": Categorical(["p", "q", "r"])}}),
            "j": Int(1, 20, log=True),
        },
        forbid=["j == 3 and m == 'b'"],
    )
    told = drive(GridSearch(), space, zero, int(space.size))
    assert len({tuple(config.items()) for config, _ in told}) == 5 * 20 + 3 * 19
    with pytest.raises(ExhaustedError, match="all 157 points of the grid"):
        GridSearch().propose(space, history(space, told), np.random.default_rng(0))


def test_a_discretised_grid_has_resolution_positions_per_number_bounds_included() -> None:
    size = 3 * (3 * 3 + 2 + 1)
    told = drive(GridSearch(3), THREE, zero, size)
    assert {config["s"] for config, _ in told} == {-1.0, 0.0, 1.0}
    x = sorted({config["x"] for config, _ in told if config["m"] == "a"})
    assert x == pytest.approx([1e-3, 1.0, 1e3])
    assert len({tuple(config.items()) for config, _ in told}) == size
    with pytest.raises(ExhaustedError):
        GridSearch(3).propose(THREE, history(THREE, told), np.random.default_rng(0))


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("levels", [6, 7, 8, 11, 13])
def test_a_grid_knows_its_own_points_again_where_integers_lie_off_the_even_positions(
    levels: int, log: bool
) -> None:
    space = Space({"n": Int(1, levels, log=log), "x": Float(0, 1), "y": Float(0, 1, when="n > 2")})
    told: list[tuple[dict[str, Any], float]] = []
    with contextlib.suppress(ExhaustedError):
        for _ in range(28):
            point = GridSearch(3).propose(space, history(space, told), np.random.default_rng(0))
            told.append((space.decode(point)[0], 0.0))
    few, many = [{c["n"] for c, _ in told if ("y" in c) is above} for above in (False, True)]
    assert {1, levels} <= few | many
    assert len({tuple(config.items()) for config, _ in told}) == len(told) == 3 * len(few) + 9 * len(many)


def test_a_trial_off_the_grid_does_not_stand_for_its_cell() -> None:
    space = Space({"x": Float(0, 1)})
    told = [({"x": 0.9}, 0.0), ({"x": 0.1}, 0.0)]
    for _ in range(3):
        point = GridSearch(3).propose(space, history(space, told), np.random.default_rng(0))
        told.append((space.decode(point)[0], 0.0))
    assert sorted(config["x"] for config, _ in told[2:]) == [0.0, 0.5, 1.0]


def test_a_grid_covers_early() -> None:
    space = Space({"i": Int(0, 15), "j": Int(0, 15)})
    told = drive(GridSearch(), space, zero, 32)
    first = np.array([[config["i"], config["j"]] for config, _ in told])
    assert {tuple(cell) for cell in (first // 4).tolist()} == {(i, j) for i in range(4) for j in range(4)}
    scattered = qmc.discrepancy((first + 0.5) / 16)
    in_order = np.array([divmod(k, 16) for k in range(32)])
    assert scattered < 0.1 * qmc.discrepancy((in_order + 0.5) / 16)


@pytest.mark.parametrize("name", ["random", "sobol", "tpe", "auto", "tree"])
def test_a_space_of_unknown_size_ends_too(name: str) -> None:
    space = Space({"m": Choice({"a": {}, "b": {"k": Categorical(["p", "q"])}})})
    vars(space)["size"] = AtMost(10**7)  # as where clauses leave next to nothing of many columns
    strategy = build(method(name), space)
    told = drive(strategy, space, zero, 3)
    assert len({tuple(config.items()) for config, _ in told}) == 3
    with pytest.raises(ExhaustedError):
        strategy.propose(space, history(space, told), np.random.default_rng(0))
