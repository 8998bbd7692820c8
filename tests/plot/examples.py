"""Studies to draw: spaces of every shape, with made-up results; and figures as data."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import bough.plot as figures
from bough.plot import StudySnapshot
from bough.space import Categorical, Choice, Float, Int, Space
from bough.trial import Trial


def nested() -> Space:
    return Space(
        {
            "model": Choice(
                {
                    "svm": {
                        "C": Float(1e-3, 1e3, log=True),
                        "kernel": Choice(
                            {
                                "rbf": {"gamma": Float(1e-4, 10, log=True)},
                                "poly": {"degree": Int(2, 5)},
                                "linear": {},
                            }
                        ),
                    },
                    "forest": {"C": Int(1, 20), "trees": Int(10, 500, log=True)},
                    "bayes": {},
                }
            ),
            "scale": Categorical(["none", "standard", "maxabs"]),
            "shrink": Float(0, 1, when="model in ('svm', 'forest') and scale != 'none'"),
        }
    )


def layers() -> Space:
    """Numeric switches: a short one, with a branch per value, and a wide one, with ranges."""
    units = {f"units{i}": Int(8, 256, log=True, when=f"layers >= {i}") for i in range(2, 5)}
    return Space(
        {
            "layers": Int(1, 4),
            "rate": Float(1e-5, 1e-1, log=True),
            "units1": Int(8, 256, log=True),
            **units,
            "dropout": Float(0, 0.5, when="rate > 0.01"),
        }
    )


def flat() -> Space:
    return Space({"x": Float(-5, 10), "y": Float(0, 15), "kind": Categorical(["a", "b", None, True])})


SPACES = {"nested": nested, "layers": layers, "flat": flat}


def study(
    space: Space, n: int, *, seed: int = 0, direction: str = "minimize", failures: float = 0.1
) -> StudySnapshot:
    """``n`` random trials; the value is a smooth function of what is active."""
    rng = np.random.default_rng(seed)
    configs = space.sample(n, rng) if n else []
    trials = []
    if n:
        points = space.encode(configs)
        active = space.layout.active(points.on)
        values = np.where(active, (points.x - 0.4) ** 2, 0.1).sum(axis=1) + points.on.sum(axis=1) * 0.05
        failed = rng.random(n) < failures
        for i, config in enumerate(configs):
            times = {"attempt": 1, "started": 1e9 + i, "finished": 1e9 + i + 0.5}
            if failed[i]:
                trials.append(Trial(i, config, "failed", error="diverged", **times))
            else:
                trials.append(Trial(i, config, "done", value=float(values[i]), **times))
    return StudySnapshot("example", space, direction, tuple(trials))


def drawn(name: str, snapshot: StudySnapshot, **options: Any) -> dict[str, Any]:
    """The figure as the browser gets it; plotly checks every attribute on the way."""
    data: dict[str, Any] = json.loads(getattr(figures, name)(snapshot, **options).to_json())
    return data


def array(values: Any) -> np.ndarray:
    """Plotly sends NumPy arrays as base64 with a type."""
    if isinstance(values, dict):
        import base64

        return np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"]).astype(float)
    return np.array([np.nan if value is None else value for value in values], dtype=float)
