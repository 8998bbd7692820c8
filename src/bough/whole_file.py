"""Writes a file as a whole, so an error does not destroy the file that was there before."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bough.errors import StudyError

__all__ = ["checked_path", "write_file"]


def checked_path(path: Any) -> Path:
    """The path of a file; StudyError for anything else."""
    if not isinstance(path, (str, os.PathLike)) or "\0" in str(path):
        raise StudyError(f"a file is named by its path, not {path!r:.80}")
    return Path(path)


def write_file(path: str | Path, lines: Iterable[str]) -> None:
    """Write a file of lines, or replace it; StudyError, and the former file stays, if that fails."""
    target = checked_path(path)
    try:
        if target.exists() and not target.is_file():  # a pipe or a device is not replaced
            with open(target, "w", encoding="utf-8", newline="") as file:
                file.writelines(lines)
        else:
            _replace(Path(os.path.realpath(target)), lines)  # a link stays a link
    except OSError as error:
        raise StudyError(f"cannot write {path}: {error.strerror}") from None


def _replace(target: Path, lines: Iterable[str]) -> None:
    new = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with open(new, "x", encoding="utf-8", newline="") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            target.open("ab").close()  # PermissionError if it is protected, which replacing would ignore
            shutil.copymode(target, new)
        os.replace(new, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(new)
        raise
