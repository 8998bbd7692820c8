"""Draw the README's pictures: ``python -m benchmarks.pictures`` (needs Chromium).

Runs ``bough demo`` in a new folder, then takes screenshots of its branching tree and its terminal output.
"""

from __future__ import annotations

import contextlib
import html
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import bough

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync",
    "--disable-component-update", "--no-first-run", "--hide-scrollbars", "--virtual-time-budget=5000",
    "--force-device-scale-factor=1.5",
)  # fmt: skip
TERMINAL = """<!doctype html><meta charset="utf-8">
<body style="margin:0;background:#14191f"><pre style="margin:22px 26px;color:#d7dde4;
font:14px/1.42 'DejaVu Sans Mono',monospace">{}</pre></body>"""


def main() -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        said = in_terminal([sys.executable, "-m", "bough", "demo"], folder)
        study = bough.open_study("demo", f"sqlite:///{folder}/bough-demo/demo.db")
        figure = bough.plot.tree(study).update_layout(title_text="", margin_t=16)
        page = folder / "tree.html"
        figure.write_html(page, config={"displayModeBar": False})
        photograph(page, PICTURES / "tree.png", 960, int(figure.layout.height))
        lines = ["$ bough demo", *as_html(said)]
        terminal = folder / "terminal.html"
        terminal.write_text(TERMINAL.format("\n".join(lines)), encoding="utf-8")
        photograph(terminal, PICTURES / "terminal.png", 960, 44 + 20 * len(lines))
    print(f"drew {PICTURES}/tree.png and terminal.png")


def in_terminal(words: list[str], folder: Path) -> str:
    """The output of a command in a terminal of 100 columns."""
    said: list[bytes] = []
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execve(words[0], words, {**os.environ, "COLUMNS": "100", "LINES": "50"})
    with contextlib.suppress(OSError):  # raised when the command has closed the terminal
        while found := os.read(terminal, 4096):
            said.append(found)
    if os.waitpid(process, 0)[1] != 0:
        sys.exit(b"".join(said).decode())
    return b"".join(said).decode()


def as_html(said: str) -> list[str]:
    """The lines that a terminal shows at the end: the last version of rewritten ones, with bold and dim."""
    lines = [line.split("\r\x1b[K")[-1].strip("\r") for line in said.rstrip().split("\n")]
    styles = {"1": "<b>", "2": "<span style='opacity:0.6'>"}
    close = {"1": "</b>", "2": "</span>"}
    shown = []
    for line in lines:
        text, opened = html.escape(line), ""
        for code in re.findall(r"\x1b\[(\d+)m", text):
            text = text.replace(
                f"\x1b[{code}m", close.get(opened, "") if code == "0" else styles.get(code, ""), 1
            )
            opened = code
        shown.append(text)
    return shown


def photograph(page: Path, target: Path, width: int, height: int) -> None:
    """A screenshot of a page in a browser, as a PNG."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        sys.exit(f"pictures need one of {', '.join(BROWSERS)}")
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                browser,
                *FLAGS,
                f"--user-data-dir={profile}",
                f"--window-size={width},{height}",
                f"--screenshot={target}",
                page.as_uri(),
            ],
            check=True,
            capture_output=True,
            timeout=120,
        )


if __name__ == "__main__":
    main()
