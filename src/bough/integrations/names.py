"""Names of studies and parameters in a form that files and trackers allow."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

__all__ = ["file_name", "folder_of", "short_hash"]

LONGEST_BYTES = 200
"""File systems allow 255 bytes, of which suffixes need some."""


def file_name(text: str, allowed: str) -> str:
    """A name for a file: letters, digits and ``allowed`` characters are kept, others become ``_``.

    A name that this changes ends in a short hash of the text, so different texts have different names.
    """
    safe = _safe(text, allowed)
    short = safe.encode()[:LONGEST_BYTES].decode(errors="ignore")
    return text if short == text else f"{short}-{short_hash(text)}"


def folder_of(place: Path, text: str, allowed: str, suffix: str, has_begun: Callable[[Path], bool]) -> Path:
    """The folder in ``place`` for what ``text`` names.

    Names had no hash before version 0.2. Where a folder with such a name exists, ``has_begun`` says whether
    it is the one of this text; then it stays.
    """
    folder = place / (file_name(text, allowed) + suffix)
    former = place / (_safe(text, allowed) + suffix)
    # The former name may be too long: Path.exists would raise an OSError, os.path.exists is false.
    if former == folder or folder.exists() or not os.path.exists(former):
        return folder
    return former if has_begun(former) else folder


def _safe(text: str, allowed: str) -> str:
    return "".join(each if each.isalnum() or each in allowed else "_" for each in text)


def short_hash(text: str) -> str:
    """Eight hexadecimal digits that depend on the whole text."""
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:8]
