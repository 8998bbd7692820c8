"""Draw the README's pictures: ``python -m benchmarks.pictures`` (needs Chromium).

Runs ``bough demo`` in a folder of its own, then photographs its branching tree and its terminal.
"""

from __future__ import annotations

import html
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
        said = subprocess.run(
            [sys.executable, "-m", "bough", "demo"], cwd=folder, check=True, capture_output=True, text=True
        ).stdout
        study = bough.open_study("demo", f"sqlite:///{folder}/bough-demo/demo.db")
        figure = bough.plot.tree(study)
        figure.update_layout(title_text="")
        page = bough.plot.save(figure.update_layout(margin_t=16), folder / "tree.html")
        photograph(page, PICTURES / "tree.png", 960, int(figure.layout.height))
        lines = ["$ bough demo", *said.rstrip().splitlines()]
        terminal = folder / "terminal.html"
        terminal.write_text(TERMINAL.format(html.escape("\n".join(lines))), encoding="utf-8")
        photograph(terminal, PICTURES / "terminal.png", 960, 44 + 20 * len(lines))
    print(f"drew {PICTURES}/tree.png and terminal.png")


def photograph(page: Path, target: Path, width: int, height: int) -> None:
    """What a browser shows of a page, as a PNG."""
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
