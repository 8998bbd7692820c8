"""The metrics of an experiment as goals of its study.

An optimised metric becomes an objective, and its threshold a reference value. A constraint's threshold
becomes a limit. A stored metric is kept with the trial. An experiment with one optimised metric, no threshold
and no constraint has a study with a plain value, like the experiments of version 0.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bough.errors import StudyError
from bough.service.sigopt.errors import SigOptError, number, object_of, one_of, text
from bough.study import Study
from bough.study.goals import Limit, parse_goals
from bough.study.results import told
from bough.trial import Trial

__all__ = [
    "best_trials", "checked_metrics", "goal_arguments", "is_plain", "optimised", "told_values", "values_of"
]  # fmt: skip

Json = dict[str, Any]

MAX_OBJECTIVES = 10


def checked_metrics(given: Sequence[Any]) -> list[Json]:
    """The metrics with all their fields, or ``SigOptError``."""
    metrics = [_metric(each, len(given) > 1) for each in given]
    if len({each["name"] for each in metrics}) < len(metrics):
        raise SigOptError("The names of metrics must be distinct")
    of_strategy = [each["strategy"] for each in metrics]
    if not {"optimize", "constraint"} & set(of_strategy):
        raise SigOptError("An experiment needs a metric with the strategy 'optimize' or 'constraint'")
    if of_strategy.count("optimize") > MAX_OBJECTIVES:
        raise SigOptError(f"bough optimizes at most {MAX_OBJECTIVES} metrics")
    if not is_plain({"metrics": metrics}):
        try:
            parse_goals(**goal_arguments({"metrics": metrics}))
        except StudyError as error:
            raise SigOptError(f"Invalid metrics: {error}") from None
    return metrics


def _metric(given: Any, needs_name: bool) -> Json:
    metric = {"name": given} if isinstance(given, str) else dict(object_of(given, "metrics"))
    strategy = one_of(
        metric.get("strategy") or "optimize", ("optimize", "constraint", "store"), "a metric's strategy"
    )
    objective = one_of(
        metric.get("objective") or "maximize", ("maximize", "minimize"), "a metric's objective"
    )
    name, threshold = metric.get("name"), metric.get("threshold")
    if name is not None or needs_name or strategy == "constraint" or threshold is not None:
        text(name, "the name of a metric", most=50)
    if threshold is not None:
        threshold = float(number(threshold, f"the threshold of metric {name}"))
        if strategy == "store":
            raise SigOptError(f"Metric {name} is only stored, so it takes no threshold")
    elif strategy == "constraint":
        raise SigOptError(f"Metric {name} is a constraint, so it needs a threshold")
    return {"name": name, "objective": objective, "strategy": strategy, "threshold": threshold}


def optimised(definition: Json) -> list[Json]:
    """The metrics that are optimised."""
    return [each for each in definition["metrics"] if each["strategy"] == "optimize"]


def is_plain(definition: Json) -> bool:
    """Whether one metric is optimised, without thresholds and constraints."""
    return len(optimised(definition)) == 1 and not any(
        each["strategy"] == "constraint" or each["threshold"] is not None for each in definition["metrics"]
    )


def goal_arguments(definition: Json) -> Json:
    """The goals of an experiment as arguments of ``Study``."""
    wanted = optimised(definition)
    if is_plain(definition):
        return {"objectives": None, "constraints": [], "reference": None, "direction": wanted[0]["objective"]}
    limits = [
        Limit(each["name"], "<=" if each["objective"] == "minimize" else ">=", each["threshold"])
        for each in definition["metrics"]
        if each["strategy"] == "constraint"
    ]
    several = len(wanted) > 1  # the threshold of a single metric is shown, and guides nothing
    return {
        "objectives": {each["name"]: each["objective"] for each in wanted},
        "constraints": [str(limit) for limit in limits],
        "reference": {
            each["name"]: each["threshold"] for each in wanted if several and each["threshold"] is not None
        },
    }


def told_values(number: int, definition: Json, values: Mapping[str | None, Json], study: Study) -> Trial:
    """The result of a trial from the values of all metrics."""
    if is_plain(definition):
        told_value = values[optimised(definition)[0]["name"]]
        return told(number, told_value["value"], told_value.get("value_stddev"))
    measures = {str(name): each["value"] for name, each in values.items()}
    noise = {
        name: each["value_stddev"] for name, each in values.items() if each.get("value_stddev") is not None
    }
    return told(number, measures, noise or None, goals=study.goals)


def values_of(definition: Json, trial: Trial, stored: Sequence[Json] = ()) -> list[Json]:
    """The values of a trial by metric; ``stored``: metrics of a plain experiment that are only stored."""
    if trial.value is None:
        return []
    if is_plain(definition):
        name = optimised(definition)[0]["name"]
        return [{"name": name, "value": trial.value, "value_stddev": trial.noise}, *stored]
    return [
        {
            "name": each["name"],
            "value": trial.measures[each["name"]],
            "value_stddev": trial.noises.get(each["name"]),
        }
        for each in definition["metrics"]
        if each["name"] in trial.measures
    ]


def best_trials(study: Study) -> list[Trial]:
    """The best trial if exactly one metric is optimised, otherwise the front."""
    if len(study.goals.objectives) != 1:
        return study.front
    best = study.status().best
    return [] if best is None else [best]
