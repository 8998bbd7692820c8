"""What a figure believes about untried configurations: the study's own model, or trees where it has none."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from bough.plot.snapshot import Predict, StudySnapshot
from bough.points import FloatArray
from bough.trial import Config

__all__ = ["column_values", "predictor", "varied"]

FEW_TRIALS = 5
MANY_TRIALS = 2000
"""With fewer finished trials there is nothing to believe; with more, the trees are the quicker model."""


def predictor(snapshot: StudySnapshot) -> tuple[Predict, str] | None:
    """Mean and sd at configs, and what they come from; None while there is too little to go by."""
    if len(snapshot.done) < FEW_TRIALS:
        return None
    if snapshot.predict is not None and len(snapshot.done) <= MANY_TRIALS:
        return snapshot.predict, "the study's model"
    return partial(_predict, snapshot), "a tree ensemble"


def _predict(snapshot: StudySnapshot, configs: Sequence[Config]) -> tuple[FloatArray, FloatArray]:
    return snapshot.ensemble.predict(snapshot.space.encode(configs))


def column_values(snapshot: StudySnapshot, column: int, most: int) -> list[Any]:
    """Up to ``most`` values of a parameter, evenly spread over its range; every option of a categorical."""
    domain = snapshot.space.parameters[column].domain
    if 0 < domain.levels <= most or domain.kind == "nominal":
        return list(domain.values(np.arange(float(domain.levels))))
    ranks = domain.rank_at(np.linspace(0, 1, most))
    return list(dict.fromkeys(domain.values(ranks).tolist()))


def varied(snapshot: StudySnapshot, centre: Config, **values: Any) -> Config | None:
    """``centre`` with some parameters changed (by name); None if that is not a configuration of the space."""
    config = {**centre, **values}
    try:
        return snapshot.space.validate(config)
    except ValueError:
        return None
