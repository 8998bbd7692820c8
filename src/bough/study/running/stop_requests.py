"""Asking runs to stop: a request that is stored with the study, and read by every ``run`` of it.

A run starts no further trial once there are more requests than when it began. It finishes the evaluations
that are going on, so no result is lost. Runs that begin later ignore earlier requests.
"""

from __future__ import annotations

from typing import Any

from bough.errors import StudyError
from bough.storage import Amendment
from bough.study.results import storable

__all__ = ["KIND", "check_stop_body", "stop_request"]

KIND = "stop"

MAX_REASON = 2000
"""Characters of a reason that are kept."""


def stop_request(reason: Any, by: str | None) -> Amendment:
    """The amendment that asks runs to stop."""
    if not isinstance(reason, str):
        raise StudyError(f"reason must be a text, not {reason!r:.40}")
    body = {"reason": storable(reason.strip())[:MAX_REASON]}
    return Amendment(KIND, body if by is None else {**body, "by": by})


def check_stop_body(body: dict[str, Any]) -> None:
    """ValueError unless the body is that of a request to stop."""
    if not isinstance(body.get("reason"), str):
        raise ValueError("'reason' must be a text")
