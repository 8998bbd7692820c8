"""Commands that amend a study: ``bough change``, ``believe`` and ``stop``, ``retract`` and ``correct``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from bough.cli.options import confirmed, open_named, storage_option
from bough.cli.style import printable

__all__ = ["believe", "change", "correct", "retract", "stop"]


def _values(pairs: tuple[str, ...], option: str) -> dict[str, Any]:
    """name=value pairs; a value is JSON, otherwise text. A path such as model=svm/C has = in its name."""
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.rpartition("=")
        if not equals or not name:
            raise click.UsageError(f"{option} {pair!r} must be NAME=VALUE".lstrip())
        parts = pair.split("=")
        found[name] = text
        for cut in range(len(parts) - 1, 0, -1):
            try:
                value = json.loads("=".join(parts[cut:]))
            except (ValueError, RecursionError):
                continue
            del found[name]
            found["=".join(parts[:cut])] = value
            break
    return found


def _number_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


@click.command()
@click.argument("study")
@click.argument("space", type=click.Path(path_type=Path))
@storage_option
@click.option(
    "--backfill",
    multiple=True,
    metavar="NAME=VALUE",
    help="Value of a new parameter in earlier trials.",
)
@click.option(
    "--fix", multiple=True, metavar="NAME=VALUE", help="Value of a removed parameter in new trials."
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def change(
    study: str, space: Path, storage: str, backfill: tuple[str, ...], fix: tuple[str, ...], yes: bool
) -> None:
    """Continue STUDY in another space.

    Shows how the space of the file SPACE differs, and asks. Earlier trials keep their configs, and the
    method still learns from them; proposals come from the new space. Results of running trials are still
    accepted.

    \b
    Examples:
      bough change my-study wider.yaml
      bough change my-study space.yaml --backfill dropout=0.0 --yes
    """
    from bough.space import Space

    opened = open_named(study, storage)
    wanted, seen = Space.load(space), opened.space
    values: dict[str, Any] = {"backfill": _values(backfill, "--backfill"), "fix": _values(fix, "--fix")}
    lines = opened.change(wanted, **values, preview=True, seen=seen)
    if not lines:
        click.echo(f"nothing differs: {study!r} has this space", err=True)
        return
    for line in lines:
        click.echo(printable(line))
    if not yes and not confirmed(f"Continue study {study!r} in this space?"):
        click.echo("nothing was changed", err=True)
        return
    opened.change(wanted, **values, seen=seen)
    click.echo(f"changed {study!r} from trial {len(opened.trials)} on", err=True)


@click.command()
@click.argument("study")
@click.argument("beliefs", nargs=-1, metavar="[NAME=LIKELY]...")
@click.option("--withdraw-all", is_flag=True, help="Withdraw every belief, also those of the space.")
@storage_option
def believe(study: str, beliefs: tuple[str, ...], withdraw_all: bool, storage: str) -> None:
    """Say where good values are expected.

    Prints all beliefs about STUDY. LIKELY is a range [low, high] of a number. For options it is a list of
    likely ones, or an object of weights. null withdraws a belief. The latest statement about a parameter
    counts, from the next proposal on.

    \b
    Examples:
      bough believe my-study 'rate=[1e-4, 1e-2]' 'model={"svm": 3, "forest": 1}'
      bough believe my-study rate=null
    """
    from bough.space.beliefs import likely_text
    from bough.study.revising.beliefs import present_beliefs

    if withdraw_all and beliefs:
        raise click.UsageError("--withdraw-all takes no NAME=LIKELY")
    opened = open_named(study, storage)
    if beliefs or withdraw_all:
        likely = _values(beliefs, "")
        for name, text in likely.items():
            if isinstance(text, str):  # a range or a list of options without brackets
                meant = json.dumps([_number_or_text(part.strip()) for part in text.split(",")])
                raise click.UsageError(
                    f"{name}={text:.80} must be a list or an object, such as '{name}={meant:.80}'"
                )
        opened.believe(likely)
        click.echo(f"believed from trial {len(opened.trials)} of {study!r} on", err=True)
    present = present_beliefs(opened.space, opened.amendments)
    for each in present:
        click.echo(printable(f"{each.path}: likely {likely_text(each.likely)}"))
    if not present:
        click.echo("there are no beliefs", err=True)


@click.command()
@click.argument("study")
@click.option("--reason", default="", help="Why, for the record.")
@storage_option
def stop(study: str, reason: str, storage: str) -> None:
    """Ask every run of STUDY to start no further trial.

    Running trials are finished. A run that starts later is not affected.

    \b
    Examples:
      bough stop my-study --reason "good enough"
    """
    opened = open_named(study, storage)
    opened.stop_runs(reason)
    running = opened.status().leased
    click.echo(f"asked the runs of {study!r} to stop; trials running under a lease: {running}", err=True)


@click.command()
@click.argument("study")
@click.argument("number", type=int)
@click.option("--reason", required=True, help="Why the result does not count.")
@storage_option
def retract(study: str, number: int, reason: str, storage: str) -> None:
    """Say that the result of trial NUMBER does not count. Nothing is deleted.

    The trial stays, struck through. Methods and 'bough best' ignore it.

    \b
    Examples:
      bough retract my-study 17 --reason "the sensor was unplugged"
    """
    trial = open_named(study, storage).retract(number, reason)
    click.echo(f"retracted trial {trial.number} of {study!r}", err=True)


@click.command(context_settings={"ignore_unknown_options": True})  # -1.5 is a value
@click.argument("study")
@click.argument("number", type=int)
@click.argument("value")
@click.option("--reason", required=True, help="Why the result was wrong.")
@storage_option
def correct(study: str, number: int, value: str, reason: str, storage: str) -> None:
    """Give trial NUMBER another result.

    VALUE is a number, or a JSON object of measures.

    \b
    Examples:
      bough correct my-study 17 0.25 --reason "it was in percent"
      bough correct my-study 17 '{"error": 0.25}' --reason "it was in percent"
    """
    try:
        given = json.loads(value)
    except (ValueError, RecursionError):
        raise click.UsageError(f"VALUE must be a number or a JSON object, not {value!r:.80}") from None
    trial = open_named(study, storage).correct(number, given, reason)
    click.echo(f"corrected trial {trial.number} of {study!r}: {trial.value}", err=True)
