"""Does the service lose or double a trial when it is restarted repeatedly?

    python -m benchmarks.soak --trials 24000 --restart-every 60

Workers ask for trials and tell values through ``bough.connect`` while ``bough serve`` on SQLite is stopped
every minute, alternately by SIGTERM and SIGKILL, and started again. Every value is told once and differs from
all others. At the end the database is read without bough, to check that the numbers are contiguous, that each
trial is done at its first attempt, and that each has exactly the value whose tell was acknowledged. The
method is ``random``, so most of the time is spent in the service.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import bough
from bough.service.auth import create_token
from bough.service.records import Records

SPACE = bough.Space(
    {
        "model": bough.Choice({"svm": {"C": bough.Float(1e-3, 1e3, log=True)}, "bayes": {}}),
        "scale": bough.Categorical(["none", "standard"]),
    }
)
BATCHES = (1, 2, 8, 16)  # how many trials a worker asks for at once: one worker each
PATIENCE_SECONDS = 300.0  # a service on a busy machine may need long to start


class Service:
    """``bough serve`` on one port, which can be stopped and started again."""

    def __init__(self, folder: Path) -> None:
        self.file, self._log = folder / "soak.db", folder / "serve.log"
        storage = f"sqlite:///{self.file}"
        self.token = create_token(Records(storage), "soak", "write")
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        serve = ["serve", "--storage", storage, "--port", str(self._port)]
        self._command = [sys.executable, "-m", "bough", *serve]
        self._start()

    def _start(self) -> None:
        with self._log.open("ab") as log:
            environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
            self._process = subprocess.Popen(self._command, env=environment, stdout=log, stderr=log)
        while self._process.poll() is None:
            with closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=10)) as connection:
                try:
                    connection.request("GET", "/api/v1/health")
                    if connection.getresponse().status == 200:
                        return
                except OSError:
                    time.sleep(0.1)
        raise SystemExit(f"the service ended: {self._log.read_text()[-500:]}")

    def end(self, by: signal.Signals) -> None:
        self._process.send_signal(by)
        self._process.wait()

    def restart(self, by: signal.Signals) -> None:
        self.end(by)
        self._start()

    @property
    def has_traceback(self) -> bool:
        return "Traceback" in self._log.read_text()


class Acknowledged:
    """The values that were told and acknowledged, and the number of trials left to ask for."""

    def __init__(self, trials: int) -> None:
        self.values: list[tuple[int, float]] = []
        self._left, self._lock, self._next = trials, threading.Lock(), itertools.count()

    def take(self, n: int) -> int:
        with self._lock:
            taken = min(n, self._left)
            self._left -= taken
            return taken

    def stop(self) -> None:
        self._left = 0

    def new_value(self) -> float:
        return float(next(self._next))


def work(service: Service, batch: int, acknowledged: Acknowledged) -> None:
    study = bough.connect(service.url, service.token, "soak", patience=PATIENCE_SECONDS)
    while n := acknowledged.take(batch):
        for trial in study.ask(n):
            value = acknowledged.new_value()
            study.tell(trial, value)
            acknowledged.values.append((trial.number, value))


def check(file: Path, told: list[tuple[int, float]]) -> list[str]:
    """The errors in the stored trials; empty if they are exactly the acknowledged ones."""
    with closing(sqlite3.connect(file)) as database:
        rows = database.execute(
            "SELECT number, state, attempt, value FROM bough_trials ORDER BY number"
        ).fetchall()
        (integrity,) = database.execute("PRAGMA integrity_check").fetchone()
    stored = {number: value for number, _, _, value in rows}
    wrong = {
        "acknowledged values that are not stored": sum(stored.get(number) != value for number, value in told),
        "trials told twice": len(told) - len({number for number, _ in told}),
        "trials that nobody told": len(stored.keys() - {number for number, _ in told}),
        "gaps in the numbers": sum(number != row for row, (number, *_) in enumerate(rows)),
        "trials not done at their first attempt": sum(
            (state, tries) != ("done", 1) for _, state, tries, _ in rows
        ),
    }
    found = [f"{count} {what}" for what, count in wrong.items() if count]
    return found + ([] if integrity == "ok" else [f"the file is damaged: {integrity}"])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=24_000)
    parser.add_argument("--restart-every", type=float, default=60.0, metavar="SECONDS")
    parser.add_argument("--timeout", type=float, help="seconds after which no further trial is asked for")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        service, acknowledged = Service(Path(folder)), Acknowledged(options.trials)
        bough.connect(service.url, service.token, "soak", space=SPACE, method="random", seed=0)
        began, restarts = time.monotonic(), {signal.SIGTERM: 0, signal.SIGKILL: 0}
        signals = itertools.cycle(restarts)
        with ThreadPoolExecutor(len(BATCHES)) as pool:
            workers = [pool.submit(work, service, batch, acknowledged) for batch in BATCHES]
            while not all(worker.done() for worker in workers):
                due = time.monotonic() + options.restart_every
                while time.monotonic() < due and not all(worker.done() for worker in workers):
                    time.sleep(0.2)
                if time.monotonic() >= due:
                    by = next(signals)
                    service.restart(by)
                    restarts[by] += 1
                    print(f"{time.monotonic() - began:6.0f} s  {len(acknowledged.values):6} told", flush=True)
                if options.timeout is not None and time.monotonic() - began > options.timeout:
                    acknowledged.stop()
        service.end(signal.SIGTERM)
        for worker in workers:
            worker.result()
        wrong = check(service.file, acknowledged.values)
        if service.has_traceback:
            wrong.append("a stack trace in the service's log")
    ended = ", ".join(f"{count} by {by.name}" for by, count in restarts.items())
    print(f"{len(acknowledged.values)} trials told in {time.monotonic() - began:.0f} s; restarts: {ended}")
    print("; ".join(wrong) or "nothing lost, nothing doubled, no gaps")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
