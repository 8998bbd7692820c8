"""``bough import``: a study from an exported file, a table of earlier results, or an Optuna study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bough.cli.options import storage_option
from bough.errors import StudyError

if TYPE_CHECKING:
    from bough.study import Study

__all__ = ["import_"]

OPTUNA = "optuna:"
TABLES = (".csv", ".tsv")


@click.command("import")
@click.argument("source", metavar="FILE")
@storage_option
@click.option("--name", help="Name of the new study.  [default: its name in the file]")
@click.option(
    "--space",
    type=click.Path(path_type=Path),
    help="Space file: for a table of results, for .jsonl files of version 0.1, which lack the space, and for "
    "an Optuna study, if its space should not be learned from the trials.",
)
@click.option("--value", metavar="COLUMN", help="The FILE is a table of results; COLUMN has the objective.")
@click.option(
    "--map", "maps", multiple=True, metavar="COLUMN=NAME", help="COLUMN of the table has parameter NAME."
)
@click.option(
    "--noise", metavar="COLUMN", help="COLUMN of the table has the standard deviation of the value."
)
@click.option(
    "--direction",
    type=click.Choice(["minimize", "maximize"]),
    help="Whether small or large values of a table are better.  [default: minimize]",
)
def import_(
    source: str,
    storage: str,
    name: str | None,
    space: Path | None,
    value: str | None,
    maps: tuple[str, ...],
    noise: str | None,
    direction: str | None,
) -> None:
    """Create a study from a FILE.

    The FILE is a .jsonl file of 'bough export', with space, method, seed and all trials. A trial that was
    running is queued.

    With --value, the FILE is a table of earlier results: .csv, .tsv, or .jsonl with one flat object per line.
    It needs --space and --name. Columns are matched to parameters by name.

    optuna:URL#STUDY instead of a FILE imports a study from an Optuna storage.

    \b
    Examples:
      bough export my-study -o my-study.jsonl
      bough import my-study.jsonl --storage postgresql://me@server/bough
      bough import my-study.jsonl --name a-copy
      bough import runs.csv --space space.yaml --name s --value loss --map learning_rate=lr
      bough import optuna:sqlite:///optuna.db#my-study
    """
    from bough.cli.text import counted

    try:
        if value is None:
            _refuse({"--map": maps, "--noise": noise, "--direction": direction})
            if Path(source).suffix in TABLES:
                raise click.UsageError(
                    f"{source} is a table of results: pass --value COLUMN, --space and --name"
                )
            study = _whole_study(source, storage, name, space)
        else:
            study = _table(source, storage, name, space, value, maps, noise, direction)
    except StudyError as error:
        if "exists already" not in str(error):
            raise
        raise StudyError(f"{error}: --name NAME imports it under another name") from None
    click.echo(f"imported {study.name!r} with {counted(len(study.trials), 'trial')}", err=True)


def _refuse(options: dict[str, object]) -> None:
    for option, given in options.items():
        if given:
            raise click.UsageError(
                f"{option} is for a table of results: name the column of the objective with --value"
            )


def _whole_study(source: str, storage: str, name: str | None, space: Path | None) -> Study:
    from bough.space import Space

    known = None if space is None else Space.load(space)
    if not source.startswith(OPTUNA):
        from bough.study import import_study

        return import_study(source, storage, name, known)
    from bough.integrations.optuna import import_study as import_optuna_study
    from bough.integrations.optuna import load_study
    from bough.integrations.optuna_storage import split_source

    url, study_name = split_source(source.removeprefix(OPTUNA))
    if not url or not study_name:
        raise click.UsageError(f"{source!r} must name a storage of Optuna and a study: optuna:URL#STUDY")

    return import_optuna_study(load_study(study_name, url), name=name, storage=storage, space=known)


def _table(
    source: str,
    storage: str,
    name: str | None,
    space: Path | None,
    value: str,
    maps: tuple[str, ...],
    noise: str | None,
    direction: str | None,
) -> Study:
    from bough.space import Space
    from bough.study import Study, add_results, copy_study

    if space is None or name is None:
        raise click.UsageError("a table of results needs --space SPACE and --name NAME")
    columns = {}
    for pair in maps:
        column, equals, parameter = pair.rpartition("=")
        if not equals or not column or not parameter:
            raise click.UsageError(f"--map {pair!r} must be COLUMN=NAME")
        columns[column] = parameter
    study = Study(Space.load(space), name=name, direction=direction or "minimize")
    add_results(study, source, value=value, columns=columns, noise=noise)
    return copy_study(study, name, storage)
