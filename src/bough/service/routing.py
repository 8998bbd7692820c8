"""Routing of requests: names in paths, strict JSON bodies, errors with a status."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Callable, Coroutine, Sequence
from http import HTTPStatus
from typing import Annotated, Any, get_args
from urllib.parse import unquote

from fastapi import Depends, Header, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.convertors import Convertor, register_url_convertor
from starlette.routing import Match

from bough import errors
from bough.errors import (
    BoughError,
    ConfigError,
    ConflictError,
    ExhaustedError,
    MalformedError,
    MissingExtraError,
    StorageError,
    StudyError,
    TrialError,
)
from bough.service.auth import Principal
from bough.service.security_middleware import refusal
from bough.service.studies import NoStudy, NoTrial, OpenStudies, WrongRequest
from bough.storage import StudyRecord
from bough.strict_json import JsonError, loads
from bough.study import Study

__all__ = ["Caller", "Found", "Name", "Opened", "StrictRoute", "error_response", "json_object", "status_of"]

_log = logging.getLogger("bough")

_SHOULD_BE = "Input should be "
"""The start of Pydantic's messages about expected values."""

_STATUS: tuple[tuple[type[BoughError], int], ...] = (
    (NoStudy, 404),
    (NoTrial, 404),
    (WrongRequest, 400),
    (ConflictError, 409),
    (TrialError, 409),
    (MalformedError, 400),
    (StudyError, 409),
    (ExhaustedError, 409),
    (StorageError, 503),
    (MissingExtraError, 501),
    (BoughError, 400),
)


_SENT = {*errors.__all__} - {"MalformedError"}
"""The types of errors that replies name. Earlier clients do not know MalformedError; 400 says the same."""


class _Name(Convertor[str]):
    """A study's name: one segment of the path, which may contain an encoded slash."""

    regex = "[^/]+"

    def convert(self, value: str) -> str:
        return unquote(value)

    def to_string(self, value: str) -> str:
        raise NotImplementedError("paths of names are written by urllib.parse.quote")


class _Number(Convertor[int]):
    """A trial's number, with a bounded number of digits."""

    regex = "[0-9]{1,18}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("name", _Name())
register_url_convertor("number", _Number())


Name = Annotated[str, "a study's name"]


def _find(
    request: Request,
    study: Name,
    expected_id: Annotated[
        int | None,
        Header(
            alias="Bough-Study",
            description="The id of the study that is meant; 409 if another one has got its name.",
        ),
    ] = None,
) -> StudyRecord:
    studies: OpenStudies = request.app.state.studies
    record = studies.find(study)
    if expected_id not in (None, record.id):
        raise StudyError(f"study {study!r} was deleted and created again: connect again to use the new one")
    return record


Found = Annotated[StudyRecord, Depends(_find)]
"""The record of the study that a path names; 409 if the request means an earlier study of that name."""


def _open(request: Request, found: Found) -> Study:
    studies: OpenStudies = request.app.state.studies
    return studies.study_of(found)


async def _caller(request: Request) -> Principal:
    principal: Principal = request.scope["principal"]
    return principal


Opened = Annotated[Study, Depends(_open)]
"""The study that a path names, opened in a thread before the route runs."""

Caller = Annotated[Principal, Depends(_caller)]
"""The sender of the request."""


def json_object(text: str | None, name: str, example: str) -> dict[str, Any]:
    """The JSON object in the parameter ``name`` of a query; an empty one without it."""
    try:
        found = loads(text.encode("utf-8", "replace")) if text else {}
    except JsonError as error:
        raise ConfigError(f"{name}: {error}") from None
    if not isinstance(found, dict):
        raise ConfigError(f"{name} must be a JSON object such as {example}")
    return found


class _StrictRequest(Request):
    async def json(self) -> Any:
        try:
            return loads(await self.body())
        except JsonError as error:
            raise HTTPException(400, str(error)) from None


class StrictRoute(APIRoute):
    """A route whose JSON bodies are read by ``strict_json.loads``."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def strictly(request: Request) -> Response:
            return await handle(_StrictRequest(request.scope, request.receive))

        return strictly


def status_of(error: BoughError) -> int:
    """The HTTP status of an error."""
    return next(status for kind, status in _STATUS if isinstance(error, kind))


def _fields(request: Request) -> list[str]:
    """The names of the fields that the request's body may have."""
    body = getattr(request.scope.get("route"), "body_field", None)
    kinds = [] if body is None else [body.field_info.annotation, *get_args(body.field_info.annotation)]
    return [name for kind in kinds for name in getattr(kind, "model_fields", ())]


def _malformed(found: Sequence[Any], fields: Sequence[str]) -> str:
    """The first mistake of a request in words; if a field allows several types, all of them are named."""
    first = found[0]
    of_this = [each for each in found if each["loc"][:-1] == first["loc"][:-1]]
    alternatives = len(of_this) > 1 and all(each["msg"].startswith(_SHOULD_BE) for each in of_this)
    where = first["loc"][:-1] if alternatives and len(first["loc"]) > 2 else first["loc"]
    # Pydantic inserts the type that it tried, such as dict[str,str], between the names of the fields.
    name = ".".join(str(part) for part in where[1:] if "[" not in str(part))
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(name, fields, n=1)
        return f"unknown field {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")
    if first["type"] == "missing":
        return f"the field {name!r} is missing" if name else "the request needs a JSON body"
    if not first["msg"].startswith(_SHOULD_BE):
        said = first["msg"].removeprefix("Value error, ")  # from one of our validators
        return f"{name}: {said}" if name else said
    if not name:
        return "the body must be a JSON object"
    wanted = [each["msg"].removeprefix(_SHOULD_BE) for each in (of_this if alternatives else [first])]
    return f"{name} must be {' or '.join(dict.fromkeys(wanted))}"


def _allowed(request: Request) -> str:
    """The methods of a path. Each may have its own route, so the router's own answer would name one only."""
    routes = request.app.router.routes

    def there(method: str) -> bool:
        return any(each.matches({**request.scope, "method": method})[0] is Match.FULL for each in routes)

    return ", ".join(filter(there, ("DELETE", "GET", "HEAD", "MERGE", "POST", "PUT")))


async def error_response(request: Request, error: Exception) -> Response:
    """An error in the form that clients of this path expect."""
    if isinstance(error, RequestValidationError):
        kind = request.headers.get("content-type", "")
        if request.method == "POST" and "json" not in kind and error.body:
            return refusal(request.scope, 422, "send JSON with the header 'Content-Type: application/json'")
        status = 404 if error.errors()[0]["loc"][0] == "path" else 422
        return refusal(request.scope, status, _malformed(error.errors(), _fields(request)))
    if isinstance(error, BoughError):
        status = status_of(error)
        kind = next(each.__name__ for each in type(error).__mro__ if each.__name__ in _SENT)
        if status >= 500:
            _log.error("%s %s: %s", request.method, request.url.path, error)
        return refusal(request.scope, status, str(error), kind)
    if isinstance(error, HTTPException) or hasattr(error, "status_code"):
        status = int(getattr(error, "status_code", 500))
        detail = str(getattr(error, "detail", ""))
        if status in (404, 405) and detail == HTTPStatus(status).phrase:  # of the router
            detail = f"there is no {request.method} {request.url.path}: /api/v1/openapi.json lists the routes"
        reply = refusal(request.scope, status, detail)
        if status == 405:
            reply.headers["Allow"] = _allowed(request)
        return reply
    return refusal(request.scope, 500, "something went wrong in the service; its log says what")
