"""Trials as a table: a data frame, or the lines of a CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from bough.space import Space
from bough.trial import Config, Trial

__all__ = ["csv_lines", "table"]

_FIELDS = ("number", "state", "value", "noise", "cost", "error", "attempt", "started", "finished")
_CSV_FIELDS = (
    "number",
    "state",
    "value",
    "noise",
    "cost",
    "attempt",
    "started",
    "finished",
    "worker",
    "error",
)


def table(trials: Sequence[Trial]) -> Any:
    """One row per trial: a pandas DataFrame, or a list of dicts where pandas is not installed.

    Each parameter is a column under its own name (``config.name`` if a column of every table has that name);
    where it is inactive, the cell is empty.
    """
    names = dict.fromkeys(name for trial in trials for name in trial.config)
    columns = _columns(names, _FIELDS)
    rows = [
        {field: getattr(trial, field) for field in _FIELDS}
        | {column: trial.config.get(name) for name, column in columns.items()}
        for trial in trials
    ]
    try:
        import pandas as pd
    except ModuleNotFoundError:
        return rows
    return pd.DataFrame(rows, columns=[*_FIELDS, *columns.values()])


def csv_lines(space: Space, trials: Iterable[Trial]) -> Iterator[str]:
    """A head, then a row per trial with a column per parameter of the space; inactive cells are empty.

    None, an option like any other, is written out to differ from inactive.
    """
    columns = _columns(dict.fromkeys(parameter.name for parameter in space), _CSV_FIELDS)
    yield _line([*_CSV_FIELDS, *columns.values()])
    for trial in trials:
        fields = [getattr(trial, field) for field in _CSV_FIELDS]
        yield _line([*fields, *(_given(trial.config, name) for name in columns)])


def _columns(names: Iterable[str], fields: Sequence[str]) -> dict[str, str]:
    """The column of each parameter: its own name, if no column of every table has that."""
    return {name: f"config.{name}" if name in fields else name for name in names}


def _given(config: Config, name: str) -> Any:
    return "None" if name in config and config[name] is None else config.get(name)


def _line(cells: Iterable[Any]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow([_defused(cell) for cell in cells])
    return buffer.getvalue()


def _defused(cell: Any) -> Any:
    """Spreadsheets run text that begins like a formula; an apostrophe before it keeps it text."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
