"""The format that the suffix of a file stands for. Most suffixes, such as .bak or .2024, stand for none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bough.errors import StudyError

__all__ = ["EXPORTS", "REPORTS", "format_of"]

EXPORTS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl"}
"""The formats of an exported study."""

REPORTS = {".html": "html", ".htm": "html", ".pdf": "pdf"}
"""The formats of a report."""

KNOWN = {
    *EXPORTS,
    *REPORTS,
    *(".tsv", ".parquet", ".feather", ".xls", ".xlsx", ".ods", ".docx"),
    *(".yaml", ".yml", ".pcs", ".db", ".sqlite"),
    *(".png", ".svg", ".jpg", ".jpeg", ".gif"),
}
"""Suffixes that promise a format: whoever opens such a file expects that one."""


def format_of(path: Path, formats: Mapping[str, str], advice: str) -> str | None:
    """The one of ``formats`` that a path's suffix stands for; None if the suffix stands for no format.

    StudyError, which says by ``advice`` how the path may end, for the suffix of any other format.
    """
    suffix = path.suffix.lower()
    if suffix in KNOWN and suffix not in formats:
        raise StudyError(f"cannot write {suffix} files: {str(path)!r} must end in {advice}")
    return formats.get(suffix)
