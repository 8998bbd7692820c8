"""A study as a file of JSON lines: the study first, then its trials by number, then its amendments.

``export_study``, ``bough export`` and the service write this format; ``import_study`` reads it. Files are
untrusted, so a file is checked completely before anything is stored.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from bough.errors import BoughError, StudyError
from bough.registry import Method, stored_method, with_present_names
from bough.space import Space
from bough.storage import Amendment, StudyRecord
from bough.strict_json import JsonError, finite, loads
from bough.study.formats.amendment_lines import amendment_row, read_amendment
from bough.study.formats.trial_fields import FIELDS
from bough.study.goals import Goals, goals_of, parse_goals
from bough.study.records import new_record
from bough.study.revising.revisions import SPACE_KINDS, revision_of, revisions_of
from bough.trial import FILLED_IN, State, Trial
from bough.whole_file import checked_path

if TYPE_CHECKING:
    from bough.study.running.runnable import RunnableStudy

__all__ = ["read_study_file", "study_lines"]

FORMAT = 2
"""The format that is written. Version 0.1 wrote format 1, without measures, notes, tracebacks and curves."""

_HEADER = ("bough", "name", "space", "direction", "method", "seed")
_NOT_WRITTEN = ("request", "holder", *(name for name in FILLED_IN if name not in ("curve", "curves")))
_OMITTED_WHEN_EMPTY = ("measures", "notes", "traceback", "noises", "curve", "curves")


def study_lines(study: RunnableStudy) -> Iterator[str]:
    """The lines of a study's file, with the state of the study when the first line is requested."""
    record, trials, amendments = study.snapshot()
    method = stored_method(record.method)
    header = {
        "bough": FORMAT,
        "name": record.name,
        "space": json.loads(record.space),
        "direction": record.direction,
        "method": {"name": method.name, "options": finite(method.options)},
        "seed": record.seed,
    }
    if record.goals is not None:
        header["goals"] = json.loads(record.goals)
    if record.stopping is not None:
        header["stopping"] = record.stopping
    yield _line(header)
    for trial in trials:
        row = {name: getattr(trial, name) for name in Trial.__slots__ if name not in _NOT_WRITTEN}
        for name in _OMITTED_WHEN_EMPTY:
            if not row[name]:
                del row[name]
        if trial.learn:
            del row["learn"]
        yield _line(row)
    for amendment in amendments:
        yield _line(amendment_row(amendment))


def _line(row: dict[str, Any]) -> str:
    """The row as JSON; halves of surrogate pairs, which instances named after files may have, are escaped."""
    text = json.dumps(row, allow_nan=False, ensure_ascii=False)
    return text.encode(errors="backslashreplace").decode() + "\n"


def read_study_file(
    path: str | Path, name: str | None = None, space: Space | None = None
) -> tuple[StudyRecord, list[Trial], list[Amendment]]:
    """The study in a file, its trials and its amendments; StudyError, naming the line, if anything is wrong.

    space: needed for files that ``bough export`` of version 0.1 wrote. They contain only trials; the study is
    assumed to minimise.
    """
    path = checked_path(path)
    try:
        rows = _rows(path)
    except StudyError:
        _check_no_space(path)
        raise
    if not rows:
        raise StudyError(f"{path} is empty, not an exported study")
    start = 1
    if "bough" in rows[0]:
        with _at(f"{path}, line 1"):
            record = _record(rows[0], name)
    elif "config" in rows[0]:
        if space is None:
            raise StudyError(
                f"{path} has trials but no study (bough 0.1 wrote it): pass its space, space= or --space"
            )
        start, record = 0, new_record(space, name or Path(path).stem, Goals(), "auto", None)
    else:
        _check_no_space(path)
        raise StudyError(f"{path} is not an exported study: its first line has no 'bough'")
    goals = goals_of(record.goals, record.direction)
    trials: list[Trial] = []
    amendments: list[Amendment] = []
    for line, row in enumerate(rows[start:], start=start + 1):
        with _at(f"{path}, line {line}"):
            if "amendment" in row:
                amendments.append(read_amendment(row, amendments, trials, goals))
            elif amendments:
                raise ValueError("a trial comes after an amendment: trials come first")
            else:
                trials.append(_trial(row, len(trials), goals))
    if {each.kind for each in amendments}.issuperset(SPACE_KINDS):
        raise StudyError(f"{path}: the space is learned, or changed by hand, not both")
    revisions = revisions_of(Space.from_json(record.space), amendments)
    if revisions[-1].space != Space.from_json(record.space):
        raise StudyError(f"{path}: the space of line 1 is not that of the last change")
    checked = []
    for trial in trials:
        with _at(f"{path}, line {trial.number + start + 1}"):
            space = revisions[revision_of(trial.number, revisions)].space
            checked.append(replace(trial, config=space.validate(trial.config)))
    return replace(record, trials=len(trials)), checked, amendments


def _check_no_space(path: str | Path) -> None:
    """StudyError if the file describes a space, which users may confuse with a study's file."""
    try:
        Space.load(path)
    except BoughError:
        return
    raise StudyError(f"{path} describes a space, not a study: 'bough run {path} ...' makes a study in it")


@contextlib.contextmanager
def _at(place: str) -> Iterator[None]:
    """Prefix the message of an error with the place in the file."""
    try:
        yield
    except (BoughError, ValueError) as error:
        raise StudyError(f"{place}: {error}") from None


def _rows(path: str | Path) -> list[dict[str, Any]]:
    rows = []
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                with _at(f"{path}, line {number}"):
                    row = loads(line, max_depth=1000, any_text=True)
                    if not isinstance(row, dict):
                        raise JsonError("not a JSON object")
                rows.append(row)
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror}") from None
    return rows


def _record(header: dict[str, Any], name: str | None) -> StudyRecord:
    if header["bough"] not in (1, FORMAT):
        raise ValueError(f"its format is {header['bough']!r}, this bough knows 1 and {FORMAT}: upgrade bough")
    _check_keys(header, (*_HEADER, "goals", "stopping"), _HEADER, "the study")
    method = header["method"]
    if (
        not isinstance(method, dict)
        or set(method) != {"name", "options"}
        or not isinstance(method["name"], str)
        or not isinstance(method["options"], dict)
    ):
        raise ValueError("'method' must be an object with 'name' and 'options'")
    if not isinstance(header["space"], dict):
        raise ValueError("'space' must be an object")
    chosen = with_present_names(Method(method["name"], method["options"]))
    goals = _goals(header)
    space, stopping = Space.from_json(header["space"]), header.get("stopping")
    return new_record(space, name or header["name"], goals, chosen, header["seed"], stopping)


def _goals(header: dict[str, Any]) -> Goals:
    if "goals" not in header:
        return parse_goals(None, (), None, header["direction"])
    given = header["goals"]
    if not isinstance(given, dict):
        raise ValueError("'goals' must be an object")
    names = ("objectives", "constraints", "reference")
    _check_keys(given, names, names, "'goals'")
    goals = parse_goals(*(given[name] for name in names))
    if goals.direction != header["direction"]:
        raise ValueError(
            f"the direction is {header['direction']!r}, but {goals.direction!r} for the first objective"
        )
    return goals


def _trial(row: dict[str, Any], number: int, goals: Goals) -> Trial:
    """A trial from its line; ValueError or BoughError if it is not valid."""
    known = [name for name in Trial.__slots__ if name not in _NOT_WRITTEN]
    _check_keys(row, known, ("number", "config", "state"), "a trial")
    if row["number"] != number:
        raise ValueError(f"trial {number} is missing: trials are numbered 0, 1, 2, ... without gaps")
    if row["state"] not in get_args(State):
        raise ValueError(f"the state {row['state']!r} is not one of {', '.join(get_args(State))}")
    if not isinstance(row["config"], dict):
        raise ValueError("'config' must be an object")
    values = {name: FIELDS[name](name, row[name]) for name in row if name in FIELDS and row[name] is not None}
    trial = Trial(number, row["config"], row["state"], **values)
    if (trial.state == "done") != (trial.value is not None):
        raise ValueError(
            f"a trial that is {trial.state} has {'a' if trial.value is not None else 'no'} value"
        )
    if trial.state == "done":
        for measure in goals.needed:
            if measure not in goals.names[:1] and measure not in trial.measures:
                raise ValueError(f"a trial that is done needs the measure {measure!r}")
    if trial.is_finished and trial.finished is None:
        raise ValueError("a finished trial needs the time 'finished'")
    return trial


def _check_keys(row: dict[str, Any], known: Any, needed: Any, what: str) -> None:
    for name in needed:
        if name not in row:
            raise ValueError(f"{what} needs {name!r}")
    for name in row:
        if name not in known:
            raise ValueError(f"{what} has the unknown key {name[:60]!r}")
