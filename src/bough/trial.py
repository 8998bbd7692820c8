"""One evaluation of one configuration: what a study hands out, and what it remembers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

__all__ = ["FILLED_IN", "Config", "Report", "State", "Trial", "own_copy"]

Config = dict[str, Any]
"""The active parameters of a configuration, by name; every value is a JSON scalar."""

State = Literal["queued", "running", "done", "failed", "stopped"]


FILLED_IN = ("violated", "curve", "curves", "retracted", "corrected", "value_before", "partial", "resumes")
"""The fields of a trial that its study fills in from elsewhere; no row of a trial has them."""


@dataclass(frozen=True, slots=True)
class Report:
    """A value that a running trial reported at a step of its evaluation, in the user's own direction.

    attempt: the attempt that reported it; 0 stands for the current one.
    measures: all objectives and limited measures by name, where the study has several; value is the first.
    """

    number: int
    step: int
    value: float
    attempt: int = 0
    measures: dict[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Trial:
    """A snapshot of a trial; the study, not this object, changes when a result is told.

    number:   0, 1, 2, ... without gaps.
    value:    the told result, in the user's own direction; None unless ``state`` is "done".
    noise:    told standard deviation of the value; noises: of measures, by name. cost: told cost of the
              evaluation.
    error:    why the trial failed, in one line; traceback: the exception in full, where there was one.
    attempt:  how often it was handed out; 0 while queued for the first time and for results that
              were added by hand. It tells an old evaluation of the trial from the current one.
    started, finished: Unix times by the storage's clock.
    worker:   who evaluates it (host and process), expires: when its lease ends; None without a lease.
    measures: other numbers that were measured, by name. notes: anything else to remember, as JSON data.
              With named objectives, all of them are here; ``value`` is the first one.
    request:  mark of the service's request that put the trial in; holder: mark of the one that it was
              last handed out to, with its place among the trials of that request. A request that is sent
              again, perhaps to another service, finds its trials by them.
    learn:    whether methods learn from a failure; False where it says nothing about the config.
    violated: the study's constraints that the trial violates; the study fills it in, no storage keeps it.
    curve:    (step, value) of each report of the current attempt, steps ascending; the study fills it in.
    curves:   the same for each measure by name, where the study has several objectives or limits.
    retracted: why the result does not count, corrected: why it was changed, value_before: from which value;
              the study fills them in.
    partial:  whether it was evaluated below the highest fidelity, so its result is not compared with full
              ones. resumes: the number of the trial with the same config at the next lower fidelity, whose
              evaluation this one may continue. The study fills them in.

    A trial whose reports showed that it is not worth finishing is "stopped": it has a curve and no value.
    """

    number: int
    config: Config
    state: State
    value: float | None = None
    noise: float | None = None
    cost: float | None = None
    error: str | None = None
    attempt: int = 0
    started: float | None = None
    finished: float | None = None
    worker: str | None = None
    expires: float | None = None
    measures: dict[str, float] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
    traceback: str | None = None
    request: str | None = None
    holder: str | None = None
    learn: bool = True
    noises: dict[str, float] = field(default_factory=dict)
    violated: tuple[str, ...] = field(default=(), compare=False)
    curve: tuple[tuple[int, float], ...] = field(default=(), compare=False)
    retracted: str | None = None
    corrected: str | None = None
    value_before: float | None = None
    partial: bool = field(default=False, compare=False)
    resumes: int | None = field(default=None, compare=False)
    curves: dict[str, tuple[tuple[int, float], ...]] = field(default_factory=dict, compare=False)

    @property
    def is_finished(self) -> bool:
        """Whether the trial has its final state."""
        return self.state in ("done", "failed", "stopped")

    @property
    def feasible(self) -> bool:
        """Whether the trial has a full result that was not retracted and meets every constraint."""
        return self.state == "done" and not self.violated and not self.partial and self.retracted is None

    @property
    def was_added(self) -> bool:
        """Whether the result was put in by hand (``study.add``), without the trial being handed out."""
        return self.is_finished and self.attempt == 0

    def _repr_html_(self) -> str:
        from bough.space.html import block, faded, table  # for notebooks only

        value = "" if self.value is None else f", value {self.value:.6g}"
        noise = "" if self.noise is None else f" ± {self.noise:.3g}"
        error = "" if self.error is None else table([("error", self.error[:500])])
        rows = [*self.config.items(), *self.measures.items()]
        return block(f"Trial {self.number} {faded(self.state + value + noise)}", table(rows) + error)


def own_copy(trial: Trial) -> Trial:
    """The trial with dicts that the user may change."""
    return replace(trial, config=dict(trial.config), measures=dict(trial.measures), notes=dict(trial.notes))
