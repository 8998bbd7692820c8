"""Services that tests talk to: in a thread of this process, or in one of their own that can be killed."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx

from bough.service.app import create_app
from bough.service.auth import create_token
from bough.service.records import Records
from bough.service.server import ConnectionLimits, make_server
from bough.storage import open_storage

SPACE = {
    "model": {
        "type": "choice",
        "options": {
            "svm": {"C": {"type": "float", "low": 1e-3, "high": 1e3, "log": True}},
            "forest": {"depth": {"type": "int", "low": 1, "high": 20}},
            "bayes": {},
        },
    },
    "scale": {"type": "categorical", "options": ["none", "standard"]},
}


@dataclass(frozen=True)
class Service:
    """Where a service is, and tokens for it."""

    url: str
    write: str
    read: str
    records: Records

    def client(self, token: str | None = None, headers: dict[str, str] | None = None) -> httpx.Client:
        given = {"Authorization": f"Bearer {token}"} if token else {}
        # No certificates are needed here, and to load them takes longer than a request.
        return httpx.Client(base_url=self.url, headers={**given, **(headers or {})}, timeout=60, verify=False)


@contextlib.contextmanager
def service(
    storage: str | None = None, limits: ConnectionLimits | None = None, **options: object
) -> Iterator[Service]:
    """A service in a thread; without a storage URL everything is in memory."""
    records = Records(storage)
    app = create_app(storage, records=records, opened=open_storage(storage), **options)
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    server = make_server(app, grace=1, limits=limits)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    try:
        yield Service(
            url, create_token(records, "writer", "write"), create_token(records, "reader", "read"), records
        )
    finally:
        server.should_exit = True
        thread.join(20)
        listening.close()


class Process:
    """``bough serve`` as users start it, on a port that it keeps when it is started again."""

    def __init__(self, storage: str, folder: Path) -> None:
        self.storage, self._folder = storage, folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.token = create_token(Records(storage), "test", "write")
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, failpoint: str | None = None) -> None:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        dying = ["-m", "tests.service.dying_server", failpoint] if failpoint else None
        command = [
            sys.executable,
            *(dying or ["-m", "bough"]),
            "serve",
            "--storage",
            self.storage,
            "--port",
            str(self.port),
            "--grace",
            "1",
        ]
        with (self._folder / "serve.log").open("ab") as log:
            root = Path(__file__).parents[2]
            self._process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=root)
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline:
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{self.url}/api/v1/health").status_code == 200:
                    return
            time.sleep(0.1)
        raise TimeoutError((self._folder / "serve.log").read_text())

    def kill(self, with_signal: signal.Signals = signal.SIGKILL) -> None:
        assert self._process is not None
        self._process.send_signal(with_signal)
        self._process.wait(30)

    def wait(self, seconds: float) -> int:
        assert self._process is not None
        return self._process.wait(seconds)

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
