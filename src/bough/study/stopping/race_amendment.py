"""The instances of a race, as an amendment of the study keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bough.storage import Amendment

__all__ = ["KIND", "check_race_body", "instances_of"]

KIND = "instances"


def instances_of(amendments: Sequence[Amendment]) -> list[Any]:
    """The instances that a study races over, in the order of the race; none if it does not race."""
    return next((list(each.body["instances"]) for each in amendments if each.kind == KIND), [])


def check_race_body(body: dict[str, Any]) -> None:
    """ValueError unless a body from elsewhere has instances."""
    given = body.get("instances")
    if not isinstance(given, list) or not given:
        raise ValueError("'instances' must be a list of at least one instance")
