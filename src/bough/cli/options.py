"""Options that several commands share: study, storage, method, progress; and lists as tables or JSON."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bough.errors import StorageError, StudyError
from bough.strict_json import finite

if TYPE_CHECKING:
    from bough.study import Study

__all__ = [
    "DEFAULT_STORAGE",
    "as_json",
    "confirmed",
    "existing",
    "json_option",
    "listing",
    "method_of",
    "method_option",
    "open_named",
    "progress_of",
    "progress_option",
    "storage_option",
    "study_argument",
]

DEFAULT_STORAGE = "sqlite:///bough.db"


def _names_a_place(ctx: click.Context, _: click.Parameter, url: str) -> str:
    if url in ("sqlite:", "sqlite://", "sqlite:///", "sqlite:///:memory:"):
        raise click.BadParameter(
            f"{url} is in memory and ends with this command: name a file, sqlite:///FILE", ctx
        )
    return url


storage_option: Callable[[Any], Any] = click.option(
    "--storage",
    metavar="URL",
    callback=_names_a_place,
    envvar="BOUGH_STORAGE",
    default=DEFAULT_STORAGE,
    show_default=True,
    help="Where studies are kept: sqlite:///FILE or postgresql://USER@HOST/DB; also from BOUGH_STORAGE.",
)
progress_option: Callable[[Any], Any] = click.option(
    "--progress",
    type=click.Choice(["bar", "log", "none"]),
    help="A bar, a line per trial, or nothing.  [default: a bar on a terminal, else lines]",
)
json_option: Callable[[Any], Any] = click.option(
    "--json", "json_", is_flag=True, help="Print JSON, for scripts."
)


def _complete_study(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Names of studies for the shell's completion; an empty list if the storage cannot be read."""
    from bough.study import studies

    try:
        found = studies(existing(ctx.params.get("storage") or DEFAULT_STORAGE))
    except (StorageError, OSError):
        return []
    return [record.name for record in found if record.name.startswith(incomplete)]


def _complete_method(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    from bough.registry import methods

    return [name for name in methods() if name.startswith(incomplete)]


method_option: Callable[[Any], Any] = click.option(
    "--method",
    metavar="NAME",
    default="auto",
    show_default=True,
    shell_complete=_complete_method,
    help="Search method: a name of 'bough methods', or your own as MODULE:CLASS.",
)
study_argument: Callable[[Any], Any] = click.argument(
    "study", metavar="[STUDY]", required=False, shell_complete=_complete_study
)


def existing(storage: str) -> str:
    """The URL; StorageError if it names an SQLite file that does not exist."""
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


def method_of(text: str) -> Any:
    """A method's name, or an instance of the class MODULE:CLASS; the module may be in the current folder."""
    module, colon, name = text.partition(":")
    if not colon:
        return text
    sys.path.insert(0, os.getcwd())
    try:
        return getattr(import_module(module), name)()
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise click.UsageError(
            f"--method {text}: {error}; give MODULE:CLASS, a class that needs no arguments",
            click.get_current_context(),
        ) from None
    finally:
        sys.path.pop(0)


def progress_of(choice: str | None) -> Any:
    """The value of ``progress=`` for a choice of ``--progress``."""
    from bough.study.running.progress import bar, log_lines

    if choice == "none":
        return False
    wants_bar = sys.stderr.isatty() if choice is None else choice == "bar"
    return bar(sys.stderr) if wants_bar else log_lines(sys.stderr)


def confirmed(question: str) -> bool:
    """Whether a person says yes; StudyError if nobody can answer."""
    try:
        return click.confirm(question, err=True)
    except click.Abort:
        if sys.stdin.isatty():  # Ctrl-C
            raise
        click.echo(err=True)
        raise StudyError("nobody answered on standard input: --yes says yes") from None


def as_json(data: Any) -> None:
    """Print data as one JSON document, for scripts; null stands for infinities, which JSON lacks."""
    # An encoding without some character would write an escape that is not one of JSON.
    everything = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"
    click.echo(json.dumps(finite(data), ensure_ascii=not everything, allow_nan=False, indent=2))


def listing(
    rows: Sequence[Mapping[str, Any]], json_: bool, nothing: str, head: Sequence[str], right: str = ""
) -> None:
    """Print rows as JSON, or as a table under ``head``; nothing: what to print instead of an empty table."""
    from bough.cli.text import table

    if json_:
        as_json(rows)
    elif rows:
        click.echo(table(head, [[_cell(*item) for item in row.items()] for row in rows], right))
    else:
        click.echo(nothing)


def _cell(name: str, value: Any) -> str:
    if name == "created":
        return datetime.fromtimestamp(value).strftime("%Y-%m-%d %H:%M")
    if name == "revoked":
        return "" if value is None else name
    return str(value)
