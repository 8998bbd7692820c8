"""Writing a figure to a file."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from bough.errors import MissingExtraError, StudyError

__all__ = ["save"]

PICTURES = (".png", ".svg", ".pdf")
DEFAULT_WIDTH_PX = 960


def save(figure: Any, path: str | Path, *, width: int | None = None, height: int | None = None) -> Path:
    """Write a figure to ``path``; the ending says how.

    ``.html`` is a page that needs nothing else, ``.json`` is for other tools. ``.png``, ``.svg`` and
    ``.pdf`` are drawn by Chrome or Chromium through Kaleido (``pip install 'bough-opt[image]'``);
    ``width`` and ``height`` in pixels are theirs.
    """
    if not hasattr(figure, "write_html"):
        raise StudyError(
            f"save takes a figure and then a path: save(bough.plot.tree(study), 'tree.html'), "
            f"not {type(figure).__name__}"
        )
    target = Path(path)
    if target.suffix not in (".html", ".json", *PICTURES):
        raise StudyError(f"a figure is saved as .html, .json, .png, .svg or .pdf, not {target.name!r}")
    if target.suffix not in PICTURES and (width is not None or height is not None):
        raise StudyError(f"width and height are for .png, .svg and .pdf, not for {target.name!r}")
    picture = _picture(figure, target, width, height) if target.suffix in PICTURES else None
    try:
        if picture is not None:
            target.write_bytes(picture)
        elif target.suffix == ".json":
            figure.write_json(target)
        else:
            figure.write_html(
                target, include_plotlyjs=True, config={"displaylogo": False, "responsive": True}
            )
    except OSError as error:
        raise StudyError(f"cannot write {target}: {error.strerror}") from None
    return target


def _picture(figure: Any, target: Path, width: int | None, height: int | None) -> bytes:
    """The figure in the format of the file's ending."""
    try:
        import kaleido  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            f"{target.suffix} files need Kaleido, which is not installed: pip install 'bough-opt[image]'"
        ) from None
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
        raise StudyError(
            f"{target.suffix} files need Chrome or Chromium, which was not found: "
            "install it, or save as .html"
        ) from None
    return picture
