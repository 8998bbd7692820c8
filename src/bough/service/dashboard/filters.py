"""Template filters of the dashboard: numbers, times, names in links, branches of a space."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from bough.plot.outline import Branch
from bough.plot.theme import number
from bough.space import Space
from bough.storage import Amendment
from bough.study.revising.changing import differences
from bough.trial import Trial

__all__ = ["FILTERS"]


def segment(name: str) -> str:
    """A name as one segment of a path."""
    return quote(name, safe="")


def value(cell: Any) -> str:
    """A parameter's value: text unchanged, short numbers, JSON for the rest."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, float):
        return number(cell)
    return json.dumps(cell)


def ago(seconds: float | None) -> str:
    """How long ago a moment was."""
    if seconds is None:
        return "–"
    passed = max(time.time() - seconds, 0.0)
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if passed >= size:
            return f"{passed / size:.0f} {unit} ago"
    return "just now"


def moment(seconds: float | None) -> str:
    """A time in UTC; the browser replaces it by local time."""
    return "–" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def iso(seconds: float | None) -> str:
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def duration(trial: Trial) -> str:
    """How long a trial took."""
    if trial.started is None or trial.finished is None:
        return "–"
    seconds = trial.finished - trial.started
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.3g} min" if seconds < 7200 else f"{seconds / 3600:.3g} h"


def path(branch: Branch) -> str:
    """The branch as scripts send it in the parameter ``branch=``."""
    return json.dumps(dict(branch.path))


def trail(branch: Branch) -> str:
    """A branch in words."""
    return " › ".join(label for _, label in branch.path) or "all trials"


def statement(amendment: Amendment) -> str:
    """An amendment in one line."""
    body = amendment.body
    match amendment.kind:
        case "space":
            before, after = (Space.from_json(body[name]) for name in ("before", "space"))
            return f"from trial {amendment.since} on: {'; '.join(differences(before, after))}"
        case "correct":
            measured = ", ".join(f"{name} {number(told)}" for name, told in body["measures"].items())
            return f"{number(body['value'])}{f' ({measured})' if measured else ''}: {body['reason']}"
        case "belief":
            believed = (
                f"{name} {'withdrawn' if likely is None else json.dumps(likely)}"
                for name, likely in body["likely"].items()
            )
            return "; ".join(believed) or "all beliefs are withdrawn"
        case "budget":
            return "no budget" if body["budget"] is None else number(body["budget"])
        case "source":
            return str(body["name"])
        case _:
            return str(body.get("reason") or body.get("text") or "")


FILTERS: dict[str, Callable[..., str | None]] = {
    "segment": segment,
    "number": number,
    "value": value,
    "ago": ago,
    "moment": moment,
    "iso": iso,
    "duration": duration,
    "path": path,
    "trail": trail,
    "statement": statement,
}
