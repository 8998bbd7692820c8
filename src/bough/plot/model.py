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
"""Trials up to which the study's model predicts; with more, the tree ensemble is faster."""


def predictor(snapshot: StudySnapshot) -> tuple[Predict, str] | None:
    """A function for mean and standard deviation at configs, and its name; None with too few trials.

    It is the study's model, or the tree ensemble if the method has no model.
    """
    if len(snapshot.done) < MIN_TRIALS:
        return None
    if snapshot.predict is not None and len(snapshot.done) <= MAX_TRIALS_OF_MODEL:
        return snapshot.predict, "the study's model"
    return partial(_predict, snapshot), "a tree ensemble"


def _predict(snapshot: StudySnapshot, configs: Sequence[Config]) -> tuple[FloatArray, FloatArray]:
    return snapshot.ensemble.predict(snapshot.space.encode(configs))
