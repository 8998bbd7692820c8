"""Amendments by users: retracted and corrected results, notes, requests to stop.

An amendment changes nothing that is stored: the storage keeps the result of a retracted or corrected trial.
The study shows the trial with the last correction in its fields, and with the reason.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bough.errors import ConflictError, StudyError, TrialError
from bough.storage import Amendment
from bough.study.goals import Goals
from bough.study.results import told
from bough.trial import Trial, storable

__all__ = [
    "CORRECTED", "KINDS", "STOP", "amended", "correction", "remark", "remarks_of", "retraction",
    "stop_request",
]  # fmt: skip

KINDS = ("retract", "correct")
"""The kinds of amendments about the result of a trial."""

STOP = "stop"
"""The kind of amendment that asks runs to stop."""

CORRECTED = ("value", "noise", "noises", "cost", "measures")
"""The fields of a trial that a correction replaces."""

MAX_REASON = 2000
"""The length, in characters, at which reasons and notes are cut off."""


def retraction(trial: Trial, reason: str) -> Amendment | None:
    """The amendment that retracts a trial; None if it is already retracted for this reason."""
    why, number = _checked_reason(reason), trial.number
    _check_finished(trial, "retracted")
    if trial.retracted == why:
        return None
    if trial.retracted is not None:
        raise ConflictError(f"trial {number} is retracted already: {trial.retracted}")
    return Amendment("retract", {"reason": why}, number)


def correction(trial: Trial, value: Any, reason: str, goals: Goals) -> Amendment | None:
    """The amendment that corrects a result; None if the trial already has this result."""
    why, number = _checked_reason(reason), trial.number
    _check_finished(trial, "corrected")
    if trial.retracted is not None:
        raise ConflictError(f"trial {number} is retracted ({trial.retracted}), so it cannot be corrected")
    given = value if isinstance(value, Mapping) else {"value" if goals.is_plain else goals.needed[0]: value}
    before: dict[str, Any] = {**trial.measures}
    if trial.value is not None:
        before |= {goals.value_name: trial.value} if goals.objectives else {}
        before |= {"noise": trial.noises or trial.noise} if trial.noise is not None or trial.noises else {}
        before |= {"cost": trial.cost} if trial.cost is not None else {}
    _check_names(number, given, [*before, *goals.needed, "value", "noise", "cost"])
    result = told(number, {**before, **given}, goals=goals)
    if result.state != "done":
        raise TrialError(f"trial {number} cannot be corrected: {result.error}; retract it instead")
    if result.notes:
        name, other = next(iter(result.notes.items()))
        raise TrialError(
            f"trial {number} cannot be corrected: {name!r} must be a finite number, not {str(other)[:40]!r}"
        )
    new = {name: getattr(result, name) for name in CORRECTED}
    if trial.state == "done" and all(getattr(trial, name) == part for name, part in new.items()):
        return None
    return Amendment("correct", {**new, "reason": why}, number)


def _check_names(number: int, given: Mapping[str, Any], known: Sequence[str]) -> None:
    """TrialError for a likely misspelling of a known name; other unknown names are new measures."""
    for name in given:
        near = [] if name in known else difflib.get_close_matches(str(name), known, n=1, cutoff=0.75)
        if near:
            raise TrialError(f"trial {number} has no measure {name!r}: did you mean {near[0]!r}?")


def remark(text: str, number: int | None, request: str | None = None) -> Amendment:
    """A note about the study or one of its trials; ``request`` identifies the request, for ``remarks_of``."""
    if not isinstance(text, str) or not text.strip():
        raise TrialError(f"a note needs a text, not {str(text)[:40]!r}")
    body = {"text": _kept(text)} | ({} if request is None else {"request": request})
    return Amendment("note", body, number)


def remarks_of(request: str | None, amendments: Sequence[Amendment]) -> list[Amendment]:
    """The notes that this request has already written."""
    if request is None:
        return []
    return [each for each in amendments if each.kind == "note" and each.body.get("request") == request]


def stop_request(reason: str) -> Amendment:
    """The amendment that asks runs to stop.

    A run starts no further trial once there are more such requests than when it began. It finishes its
    running evaluations, so no result is lost. Runs that begin later ignore earlier requests.
    """
    if not isinstance(reason, str):
        raise StudyError(f"reason must be a text, not {reason!r:.40}")
    return Amendment(STOP, {"reason": _kept(reason)})


def amended(trial: Trial, amendments: Sequence[Amendment]) -> Trial:
    """The stored trial with its retractions and corrections applied."""
    first = trial.value
    for amendment in amendments:
        body = amendment.body
        if amendment.kind == "retract":
            trial = replace(trial, retracted=body["reason"])
        else:
            new = {name: body[name] for name in CORRECTED}
            trial = replace(
                trial,
                state="done",
                error=None,
                learn=True,
                corrected=body["reason"],
                value_before=first,
                **new,
            )
    return trial


def _check_finished(trial: Trial, what: str) -> None:
    if not trial.is_finished:
        raise TrialError(f"trial {trial.number} is {trial.state}: only a finished trial can be {what}")


def _checked_reason(reason: Any) -> str:
    if not isinstance(reason, str) or not reason.strip():
        raise TrialError(f"reason must say why, in a few words, not {str(reason)[:40]!r}")
    return _kept(reason)


def _kept(text: str) -> str:
    return storable(text.strip())[:MAX_REASON]
