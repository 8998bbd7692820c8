"""``bough show``: a study in the terminal, branch by branch. ``bough best``: its best configuration."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from bough.cli.options import as_json, json_option, open_named, storage_option, study_argument
from bough.cli.text import branch_tree, config_text, number, table, value_text
from bough.errors import StudyError
from bough.plot.snapshot import StudySnapshot

__all__ = ["best", "show"]


@click.command()
@study_argument
@storage_option
@click.option(
    "--trials", "-n", "count", default=5, show_default=True, help="How many of the best trials to list."
)
@json_option
def show(study: str | None, storage: str, count: int, json_: bool) -> None:
    """Show a study: its branches with trials and best values, and its best trials.

    Without STUDY, the latest one.

    \b
    Examples:
      bough show
      bough show my-study --storage sqlite:///results.db -n 20
      bough show my-study --json | jq '.trials[] | select(.state == "failed")'
    """
    opened = open_named(study, storage)
    snapshot = StudySnapshot.of(opened)
    if json_:
        return as_json(
            {
                "name": snapshot.name,
                "direction": snapshot.direction,
                "method": {"name": opened.method.name, "options": dict(opened.method.options)},
                "seed": opened.seed,
                "space": snapshot.space.to_dict(),
                "trials": [asdict(trial) for trial in snapshot.trials],
            }
        )
    states = {
        state: sum(t.state == state for t in snapshot.trials)
        for state in ("done", "failed", "running", "queued")
    }
    counts = ", ".join(f"{n} {state}" for state, n in states.items() if n) or "no trials yet"
    click.echo(
        f"{click.style(snapshot.name, bold=True)}: {snapshot.direction}, "
        f"method {opened.method.name}, {counts}\n"
    )
    click.echo(branch_tree(snapshot.root))
    if not snapshot.done:
        failed = f"; the last failure: {snapshot.failed[-1].error}" if snapshot.failed else ""
        click.echo(f"\nno trial has a value yet{failed}")
        return None
    rows = [
        (
            str(snapshot.done[row].number),
            number(snapshot.done[row].value),
            config_text(snapshot.done[row].config),
        )
        for row in snapshot.ranking[:count]
    ]
    click.echo("\n" + table(("trial", "value", "config"), rows, right="rr"))
    return None


@click.command()
@study_argument
@storage_option
@json_option
def best(study: str | None, storage: str, json_: bool) -> None:
    """Print the best configuration of a study. Without STUDY, of the latest one.

    \b
    Examples:
      bough best
      bough best my-study --json > best.json
    """
    opened = open_named(study, storage)
    trial = opened.best
    if trial.value is None:
        raise StudyError(f"study {opened.name!r} has no trial with a value yet")
    if json_:
        as_json({"number": trial.number, "value": trial.value, "noise": trial.noise, "config": trial.config})
        return
    click.echo(f"value  {json.dumps(trial.value)}   (trial {trial.number} of study {opened.name!r})")
    width = max(map(len, trial.config))
    for name, value in trial.config.items():
        click.echo(f"  {name:<{width}}  {value if isinstance(value, float) else value_text(value)}")
