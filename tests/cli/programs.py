"""Programs to tune, and a way to call bough as a user does."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bough.cli import main
from bough.space import Categorical, Choice, Float, Space

SPACE = """
model:
  type: choice
  options:
    svm: {C: {type: float, low: 1.0e-3, high: 1.0e+3, log: true}}
    forest: {trees: {type: int, low: 1, high: 30}}
    bayes: {}
x: {type: float, low: 0, high: 1}
"""

STORED_SPACE = Space(
    {
        "model": Choice({"svm": {"C": Float(1e-3, 1e3, log=True)}, "bayes": {}}),
        "note": Categorical(["=1+1", "plain", None]),
    }
)
"""Of the study that the fixture ``stored`` makes."""


def write_space(folder: Path) -> Path:
    path = folder / "space.yaml"
    path.write_text(SPACE)
    return path


def script(folder: Path, name: str, text: str) -> str:
    """An executable file; returns how to call it."""
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def bough_here(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run ``bough`` to its end in this process, which saves the second that a new one takes to start."""
    out, err = io.StringIO(), io.StringIO()
    log = logging.getLogger("bough")
    handlers, log.handlers = log.handlers, []  # the command adds one that writes to today's standard error
    try:
        with contextlib.chdir(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(arguments)
    finally:
        log.handlers = handlers
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def bough(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run ``bough`` to its end in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "bough", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
    )


def start(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    """Start ``bough`` and go on."""
    return subprocess.Popen(
        [sys.executable, "-m", "bough", *arguments],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )


STUBBORN_PARENT = f"""#!{sys.executable} -IS
# Starts a child that ignores SIGTERM and SIGHUP, writes its process id to a file, and waits.
import os, signal, sys, time
if os.fork() == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with open(sys.argv[1] + ".new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(100)
"""


def pid_in(path: Path) -> int:
    """The process id that a program writes to a file, once it is there."""
    deadline = time.monotonic() + 180
    while not (path.exists() and path.read_text().strip()):
        assert time.monotonic() < deadline, f"{path} was never written"
        time.sleep(0.05)
    return int(path.read_text())


def alive(pid: int) -> bool:
    """Whether a process still runs; waits up to ten seconds for its end, as a signal takes a moment."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        if state in "ZX":  # ended, but nobody has asked for its exit code
            return False
        time.sleep(0.1)
    return True


def call(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """The exit code of a command, and what it wrote."""
    code = main(list(words))
    out, err = capsys.readouterr()
    return code, out, err
