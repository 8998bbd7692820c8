"""Which trials a page shows: narrowed to a branch, a state and a search, in some order."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bough.errors import ConfigError
from bough.plot.snapshot import StudySnapshot
from bough.service.tagged import worker_of
from bough.strict_json import JsonError, loads
from bough.trial import Trial

__all__ = ["Order", "Selection", "branch_of", "select"]

Order = Literal["number", "latest", "best"]


@dataclass(frozen=True)
class Selection:
    """search: words that all must occur in a trial's number, state, values, worker or error."""

    state: str | None = None
    search: str = ""
    order: Order = "number"
    offset: int = 0
    limit: int = 100


def branch_of(text: str | None) -> dict[str, Any]:
    """A branch from the ``branch=`` of a request, a JSON object such as {"model": "svm"}."""
    if not text:
        return {}
    try:
        branch = loads(text.encode("utf-8", "replace"))
    except JsonError as error:
        raise ConfigError(f"branch: {error}") from None
    if not isinstance(branch, Mapping) or any(isinstance(value, (dict, list)) for value in branch.values()):
        raise ConfigError('branch must be a JSON object such as {"model": "svm"}')
    return dict(branch)


def select(snapshot: StudySnapshot, wanted: Selection) -> tuple[list[Trial], int]:
    """One page of the trials of a snapshot, and how many match in all."""
    found: Sequence[Trial] = snapshot.trials
    if wanted.state:
        found = [trial for trial in found if trial.state == wanted.state]
    if words := wanted.search.lower().split():
        found = [trial for trial in found if _matches(trial, words)]
    start, stop = wanted.offset, wanted.offset + wanted.limit
    if wanted.order == "best":
        sign = 1.0 if snapshot.minimizes else -1.0
        page = heapq.nsmallest(stop, found, key=lambda trial: _rank(trial, sign))[start:]
    elif wanted.order == "latest":
        page = list(found[::-1][start:stop])
    else:
        page = list(found[start:stop])
    return page, len(found)


def _rank(trial: Trial, sign: float) -> tuple[bool, float, int]:
    """Trials without a value come last."""
    return trial.value is None, 0.0 if trial.value is None else sign * trial.value, trial.number


def _matches(trial: Trial, words: Sequence[str]) -> bool:
    parts = [str(trial.number), trial.state, trial.error or "", worker_of(trial) or "", repr(trial.value)]
    parts += [f"{name}={value}" for name, value in trial.config.items()]
    text = " ".join(parts).lower()
    return all(word in text for word in words)
