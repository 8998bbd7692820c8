"""The values of options, bounds and conditions: JSON scalars, distinguished by type."""

from __future__ import annotations

import math
from enum import Enum
from typing import TypeAlias

import numpy as np

from bough.errors import SpaceError

__all__ = [
    "UNSET", "Scalar", "Unset", "as_number", "as_option", "decimals", "finite", "plain", "scalar_key",
    "shown",
]  # fmt: skip

Scalar: TypeAlias = str | int | float | bool | None


class Unset(Enum):
    """Marks a categorical without a default, because None itself may be an option."""

    UNSET = "UNSET"

    def __repr__(self) -> str:
        return "UNSET"


UNSET = Unset.UNSET


def scalar_key(value: object) -> object:
    """A key that tells ``1``, ``True``, ``"1"`` and ``None`` apart, but not ``1`` from ``1.0``."""
    if isinstance(value, str):
        return value
    return (isinstance(value, bool), value)


def plain(value: object) -> object:
    """A NumPy scalar as the Python value it stands for."""
    return value.item() if isinstance(value, np.generic) else value


def as_number(value: object) -> float | int | None:
    value = plain(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value


def finite(value: object, what: str) -> float | int:
    number = as_number(value)
    try:
        if number is None or not math.isfinite(number):
            raise SpaceError(f"{what} must be a finite number, not {shown(value)}")
    except OverflowError:
        raise SpaceError(f"{what} is too large a number") from None
    return number


def as_option(value: object) -> Scalar:
    value = plain(value)
    if value is None or isinstance(value, bool) or (isinstance(value, str) and _is_unicode(value)):
        return value
    if isinstance(value, int | float) and abs(value) < 2**1023:
        return value
    raise SpaceError(
        f"Categorical option {shown(value)} must be a string, a finite number, a boolean or None"
    )


def shown(value: object) -> str:
    """The start of ``repr(value)`` for a message; Python refuses to print integers of thousands of digits."""
    try:
        return f"{value!r:.80}"
    except ValueError:
        return "a very large number"


def decimals(number: float) -> int:
    mantissa, _, exponent = repr(number).partition("e")
    fraction = mantissa.partition(".")[2].rstrip("0")
    return max(0, len(fraction) - int(exponent or 0))


def _is_unicode(text: str) -> bool:
    """Whether the text can be written to a file: lone surrogates cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
