"""Draw the pictures of README and docs: ``python -m benchmarks.pictures`` (needs Chromium).

Runs ``bough demo`` in a new folder, then takes screenshots of its branching tree, its terminal output, and
its page in ``bough serve``.
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
SETTINGS = {"COLUMNS": "100", "LINES": "50", "BOUGH_CORE": "numpy"}
"""``make demo`` does not install the compiled core, which rounds differently."""
TERMINAL = """<!doctype html><meta charset="utf-8">
<body style="margin:0;background:#14191f"><pre style="margin:22px 26px;color:#d7dde4;
font:14px/1.42 'DejaVu Sans Mono',monospace">{}</pre></body>"""


def main() -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        said = in_terminal([sys.executable, "-m", "bough", "demo"], folder)
        storage = f"sqlite:///{folder}/bough-demo/demo.db"
        study = bough.open_study("demo", storage)
        figure = bough.plot.tree(study).update_layout(title_text="", margin_t=16)
        page = folder / "tree.html"
        figure.write_html(page, config={"displayModeBar": False})
        photograph(page, PICTURES / "tree.png", 960, int(figure.layout.height))
        lines = ["$ bough demo", *as_html(said)]
        terminal = folder / "terminal.html"
        terminal.write_text(TERMINAL.format("\n".join(lines)), encoding="utf-8")
        photograph(terminal, PICTURES / "terminal.png", 960, 44 + 20 * len(lines))
        photograph_dashboard(storage, "demo", PICTURES / "dashboard.png", 1280, 1180)
    print(f"drew {PICTURES}/tree.png, terminal.png and dashboard.png")


def in_terminal(words: list[str], folder: Path) -> str:
    """The output of a command in a terminal of 100 columns."""
    said: list[bytes] = []
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execve(words[0], words, {**os.environ, **SETTINGS})
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
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                browser(),
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


def photograph_dashboard(storage: str, study: str, target: Path, width: int, height: int) -> None:
    """A screenshot of a study's page, served and signed in to."""
    from playwright.sync_api import sync_playwright

    words = [sys.executable, "-u", "-m", "bough", "serve", "--storage", storage, "--port", "0"]
    with (
        subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as served,
        sync_playwright() as playwright,
    ):
        try:
            assert served.stdout is not None
            address = served.stdout.readline().split(" at ")[1].split()[0]
            token = served.stdout.readline().split()[-1]
            page = playwright.chromium.launch(executable_path=browser(), args=["--no-sandbox"]).new_page(
                viewport={"width": width, "height": height}
            )
            page.goto(f"{address}/studies/{study}")
            page.fill("#token", token)
            page.click("main button.primary")
            page.wait_for_selector("[data-figure='tree'][data-drawn]")
            page.screenshot(path=target)
        finally:
            served.terminate()


def browser() -> str:
    """The path of Chromium."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        sys.exit(f"pictures need one of {', '.join(BROWSERS)}")
    return found


if __name__ == "__main__":
    main()
