"""The working set: everything while it fits, then the best, the latest and a spread of the rest."""

from __future__ import annotations

import numpy as np
import pytest
from tests.strategies.histories import history

import bough
from bough.registry import build
from bough.strategies.base import lowest_rows
from bough.strategies.hyperparameters import working_rows


def test_small_histories_are_seen_whole() -> None:
    assert working_rows(np.array([3.0, 1.0, 2.0]), limit=3).tolist() == [0, 1, 2]


def test_large_ones_keep_the_best_the_latest_and_a_spread() -> None:
    y = np.random.default_rng(0).normal(size=2000)
    rows = working_rows(y, limit=400)
    assert len(rows) == 400
    assert np.all(np.diff(rows) > 0)
    assert set(np.argsort(y)[:200]) <= set(rows.tolist())
    assert set(range(1900, 2000)) <= set(rows.tolist())
    others = [row for row in rows if row < 1900 and row not in set(np.argsort(y)[:200])]
    assert min(others) < 50
    assert max(np.diff(others)) < 100


@pytest.mark.parametrize("count", [1, 7, 29, 30, 99])
def test_the_lowest_rows_are_those_of_a_stable_sort(count: int) -> None:
    y = np.random.default_rng(count).integers(0, 6, size=30).astype(float)  # many ties
    np.testing.assert_array_equal(lowest_rows(y, count), np.argsort(y, kind="stable")[:count])


@pytest.mark.parametrize(("options", "rows"), [({}, 30), ({"working_set": 20}, 20)])
def test_the_limit_is_an_option(options: dict[str, int], rows: int) -> None:
    space = bough.Space({"x": bough.Float(0, 1)})
    strategy = build(bough.method("gp", **options), space)
    done = [({"x": i / 30}, float(np.sin(i / 6))) for i in range(30)]
    (posterior,) = strategy.model(history(space, done)).posteriors
    assert len(posterior.inner.data.y) == rows


def test_the_papers_methods_see_two_thousand_rows() -> None:
    space = bough.Space({"x": bough.Float(0, 1)})
    for name in ("tree", "add-tree", "add-tree-interactions", "conditional", "treed", "gp", "independent"):
        assert build(name, space).working_set == 2000
    assert build("auto", space).working_set == 256
