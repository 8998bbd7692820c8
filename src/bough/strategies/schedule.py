"""When to learn hyperparameters anew: a function of how much data there is, nothing else.

Hyperparameters belong to a prefix of the history. Its length follows a fixed sequence that grows
by a given fraction, so that the cost of fitting is spread over many trials; a proposal uses the
hyperparameters of the longest scheduled prefix, and all the data.
"""

from __future__ import annotations

import math

__all__ = ["half_way", "scheduled"]


def scheduled(n: int, growth: float) -> int:
    """The largest scheduled length <= n: 1, then each max(previous + 1, previous * (1 + growth))."""
    length = 1
    while True:
        longer = max(length + 1, math.ceil(length * (1 + growth)))
        if longer > n:
            return length
        length = longer


def half_way(length: int, growth: float) -> int | None:
    """The scheduled prefix whose hyperparameters start the search for those of ``length``.

    Half the data already tell roughly where the optimum lies, and halving again and again reaches
    the beginning in a few steps: a study that is reopened with n results needs log2(n) fits.
    """
    return scheduled(length // 2, growth) if length >= 16 else None
