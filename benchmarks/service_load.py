"""How does the service hold up under load?

    python -m benchmarks.service_load [--only tell,crowd,page] [--clients 100] [--trials 100000]

tell:  tells are timed while the default method continuously computes proposals on a study with 150 results:
       median and 99th percentile, in milliseconds. The same without proposals, for comparison.
crowd: ``--clients`` clients with five trials each at once: the time, and whether a trial is lost or doubled.
page:  a study with ``--trials`` trials: seconds and kilobytes of its page and its files, at first (when the
       trials are read from the storage) and again.
Everything is measured over HTTP on this machine, with the server in a separate process.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import bough
from bough.service.auth import create_token
from bough.service.records import Records

SPACE = bough.Space(
    {
        "model": bough.Choice(
            {
                "svm": {"C": bough.Float(1e-3, 1e3, log=True), "gamma": bough.Float(1e-4, 10, log=True)},
                "forest": {"trees": bough.Int(10, 500, log=True), "depth": bough.Int(1, 20)},
                "bayes": {},
            }
        ),
        "scale": bough.Categorical(["none", "standard", "maxabs"]),
    }
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="tell,crowd,page")
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--trials", type=int, default=100_000)
    options = parser.parse_args()
    parts = options.only.split(",")
    with tempfile.TemporaryDirectory() as folder, _server(Path(folder)) as (url, token, storage):
        if "tell" in parts:
            _tell(url, token)
        if "crowd" in parts:
            _crowd(url, token, options.clients)
        if "page" in parts:
            _page(url, token, storage, options.trials)


@contextlib.contextmanager
def _server(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Address, token and storage of a service in a separate process."""
    storage = f"sqlite:///{folder}/load.db"
    token = create_token(Records(storage), "load", "write")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "bough", "serve", "--storage", storage, "--port", str(port)]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    )
    try:
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}", token, storage
    finally:
        process.terminate()
        process.wait()


def _tell(url: str, token: str) -> None:
    study = bough.connect(url, token, "tell", space=SPACE, seed=0)
    rng = np.random.default_rng(0)
    study.add_many([(config, float(rng.random())) for config in SPACE.sample(150, rng)])
    queue = bough.connect(url, token, "queue", space=SPACE, method="random", seed=0)
    waiting = [trial for _ in range(6) for trial in queue.ask(100)]

    def seconds(trials: list[bough.Trial]) -> list[float]:
        times = []
        for trial in trials:
            start = time.perf_counter()
            queue.tell(trial, 1.0)
            times.append(time.perf_counter() - start)
            time.sleep(0.02)
        return times

    alone = seconds(waiting[:300])
    end, proposals = threading.Event(), []

    def keep_asking() -> None:
        asker = bough.connect(url, token, "tell")
        while not end.is_set():
            start = time.perf_counter()
            asker.fail(asker.ask(), "only asked for its proposal")
            proposals.append(time.perf_counter() - start)

    askers = [threading.Thread(target=keep_asking) for _ in range(4)]
    for asker in askers:
        asker.start()
    time.sleep(1)
    beside = seconds(waiting[300:])
    end.set()
    for asker in askers:
        asker.join()
    for what, times in (("alone", alone), ("beside proposals", beside)):
        middle, tail = 1000 * np.quantile(times, [0.5, 0.99])
        print(f"tell {what:17} median {middle:6.1f} ms   p99 {tail:6.1f} ms   of {len(times)}")
    print(f"     proposals: {len(proposals)}, median {np.median(proposals):.2f} s with 4 askers")


def _crowd(url: str, token: str, clients: int) -> None:
    bough.connect(url, token, "crowd", space=SPACE, method="random", seed=0)

    def work(_: int) -> list[int]:
        study = bough.connect(url, token, "crowd")
        numbers = []
        for _ in range(5):
            trial = study.ask()
            study.tell(trial, float(trial.number))
            numbers.append(trial.number)
        return numbers

    start = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        numbers = sorted(number for mine in pool.map(work, range(clients)) for number in mine)
    took = time.perf_counter() - start
    right = numbers == list(range(5 * clients))
    print(f"crowd of {clients} clients x 5 trials: {took:.1f} s, none lost or doubled: {right}")


def _page(url: str, token: str, storage: str, trials: int) -> None:
    local = bough.Study(SPACE, name="large", storage=storage, method="random", seed=0)
    rng = np.random.default_rng(0)
    for start in range(0, trials, 10_000):
        configs = SPACE.sample(min(10_000, trials - start), rng)
        local.add_many([(config, float(value)) for config, value in zip(configs, rng.random(len(configs)))])
    figures = ("tree", "history", "branches", "importance", "parallel", "slice", "timeline")
    paths = {
        "page": "/studies/large",
        "table": "/api/v1/studies/large/trials?limit=50&order=latest",
        "table, best first": "/api/v1/studies/large/trials?limit=50&order=best",
        "table, searched": "/api/v1/studies/large/trials?limit=50&search=svm",
        **{name: f"/api/v1/studies/large/figures/{name}" for name in figures},
    }
    for what, path in paths.items():
        (first, size), (again, _) = _get(url, token, path), _get(url, token, path)
        print(
            f"{trials} trials, {what:18} {first:6.2f} s at first, {again:6.3f} s again, {size / 1e3:7.0f} kB"
        )


def _get(url: str, token: str, path: str) -> tuple[float, int]:
    """Seconds, and bytes before compression."""
    host = url.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=600)
    start = time.perf_counter()
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
    response = connection.getresponse()
    body = response.read()
    took = time.perf_counter() - start
    if response.status != 200:
        raise RuntimeError(f"{path}: {json.loads(body)}")
    return took, len(body)


if __name__ == "__main__":
    main()
