"""What several commands share: the study they are about, where it is kept, and output for scripts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bough.errors import StorageError, StudyError

if TYPE_CHECKING:
    from bough.study import Study

__all__ = [
    "DEFAULT_STORAGE",
    "as_json",
    "existing",
    "json_option",
    "open_named",
    "storage_option",
    "study_argument",
]

DEFAULT_STORAGE = "sqlite:///bough.db"

storage_option: Callable[[Any], Any] = click.option(
    "--storage",
    metavar="URL",
    envvar="BOUGH_STORAGE",
    default=DEFAULT_STORAGE,
    show_default=True,
    help="Where studies are kept: sqlite:///FILE or postgresql://USER@HOST/DB; also from BOUGH_STORAGE.",
)
json_option: Callable[[Any], Any] = click.option(
    "--json", "json_", is_flag=True, help="Print JSON, for scripts."
)


def _complete_study(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Names of studies for the shell's completion; whatever goes wrong, there is just nothing to offer."""
    from bough.study import studies

    try:
        found = studies(existing(ctx.params.get("storage") or DEFAULT_STORAGE))
    except (StorageError, OSError):
        return []
    return [record.name for record in found if record.name.startswith(incomplete)]


study_argument: Callable[[Any], Any] = click.argument(
    "study", metavar="[STUDY]", required=False, shell_complete=_complete_study
)


def existing(storage: str) -> str:
    """The URL, checked: reading from an SQLite file that is not there is a mistake, not a new database."""
    from bough.storage.connect import sqlite_file

    path = sqlite_file(storage)
    if path is not None and not Path(path).exists():
        raise StorageError(
            f"there is no file {path}: pass --storage sqlite:///FILE, or start with 'bough run'"
        )
    return storage


def open_named(name: str | None, storage: str) -> Study:
    """The study of that name; without one, the only or the latest study of the storage."""
    from bough.storage.connect import display_url
    from bough.study import open_study, studies

    existing(storage)
    if name is not None:
        return open_study(name, storage)
    found = studies(storage)
    if not found:
        raise StudyError(f"there are no studies in {display_url(storage)} yet: start one with 'bough run'")
    return open_study(max(found, key=lambda record: record.created).name, storage)


def as_json(data: Any) -> None:
    """Print data for a script: one JSON document."""
    click.echo(json.dumps(data, ensure_ascii=False, allow_nan=False, indent=2))
