"""The goals of a new study, from the fields of a form: names and limits with commas between them."""

from __future__ import annotations

from typing import Any

from bough.errors import StudyError

__all__ = ["goals_of_form"]


def goals_of_form(form: dict[str, str]) -> dict[str, Any]:
    """The goals as arguments of ``Study``; StudyError if a field cannot be read."""
    objectives = dict(_objective(each) for each in _parts(form["objectives"]))
    return {
        "direction": form["direction"] if not objectives else "minimize",
        "objectives": objectives or None,
        "constraints": _parts(form["constraints"]),
        "reference": dict(_value(each) for each in _parts(form["reference"])) or None,
    }


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _objective(text: str) -> tuple[str, str]:
    name, colon, direction = text.rpartition(":")
    return (name.strip(), direction.strip()) if colon else (text, "minimize")


def _value(text: str) -> tuple[str, float]:
    name, sign, value = text.rpartition("=")
    try:
        return name.strip(), float(value if sign else "none")
    except ValueError:
        raise StudyError(f"the reference {text!r} cannot be read: write name=number") from None
