"""Adds earlier results to a study from a table: a CSV file, or JSON lines with one flat object each.

Each row is a result. Columns are matched to parameters by name, or by a map from column to parameter. An
active parameter needs a value; cells of inactive parameters are ignored. Other columns with numbers are kept
as measures.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bough.errors import BoughError, ConfigError, StudyError
from bough.space import Categorical, Space
from bough.space.parameters import Domain
from bough.study.results import known_results
from bough.study.study import Study
from bough.trial import Config, Trial

__all__ = ["add_results"]

_EMPTY = ("", "nan", "na", "n/a", "null", "none")
_FORMATS = {".csv": ",", ".tsv": "\t", ".jsonl": None, ".ndjson": None}


def add_results(
    study: Study,
    path: str | Path,
    *,
    value: str | None = None,
    columns: Mapping[str, str] | None = None,
    noise: str | None = None,
) -> list[Trial]:
    """Add the results of a table (.csv, .tsv, .jsonl) to a study, all or none of them; see ``Study.add``.

    value:   column of the objective; by default the column with the objective's name.
    columns: parameter or measure by column, {"learning_rate": "lr"}, if the names differ.
    noise:   column of the standard deviation of the value.

    A column that is named here takes the place of one that has the parameter's or the objective's own name.
    A row whose value is empty or not finite becomes a failed trial.
    """
    if not isinstance(path, (str, Path)):
        raise StudyError(
            f"add_results reads a file, not {type(path).__name__}: study.add_many takes (config, value) pairs"
        )
    if not isinstance(columns or {}, Mapping):
        raise StudyError(f"columns must be a dict of parameters or measures by column, not {columns!r:.80}")
    names = dict(columns or {})
    if value is not None:
        if not study.goals.names:
            raise StudyError(f"study {study.name!r} has no objective: leave value= out")
        names[value] = study.goals.names[0]
    rows = list(_rows(Path(path)))
    if not rows:
        raise StudyError(f"{path} has no rows")
    _check_columns(rows[0][1], names, noise, study, str(path))
    results = []
    for line, row in rows:
        spread = row.pop(noise, None) if noise else None
        renamed = _renamed(row, names)
        try:
            config = _config(study.space, renamed)
            measured = _measured(study, renamed)
            results.append((config, measured, None if _is_empty(spread) else _number(spread, str(noise))))
            known_results(results[-1:], study.goals)  # here, so that an error names the line
        except (BoughError, ValueError) as error:
            raise StudyError(f"{path}, line {line}: {error}") from None
    return study.add_many(results)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    if path.suffix not in _FORMATS:
        raise StudyError(f"{path} must end in one of {', '.join(_FORMATS)}")
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:  # a cell may have line ends of any kind
            text = file.read()
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise StudyError(f"{path} is not UTF-8 text") from None
    delimiter = _FORMATS[path.suffix]
    if delimiter is not None:
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
        try:
            if twice := _given_twice(filter(None, reader.fieldnames or ())):  # spreadsheets add nameless ones
                raise StudyError(f"{path} has two columns {twice!r}: rename or delete one")
            for row in reader:
                if None in row or None in row.values():
                    raise StudyError(
                        f"{path}, line {reader.line_num}: the row and the header differ in length"
                    )
                yield reader.line_num, dict(row)
        except csv.Error as error:
            raise StudyError(f"{path}, line {reader.line_num}: {error}") from None
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                data = json.loads(line)
            except (ValueError, RecursionError):
                data = None
            if not isinstance(data, dict):
                raise StudyError(f"{path}, line {number}: must be a JSON object")
            yield number, data


def _check_columns(
    row: Mapping[str, Any], names: Mapping[str, str], noise: str | None, study: Study, path: str
) -> None:
    """StudyError if a column that the user named, or the column of an objective, is missing."""
    there = ", ".join(map(repr, row)) or "none"
    for column in [*names, *([noise] if noise else [])]:
        if column not in row:
            raise StudyError(f"{path} has no column {column!r}: there are {there}")
    if twice := _given_twice(names.values()):
        both = " and ".join(repr(column) for column, name in names.items() if name == twice)
        raise StudyError(f"{twice!r} is read from one column, not from {both}")
    known = {parameter.name for parameter in study.space} | set(study.goals.needed)
    if noise is not None and (noise in names or (noise in known and noise not in names.values())):
        raise StudyError(f"column {noise!r} is either {names.get(noise, noise)!r} or the noise, not both")
    renamed = _renamed(row, names)
    for name in names.values():
        if name not in known:
            raise StudyError(f"{name!r} is neither a parameter nor an objective of study {study.name!r}")
    for name in study.goals.needed:
        if name not in renamed:
            raise StudyError(f"{path} has no column for {name!r}: there are {there}")


def _given_twice(names: Iterable[str]) -> str | None:
    """A name that occurs more than once; None if there is none."""
    return next((name for name, count in Counter(names).items() if count > 1), None)


def _renamed(row: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The row by parameters and measures, without columns whose place a named one takes."""
    taken = set(names.values())
    kept = {column: cell for column, cell in row.items() if column in names or column not in taken}
    return {names.get(column, column): cell for column, cell in kept.items()}


def _config(space: Space, row: Mapping[str, Any]) -> Config:
    """The active parameters of a row; which are active follows from their values."""
    values: dict[int, Any] = {}
    x = np.full((1, len(space)), 0.5)
    wrong: dict[int, ConfigError] = {}
    for column, parameter in enumerate(space.parameters):
        cell = row.get(parameter.name)
        if _is_empty(cell) and not _has_option(parameter.domain, cell):
            continue
        try:
            values[column] = _read(parameter.domain, cell)
            x[0, column] = parameter.domain.unit(values[column])
        except ConfigError as error:  # raised only if the parameter turns out to be active
            wrong[column] = ConfigError(f"parameter {parameter.name!r} {error}")
    active = space.layout.active(space.snap(x).on)[0]
    for column, parameter in enumerate(space.parameters):
        if active[column] and column not in values:
            known = parameter.name in row
            why = "but has no value" if known else "but no column has its name or is mapped to it"
            raise wrong.get(column) or ConfigError(f"parameter {parameter.name!r} is active, {why}")
    return space.validate({space.parameters[c].name: v for c, v in values.items() if active[c]})


def _read(domain: Domain, cell: Any) -> Any:
    """A cell as a value of the domain; a CSV cell is text and is parsed as a number or an option."""
    if isinstance(domain, Categorical):
        for option in domain.options:
            if (cell == option and type(cell) is type(option)) or cell == str(option):
                return option
        return domain.check(cell)
    if isinstance(cell, str):
        try:
            number = float(cell)
        except ValueError:
            return domain.check(cell)
        cell = int(number) if number.is_integer() and isinstance(domain.low, int) else number
    return domain.check(cell)


def _has_option(domain: Domain, cell: Any) -> bool:
    """Whether a cell that looks empty is an option: None, or the text "none"."""
    if not isinstance(domain, Categorical) or cell == "":
        return False
    return any(cell == option or cell == str(option) for option in domain.options)


def _measured(study: Study, row: Mapping[str, Any]) -> dict[str, Any]:
    """The objectives, as numbers, and every other column with a number."""
    parameters = {parameter.name for parameter in study.space}
    needed = study.goals.needed
    found: dict[str, Any] = {name: _number(row[name], name) for name in needed}
    for name, cell in row.items():
        if name in parameters or name in needed or name in ("noise", "cost", "value") or _is_empty(cell):
            continue
        try:
            found[name] = _number(cell, name)
        except ValueError:
            continue  # a text: the table has more than numbers
    return found


def _number(cell: Any, name: str) -> float:
    if _is_empty(cell):
        return math.nan
    if isinstance(cell, bool):
        raise ValueError(f"column {name!r} must be a number, not {cell!r}")
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"column {name!r} must be a number, not {str(cell)[:40]!r}") from None


def _is_empty(cell: Any) -> bool:
    if isinstance(cell, float):
        return math.isnan(cell)
    return cell is None or (isinstance(cell, str) and cell.strip().lower() in _EMPTY)
