"""Selects one page of trials: by branch, state and search words, in some order."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bough.errors import ConfigError
from bough.service.routing import json_object
from bough.space import Space
from bough.study import Study
from bough.trial import Trial

__all__ = ["Order", "Selection", "branch_of", "select"]

Order = Literal["number", "latest", "best", "worst"]
EXAMPLE = '{"model": "svm"}'


@dataclass(frozen=True)
class Selection:
    """search: words that all must occur in a trial's number, state, values, worker or error.

    by: the name of a parameter to sort by, instead of ``order``; trials without it come last.
    """

    state: str | None = None
    search: str = ""
    order: Order = "number"
    offset: int = 0
    limit: int = 100
    by: str | None = None
    descending: bool = False


def branch_of(text: str | None) -> dict[str, Any]:
    """A branch from the ``branch=`` of a request, a JSON object such as {"model": "svm"}."""
    branch = json_object(text, "branch", EXAMPLE)
    if any(isinstance(value, (dict, list)) for value in branch.values()):
        raise ConfigError(f"branch must be a JSON object such as {EXAMPLE}")
    return branch


def select(trials: Sequence[Trial], study: Study, wanted: Selection) -> tuple[list[Trial], int]:
    """One page of the matching trials, and the number of all that match."""
    found = trials
    if wanted.state:
        found = [trial for trial in found if trial.state == wanted.state]
    if words := wanted.search.lower().split():
        found = [trial for trial in found if _matches(trial, words)]
    start, stop = wanted.offset, wanted.offset + wanted.limit
    if wanted.by is not None:
        page = _sorted_by(found, study.space, wanted.by, wanted.descending)[start:stop]
    elif wanted.order in ("best", "worst"):
        sign = 1.0 if (study.direction == "minimize") == (wanted.order == "best") else -1.0
        page = heapq.nsmallest(stop, found, key=lambda trial: _rank(trial, sign))[start:]
    elif wanted.order == "latest":
        page = list(found[::-1][start:stop])
    else:
        page = list(found[start:stop])
    return page, len(found)


def _sorted_by(trials: Sequence[Trial], space: Space, name: str, descending: bool) -> list[Trial]:
    """Trials sorted by one parameter: numbers before text; trials without it last, in either direction."""
    if all(parameter.name != name for parameter in space.parameters):
        raise ConfigError(f"the space has no parameter {name!r} to sort by")
    having = [trial for trial in trials if name in trial.config]
    without = [trial for trial in trials if name not in trial.config]
    return sorted(having, key=lambda trial: _sort_key(trial.config[name]), reverse=descending) + without


def _sort_key(value: Any) -> tuple[bool, float, str]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return False, float(value), ""
    return True, 0.0, str(value)


def _rank(trial: Trial, sign: float) -> tuple[bool, float, int]:
    """A sort key by value; trials without a value come last."""
    return trial.value is None, 0.0 if trial.value is None else sign * trial.value, trial.number


def _matches(trial: Trial, words: Sequence[str]) -> bool:
    parts = [str(trial.number), trial.state, trial.error or "", trial.worker or "", repr(trial.value)]
    parts += [f"{name}={value}" for name, value in trial.config.items()]
    text = " ".join(parts).lower()
    return all(word in text for word in words)
