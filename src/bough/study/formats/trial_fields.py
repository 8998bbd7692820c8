"""The fields of a trial in a line of a study's file, each with the function that checks and reads it.

``strict_json`` has already refused NaN, infinities and numbers too large for a float.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bough.trial import storable

__all__ = ["FIELDS", "is_number", "time_of"]

LATEST_TIME = 2.0**37
"""Seconds since 1970, in the year 6325; calendars end in 9999."""

Reader = Callable[[str, Any], Any]
"""Called with a field's name and raw value; returns the checked value, or raises ValueError."""


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _number(name: str, value: Any) -> float:
    if not is_number(value):
        raise ValueError(f"{name!r} must be a number, not {str(value)[:40]!r}")
    return float(value)


def _not_negative(name: str, value: Any) -> float:
    if _number(name, value) < 0:
        raise ValueError(f"{name!r} must not be negative, not {value}")
    return float(value)


def time_of(name: str, value: Any) -> float:
    """A Unix time that a calendar can show."""
    if not 0 <= _number(name, value) < LATEST_TIME:
        raise ValueError(f"{name!r} must be a time in seconds since 1970, not {str(value)[:40]}")
    return float(value)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name!r} must be a text, not {str(value)[:40]!r}")
    return storable(value)


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise ValueError(f"{name!r} must be a number of attempts, not {str(value)[:40]!r}")
    return value


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{name!r} must be true or false, not {str(value)[:40]!r}")
    return value


def _object(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{name!r} must be an object")
    return value


def _curve(name: str, value: Any) -> tuple[tuple[int, float], ...]:
    if not isinstance(value, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in value):
        raise ValueError(f"{name!r} must be a list of [step, value]")
    curve: list[tuple[int, float]] = []
    for step, reported in value:
        if isinstance(step, bool) or not isinstance(step, int) or not 0 <= step < 2**62:
            raise ValueError(f"a step in {name!r} must be an integer from 0 on, not {str(step)[:40]!r}")
        if curve and step <= curve[-1][0]:
            raise ValueError(f"the steps in {name!r} must grow, but {step} comes after {curve[-1][0]}")
        curve.append((step, _number(f"{name} at step {step}", reported)))
    return tuple(curve)


def _by_measure(read: Reader) -> Reader:
    """Reads an object whose values are read by ``read``."""

    def read_all(name: str, value: Any) -> dict[str, Any]:
        return {key: read(f"{name}.{key}", each) for key, each in _object(name, value).items()}

    return read_all


FIELDS: dict[str, Reader] = {
    "value": _number,
    "noise": _not_negative,
    "cost": _number,  # 0.1 took negative ones
    "error": _text,
    "attempt": _count,
    "started": time_of,
    "finished": time_of,
    "worker": _text,
    "expires": _number,  # a lease may be of any length
    "measures": _by_measure(_number),
    "notes": _object,
    "traceback": _text,
    "curve": _curve,
    "curves": _by_measure(_curve),
    "learn": _flag,
    "noises": _by_measure(_not_negative),
}
