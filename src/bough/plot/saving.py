"""Writing a figure to a file that opens anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bough.errors import StudyError

__all__ = ["save"]


def save(figure: Any, path: str | Path) -> Path:
    """Write a figure to ``path``: a self-contained ``.html`` page, or ``.json`` for other tools."""
    target = Path(path)
    if target.suffix not in (".html", ".json"):
        raise StudyError(f"a figure is saved as .html or .json, not {target.name!r}")
    try:
        if target.suffix == ".json":
            figure.write_json(target)
        else:
            figure.write_html(
                target, include_plotlyjs=True, config={"displaylogo": False, "responsive": True}
            )
    except OSError as error:
        raise StudyError(f"cannot write {target}: {error.strerror}") from None
    return target
