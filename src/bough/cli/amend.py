"""``bough change`` goes on in another space; ``bough retract`` and ``bough correct`` put results right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from bough.cli.options import existing, storage_option
from bough.cli.style import printable

__all__ = ["change", "correct", "retract"]


def _values(pairs: tuple[str, ...], option: str) -> dict[str, Any]:
    """name=value pairs; a value is JSON, or else a text."""
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.rpartition("=")
        if not equals or not name:
            raise click.UsageError(f"{option} {pair!r} must be NAME=VALUE")
        try:
            found[name] = json.loads(text)
        except ValueError:
            found[name] = text
    return found


@click.command()
@click.argument("study")
@click.argument("space", type=click.Path(path_type=Path))
@storage_option
@click.option(
    "--backfill",
    multiple=True,
    metavar="NAME=VALUE",
    help="Value that earlier trials had of a new parameter.",
)
@click.option(
    "--fix", multiple=True, metavar="NAME=VALUE", help="Value that a parameter has from now on that is gone."
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def change(
    study: str, space: Path, storage: str, backfill: tuple[str, ...], fix: tuple[str, ...], yes: bool
) -> None:
    """Go on with STUDY in the space of the file SPACE, after showing what differs.

    Earlier trials keep their configs and go on informing the method; proposals come from the new space.
    Trials that are running may still be told.

    \b
    Examples:
      bough change my-study wider.yaml
      bough change my-study space.yaml --backfill dropout=0.0 --yes
    """
    from bough.space import Space
    from bough.study import open_study
    from bough.study.changing import differences

    opened = open_study(study, existing(storage))
    wanted = Space.load(space)
    lines = differences(opened.space, wanted)
    if not lines:
        click.echo(f"nothing differs: {study!r} has this space", err=True)
        return
    for line in lines:
        click.echo(printable(line))
    if not yes:
        click.confirm(f"Go on with study {study!r} in this space?", abort=True, err=True)
    opened.change(wanted, backfill=_values(backfill, "--backfill"), fix=_values(fix, "--fix"))
    click.echo(f"changed {study!r} from trial {len(opened.trials)} on", err=True)


@click.command()
@click.argument("study")
@click.argument("number", type=int)
@click.option("--reason", required=True, help="Why the result does not count.")
@storage_option
def retract(study: str, number: int, reason: str, storage: str) -> None:
    """Say that the result of trial NUMBER does not count. Nothing is deleted.

    The trial stays, struck through; methods, 'bough best' and figures go by the others.

    \b
    Examples:
      bough retract my-study 17 --reason "the sensor was unplugged"
    """
    from bough.study import open_study

    trial = open_study(study, existing(storage)).retract(number, reason)
    click.echo(f"retracted trial {trial.number} of {study!r}", err=True)


@click.command(context_settings={"ignore_unknown_options": True})  # -1.5 is a value
@click.argument("study")
@click.argument("number", type=int)
@click.argument("value")
@click.option("--reason", required=True, help="Why the result was wrong.")
@storage_option
def correct(study: str, number: int, value: str, reason: str, storage: str) -> None:
    """Give trial NUMBER another result: a number, or a JSON object of measures.

    \b
    Examples:
      bough correct my-study 17 0.25 --reason "it was in percent"
      bough correct my-study 17 '{"error": 0.25}' --reason "it was in percent"
    """
    from bough.study import open_study

    try:
        given = json.loads(value)
    except ValueError:
        raise click.UsageError(f"VALUE must be a number or a JSON object, not {value!r}") from None
    trial = open_study(study, existing(storage)).correct(number, given, reason)
    click.echo(f"corrected trial {trial.number} of {study!r}: {trial.value}", err=True)
