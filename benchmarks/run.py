"""Run the missing studies of a benchmark; stop it at any time, the next call continues.

    python -m benchmarks.run quick
    python -m benchmarks.run peers --workers 2 --only auto,optuna
    python -m benchmarks.run ma-fig3 --full

Results go to ``benchmarks/results/SPEC.jsonl``, or beside the TOML file. If the data of a problem or the
environment of a peer is missing, its studies are skipped with a message. The exit code is 1 if a study broke.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path
from typing import NoReturn

from benchmarks import problems, spec
from benchmarks.runner import Task, read, run_all

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.run",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("spec", nargs="+", help="names of specs, or paths of TOML files")
    parser.add_argument("--workers", type=int, default=2, help="studies at a time")
    parser.add_argument("--only", default="", metavar="METHOD,...", help="only these methods")
    parser.add_argument("--problems", default="", metavar="NAME,...", help="only these problems or families")
    parser.add_argument("--seeds", type=int, help="the most seeds")
    parser.add_argument("--full", action="store_true", help="the budget of the paper")
    parser.add_argument("--again", default="", metavar="METHOD,...", help="run these methods again")
    parser.add_argument("--list", action="store_true", help="only print how much is missing")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _stop)
    try:
        missing = sum(run(name, options) for name in options.spec)
    except spec.SpecError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("\nstopped; the same command continues")
    sys.exit(1 if missing and not options.list else 0)


def run(name: str, options: argparse.Namespace) -> int:
    """Run one spec; returns how many studies broke."""
    chosen = spec.load(name, full=options.full)
    if options.again:
        forget(chosen.out, set(split(options.again)))
    tasks = wanted(chosen, options)
    have = {record.key for record in (*chosen.borrowed(), *read(chosen.out))}
    missing = [task for task in tasks if task.key not in have]
    print(f"{chosen.title}: {len(tasks)} studies, {len(missing)} to run", file=sys.stderr, flush=True)
    if options.list:
        return len(missing)
    missing = available(missing)
    return len(missing) - len(run_all(missing, chosen.out, workers=options.workers))


def wanted(chosen: spec.Spec, options: argparse.Namespace) -> list[Task]:
    """The tasks of a spec that the command's options select."""
    only = split(options.only)
    names = {name for entry in split(options.problems) for name in spec.expand(entry)}
    return [
        task
        for task in chosen.tasks()
        if (not only or task.method in only)
        and (not names or task.problem in names)
        and (options.seeds is None or task.seed < chosen.first_seed + options.seeds)
    ]


def split(text: str) -> list[str]:
    """Names separated by commas; commas inside brackets belong to a method's options."""
    names, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            names.append("")
        else:
            names[-1] += character
    return [name.strip() for name in names if name.strip()]


def available(tasks: list[Task]) -> list[Task]:
    """Tasks whose data and packages are available; prints what is skipped and why."""
    lacking: dict[str, list[str]] = {}
    for name in dict.fromkeys(task.problem for task in tasks):
        try:
            problems.build(name, 0)
        except FileNotFoundError:
            lacking.setdefault(f"no data in {DATA}", []).append(name)
    for name in dict.fromkeys(task.method for task in tasks):
        if reason := peer_lacks(name):
            lacking.setdefault(reason, []).append(name)
    for reason, names in lacking.items():
        print(f"left out: {', '.join(names)} ({reason})", file=sys.stderr)
    absent = {name for names in lacking.values() for name in names}
    return [task for task in tasks if task.problem not in absent and task.method not in absent]


def peer_lacks(name: str) -> str | None:
    """Why a peer cannot run here; None for one that can, and for our own methods."""
    from benchmarks.peers import PEERS, peer_python

    if name not in PEERS:
        return None
    try:
        peer_python(name)
    except SystemExit as error:
        return str(error)
    return None


def forget(path: Path, methods: set[str]) -> None:
    """Drop the records of some methods from a results file."""
    kept = [record.to_json() for record in read(path) if record.method not in methods]
    if path.exists():
        path.write_text("".join(f"{line}\n" for line in kept))


def _stop(*_: object) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
