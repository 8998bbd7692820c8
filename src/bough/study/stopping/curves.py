"""The learning curves of a study's trials, updated by appending new reports."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bough.trial import Report, Trial

if TYPE_CHECKING:
    from bough.study.encoded import ModelSpace

__all__ = ["Branches", "Curve", "CurveIndex", "reports_in"]


@dataclass
class Curve:
    """The reports of one attempt of a trial, steps ascending; it only grows.

    measures: the curve of each measure if the study has several objectives or limits; else empty.
    """

    attempt: int
    steps: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    measures: dict[str, Curve] = field(default_factory=dict)

    def append(self, step: int, value: float, measures: Mapping[str, float]) -> None:
        """Add a report with a later step than all before."""
        self.steps.append(step)
        self.values.append(value)
        for name, measured in measures.items():
            self.measures.setdefault(name, Curve(self.attempt)).append(step, measured, {})

    @property
    def length(self) -> int:
        """How many steps the attempt has made: one more than its last one if it counts from 0."""
        return self.steps[-1] + (self.steps[0] == 0) if self.steps else 0

    def place(self, step: int) -> int:
        """The number of reports up to the step."""
        return bisect_right(self.steps, step)

    def at(self, step: int) -> float | None:
        """The value reported at the step, or at the last one before it; None before the first."""
        place = self.place(step)
        return self.values[place - 1] if place else None

    def pairs(self) -> tuple[tuple[int, float], ...]:
        return tuple(zip(self.steps, self.values))

    def of_measure(self, name: str) -> Curve:
        """The curve of one measure; an empty one if it was never reported."""
        return self.measures.get(name) or Curve(self.attempt)


class CurveIndex:
    """The curve of the last attempt of each trial that reported something. count: the number of reports."""

    def __init__(self) -> None:
        self.count = 0
        self._curves: dict[int, Curve] = {}
        self._shown: dict[int, tuple[Trial, Trial]] = {}  # cache: each trial without and with its curve

    def update(self, reports: Iterable[Report]) -> None:
        """Append reports, in the order of their arrival."""
        for report in reports:
            self.count += 1
            curve = self._curves.get(report.number)
            if curve is None or curve.attempt < report.attempt:
                curve = self._curves[report.number] = Curve(report.attempt)
            if curve.attempt == report.attempt:
                curve.append(report.step, report.value, report.measures)

    def has(self, trial: Trial) -> bool:
        """Whether the trial reported something, perhaps in an earlier attempt."""
        return trial.number in self._curves

    def of(self, trial: Trial) -> Curve:
        """The curve of the trial's attempt; an empty one if it reported nothing."""
        curve = self._curves.get(trial.number)
        return curve if curve is not None and curve.attempt == trial.attempt else Curve(trial.attempt)

    def shown(self, trial: Trial) -> Trial:
        """The trial with its curve, as users see it; cached until the trial or its curve changes."""
        if trial.number not in self._curves:
            return trial
        plain, known = self._shown.get(trial.number, (None, trial))
        curve = self.of(trial)
        if plain is not trial or len(known.curve) != len(curve.steps):
            measured = {name: each.pairs() for name, each in curve.measures.items()}
            known = replace(trial, curve=curve.pairs(), curves=measured)
            self._shown[trial.number] = trial, known
        return known

    def reports(self, trials: Sequence[Trial]) -> list[Report]:
        """The reports of these trials in their last attempt."""
        return [report for trial in trials for report in reports_in(self.shown(trial))]


def reports_in(trial: Trial) -> list[Report]:
    """The reports in a shown trial: of its curve, and of the curves of all measures."""
    measured: dict[int, dict[str, float]] = {}
    for name, pairs in trial.curves.items():
        for step, value in pairs:
            measured.setdefault(step, {})[name] = value
    return [
        Report(trial.number, step, value, trial.attempt, measured.get(step, {}))
        for step, value in trial.curve
    ]


class Branches:
    """The branch of each trial, computed once; equal for trials on the same path."""

    def __init__(self, model: ModelSpace) -> None:
        self._model = model
        self._known: dict[int, bytes] = {}

    def of(self, trial: Trial) -> bytes:
        if trial.number not in self._known:
            point = self._model.encode([trial])
            self._known[trial.number] = self._model.space.tree.path_of(point)[0].key
        return self._known[trial.number]
