"""The best of a dense Sobol grid (Spearmint's and Assael et al. 2014's: 20,000 points), without gradients.

For criteria with jumps, such as that of a treed model at every split. A finite space no larger than the grid
is listed completely; otherwise points that snap to the same configuration are scored once.
"""

from __future__ import annotations

import numpy as np

from bough.acquisition.criterion import Criterion
from bough.acquisition.maximise.candidates import CandidateFilter, best_row, distinct, every_point
from bough.points import Points
from bough.space import Space
from bough.space.sampling import sobol_points

__all__ = ["best_of_sobol"]


def best_of_sobol(
    space: Space,
    criterion: Criterion,
    *,
    near: Points,
    avoid: Points,
    rng: np.random.Generator,
    points: int = 20_000,
) -> Points:
    """The best grid point that is not in ``avoid``; no row if there is none. ``near`` is ignored."""
    grid = every_point(space, points)
    if grid is None:
        grid = sobol_points(space, points, rng)
        if space.size < np.inf:
            grid = distinct(space.layout, grid)
    return best_row(grid, CandidateFilter(space, avoid).score(grid, criterion(grid)))
