"""Clients without a token cannot use up connections or memory; loopback only, and few connections."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing
from http.client import HTTPResponse

import pytest
from tests.service.running import Service, service

from bough.service.security_middleware import PUBLIC_BODY_BYTES
from bough.service.server import ConnectionLimits

STRANGERS = 8


@pytest.fixture(scope="module")
def limited() -> Iterator[Service]:
    """A service that waits half a second for the head of a request."""
    with service(limits=ConnectionLimits(head_seconds=0.5)) as running:
        yield running


@pytest.fixture(scope="module")
def usual() -> Iterator[Service]:
    with service() as running:
        yield running


def connect(served: Service) -> socket.socket:
    host, port = served.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=20)


def is_closed_by_the_server(connection: socket.socket) -> bool:
    """Waits for the end of the connection; TimeoutError after 20 seconds of nothing."""
    try:
        while connection.recv(65536):
            pass
    except ConnectionError:
        pass
    return True


@pytest.mark.parametrize("sent", [b"", b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n"])
def test_a_connection_without_a_complete_request_head_is_closed(limited: Service, sent: bytes) -> None:
    with closing(connect(limited)) as connection:
        connection.sendall(sent)
        assert is_closed_by_the_server(connection)


def test_a_second_request_head_must_be_complete_in_time_too(limited: Service) -> None:
    whole = b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with closing(connect(limited)) as connection:
        connection.sendall(whole)
        assert b"200 OK" in connection.recv(65536)
        connection.sendall(whole[:20])
        assert is_closed_by_the_server(connection)


def test_strangers_of_one_address_are_few_and_do_not_shut_out_others() -> None:
    limits = ConnectionLimits(head_seconds=300, strangers_per_address=STRANGERS)
    with service(limits=limits) as capped, ExitStack() as stack:

        def joined() -> socket.socket:
            return stack.enter_context(closing(connect(capped)))

        known = [joined() for _ in range(STRANGERS)]
        assert [status(each, capped.write) for each in known] == [200] * STRANGERS
        silent = [joined() for _ in range(STRANGERS)]
        assert is_closed_by_the_server(joined())
        assert [status(each, capped.write) for each in known] == [200] * STRANGERS
        assert status(silent[0], capped.write) == 200  # known from now on: a place is free
        assert status(joined(), "nonsense") == 401


def status(connection: socket.socket, token: str) -> int:
    """Of the reply to a request with this token."""
    head = f"GET /api/v1/studies HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"
    connection.sendall(head.encode())
    response = HTTPResponse(connection)
    response.begin()
    response.read()
    return response.status


def test_bodies_are_small_on_public_paths_and_absent_in_reading_requests(usual: Service) -> None:
    with usual.client(usual.write, {"Origin": usual.url}) as client:
        small, large = b"t" * PUBLIC_BODY_BYTES, b"t" * (PUBLIC_BODY_BYTES + 1)
        assert client.post("/sign-in", content=small).status_code == 401
        assert client.post("/sign-in", content=large).status_code == 413
        assert client.post("/sign-in", content=iter([large])).status_code == 413
        for path in ("/api/v1/health", "/static/plotly.min.js", "/api/v1/studies"):
            assert client.request("GET", path, content=b"x").status_code == 413
            assert client.request("GET", path, content=iter([b"x"])).status_code == 413
            assert client.get(path).status_code == 200


def test_a_forwarded_address_is_not_believed_unless_its_proxy_is_trusted(usual: Service) -> None:
    with usual.client(headers={"Origin": usual.url}) as client:
        tries = [
            client.post("/sign-in", data={"token": "x"}, headers={"X-Forwarded-For": f"10.0.0.{n}"})
            for n in range(12)
        ]
    assert [reply.status_code for reply in tries][-2:] == [429, 429]
