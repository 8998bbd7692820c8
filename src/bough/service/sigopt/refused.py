"""Errors and small checks in SigOpt's manner: a status and one message."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

__all__ = ["Refused", "known_keys", "number", "text"]


class Refused(Exception):
    """A request that is answered by ``{"message": ..., "status": ...}``."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


def known_keys(body: Mapping[str, Any], known: Collection[str], where: str) -> None:
    for key in body:
        if key not in known:
            raise Refused(f"Unknown key {key!r} for {where}: one of {', '.join(sorted(known))}")


def text(value: Any, what: str, most: int = 200) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable() or len(value) > most:
        raise Refused(f"Invalid value for {what}: expected 1 to {most} printable characters")
    return value


def number(value: Any, what: str) -> float | int:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Refused(f"Invalid value for {what}: expected a number, not {value!r}")
    return value
