"""Trials as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bough.trial import Trial

__all__ = ["table"]

_FIELDS = ("number", "state", "value", "noise", "cost", "error", "attempt", "started", "finished")


def table(trials: Sequence[Trial]) -> Any:
    """One row per trial: a pandas DataFrame, or a list of dicts where pandas is not installed.

    Each parameter is a column under its own name (``config.name`` if a column of every table has that name);
    where it is inactive, the cell is empty.
    """
    names = dict.fromkeys(name for trial in trials for name in trial.config)
    columns = {name: f"config.{name}" if name in _FIELDS else name for name in names}
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
