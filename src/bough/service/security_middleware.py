"""What every request passes before any route sees it.

The rules are the same for all routes, so none can be forgotten: the Host must be one of ours (a page of
another site that resolves its own name to our address gets nothing), a foreign Origin is refused, the body
is bounded in size and time, and all but the few ``PUBLIC`` paths need a token or a session: reading needs
scope "read", every other method scope "write". A browser's session cannot be used by another site: its
cookie is SameSite=strict, and whatever changes something must carry our own Origin.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Iterable
from functools import partial
from urllib.parse import quote, urlsplit

from anyio import CapacityLimiter, to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bough.service.auth import (
    SESSION_COOKIE,
    Principal,
    credentials,
    principal_of_session,
    principal_of_token,
)
from bough.service.records import Records

__all__ = ["SecurityMiddleware", "refusal"]

PUBLIC = frozenset({"/api/v1/health", "/api/v1/openapi.json", "/sign-in"})
PUBLIC_PREFIX = "/static/"
SIGN_OUT = "/sign-out"
"""Changes nothing but the caller's own session, so that a reader may do it too."""

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})

# Plotly writes style attributes on the elements that it draws; no script and no style sheet is ever inline.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class SecurityMiddleware:
    """ASGI middleware; ``hosts`` are names under which the service may be called besides IP addresses."""

    def __init__(
        self,
        app: ASGIApp,
        records: Records,
        hosts: Iterable[str] = (),
        max_body: int = 4 * 2**20,
        body_seconds: float = 30.0,
    ) -> None:
        self._app, self._records = app, records
        self._hosts = {"localhost", *(host.lower() for host in hosts)}
        self._max_body, self._body_seconds = max_body, body_seconds
        self._limiter: CapacityLimiter | None = None  # belongs to an event loop, so it is made there

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        # Routes match the path as it was sent, so that a study's name may contain an encoded slash.
        scope["path"] = scope.get("raw_path", quote(scope["path"]).encode()).decode("ascii", "replace")
        response = self._refused(scope) or await self._not_allowed(scope)
        if response is None:
            body = await self._body(scope, receive)
            if isinstance(body, Response):
                response = body
            else:
                await self._app(scope, _replayed(body, receive), send_with_headers)
                return
        await response(scope, receive, send_with_headers)

    def _refused(self, scope: Scope) -> Response | None:
        """A refusal by Host, Origin or announced length."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._ours(host):
            return refusal(scope, 421, "the Host header names another server; see --allow-host")
        origin = headers.get("origin")
        if origin is not None and not _same_host(origin, host):
            return refusal(scope, 403, "requests from pages of other sites are refused")
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length[:20]) > self._max_body:
            return refusal(scope, 413, f"a body may have {self._max_body} bytes at most")
        return None

    def _ours(self, host: str) -> bool:
        """An IP address can be no trick with names; names must be known."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name.lower() in self._hosts:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    async def _not_allowed(self, scope: Scope) -> Response | None:
        """A refusal for want of a token or its scope; else ``scope["principal"]`` is set."""
        path, method = scope["path"], scope["method"]
        scope["principal"] = principal = await self._principal(scope)
        if path in PUBLIC or path.startswith(PUBLIC_PREFIX):
            return None
        if principal is None:
            if method in SAFE and _is_page(path):
                target = path + (
                    f"?{scope['query_string'].decode('ascii', 'replace')}" if scope["query_string"] else ""
                )
                onward = "" if target == "/" else f"?next={quote(target)}"
                return RedirectResponse(f"/sign-in{onward}", status_code=303)
            if "authorization" in Headers(scope=scope):
                return refusal(scope, 401, "the token is unknown, or was revoked")
            return refusal(scope, 401, "send a token: 'Authorization: Bearer TOKEN' (see bough token create)")
        if method in SAFE:
            return None
        if principal.session and "origin" not in Headers(scope=scope):
            return refusal(scope, 403, "a change by a browser needs its Origin header")
        if not principal.may("write") and path != SIGN_OUT:
            return refusal(scope, 403, f"token {principal.name!r} may only read")
        return None

    async def _principal(self, scope: Scope) -> Principal | None:
        request = Request(scope)
        token = credentials(request.headers)
        cookie = request.cookies.get(SESSION_COOKIE)
        if token is not None:
            find = partial(principal_of_token, self._records, token)
        elif cookie:
            find = partial(principal_of_session, self._records, cookie)
        else:
            return None
        self._limiter = self._limiter or CapacityLimiter(8)  # apart from the threads that serve requests
        return await to_thread.run_sync(find, limiter=self._limiter)

    async def _body(self, scope: Scope, receive: Receive) -> bytes | Response:
        chunks, size = [], 0
        try:
            async with asyncio.timeout(self._body_seconds):
                while True:
                    message = await receive()
                    if message["type"] != "http.request":
                        return refusal(scope, 400, "the request ended early")
                    chunks.append(message.get("body", b""))
                    size += len(chunks[-1])
                    if size > self._max_body:
                        return refusal(scope, 413, f"a body may have {self._max_body} bytes at most")
                    if not message.get("more_body", False):
                        return b"".join(chunks)
        except TimeoutError:
            return refusal(scope, 408, f"the body took longer than {self._body_seconds:g} s")


def refusal(scope: Scope, status: int, message: str, kind: str = "ServiceError") -> Response:
    """An error in the form that callers of this path expect."""
    path = scope["path"]
    headers = {"WWW-Authenticate": 'Bearer realm="bough"'} if status == 401 else None
    if path.startswith("/v1/"):
        return JSONResponse({"message": message, "status": status}, status, headers)
    if path.startswith("/api/"):
        return JSONResponse({"error": {"type": kind, "message": message}}, status, headers)
    return PlainTextResponse(message, status, headers)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body that was read already, then whatever else comes."""
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _same_host(origin: str, host: str) -> bool:
    """Whether an Origin is the server that the Host header names; the scheme is a proxy's affair."""
    try:
        theirs, ours = urlsplit(origin), urlsplit(f"//{host}")
        default = {"http": 80, "https": 443}.get(theirs.scheme)
        return (
            default is not None
            and theirs.hostname == ours.hostname
            and (theirs.port or default) == (ours.port or default)
        )
    except ValueError:
        return False


def _is_page(path: str) -> bool:
    return not path.startswith(("/api/", "/v1/"))
