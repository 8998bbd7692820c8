"""Expected improvement as far as one noisy trial can show it.

Beside an incumbent with many trials the latent function is still a little uncertain, so expected improvement
never quite vanishes there. But if that uncertainty is small compared to the noise, one more trial reveals
hardly anything of it. Augmented expected improvement (Huang et al. 2006, J. Global Optim. 34) is

    EI (1 − σ / sqrt(s² + σ²))

with s the standard deviation of the latent function and σ the noise. Without noise it is EI.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bough.acquisition.criterion import average
from bough.acquisition.functions import SD_FLOOR, log_ei
from bough.gp.posterior import Posterior
from bough.points import FloatArray, Points

__all__ = ["log_augmented_ei"]


def log_augmented_ei(posteriors: Sequence[Posterior], best: Sequence[float], points: Points) -> FloatArray:
    """(n,) its logarithm, averaged over posteriors. best: the incumbent under each of them."""
    scores = []
    for posterior, incumbent in zip(posteriors, best, strict=True):
        (mean, sd), noise = posterior.predict(points), posterior.observation_noise
        sd = np.maximum(sd, SD_FLOOR)
        total = np.hypot(sd, noise)
        # 1 − σ / t = s² / (t (t + σ)) with t = sqrt(s² + σ²), without cancellation
        log_share = np.log(sd / total) + np.log(sd / (total + noise))
        scores.append(log_ei(mean, sd, incumbent)[0] + log_share)
    return average(scores, log=True)[0]
