"""Trials as a table: a data frame, or the lines of a CSV file."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from bough.errors import MissingExtraError
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


_AMENDED = ("retracted", "corrected", "value_before")


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
    names = dict.fromkeys(name for trial in trials for name in trial.config)
    fixed = (*_FIELDS, "feasible") if feasible else _FIELDS
    parameters = _columns(names, fixed, "config")
    measures = _measures(trials, [*fixed, *parameters.values()])
    notes = _given_fields(trials, ("notes", *_AMENDED))
    rows = [
        {field: getattr(trial, field) for field in (*fixed, *notes)}
        | {column: trial.config.get(name) for name, column in parameters.items()}
        | {column: trial.measures.get(name) for name, column in measures.items()}
        for trial in trials
    ]
    return pd.DataFrame(rows, columns=[*fixed, *parameters.values(), *measures.values(), *notes])


def csv_lines(space: Space, trials: Sequence[Trial], feasible: bool = False) -> Iterator[str]:
    """A head, then a row per trial with a column per parameter of the space; inactive cells are empty.

    Then a column per measure, and the notes as JSON if there are any. The option None is written as text, to
    distinguish it from inactive. feasible: add a column that says whether a trial meets the constraints.
    """
    fields = (*_CSV_FIELDS, "feasible") if feasible else _CSV_FIELDS
    names = [*(parameter.name for parameter in space), *(name for trial in trials for name in trial.config)]
    parameters = _columns(dict.fromkeys(names), fields, "config")
    measures = _measures(trials, [*fields, *parameters.values()])
    notes = ["notes"] if any(trial.notes for trial in trials) else []
    amended = _given_fields(trials, _AMENDED)
    yield _line([*fields, *parameters.values(), *measures.values(), *notes, *amended])
    for trial in trials:
        cells = [getattr(trial, field) for field in fields]
        cells += [_given(trial.config, name) for name in parameters]
        cells += [trial.measures.get(name) for name in measures]
        cells += [json.dumps(trial.notes) if trial.notes else None for _ in notes]
        cells += [getattr(trial, field) for field in amended]
        yield _line(cells)


def _given_fields(trials: Sequence[Trial], fields: Sequence[str]) -> tuple[str, ...]:
    """The fields that at least one trial has."""
    return tuple(field for field in fields if any(getattr(trial, field) for trial in trials))


def _measures(trials: Sequence[Trial], taken: Sequence[str]) -> dict[str, str]:
    names = dict.fromkeys(name for trial in trials for name in trial.measures)
    return _columns(names, [*taken, "notes"], "measures")


def _columns(names: Iterable[str], taken: Sequence[str], prefix: str) -> dict[str, str]:
    """The column of each name: the name itself, unless another column has it."""
    return {name: f"{prefix}.{name}" if name in taken else name for name in names}


def _given(config: Config, name: str) -> Any:
    return "None" if name in config and config[name] is None else config.get(name)


def _line(cells: Iterable[Any]) -> str:
    buffer = io.StringIO()
    import csv  # for exports only

    csv.writer(buffer, lineterminator="\n").writerow([_defused(cell) for cell in cells])
    return buffer.getvalue()


def _defused(cell: Any) -> Any:
    """The cell, safe for spreadsheets: they run text that begins like a formula, so prefix an apostrophe."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
