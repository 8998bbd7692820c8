"""Converts trials to rows of the table ``bough_trials``, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from bough.errors import StorageError
from bough.trial import FILLED_IN, Trial

__all__ = ["COLUMNS", "Row", "row_of", "to_json", "trials_of"]

Row = tuple[Any, ...]

COLUMNS: tuple[str, ...] = tuple(name for name in Trial.__slots__ if name not in FILLED_IN)

to_json = json.JSONEncoder(allow_nan=False).encode
_from_json = json.JSONDecoder().raw_decode  # bough writes JSON without surrounding white space
_STATES = frozenset(("queued", "running", "done", "failed", "stopped"))
_NUMBER = (float, int, type(None))


def row_of(trial: Trial, study: int, revision: int, operation: str | None) -> dict[str, object]:
    """All columns. The config is written only on insertion; it changes only in studies that learn their space
    (``amendment_rows``)."""
    row: dict[str, object] = {name: getattr(trial, name) for name in COLUMNS}
    row |= {name: to_json(row[name]) if row[name] else None for name in ("measures", "notes", "noises")}
    row |= {"config": to_json(trial.config), "learn": None if trial.learn else 0}
    return {**row, "study": study, "revision": revision, "operation": operation}


def trials_of(rows: Iterable[Row]) -> list[Trial]:
    """Trials from rows of ``COLUMNS``; StorageError if a row is not one that bough writes.

    Parsing all configs at once is fast, and shares the strings of their names.
    """
    rows = list(rows)
    try:
        configs, _ = _from_json(f"[{','.join([row[1] for row in rows])}]")
        return [_trial(row, config) for row, config in zip(rows, configs, strict=True)]
    except (ValueError, TypeError, RecursionError):
        for row in rows:  # find the damaged one
            try:
                _trial(row, json.loads(row[1]))
            except (ValueError, TypeError, RecursionError) as error:
                raise StorageError(f"the row of trial {row[0]} is damaged: {error}") from None
        raise


def _trial(row: Row, config: dict[str, Any]) -> Trial:
    number, _, state, value, noise, cost, error, attempt, started, finished, worker, expires, *others = row
    if type(config) is not dict or state not in _STATES or type(attempt) is not int:
        raise ValueError("its config, state or attempt is not what bough writes")
    for given in (value, noise, cost, started, finished, expires):
        if type(given) not in _NUMBER:
            raise ValueError(f"{given!r} is not a number")
    if (state == "done") != (value is not None):
        raise ValueError(f"it is {state} with the value {value}")
    measures, notes, traceback, request, holder, learn, noises = others
    return Trial(
        number,
        config,
        state,
        value,
        noise,
        cost,
        error,
        attempt,
        started,
        finished,
        worker,
        expires,
        {} if measures is None else _object(measures),
        {} if notes is None else _object(notes),
        traceback,
        request,
        holder,
        learn != 0,
        {} if noises is None else _object(noises),
    )


def _object(text: str) -> dict[str, Any]:
    found, _ = _from_json(text)
    if type(found) is not dict:
        raise ValueError(f"{text[:40]!r} is not a JSON object")
    return found
