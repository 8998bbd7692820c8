"""Thompson sampling: let one joint draw of the objective say which candidate is best (Thompson 1933)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bough.acquisition.criterion import log_sum_exp
from bough.points import FloatArray, IntArray, Points

if TYPE_CHECKING:
    from bough.gp.posterior import Posterior

__all__ = ["thompson"]


def thompson(
    posteriors: Sequence[Posterior],
    candidates: Points,
    n: int,
    rng: np.random.Generator,
    log_weights: FloatArray | None = None,
) -> IntArray:
    """(n,) rows of ``candidates``, each the minimum of its own joint draw over all of them.

    Each draw takes its model from ``posteriors`` with the given weights (equal if None), so that the rows
    follow the posterior law of the minimiser. Candidates must be legal already.
    """
    log_weights = np.zeros(len(posteriors)) if log_weights is None else log_weights
    member = rng.choice(len(posteriors), size=n, p=np.exp(log_weights - log_sum_exp(log_weights)))
    rows = np.empty(n, dtype=np.intp)
    for index, posterior in enumerate(posteriors):
        draws = member == index
        if draws.any():
            rows[draws] = posterior.sample(candidates, int(draws.sum()), rng).argmin(axis=1)
    return rows
