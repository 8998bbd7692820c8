"""Run methods on problems over seeds, one record per study, into a file that a rerun continues.

A record is a line of JSON. Values have 8 significant digits, milliseconds one decimal: enough for every
table, and small enough to be stored with the code.
"""

from __future__ import annotations

import ast
import functools
import json
import math
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import bough
from benchmarks.pool import Failure, in_processes
from benchmarks.problems.base import Config, Problem
from bough.errors import ExhaustedError

Builder = Callable[[str, int], Problem]
Key = tuple[str, str, int, int]


@dataclass(frozen=True)
class Task:
    """One study: a problem (by name, so another process can build it), a method, a seed, a budget."""

    problem: str
    method: str
    seed: int
    trials: int

    @property
    def key(self) -> Key:
        return self.problem, self.method, self.seed, self.trials


@dataclass(frozen=True)
class Record:
    """The results of one study.

    values:  every value in order, without its noise; NaN (null in the file) if the trial failed.
    branches: the branch of each trial.
    ask_ms:  CPU milliseconds of each suggestion.
    test:    the incumbent's score on data that the search never saw, if the problem has such data.
    seconds: the duration of the study, including evaluations.
    """

    problem: str
    method: str
    seed: int
    trials: int
    values: list[float]
    branches: list[str]
    ask_ms: list[float]
    test: float | None = None
    seconds: float = 0.0

    @property
    def key(self) -> Key:
        return self.problem, self.method, self.seed, self.trials

    def curve(self) -> np.ndarray:
        """(trials,) the best value so far; inf before the first success; held if the study ended early."""
        best = np.full(self.trials, np.inf)
        found = np.array(self.values[: self.trials], dtype=float)
        best[: len(found)] = np.where(np.isfinite(found), found, np.inf)
        return np.minimum.accumulate(best)

    def best(self, at: int) -> float:
        """The best value among the first ``at`` trials; inf if all of them failed."""
        return min((value for value in self.values[:at] if math.isfinite(value)), default=math.inf)

    def best_branch(self, at: int) -> str | None:
        """The branch of the incumbent after ``at`` trials."""
        best = self.best(at)
        return self.branches[self.values.index(best)] if math.isfinite(best) else None

    def to_json(self) -> str:
        entries = asdict(self)
        entries["values"] = [_rounded(value) for value in self.values]
        entries["ask_ms"] = [round(ms, 1) for ms in self.ask_ms]
        entries["test"] = None if self.test is None else _rounded(self.test)
        entries["seconds"] = round(self.seconds, 1)
        return json.dumps(entries, separators=(",", ":"))

    @classmethod
    def from_json(cls, line: str) -> Record:
        entries = json.loads(line)
        entries["values"] = [math.nan if value is None else value for value in entries["values"]]
        return cls(**entries)


def _rounded(value: float) -> float | None:
    return float(f"{value:.8g}") if math.isfinite(value) else None


def run_study(problem: Problem, method: str | bough.Strategy, seed: int, trials: int) -> Record:
    """One study, one process, one thread; a name may carry options as ``name(option=value)``.

    A trial fails if the function raises or does not return a finite number. A finite space may be exhausted
    before the budget: the record is then shorter.
    """
    study = bough.Study(
        problem.space, method=parse_method(method) if isinstance(method, str) else method, seed=seed
    )
    values: list[float] = []
    branches, ask_ms = [], []
    for _ in range(trials):
        begin = time.process_time()
        try:
            trial = study.ask()
        except ExhaustedError:
            break
        ask_ms.append(1e3 * (time.process_time() - begin))
        try:
            value = float(problem.function(trial.config))
        except Exception as error:
            study.fail(trial, f"{type(error).__name__}: {error}")
            value = math.nan
        else:
            study.tell(trial, value)
        values.append(value if math.isfinite(value) else math.nan)
        branches.append(str(problem.branch(trial.config)))
    return Record(problem.name, str(method), seed, trials, values, branches, ask_ms)


def parse_method(text: str) -> Any:
    """``"auto"`` or ``"gp(samples=4, kernel='se')"`` as a method."""
    name, _, rest = text.partition("(")
    if not rest:
        return name
    call = ast.parse(f"_({rest}", mode="eval").body
    assert isinstance(call, ast.Call)
    options = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords if keyword.arg}
    return bough.method(name, **options)


def run_task(task: Task, build: Builder | None = None) -> Record:
    """Run the study of a task, by one of our methods or by a peer."""
    from benchmarks import problems
    from benchmarks.peers import PEERS, run_peer

    begin = time.perf_counter()
    problem = (build or problems.build)(task.problem, task.seed)
    incumbent: tuple[float, Config | None] = math.inf, None
    scores: list[float] = []

    def watched(config: Config) -> float:
        nonlocal incumbent
        scores.append(math.nan)
        value = float(problem.function(config))
        scores[-1] = problem.score(config, value)
        if value < incumbent[0]:
            incumbent = value, dict(config)
        return value

    run = run_peer if task.method in PEERS else run_study
    record = run(replace(problem, function=watched), task.method, task.seed, task.trials)
    test = None
    if problem.test is not None and incumbent[1] is not None:
        test = float(problem.test(incumbent[1]))
    if problem.noiseless is not None:
        record = replace(record, values=[s if math.isfinite(s) else math.nan for s in scores])
    return replace(
        record, problem=task.problem, method=task.method, test=test, seconds=time.perf_counter() - begin
    )


def run_all(
    tasks: Iterable[Task], out: Path, *, workers: int = 2, build: Builder | None = None
) -> list[Record]:
    """Run the tasks that ``out`` does not have yet, in the given order, and return all records.

    A study that breaks is reported and skipped; the next call tries it again. ``build(problem, seed)``
    must be a function of a module; by default it builds the problems of the suite.
    """
    tasks = list(tasks)
    done = {record.key: record for record in read(out)}
    missing = [task for task in tasks if task.key not in done]
    progress = Progress(missing, workers)
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("a") as file:
        if out.stat().st_size and not out.read_bytes().endswith(b"\n"):
            file.write("\n")  # ends the incomplete line of a killed run
        for task, answer in in_processes(functools.partial(run_task, build=build), missing, workers=workers):
            if isinstance(answer, Failure):
                progress.broken(task, answer)
                continue
            file.write(answer.to_json() + "\n")
            file.flush()
            done[task.key] = answer
            progress.finished(task, answer.seconds)
    progress.end()
    return [done[task.key] for task in tasks if task.key in done]


def read(path: Path) -> list[Record]:
    """All records of a results file; the incomplete line of a killed run is ignored."""
    records = []
    if path.exists():
        for line in path.read_text().splitlines():
            try:
                records.append(Record.from_json(line))
            except (json.JSONDecodeError, TypeError):
                continue
    return records


class Progress:
    """A line with the progress of a run and the time left: rewritten on a terminal, else once a minute."""

    def __init__(self, missing: Sequence[Task], workers: int) -> None:
        self._left = list(missing)
        self._total = len(missing)
        self._workers = workers
        self._broken = 0
        self._seconds: dict[str, list[float]] = defaultdict(list)
        self._said = 0.0

    def finished(self, task: Task, seconds: float) -> None:
        self._left.remove(task)
        # a study's length depends on method and problem family far more than on the seed
        for key in (f"{task.problem} {task.method}", task.method, ""):
            self._seconds[key].append(seconds / task.trials)
        pause = 0.2 if sys.stderr.isatty() else 60.0
        if time.monotonic() - self._said >= pause or not self._left:
            self._said = time.monotonic()
            self._say(f"{self._total - len(self._left)}/{self._total} studies, {self._ahead()} to go")

    def broken(self, task: Task, failure: Failure) -> None:
        self._left.remove(task)
        self._broken += 1
        self._say(f"{task.method} on {task.problem}, seed {task.seed}: {failure.reason}")
        print(("\n" if sys.stderr.isatty() else "") + failure.details, file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._total and sys.stderr.isatty():
            print(file=sys.stderr)
        if self._broken:
            print(f"{self._broken} of {self._total} studies broke: see above", file=sys.stderr)

    def _ahead(self) -> str:
        seconds = 0.0
        for task in self._left:
            for key in (f"{task.problem} {task.method}", task.method, ""):
                if self._seconds[key]:
                    seconds += task.trials * float(np.mean(self._seconds[key]))
                    break
        minutes = seconds / self._workers / 60
        return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"

    def _say(self, text: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)
