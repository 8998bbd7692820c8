"""``explain`` gives the reason for which a trial was really chosen."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

import bough
from bough.registry import build, method
from bough.study.encoded import EncodedTrials

SPACE = bough.Space(
    {
        "kind": bough.Choice(
            {"a": {"x": bough.Float(0, 1)}, "b": {"y": bough.Float(0, 1)}, "c": {"z": bough.Float(0, 1)}}
        )
    }
)


def objective(config: dict[str, Any]) -> float:
    if config["kind"] == "a":
        return float((config["x"] - 0.3) ** 2)
    return 0.3 + float((config.get("y", config.get("z")) - 0.8) ** 2)


def test_every_reason_of_auto_is_the_true_one() -> None:
    """A trial explores a branch exactly if the method without that step would choose another point."""
    study = bough.minimize(objective, SPACE, 30, seed=1, progress=False)
    plain = build(method("auto", explore_branches_every=0), SPACE)
    seen: Counter[str] = Counter()
    for trial in study.trials:
        reason = str(study.explain(trial)["reason"])
        with study._current() as view:
            past = view.before(trial.number)
        history = EncodedTrials(SPACE, study.seed, study.goals).history(past)
        without = plain.propose(SPACE, history, np.random.default_rng([study.seed, trial.number]))
        explored = SPACE.decode(without)[0] != trial.config
        assert reason.startswith("branch exploration") == explored, (trial.number, reason)
        if trial.number < 4:
            assert reason.startswith("part of the initial design")
        elif not explored:
            assert reason.startswith("exploitation turn") == (trial.number % 2 == 1)
        seen[reason.partition(":")[0]] += 1
    assert seen["part of the initial design"] == 4
    assert seen["branch exploration"] > 0
    assert seen["exploitation turn"] > 0


def test_a_trial_that_was_queued_is_not_called_a_choice_of_the_method() -> None:
    study = bough.Study(SPACE, seed=1)
    study.enqueue({"kind": "b", "y": 0.123})
    study.run(objective, 6, progress=False)
    assert study.explain(0)["reason"].startswith("not repeated by the method: queued")
    study.enqueue({"kind": "b", "y": 0.321})
    study.run(objective, 7, progress=False)
    assert "queued" in study.explain(6)["reason"]


def test_initial_trials_of_tpe_are_named() -> None:
    study = bough.minimize(objective, SPACE, 12, method="tpe", seed=1, progress=False)
    for trial in study.trials:
        design = study.explain(trial)["reason"].startswith("part of the initial design")
        assert design == (trial.number < 10)
