"""Random branching spaces, and random points in them, for the tests of kernels and surrogates."""

from __future__ import annotations

import numpy as np

import bough
from bough.points import Points
from bough.space.sampling import sample_points


def random_space(rng: np.random.Generator) -> bough.Space:
    """Reals, ints, categories, nested choices, an OR-condition and a numeric switch; some at random."""
    counter = iter(range(1000))

    def parameters(depth: int) -> dict[str, object]:
        found: dict[str, object] = {}
        for kind in rng.choice(["float", "int", "category", "choice"], size=rng.integers(0, 3)):
            name = f"p{next(counter)}"
            if kind == "float":
                found[name] = bough.Float(0.01, 10.0, log=bool(rng.integers(2)))
            elif kind == "int":
                found[name] = bough.Int(1, 9)
            elif kind == "category":
                found[name] = bough.Categorical(["a", "b", "c"])
            elif depth > 0:
                found[name] = bough.Choice({option: parameters(depth - 1) for option in "xyz"})
        return found

    root = {
        "real": bough.Float(0, 1),
        "layers": bough.Int(1, 6),
        "colour": bough.Categorical(["red", "green", "blue"]),
        "model": bough.Choice({"one": parameters(2), "two": parameters(1), "none": {}}),
        **parameters(1),
        "deep": bough.Float(0, 1, when="layers > 3"),
        "either": bough.Float(0, 1, when="colour in ('red', 'blue') or layers <= 2"),
    }
    return bough.Space(root)


def random_points(space: bough.Space, n: int, rng: np.random.Generator) -> Points:
    return sample_points(space, n, rng)


def poisoned(space: bough.Space, points: Points) -> Points:
    """The same points with NaN under every inactive column."""
    return Points(np.where(space.layout.active(points.on), points.x, np.nan), points.on)
