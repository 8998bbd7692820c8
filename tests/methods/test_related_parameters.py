"""Every method keeps the limits between parameters."""

from __future__ import annotations

import pytest
from tests.methods.spaces import RELATED, value
from tests.methods.test_contract import quick

import bough

EVERY_DAY = ("auto", "cma", "grid", "lhs", "random", "sobol", "tpe", "add-tree-ucb")


@pytest.mark.parametrize(
    "name",
    [pytest.param(m, marks=() if m in EVERY_DAY else pytest.mark.slow) for m in sorted(bough.methods())],
)
def test_proposals_keep_the_limits_through_results_and_failures(name: str) -> None:
    study = bough.Study(RELATED, method=quick(name), seed=3)
    for number in range(5):
        trial = study.ask()
        assert RELATED.validate(trial.config) == trial.config
        assert trial.config["a"] + trial.config["b"] + trial.config["c"] == pytest.approx(1, abs=1e-9)
        assert "chunk" not in trial.config or trial.config["overlap"] < trial.config["chunk"]
        if number == 2:
            study.fail(trial, "no memory")
        else:
            study.tell(trial, value(trial.config))
