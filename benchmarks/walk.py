"""How much code does a reader meet on the way of one ``ask``? The functions of bough, in order of first call.

    python -m benchmarks.walk

Two walks with ``auto``: ``Study.ask()`` in memory after 12 results, and ``POST /studies/{name}/ask`` of a
service with SQLite after 7. Lambdas and comprehensions do not count. Hops are changes of file in that order;
returns are hops to a file that was met before.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType

import bough
from bough import Choice, Float, Int, Space, Study
from bough.service.app import create_app
from bough.service.auth import create_token
from bough.service.records import Records
from bough.service.server import make_server

SOURCE = f"{Path(bough.__file__).parent}/"
BRANCHES = {"svm": {"C": Float(1e-3, 1e3, log=True)}, "forest": {"depth": Int(1, 10)}, "bayes": {}}


class Walk:
    """The functions of bough that ran, in any thread, while ``is_recorded`` was set."""

    def __init__(self) -> None:
        self.functions: dict[CodeType, None] = {}
        self.is_recorded = False

    def note(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        is_named = code.co_filename.startswith(SOURCE) and not code.co_name.startswith("<")
        if self.is_recorded and event == "call" and is_named:
            self.functions.setdefault(code)

    @contextlib.contextmanager
    def recorded(self) -> Iterator[None]:
        self.is_recorded = True
        yield
        self.is_recorded = False

    @property
    def files(self) -> list[str]:
        """The file of each function, relative to the package."""
        return [code.co_filename.removeprefix(SOURCE) for code in self.functions]


@contextlib.contextmanager
def profiled(walk: Walk) -> Iterator[None]:
    """Every thread that starts in here is watched, and so is this one."""
    before = sys.getprofile()
    threading.setprofile(walk.note)
    sys.setprofile(walk.note)
    try:
        yield
    finally:
        sys.setprofile(before)
        threading.setprofile(None)


def space() -> Space:
    return Space({"model": Choice(BRANCHES), "scale": Float(0, 1)})


def ask_in_memory(results: int) -> Walk:
    study, walk = Study(space(), seed=0), Walk()
    for _ in range(results):
        trial = study.ask()
        study.tell(trial, trial.config["scale"])
    with profiled(walk), walk.recorded():
        study.ask()
    return walk


def ask_service(results: int, database: Path) -> Walk:
    url, walk = f"sqlite:///{database}", Walk()
    records = Records(url)
    headers = {"Authorization": f"Bearer {create_token(records, 'reader', 'write')}"}
    with profiled(walk), _served(url, records) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port)

        def post(path: str, body: object) -> dict[str, list[dict[str, dict[str, float]]]]:
            sent = {**headers, "Content-Type": "application/json"}
            connection.request("POST", f"/api/v1{path}", json.dumps(body), sent)
            reply = connection.getresponse()
            assert reply.status < 300
            return json.loads(reply.read())

        post("/studies", {"name": "demo", "space": json.loads(space().to_json()), "seed": 0})
        for number in range(results):
            config = post("/studies/demo/ask", {})["trials"][0]["config"]
            post(f"/studies/demo/trials/{number}/tell", {"value": config["scale"]})
        with walk.recorded():
            post("/studies/demo/ask", {})
        connection.close()
    return walk


@contextlib.contextmanager
def _served(url: str, records: Records) -> Iterator[int]:
    """The port of a service that runs in a thread."""
    server = make_server(create_app(url, records=records), grace=1)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


def show(title: str, walk: Walk) -> None:
    print(f"\n{title}")
    seen: set[str] = set()
    hops, returns, last = -1, 0, ""
    for code, name in zip(walk.functions, walk.files):
        if name != last:
            hops += 1
            returns += name in seen
            print(f"  {name}{' (again)' if name in seen else ''}")
        print(f"      {code.co_qualname.replace('.<locals>', '')}")
        seen.add(name)
        last = name
    print(f"{len(walk.functions)} functions, {len(seen)} files, {hops} hops, {returns} returns")


def main() -> None:
    show("Study.ask(), auto, in memory, 12 results", ask_in_memory(12))
    with tempfile.TemporaryDirectory() as folder:
        show("POST /studies/{name}/ask, auto, SQLite, 7 results", ask_service(7, Path(folder) / "walk.db"))


if __name__ == "__main__":
    main()
