"""Requests on their way to a function: names in paths, strict JSON bodies, errors with a status."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import unquote

from fastapi import HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.convertors import Convertor, register_url_convertor

from bough import errors
from bough.errors import (
    BoughError,
    ConflictError,
    ExhaustedError,
    MissingExtraError,
    StorageError,
    StudyError,
    TrialError,
)
from bough.service.security_middleware import refusal
from bough.service.studies import NoStudy, NoTrial
from bough.strict_json import JsonError, loads

__all__ = ["StrictRoute", "error_response", "status_of"]

_log = logging.getLogger("bough")

_STATUS: tuple[tuple[type[BoughError], int], ...] = (
    (NoStudy, 404),
    (NoTrial, 404),
    (ConflictError, 409),
    (TrialError, 409),
    (StudyError, 409),
    (ExhaustedError, 409),
    (StorageError, 503),
    (MissingExtraError, 501),
    (BoughError, 400),
)


class _Name(Convertor[str]):
    """A study's name: one segment of the path, in which a slash may be encoded."""

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


async def error_response(request: Request, error: Exception) -> Response:
    """An error in the form that clients of this path expect."""
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
        return refusal(request.scope, 422, f"{where}: {first['msg']}" if where else str(first["msg"]))
    if isinstance(error, BoughError):
        status = status_of(error)
        # Clients know the names in bough.errors; NoStudy and NoTrial are subclasses of those.
        kind = next(each.__name__ for each in type(error).__mro__ if each.__name__ in errors.__all__)
        if status >= 500:
            _log.error("%s %s: %s", request.method, request.url.path, error)
        return refusal(request.scope, status, str(error), kind)
    if isinstance(error, HTTPException) or hasattr(error, "status_code"):
        status = int(getattr(error, "status_code", 500))
        return refusal(request.scope, status, str(getattr(error, "detail", "")))
    return refusal(request.scope, 500, "something went wrong in the service; its log says what")
