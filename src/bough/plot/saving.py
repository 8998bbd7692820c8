"""Saves figures and pages as files; headless Chrome or Chromium draws images and PDFs."""

from __future__ import annotations

import logging
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from bough.errors import MissingExtraError, StudyError
from bough.whole_file import checked_path, write_file

__all__ = ["print_page", "save"]

PICTURES = (".png", ".svg", ".pdf")
DEFAULT_WIDTH_PX = 960

PRINT_SECONDS = 120
"""Seconds that the browser may take to print a page."""


def save(figure: Any, path: str | Path, *, width: int | None = None, height: int | None = None) -> Path:
    """Write a figure to ``path``; the suffix decides the format.

    ``.html`` is a self-contained page, ``.json`` is for other tools. ``.png``, ``.svg`` and ``.pdf`` are
    drawn by Chrome or Chromium through Kaleido (``pip install 'bough-opt[image]'``); only these take
    ``width`` and ``height``, in pixels.
    """
    if not hasattr(figure, "write_html"):
        raise StudyError(
            f"save takes a figure and then a path: save(bough.plot.tree(study), 'tree.html'), "
            f"not {type(figure).__name__}"
        )
    target = checked_path(path)
    if target.suffix not in (".html", ".json", *PICTURES):
        raise StudyError(f"a figure is saved as .html, .json, .png, .svg or .pdf, not {target.name!r}")
    if target.suffix not in PICTURES and (width is not None or height is not None):
        raise StudyError(f"width and height are for .png, .svg and .pdf, not for {target.name!r}")
    if target.suffix in PICTURES:
        content = _picture(figure, target, width, height)
    elif target.suffix == ".json":
        content = figure.to_json()
    else:
        content = figure.to_html(config={"displaylogo": False, "responsive": True})
    write_file(target, [content])
    return target


def _picture(figure: Any, target: Path, width: int | None, height: int | None) -> bytes:
    """The figure in the format of the file's suffix."""
    try:
        import kaleido  # noqa: F401
    except ImportError:
        raise _no_kaleido(target.suffix) from None
    for name in ("kaleido", "choreographer"):  # they report every start of the browser
        logging.getLogger(name).setLevel(logging.ERROR)
    try:
        picture: bytes = figure.to_image(
            format=target.suffix[1:],
            width=width or figure.layout.width or DEFAULT_WIDTH_PX,
            height=height or figure.layout.height,
            scale=2 if target.suffix == ".png" else 1,
        )
    except Exception as error:
        if "chrome" not in f"{type(error).__name__} {error}".lower():
            raise
        raise _no_browser(target.suffix) from None
    return picture


def print_page(page: str) -> bytes:
    """The HTML page as PDF. The page's style sets the paper size."""
    try:
        from choreographer.browsers.chromium import Chromium
    except ImportError:
        raise _no_kaleido(".pdf") from None
    browser = Chromium.find_browser(skip_local=False)
    if not browser:
        raise _no_browser(".pdf")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        source, target = Path(folder, "page.html"), Path(folder, "page.pdf")
        source.write_text(page, encoding="utf-8")
        command = [
            str(browser),
            "--headless",
            "--no-sandbox",  # like Kaleido: the page is trusted, and containers have no sandbox
            "--disable-gpu",
            f"--user-data-dir={folder}/profile",
            "--window-size=1080,1400",
            "--no-pdf-header-footer",
            "--virtual-time-budget=20000",  # milliseconds of the page's clock, for its figures
            f"--print-to-pdf={target}",
            source.as_uri(),
        ]
        try:
            ended = subprocess.run(
                command, capture_output=True, text=True, timeout=PRINT_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise StudyError(f"{browser} took more than {PRINT_SECONDS} s to print the report") from None
        except OSError as error:
            raise StudyError(f"{browser} cannot be started: {error.strerror}") from None
        if not target.exists():
            said = ended.stderr.strip().splitlines()[-1:] or [f"exit code {ended.returncode}"]
            raise StudyError(f"{browser} printed no PDF: {said[0][:200]}")
        return target.read_bytes()


def _no_kaleido(suffix: str) -> MissingExtraError:
    return MissingExtraError(
        f"{suffix} files need Kaleido, which is not installed: pip install 'bough-opt[image]'"
    )


def _no_browser(suffix: str) -> StudyError:
    return StudyError(
        f"{suffix} files need Chrome or Chromium, which was not found: install it, or save as .html"
    )
