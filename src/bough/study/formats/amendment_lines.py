"""Writes amendments as lines of a study's file, and reads them. Files are untrusted, so all is checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bough.space import Space
from bough.storage import Amendment
from bough.study.formats.trial_fields import FIELDS, is_number, time_of
from bough.study.goals import Goals
from bough.study.results import completed
from bough.study.revising.corrections import CORRECTED
from bough.study.running.spending import checked_budget
from bough.study.sources import LARGEST_VALUE
from bough.trial import Trial, storable

__all__ = ["amendment_row", "read_amendment"]

_KEYS = ("amendment", "trial", "since", "at", "body")
_KINDS = (
    "space", "learned", "retract", "correct", "belief", "source", "note", "audit", "budget", "instances",
    "stop",
)  # fmt: skip


def amendment_row(amendment: Amendment) -> dict[str, Any]:
    """The line of an amendment, as data. Its position is not stored: it follows from the order of lines."""
    return {
        "amendment": amendment.kind,
        "trial": amendment.trial,
        "since": amendment.since,
        "at": amendment.at,
        "body": amendment.body,
    }


def read_amendment(
    row: dict[str, Any], before: Sequence[Amendment], trials: Sequence[Trial], goals: Goals
) -> Amendment:
    """An amendment from its line; ValueError if it is not valid for a study with these trials.

    before: the amendments of the preceding lines.
    """
    if set(row) != set(_KEYS):
        raise ValueError(f"an amendment has {', '.join(map(repr, _KEYS))}, not {', '.join(map(repr, row))}")
    kind, trial, since, at, body = (row[key] for key in _KEYS)
    if kind not in _KINDS:
        raise ValueError(f"the amendment {str(kind)[:40]!r} is not one of {', '.join(_KINDS)}")
    if type(since) is not int or not 0 <= since <= len(trials):
        raise ValueError(f"'since' must be a number of trials up to {len(trials)}, not {str(since)[:40]!r}")
    if before and since < before[-1].since:
        raise ValueError(f"'since' must not fall from one amendment to the next: {before[-1].since}, {since}")
    at = time_of("at", at)
    if not isinstance(body, dict):
        raise ValueError("'body' must be an object")
    if trial is not None and (type(trial) is not int or not 0 <= trial < len(trials)):
        raise ValueError(f"there is no trial {str(trial)[:40]}")
    _check(kind, body, None if trial is None else trials[trial], goals)
    return Amendment(kind, body, trial, since, len(before), at)


def _check(kind: str, body: dict[str, Any], trial: Trial | None, goals: Goals) -> None:
    """ValueError or BoughError for a body that bough does not write; notes are shown, never interpreted."""
    match kind:
        case "space":
            _check_space(body)
        case "learned":
            _check_lesson(body, trial)
        case "retract" | "correct":
            if trial is None or not trial.is_finished:
                raise ValueError("it must name a finished trial")
            if not isinstance(body.get("reason"), str) or body["reason"] != storable(body["reason"]):
                raise ValueError("'reason' must be a text")
            if kind == "correct":
                _check_result(body, goals)
        case "belief" if set(body) - {"by"} != {"likely"} or not isinstance(body["likely"], dict):
            raise ValueError("a belief has an object 'likely'")
        case "source":
            _check_source(body)
        case "budget":
            if body.get("budget", 0) is not None:
                checked_budget(body.get("budget"))
        case "instances" if not isinstance(body.get("instances"), list) or not body["instances"]:
            raise ValueError("'instances' must be a list of at least one instance")
        case "stop" if not isinstance(body.get("reason"), str):
            raise ValueError("'reason' must be a text")


def _check_result(body: dict[str, Any], goals: Goals) -> None:
    for name in CORRECTED:
        if name not in body:
            raise ValueError(f"a correction needs {name!r}")
    given = [name for name in CORRECTED if name not in ("noise", "cost") or body[name] is not None]
    fields = {name: FIELDS[name](name, body[name]) for name in given}
    result = completed(Trial(0, {}, "done", **fields), goals)
    if result.error is not None:
        raise ValueError(result.error)


def _check_space(body: dict[str, Any]) -> None:
    for name in ("before", "space", "backfill", "fix"):
        if not isinstance(body.get(name), dict):
            raise ValueError(f"{name!r} must be an object")
    before, after = Space.from_json(body["before"]), Space.from_json(body["space"])
    for name, space in (("backfill", after), ("fix", before)):
        for path, value in body[name].items():
            if path not in space.by_path:
                raise ValueError(f"{name!r} names {path[:60]!r}, which is not a parameter")
            space.by_path[path].domain.check(value)


def _check_lesson(body: dict[str, Any], trial: Trial | None) -> None:
    asked = body.get("asked")
    if trial is None or not isinstance(asked, list) or not all(isinstance(name, str) for name in asked):
        raise ValueError("it must name a trial, and in 'asked' what the objective asked for")
    if "space" in body:
        Space.from_json(body["space"])


def _check_source(body: dict[str, Any]) -> None:
    if set(body) - {"file"} != {"name", "space", "results"}:
        raise ValueError("an earlier study has 'name', 'space' and 'results'")
    if not isinstance(body["name"], str) or not isinstance(body.get("file", ""), str):
        raise ValueError("'name' and 'file' of an earlier study must be texts")
    space = Space.from_json(body["space"])
    if not isinstance(body["results"], list):
        raise ValueError("'results' must be a list")
    for each in body["results"]:
        if not isinstance(each, list) or len(each) != 2 or not isinstance(each[0], dict):
            raise ValueError("a result is a list of a config and a value")
        space.validate(each[0])
        if not is_number(each[1]) or abs(each[1]) >= LARGEST_VALUE:
            raise ValueError(f"a value must be a number, not {str(each[1])[:40]!r}")
