"""Errors in SigOpt's form, a status and one message, and checks that raise them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

__all__ = ["SigOptError", "deviation", "known_keys", "number", "object_of", "one_of", "text"]


class SigOptError(Exception):
    """A request that is answered by ``{"message": ..., "status": ...}``."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


def known_keys(body: Mapping[str, Any], known: Collection[str], where: str) -> None:
    for key in body:
        if key not in known:
            raise SigOptError(f"Unknown key {key!r} for {where}: one of {', '.join(sorted(known))}")


def text(value: Any, what: str, most: int = 200) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable() or len(value) > most:
        raise SigOptError(f"Invalid value for {what}: expected 1 to {most} printable characters")
    return value


def number(value: Any, what: str) -> float | int:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SigOptError(f"Invalid value for {what}: expected a number, not {value!r}")
    return value


def deviation(value: Any) -> float | None:
    """A standard deviation; null stands for none."""
    if value is None:
        return None
    if number(value, "value_stddev") < 0:
        raise SigOptError("Invalid value for value_stddev: it may not be negative")
    return float(value)


def one_of(value: Any, known: Collection[str], what: str) -> str:
    if not isinstance(value, str) or value not in known:
        raise SigOptError(f"Invalid value for {what}: one of {', '.join(known)}")
    return value


def object_of(value: Any, what: str) -> dict[str, Any]:
    """A JSON object; null stands for an empty one."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise SigOptError(f"Invalid value for {what}: expected an object")
    return value
