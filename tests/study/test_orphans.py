"""Worker processes, and what objectives start in them, end with the program that runs the study."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = """
import os, subprocess, sys
import bough

def objective(config):
    child = subprocess.Popen(["sleep", "100"])
    with open(os.path.join(sys.argv[1], f"{os.getpid()}.{child.pid}.pids"), "w"):
        pass
    return child.wait()

if __name__ == "__main__":
    bough.minimize(objective, bough.Space({"x": bough.Float(0, 1)}), trials=4, workers=2, method="random")
"""


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT, signal.SIGKILL])
def test_no_worker_outlives_its_program(number: signal.Signals, tmp_path: Path):
    (tmp_path / "program.py").write_text(PROGRAM)
    program = subprocess.Popen([sys.executable, str(tmp_path / "program.py"), str(tmp_path)])
    deadline = time.monotonic() + 180
    while len(found := list(tmp_path.glob("*.pids"))) < 2:
        assert time.monotonic() < deadline and program.poll() is None
        time.sleep(0.1)
    pids = [int(pid) for path in found for pid in path.name.split(".")[:2]]
    program.send_signal(number)
    assert program.wait(60) == (-9 if number == signal.SIGKILL else 128 + number)
    while any(_runs(pid) for pid in pids):
        assert time.monotonic() < deadline, "a process was left behind"
        time.sleep(0.1)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
