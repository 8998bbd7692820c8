"""The input of every figure: an immutable snapshot of a study's space and trials.

``StudySnapshot.of(study)`` reads the study once. Figures, report and service read only the snapshot,
so they need no live study and all show the same moment.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np

from bough.errors import ConfigError, StudyError
from bough.plot.ensemble import Ensemble, fit_ensemble
from bough.plot.outline import Activity, Branch, Switch, activity, count, outline
from bough.points import BoolArray, FloatArray, IntArray, Points
from bough.space import Space
from bough.study.goals import VALUE, Goals
from bough.study.handles import checked_branch
from bough.study.running.spending import ended_cost
from bough.study.stopping.fidelities import Fidelity
from bough.trial import Trial

__all__ = ["Predict", "StudyLike", "StudySnapshot", "near"]

Predict = Callable[..., tuple[FloatArray, FloatArray]]
"""Mean and standard deviation of a study's model at a sequence of configs, in the study's units.

``measure=`` names an objective; by default it is the first one.
"""


def near(name: str, known: Iterable[str]) -> str:
    """A hint at the known names closest to a wrong one, or at all of them if none is close."""
    names = list(dict.fromkeys(known))
    close = difflib.get_close_matches(str(name), names, n=3)
    if close:
        return f"; did you mean {' or '.join(map(repr, close))}?"
    return f"; it has {', '.join(names[:12])}" if names else ""


class StudyLike(Protocol):
    """The part of a study that figures read; local and served studies have it."""

    @property
    def name(self) -> str | None: ...
    @property
    def space(self) -> Space: ...
    @property
    def direction(self) -> str: ...
    @property
    def trials(self) -> Sequence[Trial]: ...


@dataclass(frozen=True, eq=False)
class StudySnapshot:
    """A study at one moment.

    trials:  all of them, by number. branch: the steps to the branch that ``within`` selected.
    goals, measure: ``showing`` reduces the goals to one measure, and keeps its name.
    predict: the model's mean and sd at configs, if the study's method has a model.
    stopping: the rule that stops trials. earlier: trials whose configs are not in the current space; they
    are not among ``trials``. told: measures of trials outside of the branch.
    """

    name: str
    space: Space
    direction: str
    trials: tuple[Trial, ...]
    predict: Predict | None = None
    branch: tuple[tuple[str, Any], ...] = ()
    goals: Goals = VALUE
    stopping: str = "median"
    earlier: tuple[Trial, ...] = ()
    measure: str = ""
    told: tuple[str, ...] = ()

    @staticmethod
    def of(study: StudyLike | StudySnapshot) -> StudySnapshot:
        """A snapshot of a local or served study; a snapshot is returned unchanged."""
        if isinstance(study, StudySnapshot):
            return study
        if not (hasattr(study, "trials") and hasattr(study, "space")):
            raise StudyError(f"a figure shows a study of bough, not {type(study).__name__}")
        trials = tuple(study.trials)
        fitting = _of_space(study.space, tuple(getattr(study, "current_trials", trials)))
        numbers = {trial.number for trial in fitting}
        return StudySnapshot(
            name=study.name or "study",
            space=study.space,
            direction=study.direction,
            trials=fitting,
            earlier=tuple(trial for trial in trials if trial.number not in numbers),
            predict=getattr(study, "predict", None) if getattr(study, "has_model", False) else None,
            goals=getattr(study, "goals", VALUE),
            stopping=getattr(study, "stopping", "median"),
        )

    def within(self, branch: Mapping[str, Any] | None) -> StudySnapshot:
        """Only the trials in a branch, given by its switches: ``{"model": "svm"}``, ``{"layers": "≥ 3"}``.

        A switch is given by its name or path; its value as such, or by its label in the tree.
        """
        if branch is not None:
            checked_branch(branch)
        narrowed = self
        for name, wanted in (branch or {}).items():
            switch = self._switch(name)
            known = switch.branches
            value = next((b.value for b in known if b.label == wanted or b.value.matches(wanted)), None)
            if value is None:
                labels = ", ".join(b.label for b in known[:12])
                raise ConfigError(f"{name!r} has no branch {wanted!r}: its branches are {labels}")
            active = self.where[switch.path]
            kept = [t for t in narrowed.trials if t.number in active and value.holds(t.config[switch.name])]
            chosen = (*narrowed.branch, (switch.path, value.label))
            narrowed = replace(narrowed, trials=tuple(kept), branch=chosen, told=self.measures)
        return narrowed

    def showing(self, measure: str | None = None) -> StudySnapshot:
        """The snapshot with one measure as the value of every trial, by default the first objective.

        measure: a name in ``trial.measures``, or ``cost`` (seconds, if none was reported). Its direction is
        that of its objective, or the side that a constraint allows; any other measure is minimised.
        Trials without it have no value.
        """
        wanted = self.goals.value_name if measure is None else measure
        if wanted == self.goals.value_name and len(self.goals.objectives) <= 1:
            return self
        if wanted not in self._showing:
            self._showing[wanted] = self._narrowed_to(wanted)
        return self._showing[wanted]

    @cached_property
    def _showing(self) -> dict[str, StudySnapshot]:
        """A cache of snapshots by measure, so figures of the same measure share fitted models."""
        return {}

    def _narrowed_to(self, measure: str) -> StudySnapshot:
        if measure not in self.measures:
            raise ConfigError(f"no trial has a measure {measure!r}{near(measure, self.measures)}")
        direction = self.goals.direction_of(measure)
        first = measure == self.goals.value_name
        return replace(
            self,
            measure=measure,
            direction=direction,
            goals=replace(self.goals, objectives=((measure, direction),), reference=()),
            trials=self.trials if first else self._valued(measure),
            predict=partial(self.predict, measure=measure)
            if self.predict is not None and measure in self.goals.names
            else None,
        )

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """The measures that ``showing`` accepts: of the goals, of the trials, and the cost."""
        told = dict.fromkeys(name for trial in self.trials for name in trial.measures)
        cost = ["cost"] if any(self._costs) else []
        return tuple(dict.fromkeys([self.goals.value_name, *self.goals.needed, *told, *self.told, *cost]))

    @cached_property
    def _costs(self) -> list[float | None]:
        """The costs of finished evaluations: reported costs, or seconds if no trial has one."""
        fidelity = Fidelity.of(self.space)
        ended = [ended_cost(trial, None if fidelity is None else fidelity.name) for trial in self.trials]
        told = [cost for cost, _ in ended]
        return told if any(cost is not None for cost in told) else [untold for _, untold in ended]

    def _valued(self, measure: str) -> tuple[Trial, ...]:
        """The trials with a measure, and its curve, in place of their values and curves."""
        named = [trial.measures.get(measure) for trial in self.trials]
        values = self._costs if measure == "cost" else named
        return tuple(
            replace(
                trial,
                value=value if value is not None and math.isfinite(value) else None,
                curve=trial.curves.get(measure, ()),
            )
            for trial, value in zip(self.trials, values)
        )

    def _switch(self, name: str) -> Switch:
        """The switch of that path, or of that name if it is unique."""
        switches = {switch.path: switch for branch in self.root.walk() for switch in branch.switches}
        if name in switches:
            return switches[name]
        found = [switch for switch in switches.values() if switch.name == name]
        if len(found) > 1:
            paths = ", ".join(switch.path for switch in found)
            raise ConfigError(f"{name!r} names several switches: say which of {paths}")
        if not found:
            raise ConfigError(f"no parameter {name!r} decides a branch of this space{near(name, switches)}")
        return found[0]

    @property
    def minimizes(self) -> bool:
        return self.direction == "minimize"

    @cached_property
    def done(self) -> tuple[Trial, ...]:
        """Finished trials whose results count, by number; with a fidelity only those at the highest one."""
        counting = (t for t in self.trials if t.retracted is None and not t.partial)
        return tuple(t for t in counting if t.state == "done" and t.value is not None)

    @cached_property
    def retracted(self) -> tuple[Trial, ...]:
        """Trials whose results were retracted."""
        return tuple(t for t in self.trials if t.retracted is not None)

    @cached_property
    def failed(self) -> tuple[Trial, ...]:
        return tuple(t for t in self.trials if t.state == "failed" and t.retracted is None)

    @cached_property
    def values(self) -> FloatArray:
        """(done,) reported values, in the user's direction."""
        return np.array([t.value for t in self.done], dtype=float)

    @cached_property
    def numbers(self) -> IntArray:
        """(done,) trial numbers."""
        return np.array([t.number for t in self.done], dtype=np.intp)

    @cached_property
    def incumbent(self) -> FloatArray:
        """(done,) the best feasible value so far; infinite before there is one."""
        best = np.minimum.accumulate if self.minimizes else np.maximum.accumulate
        feasible = np.array([trial.feasible for trial in self.done], dtype=bool)
        values = np.where(feasible, self.values, np.inf if self.minimizes else -np.inf)
        return np.asarray(best(values)) if len(self.done) else self.values

    @cached_property
    def ranking(self) -> IntArray:
        """(done,) rows from the best value to the worst, infeasible ones last; earlier trials win ties."""
        infeasible = np.array([not trial.feasible for trial in self.done], dtype=bool)
        return np.lexsort((self.values if self.minimizes else -self.values, infeasible))

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


def _of_space(space: Space, trials: tuple[Trial, ...]) -> tuple[Trial, ...]:
    """The trials whose configs belong to the space; those of an earlier space may not."""
    try:
        space.encode([trial.config for trial in trials])
        return trials
    except ConfigError:
        if len(trials) == 1:
            return ()
    half = len(trials) // 2
    return _of_space(space, trials[:half]) + _of_space(space, trials[half:])
