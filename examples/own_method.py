"""Write your own method: any object with ``propose(space, history, rng)``.

This one alternates between a random config and a small step from the best trial so far.

    python examples/own_method.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import bough
from bough.history import History
from bough.points import Points
from bough.space.neighbourhood import perturb
from bough.space.sampling import sample_points

SPACE = bough.Space(
    {
        "shape": bough.Choice(
            {
                "box": {"width": bough.Float(0, 4), "height": bough.Float(0, 4)},
                "disc": {"radius": bough.Float(0, 4)},
            }
        )
    }
)


@dataclass(frozen=True)
class StepOrJump:
    """``scale`` is the size of a step in the unit cube."""

    scale: float = 0.1

    def propose(self, space: bough.Space, history: History, rng: np.random.Generator) -> Points:
        if len(history.y) == 0 or history.number % 2:
            return sample_points(space, 1, rng)
        best = history.done.take([history.y.argmin()])
        return perturb(space, best, rng, self.scale)


def area_error(config: dict) -> float:
    """How far the area is from 5."""
    if config["shape"] == "box":
        return abs(config["width"] * config["height"] - 5)
    return abs(np.pi * config["radius"] ** 2 - 5)


def main(trials: int = 60) -> bough.Study:
    study = bough.minimize(area_error, SPACE, trials=trials, method=StepOrJump(scale=0.05), seed=0)
    print(f"best {study.best.value:.3f} with {study.best.config}")
    return study


if __name__ == "__main__":
    main()
