"""CARP-S runs tasks with conditions and with several objectives through bough."""

from __future__ import annotations

from typing import Any

import pytest

carps = pytest.importorskip("carps", reason="needs CARP-S, 580 MB with all it needs: pip install carps")

from carps.objective_functions.objective_function import ObjectiveFunction  # noqa: E402
from carps.utils.task import (  # noqa: E402
    InputSpace,
    OptimizationResources,
    OutputSpace,
    Task,
    TaskMetadata,
)
from carps.utils.trials import StatusType, TrialInfo, TrialValue  # noqa: E402

import bough  # noqa: E402
from bough.integrations.carps import BoughOptimizer  # noqa: E402
from bough.integrations.configspace import to_configspace  # noqa: E402

pytestmark = pytest.mark.slow

SPACE = to_configspace(
    bough.Space({"model": bough.Choice({"a": {"x": bough.Float(0, 1)}, "b": {"y": bough.Float(0, 1)}})})
)


class Function(ObjectiveFunction):
    def __init__(self, objectives: int) -> None:
        super().__init__()
        self._objectives = objectives

    @property
    def configspace(self) -> Any:
        return SPACE

    def _evaluate(self, trial_info: TrialInfo) -> TrialValue:
        config = dict(trial_info.config)
        if config.get("y", 0) > 0.9:
            return TrialValue(cost=9.0, status=StatusType.CRASHED)
        x = config.get("x", 2.0)
        return TrialValue(cost=x if self._objectives == 1 else [x, 1 - x])


def task(objectives: int) -> Task:
    return Task(
        name="conditions",
        seed=1,
        objective_function=Function(objectives),
        input_space=InputSpace(SPACE),
        output_space=OutputSpace(objectives, tuple(f"cost {i}" for i in range(objectives))),
        optimization_resources=OptimizationResources(n_trials=15),
        metadata=TaskMetadata(),
    )


def test_one_objective():
    optimizer = BoughOptimizer(task(1))
    info, value = optimizer.run()
    assert value.cost == dict(info.config)["x"] < 0.1
    assert len(optimizer.solver.trials) == 15 and optimizer.solver.seed == 1


def test_several_objectives_give_a_front():
    front = BoughOptimizer(task(2), method="random", seed=0).run()
    assert len(front) > 2
    assert all(len(value.cost) == 2 for _, value in front)
