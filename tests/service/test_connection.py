"""The connection of ``bough.connect``: addresses, tokens, lost replies and faults of the server."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from urllib.parse import urlsplit

import numpy as np
import pytest
from tests.service.running import SPACE, Service

import bough
from bough.errors import ServiceError
from bough.wire import HttpConnection

space = bough.Space.from_json(SPACE)


def test_what_is_wrong_with_a_connection_is_said_in_one_line(
    served: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BOUGH_TOKEN", raising=False)
    with pytest.raises(ServiceError, match="BOUGH_TOKEN"):
        bough.connect(served.url, name="demo")
    with pytest.raises(ServiceError, match=r"^connect\(url, token, name\): name must be text, not 5$"):
        bough.connect(served.url, "nonsense", 5)
    with pytest.raises(ServiceError, match=r"token must be text, not 5$"):
        bough.connect(served.url, 5, "demo")
    with pytest.raises(ServiceError, match="unknown, or was revoked"):
        bough.connect(served.url, "nonsense", "demo")
    with pytest.raises(ServiceError, match="not the address of a service"):
        bough.connect("localhost:8000", "token", "demo")
    with closing(socket.create_server(("127.0.0.1", 0))) as unused:
        port = unused.getsockname()[1]
    with pytest.raises(ServiceError, match="cannot be reached"):
        bough.connect(f"http://127.0.0.1:{port}", "token", "demo")
    monkeypatch.setenv("BOUGH_TOKEN", served.read)
    bough.connect(served.url, served.write, "demo", space=space)
    with pytest.raises(ServiceError, match="may only read"):
        bough.connect(served.url, name="demo").ask()


def test_a_token_may_come_from_a_file_and_an_address_with_the_path(served: Service) -> None:
    bough.connect(served.url, served.write, "demo", space=space)
    for url, token in ((served.url, f" {served.write}\n"), (f"{served.url}/api/v1/", served.write)):
        assert bough.connect(url, token, "demo").name == "demo"


@pytest.mark.parametrize(
    "url", [5, "http://localhost:port", "http://localhost:99999", "http://[::1", "localhost"]
)
def test_an_address_that_is_none_is_named(url: str) -> None:
    with pytest.raises(ServiceError, match="is not the address of a service"):
        bough.connect(url, "token", "demo")


@pytest.mark.parametrize("token", ["a\nb", "\u00e9"])
def test_a_token_that_no_header_can_hold_is_refused_and_not_shown(token: str) -> None:
    with pytest.raises(ServiceError, match=r"^the token contains invalid characters"):
        bough.connect("http://localhost:1", token, "demo")


@pytest.mark.parametrize("value", [np.longdouble(1.5), {1}, object()])
def test_what_json_cannot_hold_is_named(value: object) -> None:
    with pytest.raises(ServiceError, match=r"^this cannot be sent as JSON: .* is not JSON data$"):
        HttpConnection("http://localhost:1", "token").call("POST", "/x", {"value": value}, patience=0)


@pytest.mark.parametrize(
    ("url", "port"), [("http://[::1]", 80), ("https://[::1]/api/v1", 443), ("http://[::1]:8000", 8000)]
)
def test_an_address_of_ipv6(url: str, port: int) -> None:
    connection = HttpConnection(url, "token")._connection()
    assert (connection.host, connection.port) == ("::1", port)


@contextmanager
def losing_replies(url: str, lost: set[int], silently: bool = False) -> Iterator[str]:
    """A relay to a service that drops the replies to some requests after the service has acted on them.

    silently: the connection stays open, so the client never hears that its reply is lost.
    """
    target = urlsplit(url)
    listening = socket.create_server(("127.0.0.1", 0))
    count = iter(range(10**6))
    open_for_good: list[socket.socket] = []

    def relay() -> None:
        while True:
            try:
                incoming, _ = listening.accept()
            except OSError:
                return
            with incoming, socket.create_connection((target.hostname, target.port)) as onward:
                number = next(count)
                onward.sendall(_whole(incoming).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
                reply = b""
                while chunk := onward.recv(65536):
                    reply += chunk
                if number not in lost:
                    incoming.sendall(reply)
                elif silently:
                    open_for_good.append(incoming.dup())

    thread = threading.Thread(target=relay, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.close()
        for incoming in open_for_good:
            incoming.close()


def _whole(incoming: socket.socket) -> bytes:
    """One request with its body."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += incoming.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        (
            int(line.split(b":")[1])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length")
        ),
        0,
    )
    while len(body) < length:
        body += incoming.recv(65536)
    return head + b"\r\n\r\n" + body


def test_a_lost_reply_makes_no_second_trial(served: Service) -> None:
    with losing_replies(served.url, lost={1, 3, 5, 7, 9}) as url:
        study = bough.connect(url, served.write, "demo", space=space, method="random", seed=0)
        for value in range(3):
            study.tell(study.ask(), value)
        study.enqueue({"model": "bayes", "scale": "none"})
        study.add({"model": "bayes", "scale": "none"}, 1.0)
    found = bough.connect(served.url, served.write, "demo").trials
    assert [(trial.number, trial.state) for trial in found] == [
        (0, "done"), (1, "done"), (2, "done"), (3, "queued"), (4, "done"),
    ]  # fmt: skip


def test_a_request_whose_reply_never_comes_is_sent_again(
    served: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bough.wire.ATTEMPT_SECONDS", 0.5)
    with losing_replies(served.url, lost={1, 3}, silently=True) as url:
        study = bough.connect(url, served.write, "demo", space=space, method="random", seed=0)
        study.tell(study.ask(), 1.0)
    found = bough.connect(served.url, served.write, "demo").trials
    assert [(trial.number, trial.value) for trial in found] == [(0, 1.0)]


def test_a_request_is_sent_again_after_a_fault_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    statuses, sent = [500, 503, 500, 500, 500], []

    def send(self, method, path, text, headers, wait):  # type: ignore[no-untyped-def]
        sent.append(headers["Idempotency-Key"])
        return statuses[len(sent) - 1], b'{"error": {"type": "ServiceError", "message": "broken"}}'

    monkeypatch.setattr(HttpConnection, "_send", send)
    with pytest.raises(ServiceError, match="broken"):
        HttpConnection("http://localhost:1", "token").call("POST", "/x", {}, patience=60)
    assert len(sent) == 4 and len(set(sent)) == 1  # three faults of the server are enough


def test_a_late_reply_is_asked_for_once_more_however_impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = []

    def send(self, method, path, text, headers, wait):  # type: ignore[no-untyped-def]
        sent.append(headers["Idempotency-Key"])
        if len(sent) == 1:
            raise TimeoutError
        return 200, b"[1]"

    monkeypatch.setattr(HttpConnection, "_send", send)
    found = HttpConnection("http://localhost:1", "token").call("POST", "/x", {}, patience=0.0, timeout=0.0)
    assert found == [1]
    assert len(sent) == 2 and len(set(sent)) == 1
