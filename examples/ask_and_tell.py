"""Ask for a configuration, measure it yourself, tell the result.

Use this when a person or a laboratory evaluates the trials. The study lives in a file, so asking and telling
may happen days apart and in different programs.

    python examples/ask_and_tell.py
"""

from __future__ import annotations

import bough

SPACE = bough.Space(
    {
        "brewer": bough.Choice(
            {
                "press": {"minutes": bough.Int(2, 8)},
                "filter": {"pour": bough.Categorical(["slow", "fast"])},
            }
        ),
        "grams": bough.Int(10, 24),
    }
)


def taste(config: dict) -> float:
    """A stand-in for the person who drinks the coffee: 0 to 10 points."""
    points = 9 - abs(config["grams"] - 16) / 2
    if config["brewer"] == "press":
        return points - abs(config["minutes"] - 4)
    return points - (1.5 if config["pour"] == "fast" else 0.5)


def main(cups: int = 12, storage: str = "sqlite:///coffee.db") -> bough.Study:
    study = bough.Study(SPACE, name="coffee", storage=storage, direction="maximize", seed=0)
    for _ in range(cups):
        trial = study.ask()
        points = taste(trial.config)
        study.tell(trial, points)
        print(f"cup {trial.number}: {points:.1f} points for {trial.config}")
    print(f"best: {study.best.value:.1f} points with {study.best.config}")
    return study


if __name__ == "__main__":
    main()
