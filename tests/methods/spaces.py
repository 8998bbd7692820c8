"""Spaces of every kind, each with a smooth function over its configurations."""

from __future__ import annotations

import math
from typing import Any

from bough import Categorical, Choice, Float, Int, Mixture, Space

UNBRANCHED = Space(
    {
        "x": Float(-1, 1),
        "rate": Float(1e-4, 1.0, log=True),
        "units": Int(1, 200, log=True),
        "size": Categorical(["s", "m", "l"], ordered=True),
        "kind": Categorical(["p", "q", None]),
    }
)

NO_NUMBERS = Space(
    {
        "model": Choice(
            {
                "a": {"loss": Categorical(["l1", "l2", "huber"])},
                "b": {},
                "c": {"deep": Categorical([True, False])},
            }
        ),
        "scale": Categorical(["none", "unit", "max", "rank"]),
    }
)

NESTED = Space(
    {
        "r": Float(0, 1),
        "outer": Choice(
            {
                "left": {
                    "inner": Choice({"u": {"x": Float(0, 1)}, "v": {"x": Float(-1, 0), "n": Int(1, 9)}}),
                    "shared": Float(0, 1),
                },
                "right": {"x": Float(0, 2)},
                "none": {},
            }
        ),
    }
)

CONDITIONS = Space(
    {
        "a": Categorical(["x", "y", "z"]),
        "b": Int(0, 10),
        "c": Float(0, 1, when="a == 'x' or b > 6"),
        "d": Float(0, 1, when="a in ('y', 'z') and b <= 6"),
        "e": Int(1, 50, when="c < 0.5"),
    }
)

FORBIDDEN = Space(
    {
        "solver": Choice({"cg": {"tol": Float(1e-6, 1e-1, log=True)}, "lu": {"block": Int(1, 8)}}),
        "n": Int(1, 20),
        "sparse": Categorical([True, False]),
    },
    forbid=["solver == 'lu' and n > 10", "sparse == True and n < 4"],
)

RELATED = Space(
    {
        "a": Float(0, 1),
        "b": Float(0, 1),
        "c": Float(0, 0.5),
        "split": Choice({"yes": {"chunk": Int(1, 40), "overlap": Int(0, 40)}, "no": {}}),
    },
    require=["overlap < chunk", Mixture(["a", "b", "c"])],
)

FINITE = Space(
    {"m": Choice({"a": {"i": Int(1, 3)}, "b": {"k": Categorical(["p", "q"])}, "c": {}})}, forbid=["k == 'q'"]
)

SPACES = {
    "unbranched": UNBRANCHED,
    "no numbers": NO_NUMBERS,
    "nested": NESTED,
    "conditions": CONDITIONS,
    "forbidden": FORBIDDEN,
}


def value(config: dict[str, Any]) -> float:
    """Something smooth in every number and different for every category; needs no particular space."""
    total = 0.0
    for name, entry in config.items():
        if isinstance(entry, (int, float)) and not isinstance(entry, bool):
            total += (math.log1p(abs(entry)) - 0.3) ** 2
        else:
            total += 0.1 * (sum(map(ord, f"{name}={entry}")) % 7)
    return total
