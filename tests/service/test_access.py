"""Who may do what, and what is refused before any route sees it."""

from __future__ import annotations

import base64
import http.client
import json
import re
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi import FastAPI
from starlette.routing import Route
from tests.service.running import SPACE, Service, service

from bough.service.app import create_app
from bough.service.auth import Attempts, create_token
from bough.service.records import Records
from bough.service.security_middleware import PUBLIC, PUBLIC_PREFIX, SIGN_OUT

# ---- every route, method and role --------------------------------------------------------------------


def table() -> Iterator[tuple[str, str, str]]:
    """(method, path, who is needed) of every route of the service."""
    app: FastAPI = create_app()
    for route in _routes(app.routes):
        for method in sorted((route.methods or set()) - {"HEAD"}):
            yield method, route.path, _needed(method, route.path)


def _routes(routes: list) -> Iterator[Route]:
    for route in routes:
        if isinstance(route, Route):
            yield route
        else:  # routes that FastAPI keeps together
            yield from _routes(list(getattr(route, "routes", None) or route.original_router.routes))


def _needed(method: str, path: str) -> str:
    """The rule as the documentation states it, written down once more: it must not follow the code."""
    if path in ("/api/v1/health", "/api/v1/openapi.json", "/sign-in") or path.startswith("/static/"):
        return "nobody"
    if path == "/sign-out" or path.endswith(("/predict", "/explain")) or method == "GET":
        return "read"
    return "write"


TABLE = list(table())


def test_the_table_knows_all_parts_of_the_service() -> None:
    paths = {path for _, path, _ in TABLE}
    assert {"/", "/api/v1/studies", "/v1/experiments", "/v1/training_runs/{run}"} <= paths
    assert ("MERGE", "/v1/training_runs/{run}", "write") in TABLE
    assert len(TABLE) > 70


@pytest.fixture(scope="module")
def guarded() -> Iterator[Service]:
    """A service of its own: the table calls every route, also those that delete."""
    with service() as running:
        with running.client(running.write) as client:
            client.post("/api/v1/studies", json={"name": "demo", "space": SPACE, "method": "random"})
        yield running


@pytest.mark.parametrize(("method", "path", "needed"), TABLE, ids=[f"{m} {p}" for m, p, _ in TABLE])
def test_each_route_serves_whom_it_should(guarded: Service, method: str, path: str, needed: str) -> None:
    filled = re.sub(
        r"\{(\w+)(:\w+)?\}", lambda part: {"study": "gone", "figure": "tree"}.get(part[1], "7"), path
    )
    roles = {
        "nobody": None,
        "wrong": "bough_00000000_" + "0" * 64,
        "read": guarded.read,
        "write": guarded.write,
    }
    for role, token in roles.items():
        with guarded.client(token) as client:
            reply = client.request(method, filled, json={} if method not in ("GET", "DELETE") else None)
        refused = reply.status_code in (401, 403) or (
            method == "GET" and reply.headers.get("location", "").partition("?")[0] == "/sign-in"
        )
        rank = ("nobody", "read", "write")
        allowed = rank.index("nobody" if role == "wrong" else role) >= rank.index(needed)
        # Signing in by a program has no Origin, and that is refused on another ground.
        assert refused is not allowed or path == "/sign-in", (role, reply.status_code, reply.text)
        assert reply.status_code < 500


def test_unknown_paths_tell_nothing_to_strangers(guarded: Service) -> None:
    with guarded.client() as client:
        assert client.get("/api/v1/nothing").status_code == 401
        assert client.get("/v1/nothing").status_code == 401
        assert client.get("/api/v1/studies/demo").text == client.get("/api/v1/studies/none").text


# ---- tokens ------------------------------------------------------------------------------------------


def test_tokens_are_stored_hashed_and_can_be_revoked(guarded: Service) -> None:
    token = create_token(guarded.records, "short-lived", "write")
    row = next(row for row in guarded.records.tokens() if row.name == "short-lived")
    assert row.hash not in token and token.rpartition("_")[2] not in repr(row)
    with guarded.client(token) as client:
        assert client.get("/api/v1/studies").status_code == 200
        assert guarded.records.revoke(row.id)
        assert client.get("/api/v1/studies").status_code == 401
        assert not guarded.records.revoke(row.id)


def test_a_token_may_come_as_the_user_name_of_basic(guarded: Service) -> None:
    with guarded.client() as client:
        assert client.get("/v1/tokens/self", auth=(guarded.read, "")).status_code == 200
        assert client.get("/v1/tokens/self", auth=("x", guarded.read)).status_code == 401
        for broken in (
            "Basic",
            "Basic ÿ",
            "Basic " + base64.b64encode(b"\xff").decode(),
            "Bearer",
            "Digest x",
        ):
            header = {"Authorization": broken.encode("latin-1")}
            assert client.get("/v1/tokens/self", headers=header).status_code == 401


def test_a_reader_cannot_write_by_any_header(guarded: Service) -> None:
    with guarded.client(guarded.read) as client:
        for header in ("X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method"):
            reply = client.post("/api/v1/studies/demo/ask", json={}, headers={header: "GET"})
            assert reply.status_code == 403


# ---- browsers ----------------------------------------------------------------------------------------


@pytest.fixture
def browser(guarded: Service) -> Iterator[httpx.Client]:
    """Signed in as a browser would be."""
    with guarded.client(headers={"Origin": guarded.url}) as client:
        done = client.post("/sign-in", data={"token": guarded.write})
        assert done.status_code == 303
        yield client


def test_the_session_is_a_cookie_that_scripts_and_other_sites_cannot_use(guarded: Service) -> None:
    with guarded.client() as client:
        reply = client.post("/sign-in", data={"token": guarded.write}, headers={"Origin": guarded.url})
    cookie = reply.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie
    assert guarded.write not in reply.text + str(reply.headers)


def test_a_change_through_a_session_needs_our_own_origin(guarded: Service, browser: httpx.Client) -> None:
    address = "/api/v1/studies/demo/ask"
    assert browser.post(address, json={}).status_code == 200
    for origin in ("http://evil.example", "null", guarded.url.replace("127.0.0.1", "127.0.0.2"), "file://"):
        assert browser.post(address, json={}, headers={"Origin": origin}).status_code == 403
    del browser.headers["origin"]
    assert browser.post(address, json={}).status_code == 403
    form = browser.post("/studies/demo/delete", data={"name": "demo"})
    assert form.status_code == 403
    assert browser.get("/api/v1/studies/demo").status_code == 200


def test_a_form_of_another_site_cannot_pose_as_json(browser: httpx.Client) -> None:
    reply = browser.post("/api/v1/studies/demo/ask", content="{}", headers={"Content-Type": "text/plain"})
    assert reply.status_code == 422


def test_sessions_end_with_sign_out_and_with_their_token(guarded: Service) -> None:
    token = create_token(guarded.records, "browser", "read")
    origin = {"Origin": guarded.url}
    with guarded.client(headers=origin) as client:
        client.post("/sign-in", data={"token": token})
        assert client.get("/").status_code == 200
        cookie = dict(client.cookies)
        assert client.post("/sign-out").status_code == 303
        client.cookies.update(cookie)
        assert client.get("/").status_code == 303
    with guarded.client(headers=origin) as client:
        client.post("/sign-in", data={"token": token})
        guarded.records.revoke(token.split("_")[1])
        assert client.get("/").status_code == 303


def test_sign_in_goes_on_only_to_our_own_pages(guarded: Service) -> None:
    targets = {"/studies/a": "/studies/a", "//evil.example": "/", "https://evil.example": "/", "/\\evil": "/"}
    with guarded.client(headers={"Origin": guarded.url}) as client:
        for target, expected in targets.items():
            client.cookies.clear()
            reply = client.post("/sign-in", params={"next": target}, data={"token": guarded.write})
            assert reply.headers["location"] == expected


def test_sign_in_is_limited() -> None:
    with service() as fresh, fresh.client(headers={"Origin": fresh.url}) as client:
        wrong = [client.post("/sign-in", data={"token": "no"}).status_code for _ in range(12)]
        assert wrong[:10] == [401] * 10 and wrong[10:] == [429] * 2
        assert client.post("/sign-in", data={"token": fresh.write}).status_code == 429


def test_tries_are_forgotten_in_time() -> None:
    attempts = Attempts(most=2, seconds=0.0)
    attempts.failed("a")
    attempts.failed("a")
    assert not attempts.blocked("a")


# ---- hosts, headers, files ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:1", 200), ("localhost", 200), ("[::1]:80", 200), ("LOCALHOST:80", 200),
        ("evil.example", 421), ("localhost.evil.example", 421), ("", 421), ("[::1", 421), ("a b", 421),
    ],
)  # fmt: skip
def test_only_our_own_host_is_answered(guarded: Service, host: str, status: int) -> None:
    parts = urlsplit(guarded.url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port)
    connection.putrequest("GET", "/api/v1/health", skip_host=True)
    connection.putheader("Host", host)
    connection.endheaders()
    assert connection.getresponse().status in (status, 400 if status == 421 else status)


@pytest.mark.parametrize(("path", "status"), [("/api/v1/health", b"200"), ("/api/v1/studies", b"401")])
def test_http_1_0_needs_no_host(guarded: Service, path: str, status: bytes) -> None:
    parts = urlsplit(guarded.url)
    with socket.create_connection((parts.hostname, parts.port)) as connection:
        connection.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
        assert connection.recv(100).split(b" ")[1] == status


def test_a_name_can_be_allowed() -> None:
    with service(hosts=["tuning.example.org"]) as named, named.client() as client:
        assert client.get("/api/v1/health", headers={"Host": "tuning.example.org"}).status_code == 200
        assert client.get("/api/v1/health", headers={"Host": "other.example.org"}).status_code == 421


@pytest.mark.parametrize("path", ["/", "/sign-in", "/api/v1/health", "/api/v1/nothing", "/static/bough.css"])
def test_every_reply_has_the_headers_that_protect_it(guarded: Service, path: str) -> None:
    with guarded.client() as client:
        headers = client.get(path).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["script-src"] == "'self'" and policy["default-src"] == "'none'"
    assert policy["style-src"] == "'self'" and policy["frame-ancestors"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize(
    "path",
    [
        "/static/../pages.py",
        "/static/..%2fpages.py",
        "/static/%2e%2e/app.py",
        "/static/%2fetc%2fpasswd",
        "/static/",
    ],
)
def test_no_file_but_the_known_ones_is_served(guarded: Service, path: str) -> None:
    parts = urlsplit(guarded.url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port)
    connection.request("GET", path)  # as it is: other clients tidy the path up
    assert connection.getresponse().status == 404


def test_pages_hold_no_script_or_style_of_their_own(guarded: Service, browser: httpx.Client) -> None:
    for path in ("/", "/new", "/studies/demo", "/sign-in"):
        text = browser.get(path, follow_redirects=True).text
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|javascript:", text)
        assert not re.search(r'(src|href)="(?:https?:)?//', text)


EVIL = "<img src=x onerror=alert(1)>\"'`{{7*7}}"  # and no template runs it: 49 never appears


def test_names_and_errors_are_text_on_every_page(guarded: Service, browser: httpx.Client) -> None:
    space = {
        "<b>m</b>": {
            "type": "choice",
            "options": {EVIL: {"<i>": {"type": "float", "low": 0, "high": 1}}, "x": {}},
        }
    }
    made = browser.post("/api/v1/studies", json={"name": EVIL, "space": space, "method": "random"})
    assert made.status_code == 201
    from urllib.parse import quote

    path = f"/studies/{quote(EVIL, safe='')}"
    browser.post(f"/api/v1{path}/ask", json={"worker": "<script>"})
    browser.post(f"/api/v1{path}/trials/0/fail", json={"reason": EVIL})
    for page in ("/", path, f"{path}/trials/0"):
        text = browser.get(page).text
        assert "<img src=x" not in text and "<script>" not in text
        assert "&lt;img src=x" in text and "`49" not in text
    refused = browser.post("/new", data={"name": EVIL, "space": EVIL, "direction": EVIL, "method": EVIL})
    assert refused.status_code == 400 and "<img src=x" not in refused.text
    browser.delete(f"/api/v1{path}")


# ---- bodies ------------------------------------------------------------------------------------------

BODIES = {
    "NaN": '{"value": NaN}',
    "infinity": '{"value": -Infinity}',
    "too large a float": '{"value": 1e400}',
    "too large an integer": '{"value": 1' + "0" * 400 + "}",
    "thousands of digits": '{"value": 1' + "0" * 10_000 + "}",
    "deep": "[" * 100_000,
    "deep and closed": '{"a":' * 150 + "1" + "}" * 150,
    "a key given twice": '{"value": 1, "value": 2}',
    "not JSON": "value=1",
    "not UTF-8": b'{"value": "\xff"}',
    "NUL": '{"reason": "\\u0000"}',
    "half a pair": '{"reason": "\\ud800"}',
    "text for a number": '{"value": "1"}',
    "true for a number": '{"value": true}',
    "an unknown key": '{"value": 1, "extra": 1}',
    "nothing": "",
    "null": "null",
}


@pytest.mark.parametrize("what", BODIES)
@pytest.mark.parametrize("path", ["/api/v1/studies/demo/trials/0/tell", "/v1/experiments"])
def test_malformed_bodies_are_refused(guarded: Service, path: str, what: str) -> None:
    with guarded.client(guarded.write) as client:
        reply = client.post(path, content=BODIES[what], headers={"Content-Type": "application/json"})
    assert reply.status_code in (400, 422), reply.text
    message = reply.json()["error"]["message"] if path.startswith("/api") else reply.json()["message"]
    assert message and "\n" not in message


def test_large_bodies_are_refused_however_they_are_sent() -> None:
    with service(max_body=1000) as small, small.client(small.write) as client:
        header = {"Content-Type": "application/json"}
        whole = client.post("/api/v1/studies", content=b"x" * 2000, headers=header)
        assert whole.status_code == 413
        chunks = client.post("/api/v1/studies", content=iter([b"x" * 600] * 3), headers=header)
        assert chunks.status_code == 413


def test_a_database_keeps_no_secret(tmp_path) -> None:
    url = f"sqlite:///{tmp_path}/tokens.db"
    token = create_token(Records(url), "a", "write")
    secret = token.rpartition("_")[2].encode()
    for file in tmp_path.iterdir():
        assert secret not in file.read_bytes()


def test_public_paths_are_few() -> None:
    assert {"/api/v1/health", "/api/v1/openapi.json", "/sign-in"} == PUBLIC
    assert (PUBLIC_PREFIX, SIGN_OUT) == ("/static/", "/sign-out")


def test_openapi_describes_the_service(guarded: Service) -> None:
    with guarded.client() as client:
        document = client.get("/api/v1/openapi.json").json()
    assert "/api/v1/studies/{study}/ask" in document["paths"]
    assert json.dumps(document).count("Idempotency-Key") >= 3
