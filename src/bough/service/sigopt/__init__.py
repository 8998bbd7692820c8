"""SigOpt's protocol under ``/v1``: its published client works against bough unchanged.

An experiment is a study, a suggestion a running trial, an observation a finished trial; their ids are trial
numbers. SigOpt's other objects (names, metadata, projects, runs) are documents. ``ROUTES`` lists all
routes; each handler takes the context and the call, and returns the object of the reply.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from typing import Any

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from bough.errors import BoughError
from bough.service.records import Records
from bough.service.sigopt import experiments, observations, runs, suggestions
from bough.service.sigopt.context import Call, SigOptContext
from bough.service.sigopt.errors import SigOptError
from bough.service.sigopt.objects import CLIENT
from bough.service.studies import OpenStudies
from bough.strict_json import JsonError, loads

__all__ = ["ROUTES", "routes"]

Handler = Callable[[SigOptContext, Call], Any]

_log = logging.getLogger("bough")


def _token(context: SigOptContext, call: Call) -> dict[str, Any]:
    return {
        "object": "token",
        "client": CLIENT,
        "user": CLIENT,
        "token_type": "client-api",
        "all_experiments": True,
        "development": False,
        "experiment": None,
        "expires": None,
    }


def _client(context: SigOptContext, call: Call) -> dict[str, Any]:
    context.check_client(call)
    return {"object": "client", "id": CLIENT, "name": "bough", "organization": CLIENT, "created": 0}


def _unsupported(what: str) -> Handler:
    def refuse(context: SigOptContext, call: Call) -> None:
        raise SigOptError(f"bough does not offer {what}")

    return refuse


_E, _AI, _P = (
    "/experiments/{experiment}",
    "/aiexperiments/{experiment}",
    "/clients/{client}/projects/{project}",
)

ROUTES: tuple[tuple[str, dict[str, Handler]], ...] = (
    ("/tokens/self", {"GET": _token}),
    ("/clients/{client}", {"GET": _client}),
    ("/experiments", {"GET": experiments.list_experiments, "POST": experiments.create_experiment}),
    (
        "/clients/{client}/experiments",
        {"GET": experiments.list_experiments, "POST": experiments.create_experiment},
    ),
    (
        _E,
        {
            "GET": experiments.fetch_experiment,
            "PUT": experiments.update_experiment,
            "DELETE": experiments.delete_experiment,
        },
    ),
    (
        f"{_E}/suggestions",
        {
            "GET": suggestions.list_suggestions,
            "POST": suggestions.create_suggestion,
            "DELETE": suggestions.delete_open_suggestions,
        },
    ),
    (
        f"{_E}/suggestions/{{suggestion}}",
        {
            "GET": suggestions.fetch_suggestion,
            "PUT": suggestions.update_suggestion,
            "DELETE": suggestions.delete_suggestion,
        },
    ),
    (f"{_E}/queued_suggestions", {"GET": suggestions.list_queued, "POST": suggestions.create_queued}),
    (
        f"{_E}/queued_suggestions/{{queued_suggestion}}",
        {"GET": suggestions.fetch_queued, "DELETE": suggestions.delete_suggestion},
    ),
    (
        f"{_E}/observations",
        {
            "GET": observations.list_observations,
            "POST": observations.create_observation,
            "DELETE": _unsupported("the deletion of observations: results are kept as they were told"),
        },
    ),
    (f"{_E}/observations/batch", {"POST": observations.create_batch}),
    (
        f"{_E}/observations/{{observation}}",
        {
            "GET": observations.fetch_observation,
            "PUT": observations.update_observation,
            "DELETE": _unsupported("the deletion of observations: results are kept as they were told"),
        },
    ),
    (f"{_E}/best_assignments", {"GET": experiments.fetch_best}),
    (f"{_E}/stopping_criteria", {"GET": experiments.stopping_criteria}),
    (f"{_E}/metric_importances", {"GET": _unsupported("importances here: see the study's page")}),
    (f"{_E}/tokens", {"POST": _unsupported("tokens here: see 'bough token create'")}),
    ("/clients/{client}/projects", {"GET": runs.list_projects, "POST": runs.create_project}),
    (_P, {"GET": runs.fetch_project, "PUT": runs.update_project}),
    (f"{_P}/experiments", {"GET": experiments.list_experiments}),
    (f"{_P}/aiexperiments", {"GET": runs.list_ai, "POST": runs.create_ai}),
    (f"{_P}/training_runs", {"GET": runs.list_runs, "POST": runs.create_run}),
    (f"{_P}/training_runs/batch", {"POST": runs.create_runs}),
    (_AI, {"GET": runs.fetch_ai, "PUT": runs.update_ai, "DELETE": runs.delete_ai}),
    (f"{_AI}/training_runs", {"POST": runs.create_ai_run}),
    (f"{_AI}/best_training_runs", {"GET": runs.best_runs}),
    (
        "/training_runs/{run}",
        {"GET": runs.fetch_run, "PUT": runs.update_run, "MERGE": runs.merge_run, "DELETE": runs.delete_run},
    ),
    ("/training_runs/{run}/checkpoints", {"GET": runs.list_checkpoints, "POST": runs.create_checkpoint}),
    ("/training_runs/{run}/files", {"POST": _unsupported("uploads of files and images")}),
)


def routes(studies: OpenStudies, records: Records) -> list[BaseRoute]:
    context = SigOptContext(studies, records)
    return [
        Route(f"/v1{path}", _endpoint(context, handlers), methods=list(handlers)) for path, handlers in ROUTES
    ]


def _endpoint(context: SigOptContext, handlers: dict[str, Handler]) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        handler = handlers["GET" if request.method == "HEAD" else request.method]
        try:
            call = await _call(request)
            if inspect.iscoroutinefunction(handler):
                answer = await handler(context, call)
            else:
                answer = await to_thread.run_sync(handler, context, call)
        except SigOptError as error:
            return _error(str(error), error.status)
        except BoughError as error:
            _log.warning("%s %s: %s", request.method, request.url.path, error)
            return _error(str(error), 400)
        if answer is None or request.headers.get("x-response-content") == "skip":
            return Response(status_code=204)
        return JSONResponse(answer)

    return endpoint


async def _call(request: Request) -> Call:
    raw = await request.body()
    try:
        body = loads(raw) if raw else {}
    except JsonError as error:
        raise SigOptError(str(error)) from None
    if not isinstance(body, dict):
        raise SigOptError("The body must be a JSON object")
    return Call(dict(request.path_params), dict(request.query_params), body, request.scope["principal"])


def _error(message: str, status: int) -> Response:
    return JSONResponse({"message": message, "status": status}, status)
