"""Names of studies and parameters in a form that files and trackers allow."""

from __future__ import annotations

import hashlib

__all__ = ["file_name", "short_hash"]

LONGEST_BYTES = 200
"""File systems allow 255 bytes, of which suffixes need some."""


def file_name(text: str, allowed: str) -> str:
    """A name for a file: letters, digits and ``allowed`` characters are kept, others become ``_``.

    A name that this changes ends in a short hash of the text, so different texts have different names.
    """
    safe = "".join(each if each.isalnum() or each in allowed else "_" for each in text)
    short = safe.encode()[:LONGEST_BYTES].decode(errors="ignore")
    # "." and ".." name folders that are there already.
    return text if short == text and text.strip(".") else f"{short}-{short_hash(text)}"


def short_hash(text: str) -> str:
    """Eight hexadecimal digits that depend on the whole text."""
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:8]
