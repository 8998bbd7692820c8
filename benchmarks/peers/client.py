"""Run a study with a peer in a separate process and Python environment.

Peers answer with exactly the active parameters, and the answers are checked strictly. If a peer has nothing
new to try in a small finite space, it ends early: its record is then shorter than the budget.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.peers.adapters.registry import ADAPTERS
from benchmarks.problems.base import Config, Problem
from benchmarks.runner import Record
from bough.integrations.configspace_export import to_configspace_dict

PEERS = tuple(ADAPTERS)
HERE = ("optuna", "optuna-group")
"""Peers that can run in our development environment."""
ROOT = Path(__file__).resolve().parents[2]
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def peer_python(peer: str) -> Path:
    """The interpreter that runs a peer: that of the peers' environment, or ours for peers in ``HERE``."""
    python = ROOT / ".venv-peers" / "bin" / "python"
    if python.exists():
        return python
    if peer in HERE and all(importlib.util.find_spec(name) for name in ("optuna", "ConfigSpace")):
        return Path(sys.executable)
    raise SystemExit("the peers are not installed: run make bench-peers")


def run_peer(problem: Problem, peer: str, seed: int, trials: int) -> Record:
    """One study by ``peer``; the function is evaluated here, its suggestions are timed there."""
    command = [str(peer_python(peer)), "-m", "adapters", peer]
    environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(Path(__file__).parent)}
    task = {"space": to_configspace_dict(problem.space), "seed": seed, "trials": trials}
    values: list[float] = []
    branches, ask_ms = [], []
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdin and process.stdout
        print(json.dumps(task), file=process.stdin, flush=True)
        for _ in range(trials):
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"{peer} stopped: see its error above")
            answer = json.loads(line)
            if answer["config"] is None:
                break
            config = read_config(problem, answer["config"])
            value = evaluate(problem, config)
            print(json.dumps(value), file=process.stdin, flush=True)
            values.append(math.nan if value is None else value)
            branches.append(str(problem.branch(config)))
            ask_ms.append(float(answer["ms"]))
    return Record(problem.name, peer, seed, trials, values, branches, ask_ms)


def read_config(problem: Problem, answer: dict[str, Any]) -> Config:
    """A peer's answer as a config; ConfigError unless it is legal and has exactly the active parameters."""
    # a name that several branches use is given as a path
    config = {name.rpartition("/")[2]: value for name, value in answer.items()}
    if len(config) < len(answer):
        raise ValueError(f"parameters of two branches in one config: {answer}")
    return problem.space.validate(config)


def evaluate(problem: Problem, config: Config) -> float | None:
    """The value of a config; None if the function raises or returns no finite number."""
    try:
        value = float(problem.function(config))
    except Exception:
        return None
    return value if math.isfinite(value) else None
