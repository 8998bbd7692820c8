"""How a trial changes: pure functions, which all storages share."""

from __future__ import annotations

from dataclasses import replace

from bough.errors import ConflictError, TrialError
from bough.trial import Report, Trial

__all__ = [
    "MAX_ATTEMPTS",
    "amended_meanwhile",
    "available",
    "begun",
    "finished",
    "handed_out",
    "is_news",
    "renewed",
]

MAX_ATTEMPTS = 3
"""How often a trial is handed out before the deaths of its workers count as its own failure."""


def available(trial: Trial, now: float) -> bool:
    """Whether the trial waits to be handed out: it is queued, or its worker let the lease end."""
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
            f"trial {current.number} is {_text(current)} already, so it cannot be {_text(result)} now"
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

    before: what the attempt reported at this step, last: its last step so far; None without one.
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


def amended_meanwhile() -> ConflictError:
    """The error for an amendment that was made without knowledge of the last one."""
    return ConflictError("another change to the study came first: look at it, then try again")


def _outcome(trial: Trial) -> tuple[object, ...]:
    """Two results with the same outcome are the same result; a failure is one whatever its reason."""
    if trial.state != "done":
        return (trial.state,)
    return trial.state, trial.value, trial.noise, trial.noises, trial.cost, trial.measures, trial.notes


def _text(trial: Trial) -> str:
    if trial.state == "failed":
        return f"failed ({trial.error})"
    if trial.state == "stopped":
        return "stopped"
    told: dict[str, object] = {"value": trial.value, "noise": trial.noise, "cost": trial.cost}
    told |= {**trial.measures, "noises": trial.noises or None, "notes": trial.notes or None}
    return "told " + ", ".join(f"{name}={number!r}" for name, number in told.items() if number is not None)
