"""What the values of a stored search are: its scoring is a note of each trial, as text.

A study refuses scorings with different texts, also where they mean the same, such as None and "r2" for a
regression. It cannot tell apart functions of one name that do different things. Searches of earlier versions
have no such note, and take any scoring.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bough.errors import StudyError
from bough.integrations.names import short_hash
from bough.study import Study

__all__ = ["check_scoring", "scoring_text"]


LONGEST_TEXT = 200
"""The longest text of a scoring, in characters: every trial has it, and scorers may have long arguments."""


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
    # Neither addresses nor the module that an object comes from are the same in another process.
    text = re.sub(r"(?:(?:\w+|<locals>)\.)*(\w+) object at 0x[0-9a-fA-F]+", r"\1", text)
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", text)
    if len(text) > LONGEST_TEXT:
        text = f"{text[: LONGEST_TEXT - 12]}... {short_hash(text)}"
    return f"{text}, {refit}" if isinstance(refit, str) else text


def check_scoring(study: Study, scoring: str) -> None:
    """Refuse a stored study with other scores."""
    for trial in study.trials:
        stored = trial.notes.get("scoring", scoring)
        if stored != scoring:
            raise StudyError(
                f"study {study.name!r} exists and differs: its scoring is {stored!r}, not {scoring!r}; "
                "use another name"
            )
