"""The value of a parameter that a define-by-run trial is given."""

from __future__ import annotations

import numpy as np
import pytest
from tests.strategies.histories import history

from bough import Float, Space
from bough.registry import build
from bough.strategies.best_answer import best_answer

SPACE = Space({"x": Float(0, 1), "y": Float(0, 1)})


@pytest.mark.filterwarnings("error")
def test_the_unit_of_the_objective_does_not_matter() -> None:
    told = [({"x": x, "y": 0.5}, (x - 0.6) ** 2) for x in (0.0, 0.1, 0.4, 0.9, 1.0)]

    def answer(unit: float) -> float:
        scaled = [(config, unit * value) for config, value in told]
        rng = np.random.default_rng(0)
        return best_answer(build("auto", SPACE), SPACE, history(SPACE, scaled), {"y": 0.5}, "x", rng)

    expected = answer(1.0)
    for power in (-900, -60, 900):
        assert answer(2.0**power) == expected
