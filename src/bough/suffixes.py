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
    *(".yaml", ".yml", ".toml", ".xml", ".md", ".pcs", ".h5", ".pkl"),
    *(".db", ".db3", ".sqlite", ".sqlite3"),
    *(".gz", ".bz2", ".xz", ".zst", ".zip", ".tar", ".7z"),
    *(".png", ".svg", ".jpg", ".jpeg", ".gif"),
}
"""Suffixes that promise a format: whoever opens such a file expects that one."""


def format_of(path: Path, formats: Mapping[str, str], advice: str, others: bool = False) -> str | None:
    """The one of ``formats`` that a path's suffix stands for; None if there is no suffix.

    StudyError, which says by ``advice`` how the path may end, for every other suffix. With ``others``, one
    that stands for no format at all is like none.
    """
    suffix = path.suffix.lower()
    if suffix not in formats and (suffix in KNOWN if others else suffix):
        raise StudyError(f"cannot write {suffix} files: {str(path)!r} must end in {advice}")
    return formats.get(suffix)
