"""Experiments of SigOpt's core module: create, list, change, archive, and the best results so far."""

from __future__ import annotations

from typing import Any

from bough.errors import StudyError
from bough.service.records import Document
from bough.service.sigopt.context import Call, SigOptContext
from bough.service.sigopt.definition import METHODS, as_space, checked
from bough.service.sigopt.errors import SigOptError, one_of
from bough.service.sigopt.metrics import best_trials, goal_arguments
from bough.service.sigopt.objects import (
    experiment_json,
    is_observation,
    observation_json,
    page,
    value_json,
    values_json,
)
from bough.study import Study

__all__ = [
    "change_experiment", "create", "create_experiment", "delete_experiment", "fetch_best", "fetch_experiment",
    "list_experiments", "stopping_criteria", "update_experiment",
]  # fmt: skip

Json = dict[str, Any]

_CHANGEABLE = {"name", "observation_budget", "budget", "metadata", "parallel_bandwidth", "project", "state"}


def create(context: SigOptContext, body: Json, kind: str) -> Document:
    """The document of a new experiment; its study is named after the experiment's name and number."""
    definition = checked(body)
    document = context.new(
        "experiment", {"object": kind, "state": "active", "definition": definition, "study": ""}
    )
    name = f"{definition['name'][:180]} ({document.name})"
    Study(
        as_space(definition),
        name=name,
        storage=context.studies.storage,
        method=METHODS[definition["type"]],
        **goal_arguments(definition),
    )
    return context.change("experiment", document, lambda old: {**old, "study": name})


def create_experiment(context: SigOptContext, call: Call) -> Json:
    return experiment_json(create(context, call.body, "experiment"), _no_progress())


def list_experiments(context: SigOptContext, call: Call) -> Json:
    found = context.experiments("experiment", call, call.path.get("project"))
    shown = page([{"index": index} for index in range(len(found))], call.query)
    shown["data"] = [_experiment_json(context, found[each["index"]]) for each in shown["data"]]
    return shown


def fetch_experiment(context: SigOptContext, call: Call) -> Json:
    return _experiment_json(context, context.experiment(call, "experiment")[0])


def update_experiment(context: SigOptContext, call: Call) -> Json:
    document, _ = context.experiment(call)
    return _experiment_json(context, change_experiment(context, document, call.body))


def change_experiment(context: SigOptContext, document: Document, body: Json) -> Document:
    """The document with the allowed changes of a running experiment."""
    for key in body:
        if key not in _CHANGEABLE:
            raise SigOptError(f"bough cannot change {key!r} of an experiment: create a new one")
    changes = {key: value for key, value in body.items() if key != "state"}
    if "observation_budget" in changes:
        changes["budget"] = changes.pop("observation_budget")
    wanted = {**document.body["definition"], **changes}
    checked({key: value for key, value in wanted.items() if key != "conditionals" or value})
    state = one_of(body.get("state", document.body["state"]), ("active", "deleted"), "state")
    return context.change("experiment", document, lambda old: {**old, "definition": wanted, "state": state})


def delete_experiment(context: SigOptContext, call: Call) -> None:
    """The experiment is archived; its study stays."""
    document, _ = context.experiment(call)
    context.change("experiment", document, lambda old: {**old, "state": "deleted"})


def _experiment_json(context: SigOptContext, document: Document) -> Json:
    try:
        study = context.studies.open(document.body["study"])
    except StudyError:
        return experiment_json(document, _no_progress())
    trials = [trial for trial in study.trials if is_observation(trial)]
    if not trials:
        return experiment_json(document, _no_progress())
    in_time = sorted(trials, key=lambda trial: trial.finished or 0.0)
    best = study.status().best  # None with several optimised metrics
    progress = {
        **_no_progress(),
        "observation_count": len(trials),
        "observation_budget_consumed": float(len(trials)),
        "first_observation": observation_json(document, in_time[0]),
        "last_observation": observation_json(document, in_time[-1]),
        "best_observation": None if best is None else observation_json(document, best),
    }
    return experiment_json(document, progress)


def _no_progress() -> Json:
    return {
        "object": "progress",
        "observation_count": 0,
        "observation_budget_consumed": 0.0,
        "first_observation": None,
        "last_observation": None,
        "best_observation": None,
    }


def fetch_best(context: SigOptContext, call: Call) -> Json:
    document, study = context.experiment(call)
    found = [
        {
            "object": "best_assignments",
            "id": str(best.number),
            "assignments": best.config,
            **value_json(document, best),
            "values": values_json(document, best),
            "metadata": context.metadata("observation", document, best),
        }
        for best in best_trials(study)
    ]
    return page(found[::-1], call.query)  # reversed, because ``page`` reverses its list


def stopping_criteria(context: SigOptContext, call: Call) -> Json:
    document, study = context.experiment(call)
    budget = document.body["definition"]["budget"]
    reached = budget is not None and sum(map(is_observation, study.trials)) >= budget
    reasons = ["observation_budget_reached"] if reached else []
    return {"object": "stopping_criteria", "should_stop": reached, "reasons": reasons}
