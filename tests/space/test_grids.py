"""Ranks and positions of all grids at once are those of each domain."""

from __future__ import annotations

import numpy as np

from bough import Categorical, Float, Int, Space

SPACE = Space(
    {
        "real": Float(0.1, 9, log=True),
        "int": Int(-3, 40),
        "log": Int(1, 1000, log=True),
        "step": Float(0, 1, step=0.1),
        "few": Int(2, 5, log=True),
        "nominal": Categorical(list("abcde")),
    }
)


def test_ranks_and_positions_are_those_of_the_domains() -> None:
    grids, rng = SPACE.rules.grids, np.random.default_rng(0)
    unit = np.concatenate([rng.uniform(-0.1, 1.1, size=(200, len(SPACE))), np.eye(len(SPACE))])
    ranks = grids.rank_at(unit)
    for column, parameter in enumerate(SPACE.parameters):
        domain = parameter.domain
        if domain.kind == "real":
            continue
        np.testing.assert_array_equal(ranks[:, column], domain.rank_at(unit[:, column]))
        place = grids.position(ranks[:, column], np.full(len(unit), column))
        np.testing.assert_array_equal(place, domain.position(ranks[:, column]))


def test_a_space_without_grids() -> None:
    grids = Space({"x": Float(0, 1)}).rules.grids
    assert len(grids.even) == len(grids.log) == 0
    assert grids.rank_at(np.array([[0.3]])).shape == (1, 1)
