"""Several processes work on one study in an SQLite file.

Start this program several times on one machine; all processes share the trials. Each run below uses two
worker processes, and the second run continues where the first one stopped.

    python examples/parallel_workers.py
"""

from __future__ import annotations

import math

import bough

SPACE = bough.Space(
    {
        "solver": bough.Choice(
            {
                "newton": {"tolerance": bough.Float(1e-8, 1e-2, log=True)},
                "gradient": {"rate": bough.Float(1e-3, 1, log=True), "steps": bough.Int(10, 1000, log=True)},
            }
        )
    }
)


def objective(config: dict) -> float:
    """A stand-in for a simulation that takes minutes."""
    if config["solver"] == "newton":
        return 0.3 + 0.05 * abs(math.log10(config["tolerance"]) + 5)
    return 0.1 + (math.log10(config["rate"]) + 1) ** 2 + 10 / config["steps"]


def main(trials: int = 16, storage: str = "sqlite:///simulations.db") -> bough.Study:
    for total in (trials // 2, trials):
        study = bough.minimize(
            objective, SPACE, trials=total, workers=2, storage=storage, name="solver", seed=0
        )
        print(f"{len(study.trials)} trials so far, best {study.best.value:.3f} with {study.best.config}")
    return study


if __name__ == "__main__":
    main()
