"""When a configuration may be tried again: where results are known to be noisy, and only there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from tests.strategies.histories import drive, history

import bough
from bough.registry import build, method
from bough.strategies.base import noise_seen

SPACE = bough.Space({"kind": bough.Choice({"a": {"n": bough.Int(1, 6)}, "b": {"x": bough.Float(0, 1)}})})


def test_noise_is_seen_where_one_configuration_gave_different_values() -> None:
    first: tuple[dict[str, Any], float] = ({"kind": "a", "n": 3}, 1.0)
    other = ({"kind": "a", "n": 4}, 2.0)
    assert not noise_seen(SPACE, history(SPACE, [first, other, first]))
    assert noise_seen(SPACE, history(SPACE, [first, other, (first[0], 1.5)]))


def test_noise_is_seen_where_it_was_told() -> None:
    told = history(SPACE, [({"kind": "a", "n": 3}, 1.0), ({"kind": "b", "x": 0.5}, 2.0)])
    assert not noise_seen(SPACE, replace(told, noise=np.array([0.0, np.nan])))
    assert noise_seen(SPACE, replace(told, noise=np.array([np.nan, 0.1])))


def test_steps_and_ties_do_not_make_a_method_repeat_itself() -> None:
    """To the model these steps are noise; a repeated trial would still tell nothing."""

    def steps(config: dict[str, Any]) -> float:
        if config["kind"] == "a":
            return (0.1, 0.3, 0.1, 0.2, 0.1, 0.3)[config["n"] - 1]
        return 0.4 + 0.1 * (int(20 * config["x"]) % 2)

    tried = drive(build(method("auto"), SPACE), SPACE, steps, 20)
    integers = [config["n"] for config, _ in tried if config["kind"] == "a"]
    assert len(integers) == len(set(integers))
