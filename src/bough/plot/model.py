"""What a figure believes about untried configurations: the study's own model, or trees where it has none."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from bough.plot.view import Predict, StudyView
from bough.points import FloatArray
from bough.trial import Config

__all__ = ["believed", "column_values", "varied"]

FEW_TRIALS = 5
MANY_TRIALS = 2000
"""With fewer finished trials there is nothing to believe; with more, the trees are the quicker model."""


def believed(view: StudyView) -> tuple[Predict, str] | None:
    """Mean and sd at configs, and what they come from; None while there is too little to go by."""
    if len(view.done) < FEW_TRIALS:
        return None
    if view.predict is not None and len(view.done) <= MANY_TRIALS:
        return view.predict, "the study's model"
    return partial(_predict, view), "a tree ensemble"


def _predict(view: StudyView, configs: Sequence[Config]) -> tuple[FloatArray, FloatArray]:
    return view.ensemble.predict(view.space.encode(configs))


def column_values(view: StudyView, column: int, most: int) -> list[Any]:
    """Up to ``most`` values of a parameter, evenly spread over its range; every option of a categorical."""
    domain = view.space.parameters[column].domain
    if 0 < domain.levels <= most or domain.kind == "nominal":
        return list(domain.values(np.arange(float(domain.levels))))
    ranks = domain.rank_at(np.linspace(0, 1, most))
    return list(dict.fromkeys(domain.values(ranks).tolist()))


def varied(view: StudyView, centre: Config, **values: Any) -> Config | None:
    """``centre`` with some parameters changed (by name); None if that is not a configuration of the space."""
    config = {**centre, **values}
    try:
        return view.space.validate(config)
    except ValueError:
        return None
