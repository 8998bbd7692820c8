"""Run methods on problems over seeds, one record per study, into a file that a rerun continues."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import bough
from benchmarks.problems import Problem


@dataclass(frozen=True)
class Task:
    """One study: a problem (named, so that another process can build it), a method, a seed, a budget."""

    problem: str
    method: str
    seed: int
    trials: int

    @property
    def key(self) -> tuple[str, str, int, int]:
        return self.problem, self.method, self.seed, self.trials


@dataclass(frozen=True)
class Record:
    """What one study did: every value and branch in order, and the CPU milliseconds of each ask."""

    problem: str
    method: str
    seed: int
    trials: int
    values: list[float]
    branches: list[str]
    ask_ms: list[float]

    @property
    def key(self) -> tuple[str, str, int, int]:
        return self.problem, self.method, self.seed, self.trials

    def best(self, at: int) -> float:
        """The best value among the first ``at`` trials."""
        return min(self.values[:at])

    def best_branch(self, at: int) -> str:
        """The branch of the incumbent after ``at`` trials."""
        return self.branches[int(np.argmin(self.values[:at]))]


def run_study(problem: Problem, method: str, seed: int, trials: int) -> Record:
    """One study, one process, one thread; ``method`` may carry options as ``name(option=value)``."""
    study = bough.Study(problem.space, method=parse_method(method), seed=seed)
    values, branches, ask_ms = [], [], []
    for _ in range(trials):
        begin = time.process_time()
        trial = study.ask()
        ask_ms.append(1e3 * (time.process_time() - begin))
        value = problem.function(trial.config)
        study.tell(trial, value)
        values.append(float(value))
        branches.append(str(problem.branch(trial.config)))
    return Record(problem.name, method, seed, trials, values, branches, ask_ms)


def parse_method(text: str) -> Any:
    """``"auto"`` or ``"auto(samples=4, kernel='se')"`` as a method."""
    name, _, rest = text.partition("(")
    if not rest:
        return name
    import ast

    call = ast.parse(f"_({rest}", mode="eval").body
    assert isinstance(call, ast.Call)
    options = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords if keyword.arg}
    return bough.method(name, **options)


def run_all(
    tasks: Iterable[Task], build: Callable[[str, int], Problem], out: Path, *, workers: int = 2
) -> list[Record]:
    """Run what ``out`` does not hold yet; returns all records asked for. ``build(problem, seed)``."""
    tasks = list(tasks)
    done = {record.key: record for record in read(out)}
    missing = [task for task in tasks if task.key not in done]
    out.parent.mkdir(parents=True, exist_ok=True)
    # studies run in processes of their own; one BLAS thread each, set before numpy loads there
    os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
    with ProcessPoolExecutor(workers) as pool, out.open("a") as file:
        futures = {pool.submit(_run_task, task, build): task for task in missing}
        for count, future in enumerate(as_completed(futures), 1):
            record = future.result()
            file.write(json.dumps(asdict(record)) + "\n")
            file.flush()
            done[record.key] = record
            print(f"\r{count}/{len(missing)} studies", end="", flush=True)
    if missing:
        print()
    return [done[task.key] for task in tasks]


def _run_task(task: Task, build: Callable[[str, int], Problem]) -> Record:
    from benchmarks.peers import PEERS, run_peer

    run = run_peer if task.method in PEERS else run_study
    record = run(build(task.problem, task.seed), task.method, task.seed, task.trials)
    return Record(**{**asdict(record), "problem": task.problem})


def read(path: Path) -> list[Record]:
    """All records of a results file; a torn last line (a killed run) is left out."""
    records = []
    if path.exists():
        for line in path.read_text().splitlines():
            try:
                records.append(Record(**json.loads(line)))
            except (json.JSONDecodeError, TypeError):
                continue
    return records


def median(records: Sequence[Record], score: Callable[[Record], float]) -> float:
    return float(np.median([score(record) for record in records]))
