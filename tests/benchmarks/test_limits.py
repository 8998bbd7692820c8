"""The benchmark of limits: what counts as the best so far."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.limits import best_so_far
from benchmarks.objectives import Task
from benchmarks.problems.yahpo import DATA


def test_infeasible_results_never_count() -> None:
    results = np.array([[0.1, 1.0], [0.5, 0.0], [0.2, 0.1], [0.4, -1.0], [0.6, -1.0]])
    assert best_so_far(results).tolist() == [np.inf, 0.5, 0.5, 0.4, 0.4]


def test_the_measures_of_both_benchmarks_exist() -> None:
    pytest.importorskip("onnxruntime")
    if not DATA.exists():
        pytest.skip("no surrogates here")
    task = Task("yahpo-xgboost-3", memory=True)
    config = task.space.sample(1, np.random.default_rng(0))[0]
    assert len(task(config)) == 3 and len(Task("yahpo-xgboost-3")(config)) == 2
