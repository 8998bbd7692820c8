"""A trial: one evaluation of one configuration, and the functions that change its state.

The functions are pure. All storages share them, so a trial goes through the same states in each.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, Literal

from bough.errors import ConflictError, TrialError

__all__ = [
    "FILLED_IN",
    "MAX_ATTEMPTS",
    "Config",
    "Report",
    "State",
    "Trial",
    "available",
    "begun",
    "finished",
    "handed_out",
    "is_news",
    "renewed",
    "result_text",
    "storable",
]

Config = dict[str, Any]
"""The active parameters of a configuration, by name; every value is a JSON scalar."""

State = Literal["queued", "running", "done", "failed", "stopped"]


FILLED_IN = ("violated", "curve", "curves", "retracted", "corrected", "value_before", "partial", "resumes")
"""The fields of a trial that its study fills in; a storage does not keep them with the trial."""

MAX_ATTEMPTS = 3
"""How often a trial is handed out before it fails because its workers were lost."""


@dataclass(frozen=True, slots=True)
class Report:
    """A value that a running trial reported at a step of its evaluation, never negated.

    attempt: the attempt that reported it; 0 means the current one.
    measures: all objectives and limited measures by name, if the study has several; value is the first.
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
    value:    the reported result, never negated; None unless ``state`` is "done".
    noise:    reported standard deviation of the value; noises: of measures, by name. cost: reported cost of
              the evaluation.
    error:    why the trial failed, in one line; traceback: the full traceback, if there was an exception.
    attempt:  how often it was handed out; 0 while queued for the first time and for results that
              were added by hand. It distinguishes the current evaluation of the trial from earlier ones.
    started, finished: Unix times by the storage's clock.
    worker:   who evaluates it (host and process), expires: when its lease ends; None without a lease.
    measures: other numbers that were measured, by name. notes: anything else to remember, as JSON data.
              With named objectives, all of them are here; ``value`` is the first one.
    request:  mark of the service request that created the trial; holder: mark of the request that it was
              last handed out to, with its position among the trials of that request. A request that is sent
              again, perhaps to another service, finds its trials by these marks.
    learn:    whether methods learn from a failure; False if it says nothing about the config.
    violated: the study's constraints that the trial violates; the study fills it in, no storage keeps it.
    curve:    (step, value) of each report of the current attempt, steps ascending; the study fills it in.
    curves:   the same for each measure by name, if the study has several objectives or limits.
    retracted: why the result was retracted; corrected: why it was changed; value_before: the value before
              that. The study fills them in.
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
    started: float | None = field(default=None, repr=False)
    finished: float | None = field(default=None, repr=False)
    worker: str | None = field(default=None, repr=False)
    expires: float | None = field(default=None, repr=False)
    measures: dict[str, float] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
    traceback: str | None = field(default=None, repr=False)
    request: str | None = field(default=None, repr=False)
    holder: str | None = field(default=None, repr=False)
    learn: bool = True
    noises: dict[str, float] = field(default_factory=dict)
    violated: tuple[str, ...] = field(default=(), compare=False)
    curve: tuple[tuple[int, float], ...] = field(default=(), compare=False, repr=False)
    retracted: str | None = None
    corrected: str | None = None
    value_before: float | None = None
    partial: bool = field(default=False, compare=False)
    resumes: int | None = field(default=None, compare=False)
    curves: dict[str, tuple[tuple[int, float], ...]] = field(default_factory=dict, compare=False, repr=False)

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

    def __repr__(self) -> str:
        """The fields that have a value, without times, workers, marks and curves."""
        shown = []
        for each in fields(self):
            value = getattr(self, each.name)
            usual = each.default if each.default_factory is MISSING else each.default_factory()
            if each.repr and value != usual and not (each.name == "attempt" and value == 1):
                shown.append(f"{each.name}={value!r}")
        return f"Trial({', '.join(shown)})"

    def _repr_html_(self) -> str:
        from bough.space.html import block, faded, table  # for notebooks only

        value = "" if self.value is None else f", value {self.value:.6g}"
        noise = "" if self.noise is None else f" ± {self.noise:.3g}"
        error = "" if self.error is None else table([("error", self.error[:500])])
        rows = [*self.config.items(), *self.measures.items()]
        return block(f"Trial {self.number} {faded(self.state + value + noise)}", table(rows) + error)


def available(trial: Trial, now: float) -> bool:
    """Whether the trial waits to be handed out: it is queued, or its lease has expired."""
    return trial.state == "queued" or (trial.expires is not None and trial.expires < now)


def begun(trial: Trial, number: int, now: float, lease: float | None) -> Trial:
    """A trial as it is inserted."""
    if trial.state == "running":
        expires = None if lease is None else now + lease
        return replace(trial, number=number, attempt=1, started=now, expires=expires)
    if trial.is_finished:
        return replace(trial, number=number, finished=now)
    return replace(trial, number=number)


def handed_out(
    trial: Trial, worker: str, now: float, lease: float | None, holder: str | None = None
) -> Trial:
    """The next attempt of an available trial, or its failure when the attempts are used up.

    Only lost workers count: a trial that was put back into the queue is always handed out.
    """
    if trial.state == "running" and trial.attempt >= MAX_ATTEMPTS:
        reason = f"the worker was lost in each of {trial.attempt} attempts"
        return replace(trial, state="failed", error=reason, finished=now, expires=None)
    return replace(
        trial,
        state="running",
        attempt=trial.attempt + 1,
        worker=worker,
        holder=holder,
        started=now,
        expires=None if lease is None else now + lease,
    )


def finished(current: Trial, result: Trial, now: float) -> Trial:
    """``current`` with the result; ``current`` itself if it has that result already."""
    if current.is_finished:
        if _outcome(current) == _outcome(result):
            return current
        raise ConflictError(
            f"trial {current.number} is already finished ({result_text(current)}); "
            f"another result ({result_text(result)}) is refused"
        )
    if result.state != "done" and result.attempt not in (0, current.attempt):
        raise TrialError(
            f"attempt {result.attempt} of trial {current.number} {result.state}, but the trial was handed "
            f"out again: attempt {current.attempt} decides"
        )
    return replace(
        current,
        state=result.state,
        value=result.value,
        noise=result.noise,
        cost=result.cost,
        error=result.error,
        measures=result.measures,
        noises=result.noises,
        notes=result.notes,
        traceback=result.traceback,
        learn=result.learn,
        finished=now,
        expires=None,
    )


def is_news(current: Trial, report: Report, before: Report | None, last: int | None) -> bool:
    """Whether a report is new; False if it is stored already.

    before: the attempt's report at this step; last: its latest step so far. None if there is none.
    """
    if before is not None and (before.value, before.measures) == (report.value, report.measures):
        return False
    number, attempt = current.number, report.attempt or current.attempt
    if current.is_finished:
        raise TrialError(f"trial {number} is {current.state} already, so it cannot report step {report.step}")
    if attempt != current.attempt:
        raise TrialError(
            f"attempt {attempt} of trial {number} reported step {report.step}, but the trial was handed out "
            f"again: attempt {current.attempt} decides"
        )
    if current.state != "running":
        raise TrialError(f"trial {number} is {current.state}: only a running trial can report")
    if before is not None:
        known, new = (each.measures or each.value for each in (before, report))
        raise ConflictError(
            f"trial {number} reported {known!r} at step {report.step} already, so it cannot report {new!r} "
            "there"
        )
    if last is not None and report.step < last:
        raise TrialError(
            f"trial {number} reported step {last} already, so step {report.step} is too late: steps must grow"
        )
    return True


def renewed(current: Trial, held: Trial, now: float, lease: float | None) -> Trial | None:
    """``current`` with a new lease, or back in the queue; None if ``held`` no longer holds it."""
    if current.state != "running" or current.attempt != held.attempt:
        return None
    if lease is None:
        return replace(current, state="queued", expires=None)
    return replace(current, expires=now + lease)


def _outcome(trial: Trial) -> tuple[object, ...]:
    """Two results with equal outcomes are the same result. All failures are equal, whatever their reason."""
    if trial.state != "done":
        return (trial.state,)
    return trial.state, trial.value, trial.noise, trial.noises, trial.cost, trial.measures, trial.notes


def result_text(trial: Trial) -> str:
    """A result as text, such as ``value=0.5, noise=0.1``."""
    if trial.state == "failed":
        return f"failed: {trial.error}"
    if trial.state == "stopped":
        return "stopped"
    told: dict[str, object] = {"value": trial.value, "noise": trial.noise, "cost": trial.cost}
    told |= {**trial.measures, "noises": trial.noises or None, "notes": trial.notes or None}
    return ", ".join(f"{name}={number!r}" for name, number in told.items() if number is not None)


def storable(text: str) -> str:
    """The text in a form that every storage can hold: without NUL, without halves of surrogate pairs."""
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()
