"""Writes a file as a whole, so an error does not destroy the file that was there before."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

from bough.errors import StudyError

__all__ = ["checked_path", "write_file"]


def checked_path(path: Any) -> Path:
    """The path of a file; StudyError for anything else."""
    if not isinstance(path, (str, os.PathLike)) or "\0" in str(path):
        raise StudyError(f"a file is named by its path, not {path!r:.80}")
    return Path(path)


def write_file(path: str | Path, parts: Iterable[str | bytes]) -> None:
    """Write a file of these parts, or replace it; StudyError if that fails.

    The former file then stays, unless it had to be written in place: a pipe or a device, a file with several
    names (hard links), or a file in a folder that takes no new ones.
    """
    target = checked_path(path)
    try:
        if target.exists() and (not target.is_file() or target.stat().st_nlink > 1):
            _write_in_place(target, parts)
        else:
            _replace(Path(os.path.realpath(target)), parts)  # a link stays a link
    except OSError as error:
        raise StudyError(f"cannot write {path}: {error.strerror}") from None


def _write(file: BinaryIO, parts: Iterable[str | bytes]) -> None:
    file.writelines(part.encode() if isinstance(part, str) else part for part in parts)


def _write_in_place(target: Path, parts: Iterable[str | bytes]) -> None:
    with open(target, "wb") as file:
        _write(file, parts)


def _replace(target: Path, parts: Iterable[str | bytes]) -> None:
    new = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        new.touch(exist_ok=False)
    except PermissionError:  # of the folder; the file itself may be writable
        _write_in_place(target, parts)
        return
    try:
        with open(new, "wb") as file:
            _write(file, parts)
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
