"""A page as PDF, printed by Chrome or Chromium without a window."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from bough.errors import MissingExtraError, StudyError

__all__ = ["print_page"]

SECONDS = 120
"""How long the browser may take."""


def print_page(page: str) -> bytes:
    """The HTML page as PDF. The page says in its style how large the paper is."""
    try:
        from choreographer.browsers.chromium import Chromium
    except ImportError:
        raise MissingExtraError(
            ".pdf files need Kaleido, which is not installed: pip install 'bough-opt[image]'"
        ) from None
    browser = Chromium.find_browser(skip_local=False)
    if not browser:
        raise StudyError(
            ".pdf files need Chrome or Chromium, which was not found: install it, or save as .html"
        )
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        source, target = Path(folder, "page.html"), Path(folder, "page.pdf")
        source.write_text(page, encoding="utf-8")
        command = [
            str(browser),
            "--headless",
            "--no-sandbox",  # as Kaleido starts it: the page is ours, and containers have no sandbox
            "--disable-gpu",
            f"--user-data-dir={folder}/profile",
            "--window-size=1080,1400",
            "--no-pdf-header-footer",
            "--virtual-time-budget=20000",  # milliseconds of the page's clock, for its figures
            f"--print-to-pdf={target}",
            source.as_uri(),
        ]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise StudyError(f"{browser} took more than {SECONDS} s to print the report") from None
        except OSError as error:
            raise StudyError(f"{browser} cannot be started: {error.strerror}") from None
        if not target.exists():
            said = ended.stderr.strip().splitlines()[-1:] or [f"exit code {ended.returncode}"]
            raise StudyError(f"{browser} printed no PDF: {said[0][:200]}")
        return target.read_bytes()
