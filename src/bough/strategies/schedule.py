"""When to refit hyperparameters: at fixed numbers of observations (``model_based`` adds surprises).

Hyperparameters are fitted to a prefix of the history. The lengths of the prefixes follow a fixed sequence
that grows by a given fraction, which spreads the cost of fitting over many trials. A proposal uses the
hyperparameters of the longest scheduled prefix, and all the data.
"""

from __future__ import annotations

import math

__all__ = ["following", "half_way", "scheduled"]


def scheduled(n: int, growth: float) -> int:
    """The largest scheduled length <= n: 1, then each max(previous + 1, previous * (1 + growth))."""
    length = 1
    while True:
        longer = max(length + 1, math.ceil(length * (1 + growth)))
        if longer > n:
            return length
        length = longer


def following(n: int, growth: float) -> int:
    """The smallest scheduled length >= n."""
    length = scheduled(n, growth)
    return n if length == n else max(length + 1, math.ceil(length * (1 + growth)))


def half_way(length: int, growth: float) -> int | None:
    """The scheduled prefix whose hyperparameters start the search for those of ``length``.

    Half of the data already give a rough estimate, and repeated halving reaches the beginning in a few
    steps: a reopened study with n observations needs log2(n) fits.
    """
    return scheduled(length // 2, growth) if length >= 16 else None
