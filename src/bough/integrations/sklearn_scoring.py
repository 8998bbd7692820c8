"""What the values of a stored search are: its scoring is a note of each trial, so no study mixes two.

Searches of earlier versions have no such note, and take any scoring.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bough.errors import StudyError
from bough.study import Study

__all__ = ["check_scoring", "scoring_text"]


def scoring_text(scoring: Any, refit: Any) -> str:
    """The metric that the search maximises, in words that are the same in another process."""
    if isinstance(scoring, Mapping):
        scoring = scoring.get(refit)
    elif isinstance(scoring, list | tuple | set):
        scoring = refit
    if scoring is None:
        return "the score of the estimator"
    if isinstance(scoring, str):
        return scoring
    text = getattr(scoring, "__name__", None) or repr(scoring)
    name = type(scoring).__name__ if " at 0x" in text else text
    return f"{name}, {refit}" if isinstance(refit, str) else name


def check_scoring(study: Study, scoring: str) -> None:
    """Refuse a stored study with other scores."""
    for trial in study.trials:
        stored = trial.notes.get("scoring", scoring)
        if stored != scoring:
            raise StudyError(
                f"study {study.name!r} exists and differs: its scoring is {stored!r}, not {scoring!r}; "
                "use another name"
            )
