"""Calls an objective, and turns its return value or exception into a result."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from bough.errors import Transient
from bough.study.goals import VALUE, Goals
from bough.study.results import failure, outcome, stopped, storable
from bough.study.running.run_handle import ReportTo, Run
from bough.study.running.runnable import Evaluate
from bough.trial import Trial

__all__ = ["NoResult", "ObjectiveRaised", "OnError", "crashed", "evaluate_objective", "in_worker", "reason"]

OnError = Literal["record", "raise"]

_PACKAGE = str(Path(__file__).parents[2])
"""The folder of bough itself."""

_MAX_TRACEBACK = 20_000


class ObjectiveRaised(Exception):
    """The objective raised ``error``, and ``on_error="raise"``; ``result`` is what to record."""

    def __init__(self, result: Trial, error: BaseException) -> None:
        super().__init__(result.error)
        self.result, self.error = result, error


class NoResult(Exception):
    """An objective returned something other than a result. The text says why; its trial fails with it."""


def evaluate_objective(
    objective: Callable[..., Any],
    on_error: OnError,
    trial: Trial,
    goals: Goals = VALUE,
    report: ReportTo | None = None,
) -> Trial:
    """The result of a trial. Whatever the objective raises makes it a failed one, except Ctrl-C.

    on_error: "raise" hands the exception on as ``ObjectiveRaised``.
    report:   for an objective that takes a run. If it was told to stop, nothing else it does matters.
    """
    run = None if report is None else Run(trial, report)
    try:
        returned = objective(dict(trial.config)) if run is None else objective(dict(trial.config), run)
        return stopped(trial) if run is not None and run.stop else outcome(trial, returned, goals)
    except KeyboardInterrupt:
        raise
    except NoResult as error:
        return failure(trial.number, str(error), trial.attempt)
    except BaseException as error:
        if run is not None and run.stop:
            return stopped(trial)
        if on_error == "raise":
            raise ObjectiveRaised(crashed(trial, error), error) from None
        return crashed(trial, error)


def in_worker(evaluate: Evaluate, trial: Trial) -> Trial:
    """Evaluate in a worker, where Ctrl-C never arrives and an exception might not survive the way back."""
    try:
        return evaluate(trial)
    except ObjectiveRaised as raised:
        return raised.result
    except BaseException as error:
        return crashed(trial, error)


def crashed(trial: Trial, error: BaseException) -> Trial:
    """The failure of a trial whose evaluation raised an exception, with the whole traceback."""
    result = failure(trial.number, reason(error), trial.attempt, learn=not isinstance(error, Transient))
    return replace(result, traceback=_traceback(error))


def reason(error: BaseException) -> str:
    """An exception as one line: what it says with its notes, and the line of the user's code it came from."""
    try:
        said = "; ".join([str(error), *map(str, getattr(error, "__notes__", ()))])
    except BaseException:  # an exception's own __str__ may fail too
        said = "its text cannot be shown"
    text = " ".join(f"{type(error).__name__}: {said}".rstrip(": ").split())
    if type(error).__name__ == "TrialPruned":  # Optuna's, which need not be installed
        text += "; bough stops a trial by run.report(value, step): return once run.stop is true"
    trace = _own_frame(error.__traceback__)
    if trace is None:
        return text
    return f"{text} (line {trace.tb_lineno} of {trace.tb_frame.f_code.co_filename})"


def _own_frame(trace: TracebackType | None) -> TracebackType | None:
    """The innermost frame outside of libraries, else the innermost of all; None where bough itself raised."""
    own = last = None
    while trace is not None:
        last = trace
        if not _in_library(trace.tb_frame.f_code.co_filename):
            own = trace
        trace = trace.tb_next
    if own is None and last is not None and last.tb_frame.f_code.co_filename.startswith(_PACKAGE):
        return None
    return own or last


def _in_library(filename: str) -> bool:
    if filename.startswith("<frozen "):
        return True
    import sysconfig  # only objectives that raise need it

    homes = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    path = os.path.realpath(filename)
    return any(path.startswith(folder + os.sep) for folder in (_PACKAGE, *map(os.path.realpath, homes)))


def _traceback(error: BaseException) -> str:
    """The traceback without the frames of bough that called the objective; a long one loses its middle."""
    import traceback

    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_PACKAGE):
        trace = trace.tb_next
    try:
        text = "".join(traceback.TracebackException(type(error), error, trace).format())
    except Exception:
        text = reason(error)
    text = storable(text)
    if len(text) > _MAX_TRACEBACK:
        text = f"{text[: _MAX_TRACEBACK // 4]}\n[...]\n{text[-_MAX_TRACEBACK * 3 // 4 :]}"
    return text
