"""What the cost of a trial takes from the logarithm of its gain.

With c what a trial may well cost and L what is left of a budget,

    -a log(c / L + 1 / N) + r log P(cost <= L),    log c = m + k s.

The logarithm of the cost is normal with mean m and standard deviation s. ``strategies.cost_aware`` says why.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bough.acquisition.functions import Score, log_pi
from bough.points import FloatArray

__all__ = ["Price"]


@dataclass(frozen=True)
class Price:
    """A score of the log cost. Fields are in the order of ``price_t`` in ``core/src/model.h``.

    cooling, risk, caution: a, r and k above. log_floor: -log N.
    unit, offset: the log of cost / L is offset + unit z, where a model predicts z.
    """

    cooling: float
    risk: float
    caution: float
    log_floor: float
    unit: float
    offset: float

    def __call__(self, mean: FloatArray, sd: FloatArray, most: float | FloatArray) -> Score:
        """most: log L on the model's scale."""
        log_share = self.offset + self.unit * (mean + self.caution * sd)
        floored = np.logaddexp(log_share, self.log_floor)
        slope = -self.cooling * self.unit * np.exp(log_share - floored)
        in_time, by_mean, by_sd = log_pi(mean, sd, most)
        return (
            self.risk * in_time - self.cooling * floored,
            self.risk * by_mean + slope,
            self.risk * by_sd + slope * self.caution,
        )
