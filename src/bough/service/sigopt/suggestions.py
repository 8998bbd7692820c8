"""Suggestions, open and queued: trials that are running or queued."""

from __future__ import annotations

from typing import Any

from anyio import to_thread

from bough.service.records import Document
from bough.service.sigopt.assignments import config_of
from bough.service.sigopt.context import Call, SigOptContext
from bough.service.sigopt.errors import SigOptError, known_keys
from bough.service.sigopt.objects import DELETED, page, queued_json, suggestion_json
from bough.study import Study
from bough.trial import Trial

__all__ = [
    "create_queued", "create_suggestion", "delete_open_suggestions", "delete_suggestion", "fetch_queued",
    "fetch_suggestion", "list_queued", "list_suggestions", "update_suggestion",
]  # fmt: skip

Json = dict[str, Any]


async def create_suggestion(context: SigOptContext, call: Call) -> Json:
    """The next suggestion, or one with the client's own assignments.

    A coroutine, so an asker waits for its turn without blocking a thread; threads do the database work.
    """
    known_keys(call.body, {"assignments", "metadata", "task"}, "suggestion")
    document, study = await to_thread.run_sync(context.active, call)
    if call.body.get("assignments") is not None:
        trial = await to_thread.run_sync(_insert_own, call, document, study)
    else:
        trial = (await context.studies.ask(study, call.who.name))[0]
    metadata = call.body.get("metadata")
    if metadata:
        await to_thread.run_sync(context.attach, "suggestion", document, trial, {"metadata": metadata})
    return suggestion_json(document, trial, metadata)


def _insert_own(call: Call, document: Document, study: Study) -> Trial:
    config = config_of(document.body["definition"], call.body["assignments"], study)
    return study.insert([(config, Trial(-1, {}, "running", worker=call.who.name))])[0]


def list_suggestions(context: SigOptContext, call: Call) -> Json:
    document, study = context.experiment(call)
    extras = context.attached("suggestion", document)
    wanted = call.query.get("state")
    found = [
        suggestion_json(document, trial, extras.get(trial.number, {}).get("metadata"))
        for trial in study.trials
        if trial.state != "queued" and not trial.was_added and trial.error != DELETED
    ]
    return page([each for each in found if wanted in (None, each["state"])], call.query)


def fetch_suggestion(context: SigOptContext, call: Call) -> Json:
    document, study = context.experiment(call)
    trial = context.trial(call, "suggestion", study)
    return suggestion_json(document, trial, context.metadata("suggestion", document, trial))


def update_suggestion(context: SigOptContext, call: Call) -> Json:
    known_keys(call.body, {"metadata"}, "the update of a suggestion")
    document, study = context.experiment(call)
    trial = context.trial(call, "suggestion", study)
    context.attach("suggestion", document, trial, {"metadata": call.body.get("metadata")})
    return suggestion_json(document, trial, call.body.get("metadata"))


def delete_suggestion(context: SigOptContext, call: Call) -> None:
    _, study = context.experiment(call)
    part = "suggestion" if "suggestion" in call.path else "queued_suggestion"
    trial = context.trial(call, part, study)
    if trial.is_finished:
        raise SigOptError(f"Suggestion {trial.number} has an observation, so it cannot be deleted")
    study.fail(trial.number, DELETED)


def delete_open_suggestions(context: SigOptContext, call: Call) -> None:
    _, study = context.experiment(call)
    for trial in study.trials:
        if trial.state == "running":
            study.fail(trial.number, DELETED)


def create_queued(context: SigOptContext, call: Call) -> Json:
    known_keys(call.body, {"assignments", "task"}, "queued suggestion")
    document, study = context.active(call)
    config = config_of(document.body["definition"], call.body.get("assignments"), study)
    return queued_json(document, study.enqueue(config))


def list_queued(context: SigOptContext, call: Call) -> Json:
    document, study = context.experiment(call)
    queued = [trial for trial in study.trials if trial.state == "queued"]
    return page([queued_json(document, trial) for trial in queued], call.query)


def fetch_queued(context: SigOptContext, call: Call) -> Json:
    document, study = context.experiment(call)
    trial = context.trial(call, "queued_suggestion", study)
    if trial.state != "queued":
        raise SigOptError(f"No queued suggestion {trial.number}", 404)
    return queued_json(document, trial)
