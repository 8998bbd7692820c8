"""Run a study with a peer in its own process and Python environment."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from benchmarks.problems import Problem
from benchmarks.runner import Record
from bough.space.configspace_export import to_configspace_dict

PEERS = ("optuna", "optuna-gp", "smac")
ROOT = Path(__file__).resolve().parents[2]


def peer_python() -> Path:
    """The interpreter of the peers' environment."""
    python = ROOT / ".venv-peers" / "bin" / "python"
    if not python.exists():
        raise SystemExit("the peers are not installed: run make bench-peers")
    return python


def run_peer(problem: Problem, peer: str, seed: int, trials: int) -> Record:
    """One study by ``peer``; the function is evaluated here, its suggestions are timed there."""
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [str(peer_python()), str(Path(__file__).with_name("serve.py")), peer]
    values, branches, ask_ms = [], [], []
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **threads}
    ) as process:
        assert process.stdin and process.stdout
        space = to_configspace_dict(problem.space)
        print(json.dumps({"space": space, "seed": seed, "trials": trials}), file=process.stdin, flush=True)
        for _ in range(trials):
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"{peer} stopped: see its error above")
            answer = json.loads(line)
            # a parameter of which each branch has its own is called by its path
            config = {name.rpartition("/")[2]: entry for name, entry in answer["config"].items()}
            value = problem.function(problem.space.validate(config))
            print(value, file=process.stdin, flush=True)
            values.append(float(value))
            branches.append(str(problem.branch(config)))
            ask_ms.append(float(answer["ms"]))
    return Record(problem.name, peer, seed, trials, values, branches, ask_ms)
