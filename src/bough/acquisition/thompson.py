"""Thompson sampling: propose the best candidate under one joint draw of the objective (Thompson 1933)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bough.points import IntArray, Points

if TYPE_CHECKING:
    from bough.gp.posterior import Posterior

__all__ = ["thompson"]


def thompson(
    posteriors: Sequence[Posterior], candidates: Points, n: int, rng: np.random.Generator
) -> IntArray:
    """(n,) rows of ``candidates``, each the minimum of one joint draw over all of them.

    Each draw picks one of the posteriors at random, so the rows follow the posterior distribution of the
    minimiser. Candidates must be legal already.
    """
    member = rng.choice(len(posteriors), size=n, p=np.full(len(posteriors), 1.0 / len(posteriors)))
    rows = np.empty(n, dtype=np.intp)
    for index, posterior in enumerate(posteriors):
        draws = member == index
        if draws.any():
            rows[draws] = posterior.sample(candidates, int(draws.sum()), rng).argmin(axis=1)
    return rows
