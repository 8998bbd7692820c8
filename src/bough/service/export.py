"""A study's trials as a file: JSON lines, or CSV for spreadsheets."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from bough.service.models import study_json, trial_json
from bough.study import Study
from bough.trial import Trial

__all__ = ["as_csv", "as_json_lines"]

_FIELDS = ("number", "state", "value", "noise", "cost", "error", "attempt", "started", "finished")


def as_json_lines(study: Study) -> Iterator[str]:
    """The study first, then a trial per line; ``bough.study.import_study`` reads it."""
    header = study_json(study.record)
    yield json.dumps({"bough": 1, **{key: header[key] for key in _HEADER}}) + "\n"
    for trial in study.trials:
        yield json.dumps(trial_json(trial)) + "\n"


_HEADER = ("name", "space", "direction", "method", "seed")


def as_csv(trials: Sequence[Trial]) -> Iterator[str]:
    """A row per trial, a column per parameter; inactive cells are empty."""
    names = list(dict.fromkeys(name for trial in trials for name in trial.config))
    yield _line([*_FIELDS, *(f"config.{name}" if name in _FIELDS else name for name in names)])
    for trial in trials:
        yield _line(
            [*(getattr(trial, field) for field in _FIELDS), *(trial.config.get(name) for name in names)]
        )


def _line(cells: Sequence[Any]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer).writerow([_safe(cell) for cell in cells])
    return buffer.getvalue()


def _safe(cell: Any) -> Any:
    """Spreadsheets run what looks like a formula; a quote before it makes it text."""
    if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return "'" + cell
    return cell
