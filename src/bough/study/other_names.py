"""Names from other packages: if a user tries one of them, the error says what bough calls it."""

from __future__ import annotations

from typing import Any

__all__ = ["RUN_NAMES", "STUDY_NAMES", "no_attribute"]

STUDY_NAMES = {
    "add_trial": "study.add(config, value)",
    "best_params": "study.best.config",
    "best_trial": "study.best",
    "best_trials": "study.front",
    "best_value": "study.best.value",
    "enqueue_trial": "study.enqueue(config)",
    "optimize": "study.run(objective, trials=50)",
    "study_name": "study.name",
    "trials_dataframe": "study.frame()",
}
"""Attributes of Optuna's study, and their counterparts here."""

RUN_NAMES = {
    "params": "run.trial.config",
    "should_prune": "run.stop, which is also the answer of run.report(value, step)",
}
"""Attributes of Optuna's trial, and their counterparts here."""


def no_attribute(owner: object, name: str, names: dict[str, str]) -> Any:
    """Raise AttributeError, with the counterpart of ``name`` if there is one."""
    if name not in names:
        return object.__getattribute__(owner, name)  # raises the error of a property that failed
    kind = type(owner).__name__
    raise AttributeError(
        f"{kind!r} object has no attribute {name!r}: write {names[name]}", name=name, obj=owner
    )
