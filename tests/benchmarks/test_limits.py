"""The benchmark of limits: what counts as the best so far."""

from __future__ import annotations

import numpy as np

from benchmarks.limits import best_so_far


def test_infeasible_results_never_count() -> None:
    results = np.array([[0.1, 1.0], [0.5, 0.0], [0.2, 0.1], [0.4, -1.0], [0.6, -1.0]])
    assert best_so_far(results).tolist() == [np.inf, 0.5, 0.5, 0.4, 0.4]
