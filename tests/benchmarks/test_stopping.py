"""What ``benchmarks.stopping`` counts, on made curves."""

from __future__ import annotations

import math
from typing import Any

import pytest

from benchmarks.stopping import Spent, best_at, run, share_needed

pytestmark = pytest.mark.usefixtures("shared_data")


class MadeCurves:
    """The value after an epoch is the config's level over the epoch."""

    epochs = 10

    def __call__(self, config: Any, epoch: int) -> float:
        return float(config["level"] / epoch)


def test_a_stopped_training_costs_its_epochs_and_is_no_result() -> None:
    spent, curves = Spent(100), MadeCurves()
    assert spent.train(curves, {"level": 5.0}, lambda value, epoch: epoch == 4) is None  # type: ignore[arg-type]
    assert (spent.epochs, spent.full, spent.course) == (4, 0, [])
    assert spent.train(curves, {"level": 5.0}, lambda value, epoch: False) == 0.5  # type: ignore[arg-type]
    assert (spent.epochs, spent.full, spent.course) == (14, 1, [(14, 0.5)])


def test_a_promoted_training_continues() -> None:
    spent, curves = Spent(12), MadeCurves()
    assert spent.train_on(curves, {"level": 6.0}, 0, 3) == 2.0  # type: ignore[arg-type]
    assert spent.train_on(curves, {"level": 6.0}, 3, 10) == 0.6  # type: ignore[arg-type]
    assert (spent.epochs, spent.trials, spent.course) == (10, 1, [(10, 0.6)])
    assert spent.train_on(curves, {"level": 6.0}, 0, 3) is None and spent.over  # type: ignore[arg-type]


def test_shares_of_the_epochs() -> None:
    found = {"course": [(10, 0.5), (40, 0.2)], "budget": 100}
    assert [best_at(found, share) for share in (0.05, 0.1, 1.0)] == [math.inf, 0.5, 0.2]
    assert [share_needed(found, value) for value in (0.5, 0.3, 0.1)] == [0.1, 0.4, 1.0]


@pytest.mark.parametrize("method", ["random", "random-fidelity"])
def test_a_run_spends_its_epochs(method: str) -> None:
    pytest.importorskip("onnxruntime")
    found = run("yahpo-lcbench-3945", method, 3, 0)
    values = [value for _, value in found["course"]]
    assert values == sorted(values, reverse=True) and found["full"] <= 3
    assert found["trials"] == 3 if method == "random" else found["trials"] > 3
