"""Ask a peer over pipes, one JSON line each way: ``python -m adapters NAME``, in the peers' environment.

First line in: {"space": ConfigSpace JSON, "seed": ..., "trials": ...}. Then, per trial, out:
{"config": {...}, "ms": CPU milliseconds}, and in: the value, or null for a failed evaluation. A line out
{"config": null} says that the peer has nothing new to try.

The time covers everything that the peer's process does between a value and the next config, on one thread:
some peers fit their model when asked, others when told. Loading libraries does not count.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import warnings

from .registry import adapter
from .space import plain, read_space


def main() -> None:
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    answers, sys.stdout = sys.stdout, sys.stderr  # keeps output of libraries out of the pipe
    task = json.loads(sys.stdin.readline())
    run = adapter(sys.argv[1])(read_space(task["space"]), task["seed"], task["trials"])
    value: float | None = None
    for _ in range(task["trials"]):
        begin = time.process_time()
        try:
            config = run.send(value)
        except StopIteration:
            print(json.dumps({"config": None}), file=answers, flush=True)
            break
        ms = 1e3 * (time.process_time() - begin)
        entries = {name: plain(entry) for name, entry in config.items()}
        print(json.dumps({"config": entries, "ms": ms}), file=answers, flush=True)
        line = sys.stdin.readline()
        if not line:  # the other side is gone
            break
        value = json.loads(line)
    run.close()


if __name__ == "__main__":
    main()
