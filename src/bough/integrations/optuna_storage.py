"""Loads studies from an Optuna storage, given by its URL or by the path of a journal file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from sqlalchemy import create_engine, inspect

from bough.errors import BoughError, StudyError
from bough.storage.connect import display_url

__all__ = ["load_study", "split_source"]


def split_source(source: str) -> tuple[str, str]:
    """Storage and study of STORAGE#STUDY. Both may have number signs: then a file that exists decides."""
    cuts = [at for at, sign in enumerate(source) if sign == "#"]
    cut = next((at for at in cuts if Path(_path(source[:at])).is_file()), cuts[0] if cuts else len(source))
    return source[:cut], source[cut + 1 :]


def _path(storage: str) -> str:
    """The file of a storage, if it is one."""
    return storage.removeprefix("sqlite:///").partition("?")[0]


def load_study(name: str, storage: str) -> optuna.Study:
    """A study of Optuna by its storage's URL, or by the path of a journal file; reading creates nothing."""
    if not isinstance(storage, str):
        raise StudyError(f"storage must be a URL or the path of a journal file, not {type(storage).__name__}")
    is_url = "://" in storage
    path = _path(storage)
    if (not is_url or storage.startswith("sqlite:///")) and not Path(path).is_file():
        raise StudyError(f"there is no file {path}")
    try:
        opened: Any = storage
        if not is_url:
            opened = JournalStorage(JournalFileBackend(storage))
        elif not storage.startswith("redis"):
            _check_tables(storage)
        names = [summary.study_name for summary in optuna.get_all_study_summaries(opened)]
        if name not in names:
            there = ", ".join(map(repr, names[:10])) or "none"
            raise StudyError(f"{display_url(storage)} has no Optuna study {name!r}: there are {there}")
        return optuna.load_study(study_name=name, storage=opened)
    except BoughError:
        raise
    except Exception as error:  # from SQLAlchemy, a driver or Optuna
        why = " ".join(str(error).split())[:200]
        raise StudyError(
            f"{display_url(storage)} cannot be read as a storage of Optuna: {type(error).__name__}: {why}"
        ) from None


def _check_tables(storage: str) -> None:
    """StudyError if the database has no Optuna tables: Optuna would create them."""
    engine = create_engine(storage)
    try:
        if not inspect(engine).has_table("version_info"):
            raise StudyError(f"{display_url(storage)} is not an Optuna storage: it lacks Optuna's tables")
    finally:
        engine.dispose()
