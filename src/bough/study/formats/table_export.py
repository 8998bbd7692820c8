"""Trials as a table: a data frame, or the lines of a CSV file."""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from bough.errors import MissingExtraError
from bough.space import Space
from bough.trial import Trial

__all__ = ["csv_lines", "table"]

_FIELDS = ("number", "state", "value", "noise", "cost", "error", "attempt", "started", "finished")
_CSV_FIELDS = (
    "number", "state", "value", "noise", "cost", "attempt", "started", "finished", "worker", "error",
)  # fmt: skip
_IF_ANY = ("notes", "retracted", "corrected", "value_before")
"""Fields that are the last columns if any trial has them."""


def table(trials: Sequence[Trial], feasible: bool = False) -> Any:
    """One row per trial, as a pandas DataFrame; MissingExtraError without pandas.

    Each parameter and each measure is a column under its own name (``config.name`` or ``measures.name`` if
    another column has that name); where it is inactive or was not measured, the cell is empty.
    feasible: add a column that says whether the trial meets the constraints of its study.
    """
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise MissingExtraError("frame() needs pandas: pip install 'bough-opt[pandas]'") from None
    names = (name for trial in trials for name in trial.config)
    head, rows = _table(trials, (*_FIELDS, "feasible") if feasible else _FIELDS, names)
    return pd.DataFrame(rows, columns=head)


def csv_lines(space: Space, trials: Sequence[Trial], feasible: bool = False) -> Iterator[str]:
    """A head, then a row per trial with a column per parameter of the space; inactive cells are empty.

    Then a column per measure, and the notes as JSON if there are any. The option None is written as text, to
    distinguish it from inactive. feasible: add a column that says whether a trial meets the constraints.
    """
    names = [*(parameter.name for parameter in space), *(name for trial in trials for name in trial.config)]
    fields = (*_CSV_FIELDS, "feasible") if feasible else _CSV_FIELDS
    head, rows = _table(trials, fields, names, none="None")
    yield _line(head)
    yield from map(_line, rows)


def _table(
    trials: Sequence[Trial], fields: Sequence[str], names: Iterable[str], none: str | None = None
) -> tuple[list[str], list[list[Any]]]:
    """The head and the rows of a table. names: of the parameters; none: how the option None is written."""
    last = [field for field in _IF_ANY if any(getattr(trial, field) for trial in trials)]
    parameters = _columns(names, {*fields, *last}, "config")
    measured = (name for trial in trials for name in trial.measures)
    measures = _columns(measured, {*fields, *last, "notes", *parameters.values()}, "measures")

    def row(trial: Trial) -> list[Any]:
        config = {name: none if value is None else value for name, value in trial.config.items()}
        cells = [getattr(trial, field) for field in fields]
        cells += [config.get(name) for name in parameters]
        cells += [trial.measures.get(name) for name in measures]
        return cells + [getattr(trial, field) for field in last]

    return [*fields, *parameters.values(), *measures.values(), *last], [row(trial) for trial in trials]


def _columns(names: Iterable[str], taken: Collection[str], prefix: str) -> dict[str, str]:
    """The column of each name: the name itself, unless another column has it."""
    return {name: f"{prefix}.{name}" if name in taken else name for name in names}


def _line(cells: Iterable[Any]) -> str:
    buffer = io.StringIO()
    import csv  # for exports only

    csv.writer(buffer, lineterminator="\n").writerow([_written(cell) for cell in cells])
    return buffer.getvalue()


def _written(cell: Any) -> Any:
    """Notes as JSON. A text that begins like a formula gets an apostrophe, or spreadsheets would run it."""
    if isinstance(cell, dict):
        return json.dumps(cell) if cell else None
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
