"""The checks that every request passes before it reaches a route.

The rules are the same for all routes, so no route can forget one:

- The Host must be ours, against DNS rebinding: another site may resolve its name to our address.
- A foreign Origin is refused.
- The body is limited in size and time: none for GET, 16 KB on public paths.
- All but the few ``PUBLIC`` paths need a token or a session. Reading needs scope "read", every other method
  scope "write".
- Another site cannot use a browser's session: its cookie is SameSite=strict, and changes need our Origin.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
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
"""The path changes only the caller's session, so scope "read" is enough."""

READING_POST = re.compile(r"/api/v1/studies/[^/]+/(predict|explain)")
"""POST requests that change nothing, so scope "read" is enough; they are POST because they need a body."""

PUBLIC_BODY_BYTES = 16 * 2**10

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})

# Plotly sets style attributes on the elements it draws; scripts and style sheets are never inline.
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
    """ASGI middleware; ``hosts`` are the service's names, besides localhost and IP addresses."""

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
        self._limiter: CapacityLimiter | None = None  # belongs to an event loop, so it is created there

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        # Routes match the raw path, so a study's name may contain an encoded slash.
        path = scope.get("raw_path", quote(scope["path"]).encode()).decode("ascii", "replace")
        scope["path"], public = path, path in PUBLIC or path.startswith(PUBLIC_PREFIX)
        max_body = min(PUBLIC_BODY_BYTES, self._max_body) if public else self._max_body
        max_body = 0 if scope["method"] in SAFE else max_body
        try:
            response = self._refused(scope, max_body) or await self._not_allowed(scope, public)
            if response is None:
                body = await self._body(scope, receive, max_body)
                if not isinstance(body, Response):
                    await self._app(scope, body, send_with_headers)
                    return
                response = body
            await response(scope, receive, send_with_headers)
        except asyncio.CancelledError:  # the server is stopping, and the grace period is over
            if started:
                raise
            response = refusal(scope, 503, "the service is stopping: send the request again")
            await response(scope, receive, send_with_headers)

    def _refused(self, scope: Scope, max_body: int) -> Response | None:
        """A refusal because of the Host, the Origin or the Content-Length; None if all are fine."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        # Load balancers may use HTTP/1.0 without a Host. Browsers, which can be tricked, always send one.
        if "host" in headers and not self._ours(host):
            return refusal(scope, 421, "the Host header names another server; see --allow-host")
        origin = headers.get("origin")
        if origin is not None and not _same_host(origin, host):
            return refusal(scope, 403, "requests from pages of other sites are refused")
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length[:20]) > max_body:
            return _too_long(scope, max_body)
        return None

    def _ours(self, host: str) -> bool:
        """IP addresses are immune to DNS rebinding; host names must be allow-listed."""
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

    async def _not_allowed(self, scope: Scope, public: bool) -> Response | None:
        """A refusal if the token is missing or lacks the scope; else ``scope["principal"]`` is set."""
        path, method = scope["path"], scope["method"]
        scope["principal"] = principal = await self._principal(scope)
        if principal is not None and "known" in scope:  # set by LimitedProtocol
            scope["known"]()
        if public:
            return None
        if principal is None:
            if method in SAFE and not path.startswith(("/api/", "/v1/")):  # a page
                target = path + (
                    f"?{scope['query_string'].decode('ascii', 'replace')}" if scope["query_string"] else ""
                )
                onward = "" if target == "/" else f"?next={quote(target)}"
                return RedirectResponse(f"/sign-in{onward}", status_code=303)
            if credentials(Headers(scope=scope)) is not None:
                return refusal(scope, 401, "the token is unknown, or was revoked")
            return refusal(scope, 401, "send a token: 'Authorization: Bearer TOKEN' (see bough token create)")
        if method in SAFE:
            return None
        if principal.session and "origin" not in Headers(scope=scope):
            return refusal(scope, 403, "a change by a browser needs its Origin header")
        if principal.scope != "write" and path != SIGN_OUT and not READING_POST.fullmatch(path):
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
        self._limiter = self._limiter or CapacityLimiter(8)  # separate from the threads that serve requests
        return await to_thread.run_sync(find, limiter=self._limiter)

    async def _body(self, scope: Scope, receive: Receive, max_body: int) -> Receive | Response:
        """A function that returns the body, already read, and then the connection's further messages."""
        chunks: list[bytes] = []
        size, sent = 0, False

        async def replay() -> Message:
            nonlocal sent
            if sent:
                return await receive()
            sent = True
            return {"type": "http.request", "body": b"".join(chunks), "more_body": False}

        try:
            async with asyncio.timeout(self._body_seconds):
                while True:
                    message = await receive()
                    if message["type"] != "http.request":
                        return refusal(scope, 400, "the request ended early")
                    chunks.append(message.get("body", b""))
                    size += len(chunks[-1])
                    if size > max_body:
                        return _too_long(scope, max_body)
                    if not message.get("more_body", False):
                        return replay
        except TimeoutError:
            return refusal(scope, 408, f"the body took longer than {self._body_seconds:g} s")


def refusal(scope: Scope, status: int, message: str, kind: str = "ServiceError") -> Response:
    """An error in the form that clients of this path expect."""
    path = scope["path"]
    headers = {"WWW-Authenticate": 'Bearer realm="bough"'} if status == 401 else None
    if path.startswith("/v1/"):
        return JSONResponse({"message": message, "status": status}, status, headers)
    if path.startswith("/api/"):
        return JSONResponse({"error": {"type": kind, "message": message}}, status, headers)
    return PlainTextResponse(message, status, headers)


def _too_long(scope: Scope, max_body: int) -> Response:
    return refusal(scope, 413, f"the body of this request may have {max_body} bytes at most")


def _same_host(origin: str, host: str) -> bool:
    """Whether an Origin names the server of the Host header; a proxy may change the scheme."""
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
