"""Writes a file as a whole, so an error does not destroy the file that was there before."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bough.errors import StudyError

__all__ = ["checked_path", "write_file"]

_SQLITE = b"SQLite format 3\0"
"""The first bytes of every database of SQLite."""

_NOT_REPLACEABLE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY)
"""Errors of a folder that takes no new file, and of a file that is mounted by itself, as in containers."""


def checked_path(path: Any) -> Path:
    """The path of a file; StudyError for anything else."""
    if not isinstance(path, (str, os.PathLike)) or "\0" in str(path):
        raise StudyError(f"a file is named by its path, not {path!r:.80}")
    return Path(path)


def write_file(path: str | Path, parts: Iterable[str | bytes]) -> None:
    """Write a file of these parts, or replace it; StudyError if that fails, or if it is a database.

    The former file then stays, unless the disk fails while a file is written in place: a pipe or a device, a
    file with several names (hard links) or of another user, or one that cannot be replaced.
    """
    target = checked_path(path)
    content = [part.encode() if isinstance(part, str) else part for part in parts]  # first, as it may fail
    try:
        if _is_database(target):
            raise StudyError(f"cannot write {path}: it is a database of SQLite, name another file")
        if _stays(target) or not _replaced(Path(os.path.realpath(target)), content):  # a link stays a link
            with open(target, "ab" if _is_stream(target) else "wb") as file:
                file.writelines(content)
    except OSError as error:
        raise StudyError(f"cannot write {path}: {error.strerror}") from None


def _is_database(target: Path) -> bool:
    try:
        if not target.is_file():  # reading a pipe would wait
            return False
        with open(target, "rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:  # what cannot be read may be written
        return False


def _stays(target: Path) -> bool:
    """Whether a new file would not be what others see under this name."""
    return target.exists() and (not target.is_file() or target.stat().st_nlink != 1 or _is_stream(target))


def _is_stream(target: Path) -> bool:
    """Whether the path names an open file, as /dev/stdout does; what is in that file already stays."""
    folder = os.path.realpath(target.parent)
    return folder in ("/dev", "/dev/fd") or folder.startswith("/proc/")


def _replaced(target: Path, content: Sequence[bytes]) -> bool:
    """Put a new file in the place of the former one; False if only the former one itself can be written."""
    new = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with open(new, "xb") as file:
            if target.exists() and _owners(target) != _owners(new):
                return False
            file.writelines(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            target.open("ab").close()  # PermissionError if it is protected, which replacing would ignore
            shutil.copymode(target, new)
        os.replace(new, target)
    except OSError as error:
        if error.errno in _NOT_REPLACEABLE:
            return False
        raise
    finally:
        with contextlib.suppress(OSError):
            os.unlink(new)
    return True


def _owners(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_uid, status.st_gid
