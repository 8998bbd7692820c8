"""Suggestions, open and queued: trials that run or wait."""

from __future__ import annotations

from typing import Any

from bough.service.sigopt.assignments import config_of
from bough.service.sigopt.desk import Call, Desk
from bough.service.sigopt.extras import keep, kept, metadata_of, name_of
from bough.service.sigopt.objects import DELETED, page, queued_json, suggestion_json
from bough.service.sigopt.refused import Refused, known_keys
from bough.trial import Trial

__all__ = [
    "create_queued", "create_suggestion", "delete_open_suggestions", "delete_suggestion", "fetch_queued",
    "fetch_suggestion", "list_queued", "list_suggestions", "update_suggestion",
]  # fmt: skip

Json = dict[str, Any]


async def create_suggestion(desk: Desk, call: Call) -> Json:
    """The next suggestion, or one with assignments of the client's own."""
    known_keys(call.body, {"assignments", "metadata", "task"}, "suggestion")
    document, study = desk.experiment(call)
    metadata = call.body.get("metadata")
    if call.body.get("assignments") is not None:
        config = config_of(document.body["definition"], call.body["assignments"])
        running = Trial(-1, config, "running", worker=call.who.name)
        trial = desk.studies.storage.insert(study.record.id, [running])[0]
    else:
        trial = (await desk.studies.ask(study, call.who.name))[0]
    if metadata:
        desk.records.put("suggestion", name_of(document, trial), {"metadata": metadata}, document.name)
    return suggestion_json(document, trial, metadata)


def list_suggestions(desk: Desk, call: Call) -> Json:
    document, study = desk.experiment(call)
    extras = kept(desk, "suggestion", document)
    wanted = call.query.get("state")
    found = [
        suggestion_json(document, trial, extras.get(trial.number, {}).get("metadata"))
        for trial in study.trials
        if trial.state != "queued" and not trial.added and trial.error != DELETED
    ]
    return page([each for each in found if wanted in (None, each["state"])], call.query)


def fetch_suggestion(desk: Desk, call: Call) -> Json:
    document, study = desk.experiment(call)
    trial = desk.trial(call, "suggestion", study)
    return suggestion_json(document, trial, metadata_of(desk, "suggestion", document, trial))


def update_suggestion(desk: Desk, call: Call) -> Json:
    known_keys(call.body, {"metadata"}, "the update of a suggestion")
    document, study = desk.experiment(call)
    trial = desk.trial(call, "suggestion", study)
    keep(desk, "suggestion", document, trial, {"metadata": call.body.get("metadata")})
    return suggestion_json(document, trial, call.body.get("metadata"))


def delete_suggestion(desk: Desk, call: Call) -> None:
    _, study = desk.experiment(call)
    part = "suggestion" if "suggestion" in call.path else "queued_suggestion"
    trial = desk.trial(call, part, study)
    if trial.over:
        raise Refused(f"Suggestion {trial.number} has an observation, so it cannot be deleted")
    study.fail(trial.number, DELETED)


def delete_open_suggestions(desk: Desk, call: Call) -> None:
    _, study = desk.experiment(call)
    for trial in study.trials:
        if trial.state == "running":
            study.fail(trial.number, DELETED)


def create_queued(desk: Desk, call: Call) -> Json:
    known_keys(call.body, {"assignments", "task"}, "queued suggestion")
    document, study = desk.experiment(call)
    config = config_of(document.body["definition"], call.body.get("assignments"))
    return queued_json(document, study.enqueue(config))


def list_queued(desk: Desk, call: Call) -> Json:
    document, study = desk.experiment(call)
    queued = [trial for trial in study.trials if trial.state == "queued"]
    return page([queued_json(document, trial) for trial in queued], call.query)


def fetch_queued(desk: Desk, call: Call) -> Json:
    document, study = desk.experiment(call)
    trial = desk.trial(call, "queued_suggestion", study)
    if trial.state != "queued":
        raise Refused(f"No queued suggestion {trial.number}", 404)
    return queued_json(document, trial)
