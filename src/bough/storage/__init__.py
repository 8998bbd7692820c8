"""Where studies are kept: in memory, in an SQLite file, or on a PostgreSQL server."""

from __future__ import annotations

import os

from bough.errors import StorageError
from bough.storage.base import Amendment, Changes, Storage, StudyRecord
from bough.storage.memory import MemoryStorage

__all__ = ["Amendment", "Changes", "MemoryStorage", "Storage", "StudyRecord", "is_absent", "open_storage"]


def is_absent(storage: str | Storage | None) -> bool:
    """Whether a storage is a file that does not exist yet."""
    if not isinstance(storage, str):
        return False
    from bough.storage.connect import sqlite_file  # loads SQLAlchemy, which most users never need

    path = sqlite_file(storage)
    return path is not None and not os.path.exists(path)


def open_storage(storage: str | Storage | None, *, create: bool = True) -> Storage:
    """A storage from its URL (``sqlite:///file.db``, ``postgresql://...``); None is a new one in memory.

    create: create a missing file and its tables; if False, a missing file is a StorageError.
    """
    if storage is None:
        return MemoryStorage()
    if isinstance(storage, str):
        from bough.storage.connect import is_in_memory  # loads SQLAlchemy, which most users never need

        if storage == "sqlite:" or is_in_memory(storage):
            raise StorageError(
                f"{storage} is in memory and ends with this process: name a file, sqlite:///FILE, or leave "
                "storage= out"
            )
        from bough.storage.sql import SqlStorage

        return SqlStorage(storage, create=create)
    if isinstance(storage, Storage):
        return storage
    raise StorageError(f"storage must be a URL such as 'sqlite:///file.db', not {type(storage).__name__}")
