"""An orderly restart while a request is running: clients go on, and no trial is made twice."""

from __future__ import annotations

import signal
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from tests.service.running import SPACE, Process

import bough

space = bough.Space.from_json(SPACE)


@pytest.mark.parametrize(
    "by", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)], ids=["SIGTERM", "SIGINT"]
)
def test_a_run_goes_on_when_the_service_restarts_during_an_ask(
    process: Process, sqlite_url: str, by: signal.Signals
) -> None:
    process.start()
    study = bough.connect(process.url, process.token, "demo", space=space, method="random", seed=0)
    other = sqlite3.connect(
        sqlite_url.removeprefix("sqlite:///"), isolation_level=None, check_same_thread=False
    )
    restarted = threading.Event()

    def restart() -> None:
        time.sleep(0.5)  # the next ask is waiting for the database now
        process.kill(by)
        other.execute("ROLLBACK")
        process.start()
        restarted.set()

    def after(_: object, trial: bough.Trial) -> None:
        if trial.number == 1:
            other.execute("BEGIN IMMEDIATE")
            threading.Thread(target=restart, daemon=True).start()

    with closing(other):
        study.run(lambda config: len(config), trials=4, callbacks=[after], progress=False)
        assert restarted.wait(60)
    assert [(trial.number, trial.state, trial.attempt) for trial in study.trials] == [
        (number, "done", 1) for number in range(4)
    ]


def test_a_request_that_outlasts_the_grace_period_is_answered_503(
    process: Process, sqlite_url: str, tmp_path: Path
) -> None:
    process.start()
    study = bough.connect(process.url, process.token, "demo", space=space, method="random", seed=0)
    replies: list[httpx.Response] = []

    headers = {"Authorization": f"Bearer {process.token}"}
    client = httpx.Client(base_url=f"{process.url}/api/v1", headers=headers, timeout=60, verify=False)
    assert client.get("/health").status_code == 200  # so a slow machine has the connection open in time

    def ask() -> None:
        replies.append(client.post(f"/studies/{study.name}/ask", json={}))

    with (
        closing(client),
        closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        asking = threading.Thread(target=ask)
        asking.start()
        time.sleep(0.5)
        process.kill(signal.SIGTERM)
        asking.join(30)
        other.execute("ROLLBACK")
    assert replies[0].status_code == 503
    assert "the service is stopping" in replies[0].json()["error"]["message"]
    assert "Traceback" not in (tmp_path / "serve.log").read_text()
