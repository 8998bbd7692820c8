"""``bough studies`` lists the studies of a storage; ``bough delete`` deletes one, after asking."""

from __future__ import annotations

import json

import click

from bough.cli.options import (
    confirmed,
    existing,
    json_option,
    listing,
    open_named,
    storage_option,
    study_argument,
)
from bough.cli.text import counted
from bough.errors import StudyError

__all__ = ["delete", "studies"]


@click.command()
@storage_option
@json_option
def studies(storage: str, json_: bool) -> None:
    """List the studies of a storage.

    \b
    Examples:
      bough studies
      bough studies --storage postgresql://me@server/bough --json
    """
    from bough.study import studies as find

    rows = [
        {
            "name": record.name,
            "trials": record.trials,
            "direction": record.direction,
            "method": json.loads(record.method)["name"],
            "created": record.created,
        }
        for record in find(existing(storage))
    ]
    head = ("study", "trials", "direction", "method", "created")
    listing(rows, json_, "no studies yet: start one with 'bough run'", head, right="lr")


@click.command()
@study_argument
@storage_option
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def delete(study: str | None, storage: str, yes: bool) -> None:
    """Delete a study and all its trials, after asking.

    \b
    Examples:
      bough delete old-study
      bough delete old-study --yes
    """
    from bough.study import delete_study

    if study is None:
        raise StudyError("say which study to delete: bough delete STUDY")
    count = len(open_named(study, storage).trials)
    if not yes and not confirmed(f"Delete study {study!r} with its {counted(count, 'trial')} for good?"):
        click.echo("nothing was deleted", err=True)
        return
    delete_study(study, storage)
    click.echo(f"deleted {study!r} with {counted(count, 'trial')}", err=True)
