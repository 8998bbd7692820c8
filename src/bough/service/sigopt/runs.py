"""SigOpt's AI module: projects, experiments with runs, and runs without an experiment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from anyio import to_thread

from bough.errors import ConflictError, StudyError, TrialError
from bough.service.records import Document
from bough.service.sigopt.context import Call, SigOptContext
from bough.service.sigopt.errors import SigOptError, deviation, known_keys, number, object_of, one_of, text
from bough.service.sigopt.experiments import change_experiment, create
from bough.service.sigopt.metrics import best_trials, is_plain, optimised, told_values
from bough.service.sigopt.objects import checkpoint_json, experiment_json, page, project_json, run_json
from bough.strict_json import JsonError, loads
from bough.study import Study

__all__ = [
    "best_runs", "create_ai", "create_ai_run", "create_checkpoint", "create_project", "create_run",
    "create_runs", "delete_ai", "delete_run", "fetch_ai", "fetch_project", "fetch_run", "list_ai",
    "list_checkpoints", "list_projects", "list_runs", "merge_run", "update_ai", "update_project",
    "update_run",
]  # fmt: skip

Json = dict[str, Any]

_MERGED = (
    "assignments", "assignments_meta", "assignments_sources", "values", "metadata", "sys_metadata",
    "dev_metadata", "datasets", "logs",
)  # fmt: skip
_PLAIN = (
    "name", "state", "model", "source_code", "deleted", "favorite", "tags", "best_checkpoint", "finished"
)  # fmt: skip
_STATES = ("active", "completed", "failed")
_PROJECT = re.compile(r"[a-z0-9\-_.]{1,100}")


# ---- projects ---------------------------------------------------------------------------------------


def create_project(context: SigOptContext, call: Call) -> Json:
    context.check_client(call)
    known_keys(call.body, {"id", "name", "metadata"}, "project")
    id = call.body.get("id")
    if not isinstance(id, str) or not _PROJECT.fullmatch(id):
        raise SigOptError(
            "Invalid value for id: lower case letters, digits, hyphens, underscores and periods"
        )
    name = text(call.body.get("name", id), "name")
    metadata = object_of(call.body.get("metadata"), "metadata")
    document = context.records.put("project", id, {"name": name, "metadata": metadata})
    if document is None:
        raise SigOptError(f"The project {id} exists already", 409)
    return project_json(document)


def list_projects(context: SigOptContext, call: Call) -> Json:
    context.check_client(call)
    return page([project_json(document) for document in context.records.list("project")], call.query)


def fetch_project(context: SigOptContext, call: Call) -> Json:
    return project_json(_project(context, call))


def update_project(context: SigOptContext, call: Call) -> Json:
    known_keys(call.body, {"name", "metadata"}, "the update of a project")
    document = _project(context, call)
    changes: Json = {}
    if "name" in call.body:
        changes["name"] = text(call.body["name"], "name")
    if "metadata" in call.body:
        changes["metadata"] = object_of(call.body["metadata"], "metadata")
    return project_json(context.change("project", document, lambda old: {**old, **changes}))


def _project(context: SigOptContext, call: Call) -> Document:
    context.check_client(call)
    document = context.records.get("project", call.path["project"])
    if document is None:
        raise SigOptError(f"No project {call.path['project']}", 404)
    return document


# ---- experiments with runs --------------------------------------------------------------------------


def create_ai(context: SigOptContext, call: Call) -> Json:
    project = _project(context, call)
    if call.body.get("project") is not None or call.body.get("tasks"):
        raise SigOptError("An AI experiment takes its project from the path, and no tasks")
    body = {**call.body, "project": project.name}
    return _ai_json(context, create(context, body, "aiexperiment"))


def list_ai(context: SigOptContext, call: Call) -> Json:
    found = context.experiments("aiexperiment", call, _project(context, call).name)
    return page([_ai_json(context, document) for document in found], call.query)


def fetch_ai(context: SigOptContext, call: Call) -> Json:
    return _ai_json(context, context.experiment(call, "aiexperiment")[0])


def update_ai(context: SigOptContext, call: Call) -> Json:
    document, _ = context.experiment(call, "aiexperiment")
    return _ai_json(context, change_experiment(context, document, call.body))


def delete_ai(context: SigOptContext, call: Call) -> None:
    document, _ = context.experiment(call, "aiexperiment")
    change_experiment(context, document, {"state": "deleted"})
    if call.query.get("include_runs") == "true":
        for run in context.records.list("run", _owner(document)):
            context.change("run", run, lambda old: {**old, "deleted": True})


def _ai_json(context: SigOptContext, document: Document) -> Json:
    runs = [run for run in context.records.list("run", _owner(document)) if not run.body["deleted"]]
    active = sum(run.body["state"] == "active" for run in runs)
    budget = document.body["definition"]["budget"]
    progress = {
        "object": "runs_progress",
        "active_run_count": active,
        "finished_run_count": len(runs) - active,
        "total_run_count": len(runs),
        "remaining_budget": None if budget is None else budget - len(runs),
    }
    return experiment_json(document, progress)


def best_runs(context: SigOptContext, call: Call) -> Json:
    document, study = context.experiment(call, "aiexperiment")
    best = {trial.number for trial in best_trials(study)}
    runs = context.records.list("run", _owner(document))
    return page([run_json(run) for run in runs if run.body["trial"] in best], call.query)


# ---- runs -------------------------------------------------------------------------------------------


async def create_ai_run(context: SigOptContext, call: Call) -> Json:
    """A run with the assignments of the next suggestion; a coroutine, as ``create_suggestion`` explains."""
    known_keys(call.body, {"name", "metadata", "suggestion"}, "run")
    document, study = await to_thread.run_sync(context.active, call, "aiexperiment")
    body = _new_run(call.body, document.body["definition"]["project"])
    trial = (await context.studies.ask(study, call.who.name))[0]
    body |= {"experiment": document.name, "trial": trial.number, "assignments": trial.config}
    return run_json(await to_thread.run_sync(context.new, "run", body, _owner(document)))


def create_run(context: SigOptContext, call: Call) -> Json:
    """A run without an experiment."""
    project = _project(context, call).name
    body = _new_run({key: call.body.get(key) for key in ("name", "metadata")}, project)
    rest = {key: value for key, value in call.body.items() if key not in ("name", "metadata", "type")}
    return run_json(context.new("run", _merged(body, rest), f"project/{project}"))


def create_runs(context: SigOptContext, call: Call) -> Json:
    known_keys(call.body, {"runs", "fields"}, "batch of runs")
    runs = call.body.get("runs")
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
        raise SigOptError("Invalid value for runs: expected a list of objects")
    made = [create_run(context, Call(call.path, call.query, run, call.who)) for run in runs]
    return {**page([], call.query), "count": len(made), "data": made}


def fetch_run(context: SigOptContext, call: Call) -> Json:
    return run_json(_run(context, call))


def list_runs(context: SigOptContext, call: Call) -> Json:
    project = _project(context, call).name
    owners = [f"project/{project}"]
    owners += [
        _owner(document)
        for document in context.records.list("experiment")
        if document.body["definition"]["project"] == project
    ]
    runs = [run for owner in owners for run in context.records.list("run", owner) if not run.body["deleted"]]
    for name, wanted in _filters(call.query.get("filters")):
        runs = [run for run in runs if run_json(run).get(name) == wanted]
    return page([run_json(run) for run in sorted(runs, key=lambda run: run.id)], call.query)


def merge_run(context: SigOptContext, call: Call) -> Json:
    """Add to a run; a finished run gives its trial a result."""
    return _change_run(context, _run(context, call), call.body)


def update_run(context: SigOptContext, call: Call) -> Json:
    """Like a merge, but objects are replaced."""
    replaced: Json = {key: {} for key in _MERGED if key in call.body}
    return _change_run(context, _run(context, call), call.body, replaced)


def delete_run(context: SigOptContext, call: Call) -> None:
    context.change("run", _run(context, call), lambda old: {**old, "deleted": True})


def create_checkpoint(context: SigOptContext, call: Call) -> Json:
    known_keys(call.body, {"values", "metadata"}, "checkpoint")
    run = _run(context, call)
    values = call.body.get("values")
    if not isinstance(values, list) or not all(isinstance(each, dict) for each in values):
        raise SigOptError("Invalid value for values: expected a list of objects")
    for each in values:
        number(each.get("value"), "the value of a checkpoint")
    stop = run.body["trial"] is not None and _report(context, run.body, values)
    context.change("run", run, lambda old: {**old, "checkpoint_count": old["checkpoint_count"] + 1})
    return checkpoint_json(context.new("checkpoint", {**call.body, "should_stop": stop}, run.name))


def _report(context: SigOptContext, run: Json, values: list[Json]) -> bool:
    """Report the next checkpoint, whose number is the step; returns whether the run should stop.

    A checkpoint without all optimised and constrained metrics is stored, but never stops the run.
    """
    study, definition = _study_of(context, run)
    names = [optimised(definition)[0]["name"]] if is_plain(definition) else study.goals.needed
    given = {each.get("name"): each["value"] for each in reversed(values)}
    if study.trial(run["trial"]).state == "stopped":
        return True
    if not all(name in given for name in names):
        return False
    reported = given[names[0]] if is_plain(definition) else {name: given[name] for name in names}
    try:
        return study.report(run["trial"], reported, run["checkpoint_count"] + 1)
    except (StudyError, TrialError) as error:
        raise SigOptError(f"The checkpoint cannot be stored: {error}") from None


def list_checkpoints(context: SigOptContext, call: Call) -> Json:
    run = _run(context, call)
    return page([checkpoint_json(each) for each in context.records.list("checkpoint", run.name)], call.query)


def _run(context: SigOptContext, call: Call) -> Document:
    run = context.records.get("run", call.path["run"])
    if run is None:
        raise SigOptError(f"No run {call.path['run']}", 404)
    return run


def _new_run(body: Json, project: str | None) -> Json:
    return {
        "name": text(body.get("name") or "run", "name"),
        "project": project,
        "experiment": None,
        "trial": None,
        "state": "active",
        "deleted": False,
        "checkpoint_count": 0,
        "model": {},
        "source_code": {},
        "files": [],
        "tags": [],
        **{key: {} for key in _MERGED},
        "metadata": object_of(body.get("metadata"), "metadata"),
    }


def _change_run(
    context: SigOptContext, run: Document, changes: Json, replaced: Mapping[str, Json] = MappingProxyType({})
) -> Json:
    """The run after some changes; ``replaced``: objects that are emptied before."""
    # The trial gets its result first: if the reply is lost, the client sends the same result again.
    merged = _merged({**run.body, **replaced}, changes)
    if merged["state"] != "active" and merged["trial"] is not None:
        _tell(context, merged)
    return run_json(context.change("run", run, lambda old: _merged({**old, **replaced}, changes)))


def _merged(body: Json, changes: Json) -> Json:
    merged = dict(body)
    for key, value in changes.items():
        if key in _MERGED:
            if not isinstance(value, dict):
                raise SigOptError(f"Invalid value for {key}: expected an object")
            merged[key] = {**body[key], **value}
        elif key in _PLAIN:
            merged[key] = value
        else:
            raise SigOptError(f"Unknown key {key!r} for run: one of {', '.join(sorted((*_MERGED, *_PLAIN)))}")
    text(merged["name"], "name")
    one_of(merged["state"], _STATES, "state")
    if not isinstance(merged["deleted"], bool):
        raise SigOptError("Invalid value for deleted: true or false")
    for name, value in merged["values"].items():
        if not isinstance(value, dict):
            raise SigOptError(f"Invalid value for metric {name}: expected an object with a value")
        number(value.get("value"), f"metric {name}")
        deviation(value.get("value_stddev"))
    return merged


def _tell(context: SigOptContext, run: Json) -> None:
    """Give the trial of a finished run its result; it fails if a metric that a goal needs is missing."""
    study, definition = _study_of(context, run)
    needed = [each["name"] for each in definition["metrics"] if each["strategy"] != "store"]
    missing = [name for name in needed if name not in run["values"]]
    if study.trial(run["trial"]).state == "stopped":  # because of its checkpoints
        return
    try:
        if run["state"] == "completed" and not missing:
            study.record_result(told_values(run["trial"], definition, run["values"], study))
        else:
            none = ", ".join(map(str, missing))
            why = "the run failed" if run["state"] == "failed" else f"the run has no value for metric {none}"
            study.fail(run["trial"], why)
    except (ConflictError, TrialError) as error:
        raise SigOptError(f"The run has another result already: {error}") from None


def _study_of(context: SigOptContext, run: Json) -> tuple[Study, Json]:
    """The study of a run, and the definition of its experiment."""
    experiment = context.records.get("experiment", run["experiment"])
    assert experiment is not None
    definition: Json = experiment.body["definition"]
    return context.studies.open(experiment.body["study"]), definition


def _owner(experiment: Document) -> str:
    return f"experiment/{experiment.name}"


def _filters(text: str | None) -> list[tuple[str, Any]]:
    """Conditions on runs; only equality of a field is supported."""
    if not text:
        return []
    try:
        filters = loads(text.encode())
    except JsonError as error:
        raise SigOptError(f"Invalid value for filters: {error}") from None
    if not isinstance(filters, list) or not all(
        isinstance(each, dict) and each.get("operator") == "==" and isinstance(each.get("field"), str)
        for each in filters
    ):
        raise SigOptError(
            'Invalid value for filters: bough knows [{"field": ..., "operator": "==", "value": ...}]'
        )
    return [(each["field"], each.get("value")) for each in filters]
