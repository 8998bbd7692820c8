"""Inactive categories are as far from one option as from any other (Lévesque et al. 2017, imputation)."""

from __future__ import annotations

import numpy as np
import pytest

from bough.papers.levesque2017.surrogates import joint, mondrian
from bough.space import Categorical, Choice, Float, Int, Space
from bough.space.neighbourhood import neighbours


def covariances(options: int, kernel: str) -> np.ndarray:
    """(options,) of a point without the category with points that have it, and equal in all else."""
    labels = [f"o{i}" for i in range(options)]
    space = Space({"m": Choice({"a": {"k": Categorical(labels)}, "b": {}}), "x": Float(0, 1)})
    if kernel == "mondrian":
        made = mondrian(space.layout, trees=4000).model.kernel
    else:
        made = joint(space.layout, base=kernel).model.kernel
    with_it = space.encode([{"m": "a", "k": label, "x": 0.3} for label in labels])
    without = space.encode([{"m": "b", "x": 0.3}])
    size = sum(param.size for param in made.params)
    return made(np.zeros(size), with_it, without)[0][:, 0]


@pytest.mark.parametrize("options", [2, 3, 4, 5])
@pytest.mark.parametrize("kernel", ["matern", "laplace"])
def test_no_option_is_favoured(options: int, kernel: str) -> None:
    found = covariances(options, kernel)
    np.testing.assert_allclose(found, found[0], rtol=1e-12)
    assert 0 < found[0] < 1


@pytest.mark.parametrize("options", [3, 4])
def test_mondrian_agrees_with_laplace_on_inactive_categories(options: int) -> None:
    # a mean of 4000 coin tosses
    np.testing.assert_allclose(covariances(options, "mondrian"), covariances(options, "laplace"), atol=0.04)


def test_printed_neighbours_take_fixed_steps() -> None:
    """Eq. (7): reals a step in both directions, integers plus and minus one, categories every other value."""
    space = Space({"x": Float(0, 1), "n": Int(0, 9), "k": Categorical(["u", "v", "w"])})
    here = {"x": 0.4, "n": 4, "k": "v"}
    found = neighbours(space, space.encode([here]), np.random.default_rng(0), fixed_step=0.1)
    got = [{**config, "x": round(config["x"], 9)} for config in space.decode(found)]
    expected = [
        *({**here, "x": x} for x in (0.3, 0.5)),
        *({**here, "n": n} for n in (3, 5)),
        *({**here, "k": k} for k in ("u", "w")),
    ]
    assert sorted(map(str, got)) == sorted(map(str, expected))
    at_end = neighbours(
        space, space.encode([{**here, "x": 0.95, "n": 9}]), np.random.default_rng(0), fixed_step=0.1
    )
    assert {round(c["x"], 9) for c in space.decode(at_end)} == {0.95, 0.85, 1.0}
