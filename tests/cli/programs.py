"""Programs to tune, and a way to call bough as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SPACE = """
model:
  type: choice
  options:
    svm: {C: {type: float, low: 1.0e-3, high: 1.0e+3, log: true}}
    forest: {trees: {type: int, low: 1, high: 30}}
    bayes: {}
x: {type: float, low: 0, high: 1}
"""


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
