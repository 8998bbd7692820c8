"""How many distinct configurations a space holds.

Counted like a tree, not by listing: deciding one switch splits the rest into parts that no longer
influence each other, and the counts of such parts multiply.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bough.space.space import Space

__all__ = ["AtMost", "size"]


class AtMost(int):
    """An upper bound where the exact number would take too long to count."""

    def __repr__(self) -> str:
        return f"at most {int(self)}"

    __str__ = __repr__


def size(space: Space) -> int | float:
    """The number of configs: exact, ``math.inf``, or an ``AtMost``."""
    raise NotImplementedError
