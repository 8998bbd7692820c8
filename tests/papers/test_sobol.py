"""The best of a Sobol grid: complete where the space is finite, dense where it is not."""

from __future__ import annotations

import numpy as np

from bough import Categorical, Choice, Float, Int, Space
from bough.acquisition.maximise.sample import best_of_sobol
from bough.points import FloatArray, Points

FINITE = Space(
    {"m": Choice({"a": {"i": Int(1, 30)}, "b": {"k": Categorical(["p", "q"])}}), "j": Int(0, 9)},
    forbid=["i == 17 and j == 3"],
)


class Peak:
    """Largest at i = 17, j = 3, and jumps everywhere."""

    def __init__(self) -> None:
        self.scored = 0

    def __call__(self, points: Points) -> FloatArray:
        self.scored = len(points)
        configs = FINITE.decode(points)
        return np.array([-abs(c.get("i", 99) - 17) - 0.1 * abs(c["j"] - 3) for c in configs])

    def with_gradient(self, points: Points) -> tuple[FloatArray, FloatArray]:
        raise AssertionError("no gradients here")


def best(avoid: list[dict[str, object]]) -> tuple[dict[str, object], int]:
    peak = Peak()
    found = best_of_sobol(
        FINITE, peak, near=FINITE.encode([]), avoid=FINITE.encode(avoid), rng=np.random.default_rng(0)
    )
    return FINITE.decode(found)[0], peak.scored


def test_a_finite_space_is_listed_and_its_rules_are_kept() -> None:
    config, scored = best([])
    assert config in ({"m": "a", "i": 17, "j": 2}, {"m": "a", "i": 17, "j": 4})  # the peak is forbidden
    assert scored == 30 * 10 + 2 * 10
    both = [{"m": "a", "i": 17, "j": 2}, {"m": "a", "i": 17, "j": 4}]
    config, _ = best(both)
    assert config in ({"m": "a", "i": 17, "j": 1}, {"m": "a", "i": 17, "j": 5})


def test_a_narrow_peak_over_reals_is_found_without_gradients() -> None:
    space = Space({"a": Float(0, 1), "b": Float(0, 1)})

    class Needle:
        def __call__(self, points: Points) -> FloatArray:
            return -np.hypot(points.x[:, 0] - 0.123, points.x[:, 1] - 0.877)

        def with_gradient(self, points: Points) -> tuple[FloatArray, FloatArray]:
            raise AssertionError("no gradients here")

    none = space.encode([])
    found = best_of_sobol(space, Needle(), near=none, avoid=none, rng=np.random.default_rng(1))
    assert np.hypot(found.x[0, 0] - 0.123, found.x[0, 1] - 0.877) < 0.015


def test_configurations_are_scored_once_where_a_finite_space_is_too_large_to_list() -> None:
    space = Space({"i": Int(0, 19), "j": Int(0, 19)})
    sizes = []

    class Count:
        def __call__(self, points: Points) -> FloatArray:
            sizes.append((len(points), len({tuple(row) for row in points.x.tolist()})))
            return points.x[:, 0]

        def with_gradient(self, points: Points) -> tuple[FloatArray, FloatArray]:
            raise AssertionError("no gradients here")

    none = space.encode([])
    best_of_sobol(space, Count(), near=none, avoid=none, rng=np.random.default_rng(2), points=300)
    assert sizes[0][0] == sizes[0][1] < 300
