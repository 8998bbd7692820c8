"""What figures are drawn from: a study's trials and space as one plain, frozen value.

``StudyView.of(study)`` takes the snapshot once; every figure, the report and the service read only
this, so that none of them needs a live study and all of them show the same moment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from bough.errors import ConfigError
from bough.plot.ensemble import Ensemble, fit_ensemble
from bough.plot.outline import Activity, Branch, activity, count, outline
from bough.points import BoolArray, FloatArray, IntArray, Points
from bough.space import Space
from bough.trial import Config, Trial

__all__ = ["Predict", "StudyLike", "StudyView"]

Predict = Callable[[Sequence[Config]], tuple[FloatArray, FloatArray]]
"""Mean and standard deviation of a study's model at configs, in the study's own units."""


class StudyLike(Protocol):
    """What a figure needs of a study; local and served ones offer it alike."""

    @property
    def name(self) -> str | None: ...
    @property
    def space(self) -> Space: ...
    @property
    def direction(self) -> str: ...
    @property
    def trials(self) -> Sequence[Trial]: ...


@dataclass(frozen=True, eq=False)
class StudyView:
    """A study at one moment.

    trials:  all of them, by number. branch: what the view was narrowed to by ``within``.
    predict: the model's mean and sd at configs, where the study's method has a model.
    """

    name: str
    space: Space
    direction: str
    trials: tuple[Trial, ...]
    predict: Predict | None = None
    branch: tuple[tuple[str, Any], ...] = ()

    @staticmethod
    def of(study: StudyLike | StudyView) -> StudyView:
        """A snapshot of a local or served study; a view is returned as it is."""
        if isinstance(study, StudyView):
            return study
        return StudyView(
            name=study.name or "study",
            space=study.space,
            direction=study.direction,
            trials=tuple(study.trials),
            predict=getattr(study, "predict", None) if getattr(study, "has_model", False) else None,
        )

    def within(self, branch: Mapping[str, Any] | None) -> StudyView:
        """Only the trials in a branch, given by its forks: ``{"model": "svm"}``, ``{"layers": "≥ 3"}``.

        A fork is named by its name or path, the way on from it by its value or by its label in the tree.
        """
        narrowed = self
        for name, wanted in (branch or {}).items():
            fork = next((f for b in self.root.walk() for f in b.forks if name in (f.path, f.name)), None)
            if fork is None:
                raise ConfigError(f"no parameter {name!r} decides a branch of this space")
            way = next((b.way for b in fork.branches if b.label == wanted or b.way.matches(wanted)), None)
            if way is None:
                known = ", ".join(b.label for b in fork.branches[:12])
                raise ConfigError(f"{name!r} has no branch {wanted!r}: its branches are {known}")
            kept = tuple(
                t for t in narrowed.trials if fork.name in t.config and way.holds(t.config[fork.name])
            )
            narrowed = replace(narrowed, trials=kept, branch=(*narrowed.branch, (fork.path, way.label)))
        return narrowed

    @property
    def minimizes(self) -> bool:
        return self.direction == "minimize"

    @cached_property
    def done(self) -> tuple[Trial, ...]:
        """Finished trials, by number."""
        return tuple(t for t in self.trials if t.state == "done" and t.value is not None)

    @cached_property
    def failed(self) -> tuple[Trial, ...]:
        return tuple(t for t in self.trials if t.state == "failed")

    @cached_property
    def values(self) -> FloatArray:
        """(done,) told values, in the user's own direction."""
        return np.array([t.value for t in self.done], dtype=float)

    @cached_property
    def numbers(self) -> IntArray:
        """(done,) trial numbers."""
        return np.array([t.number for t in self.done], dtype=np.intp)

    @cached_property
    def incumbent(self) -> FloatArray:
        """(done,) the best value so far."""
        best = np.minimum.accumulate if self.minimizes else np.maximum.accumulate
        return np.asarray(best(self.values)) if len(self.done) else self.values

    @cached_property
    def ranking(self) -> IntArray:
        """(done,) rows from the best value to the worst; earlier trials first among equals."""
        return np.argsort(self.values if self.minimizes else -self.values, kind="stable")

    @property
    def best(self) -> Trial | None:
        return self.done[int(self.ranking[0])] if self.done else None

    @cached_property
    def points(self) -> Points:
        """The finished trials, encoded."""
        return self.space.encode([t.config for t in self.done])

    @cached_property
    def active(self) -> BoolArray:
        """(done, columns) whether the parameter of each column is active."""
        return self.space.layout.active(self.points.on)

    @cached_property
    def ensemble(self) -> Ensemble:
        """Trees fitted to the finished trials, at least one; the same trials give the same trees."""
        return fit_ensemble(
            self.space.layout, self.points, self.values, np.random.default_rng(len(self.done))
        )

    @cached_property
    def root(self) -> Branch:
        """The space as a tree of branches, with the trials of each counted."""
        return count(outline(self.space), self.trials, self.where, self.minimizes)

    @cached_property
    def where(self) -> Activity:
        """In which trials each parameter is active."""
        return activity(self.space, self.trials)
