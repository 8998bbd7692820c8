"""``bough run --instances``: reads the instances of a race, and runs a program on one after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from bough.cli.command import Command
from bough.errors import StudyError
from bough.study import outcome
from bough.study.results import stopped
from bough.study.stopping.races import mean_result
from bough.trial import Trial

__all__ = ["instances_option", "race", "read_instances"]

instances_option = click.option(
    "--instances",
    metavar="FILE|A,B,...",
    help="Race over instances: a file with one per line, or names. {instance} in the command stands for one.",
)


def read_instances(given: str) -> list[str]:
    """The lines of a file, or names separated by commas."""
    path = Path(given)
    if path.is_file():
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise StudyError(f"--instances: {given} cannot be read: {error}") from None
    elif "," in given:
        lines = given.split(",")
    else:
        raise StudyError(f"--instances: {given!r} is neither a file nor a list such as a,b,c")
    return [line.strip() for line in lines if line.strip()]


def race(command: Command, instances: Sequence[str], trial: Trial) -> Trial:
    """Run a program on one instance after another, and report each value, until told to stop."""
    study = command.study
    results: list[Trial] = []
    for step, instance in enumerate(instances, start=1):
        result = command(trial, instance)
        if result.value is None:
            return replace(result, error=f"on instance {instance}: {result.error}")
        results.append(result)
        if study.report(trial, result.value, step):
            return stopped(trial)
    mean = outcome(trial, mean_result(results, study.goals), study.goals)
    return replace(mean, notes={**results[-1].notes, **mean.notes})
