"""SigOpt's objects as JSON, made from documents and trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bough.service.records import Document
from bough.service.sigopt.errors import SigOptError
from bough.service.sigopt.metrics import optimised, values_of
from bough.trial import Trial

__all__ = [
    "CLIENT", "DELETED", "checkpoint_json", "experiment_json", "is_observation", "observation_json", "page",
    "project_json", "queued_json", "run_json", "suggestion_json", "value_json", "values_json",
]  # fmt: skip

Json = dict[str, Any]

CLIENT = "1"
"""The id of the only client (team), which SigOpt's paths contain."""

DELETED = "deleted by the client"
"""The error of trials whose suggestion was deleted; they are not listed as observations."""

MOST = 1000


def is_observation(trial: Trial) -> bool:
    return trial.is_finished and trial.error != DELETED


def _document_json(kind: str, document: Document) -> Json:
    """The keys that all documents share."""
    return {
        "object": kind,
        "id": document.name,
        "client": CLIENT,
        "user": CLIENT,
        "created": int(document.created),
        "updated": int(document.updated),
    }


def experiment_json(document: Document, progress: Json) -> Json:
    body = document.body
    definition = body["definition"]
    shared = {
        **_document_json(body["object"], document),
        "state": body["state"],
        "name": definition["name"],
        "project": definition["project"],
        "metadata": definition["metadata"],
        "parallel_bandwidth": definition["parallel_bandwidth"],
        "num_solutions": 1,
        "linear_constraints": [],
        "metrics": [{"object": "metric", **each} for each in definition["metrics"]],
        "conditionals": [{"object": "conditional", **each} for each in definition["conditionals"]],
        "parameters": [_parameter_json(each) for each in definition["parameters"]],
        "progress": progress,
    }
    if body["object"] == "aiexperiment":
        return {**shared, "budget": definition["budget"]}
    return {
        **shared,
        "type": definition["type"],
        "observation_budget": definition["budget"],
        "budget": definition["budget"],
        "development": False,
        "tasks": [],
        "runs_only": False,
    }


def _parameter_json(parameter: Json) -> Json:
    bounds, prior = parameter["bounds"], parameter.get("prior")
    return {
        "object": "parameter",
        **parameter,
        "bounds": None if bounds is None else {"object": "bounds", **bounds},
        "categorical_values": [
            {"object": "categorical_value", **each} for each in parameter["categorical_values"]
        ],
        "precision": None,
        "prior": None if prior is None else {"object": "prior", **prior},
    }


def suggestion_json(experiment: Document, trial: Trial, metadata: Json | None = None) -> Json:
    return {
        "object": "suggestion",
        "id": str(trial.number),
        "experiment": experiment.name,
        "state": "closed" if trial.is_finished else "open",
        "assignments": trial.config,
        "created": int(trial.started or 0),
        "metadata": metadata,
        "deleted": trial.error == DELETED,
        "task": None,
    }


def queued_json(experiment: Document, trial: Trial) -> Json:
    return {
        "object": "queued_suggestion",
        "id": str(trial.number),
        "experiment": experiment.name,
        "assignments": trial.config,
        "created": int(experiment.created),
        "task": None,
    }


def observation_json(experiment: Document, trial: Trial, extra: Json | None = None) -> Json:
    """``extra``: the client's data besides the result, kept in a document."""
    extra = extra or {}
    values = values_json(experiment, trial, extra.get("stored", []))
    return {
        "object": "observation",
        "id": str(trial.number),
        "experiment": experiment.name,
        "assignments": trial.config,
        "created": int(trial.finished or 0),
        "failed": trial.state == "failed",
        "suggestion": None if trial.was_added else str(trial.number),
        **value_json(experiment, trial),
        "values": values,
        "metadata": extra.get("metadata"),
        "task": None,
    }


def values_json(experiment: Document, trial: Trial, stored: Sequence[Json] = ()) -> list[Json]:
    found = values_of(experiment.body["definition"], trial, stored)
    return [{"object": "metric_evaluation", **each} for each in found]


def value_json(experiment: Document, trial: Trial) -> Json:
    """The value of the only optimised metric."""
    only = len(optimised(experiment.body["definition"])) == 1
    return {"value": trial.value if only else None, "value_stddev": trial.noise if only else None}


def run_json(document: Document) -> Json:
    body = document.body
    return {
        **_document_json("training_run", document),
        "finished": body["state"] != "active",
        "completed": int(document.updated) if body["state"] != "active" else None,
        **{key: value for key, value in body.items() if key not in ("trial", "values")},
        "values": {
            name: {"object": "metric_evaluation", "name": name, **value}
            for name, value in body["values"].items()
        },
        "suggestion": None if body["trial"] is None else str(body["trial"]),
        "observation": None if body["trial"] is None or body["state"] == "active" else str(body["trial"]),
    }


def checkpoint_json(document: Document) -> Json:
    return {
        "object": "checkpoint",
        "id": document.name,
        "created": int(document.created),
        "training_run": document.owner,
        "should_stop": document.body.get("should_stop", False),
        "stopping_reasons": {"bough": True} if document.body.get("should_stop") else {},
        "metadata": document.body.get("metadata"),
        "values": [{"object": "metric_evaluation", **each} for each in document.body["values"]],
    }


def project_json(document: Document) -> Json:
    return {**_document_json("project", document), **document.body}


def page(items: Sequence[Json], query: Json) -> Json:
    """One page of a list that is given oldest first.

    The newest come first, and ``before`` leads to older ones; with ``after`` it is the other way round.
    Markers are positions, which never change: lists only grow at their end.
    """
    limit, count = min(_position(query.get("limit", MOST), "limit"), MOST), len(items)
    if query.get("after") is not None:
        start = min(_position(query["after"], "after") + 1, count)
        chosen = range(start, min(start + limit, count))
    else:
        end = min(_position(query.get("before", count), "before"), count)
        chosen = range(max(end - limit, 0), end)[::-1]
    paging = {
        "before": str(min(chosen)) if chosen and min(chosen) > 0 else None,
        "after": str(max(chosen)) if chosen and max(chosen) + 1 < count else None,
    }
    return {
        "object": "pagination",
        "count": count,
        "data": [items[index] for index in chosen],
        "paging": {"object": "paging", **paging},
    }


def _position(value: Any, what: str) -> int:
    text = str(value)
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise SigOptError(f"Invalid value for {what}: expected a number that is not negative")
    return int(text)
