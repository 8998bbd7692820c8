"""The data of a trial that trackers log; the callbacks for MLflow, W&B and TensorBoard share it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bough.study import Study
from bough.trial import Trial

__all__ = ["Tracker", "TrialFacts", "facts"]


@dataclass(frozen=True)
class TrialFacts:
    """One trial as a run of a tracker.

    parameters: only the active ones. metrics: all measures. tags: texts to filter by.
    """

    parameters: dict[str, Any]
    metrics: dict[str, float]
    tags: dict[str, str]


def facts(study: Study, trial: Trial) -> TrialFacts:
    """The entries of a finished trial."""
    metrics: dict[str, float] = dict(trial.measures)
    if trial.value is not None:
        metrics.setdefault(study.goals.value_name, trial.value)
    if isinstance(trial.noise, float):
        metrics["noise"] = trial.noise
    if trial.cost is not None:
        metrics["cost"] = trial.cost
    if trial.started is not None and trial.finished is not None:
        metrics["seconds"] = trial.finished - trial.started
    names = [study.space.parameters[column].name for column in study.space.tree.switches]
    branch = {name: trial.config[name] for name in dict.fromkeys(names) if name in trial.config}
    tags = {
        "study": study.name,
        "trial": str(trial.number),
        "state": trial.state,
        "attempt": str(trial.attempt),
        "branch": ", ".join(f"{name}={value}" for name, value in branch.items()),
        "method": study.method.name,
    }
    if trial.error:
        tags["error"] = trial.error
    if trial.violated:
        tags["violated"] = ", ".join(trial.violated)
    return TrialFacts(dict(trial.config), metrics, tags)


class Tracker:
    """A callback for ``run`` that logs every finished trial."""

    def __call__(self, study: Study, trial: Trial) -> None:
        """Log one finished trial."""
        raise NotImplementedError

    def log_study(self, study: Study) -> None:
        """Log all finished trials; those that the tracker has already do not appear twice."""
        for trial in study.trials:
            if trial.is_finished:
                self(study, trial)
