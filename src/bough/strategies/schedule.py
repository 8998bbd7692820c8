"""When to refit hyperparameters: at fixed numbers of observations (``model_based`` adds surprises).

Hyperparameters are fitted to a prefix of the history. The lengths of the prefixes follow a fixed sequence
that grows by a given fraction, which spreads the cost of fitting over many trials. A proposal uses the
hyperparameters of the longest scheduled prefix, and all the data.
"""

from __future__ import annotations

import math

__all__ = ["LONGEST_CHAIN", "earlier", "following", "scheduled"]

LONGEST_CHAIN = 128
"""Up to this many observations each fit starts where the one before it ended."""


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


def earlier(length: int, growth: float) -> int | None:
    """The scheduled prefix whose hyperparameters start the search for those of ``length``.

    The latest fit is the best start: a search from it takes a third of the evaluations that one from half of
    the data takes. But a reopened study repeats all fits of the chain, and fits to many data are slow. So a
    long prefix starts from one that is a quarter shorter, and few fits lead there.
    """
    if length < 16:
        return None
    return scheduled(length - 1 if length <= LONGEST_CHAIN else length * 3 // 4, growth)
