"""The predictions that figures show for untried configurations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from bough.plot.snapshot import Predict, StudySnapshot
from bough.points import FloatArray
from bough.trial import Config

__all__ = ["MIN_TRIALS", "predictor"]

MIN_TRIALS = 5
MAX_TRIALS_OF_MODEL = 2000
"""With fewer finished trials nothing is predicted; with more, the trees are the quicker model."""


def predictor(snapshot: StudySnapshot) -> tuple[Predict, str] | None:
    """Mean and standard deviation at configs, and what predicts them; None with too few trials.

    The study's own model, or the tree ensemble if its method has none.
    """
    if len(snapshot.done) < MIN_TRIALS:
        return None
    if snapshot.predict is not None and len(snapshot.done) <= MAX_TRIALS_OF_MODEL:
        return snapshot.predict, "the study's model"
    return partial(_predict, snapshot), "a tree ensemble"


def _predict(snapshot: StudySnapshot, configs: Sequence[Config]) -> tuple[FloatArray, FloatArray]:
    return snapshot.ensemble.predict(snapshot.space.encode(configs))
