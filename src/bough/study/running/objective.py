"""Calls an objective, with a run if it takes one, and turns its return value or exception into a result."""

from __future__ import annotations

import functools
import inspect
import os
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from bough.errors import ServiceError, StorageError, StudyError, Transient
from bough.study.goals import VALUE, Goals
from bough.study.other_names import RUN_NAMES, no_attribute
from bough.study.results import failure, outcome, stopped
from bough.trial import Trial, storable

if TYPE_CHECKING:
    from bough.space import Space

__all__ = [
    "Evaluate", "NoResult", "ObjectiveRaised", "OnError", "ReportTo", "Run", "check_objective",
    "conditions_of", "crashed", "evaluate_objective", "in_worker", "reason", "takes_run",
]  # fmt: skip

OnError = Literal["record", "raise"]

Evaluate = Callable[[Trial], Trial]
"""Evaluates a trial and returns its result, as made by ``results.outcome`` or ``results.failure``."""

ReportTo = Callable[[Trial, Any, int], bool]
"""Stores a report of a trial and says whether the trial should stop, as ``Study.report`` does."""

_PACKAGE = str(Path(__file__).parents[2])
"""The folder of bough itself."""

_MAX_TRACEBACK = 20_000

_MAX_CONDITION = 100
"""Characters of a condition that an error quotes."""

_ASKS = re.compile("float$|int$|categorical$|choice$|suggest_")
"""The methods of a trial by which an objective asks for a parameter, here and in Optuna."""


class Run:
    """One evaluation of a trial.

    ``report`` reports intermediate values; once ``stop`` is true, the objective should return. Its result
    is then ignored, because the trial is stored as stopped.
    """

    def __init__(self, trial: Trial, report: ReportTo) -> None:
        self.trial = trial
        self._report = report
        self._stop = False

    def report(self, value: float | Mapping[str, float], step: int) -> bool:
        """Report the value at a step, such as the error after an epoch; returns ``stop``.

        value: a dict of all objectives and limited measures where the study has several.
        """
        if not self._stop:
            self._stop = self._report(self.trial, value, step)
        return self._stop

    @property
    def stop(self) -> bool:
        """Whether the objective should return."""
        return self._stop

    if not TYPE_CHECKING:  # type checkers should report names that do not exist

        def __getattr__(self, name: str) -> Any:
            return no_attribute(self, name, RUN_NAMES)


def check_objective(objective: Any, argument: str = "a config") -> None:
    """StudyError if the objective cannot be called with its argument, and a run if it takes one."""
    if not callable(objective):
        raise StudyError(
            f"the objective must be a function of {argument}, not {type(objective).__name__}; it comes "
            "first, then the space"
        )
    function = objective
    while isinstance(function, functools.partial):
        function = function.func
    called = [function, type(function).__call__]  # an object may have an async __call__
    if any(map(inspect.iscoroutinefunction, called)):
        raise StudyError("the objective is async: write lambda config: asyncio.run(objective(config))")
    if any(map(inspect.isgeneratorfunction, called)) or any(map(inspect.isasyncgenfunction, called)):
        raise StudyError("the objective yields: let it return its result, and report others with run.report")
    try:
        signature = inspect.signature(objective)
    except (TypeError, ValueError):  # some builtins have no signature
        return
    try:
        signature.bind(*[None] * (2 if takes_run(objective) else 1))
    except TypeError as error:
        only = [each.kind for each in signature.parameters.values()]
        by_name = argument == "a config" and only == [inspect.Parameter.VAR_KEYWORD]
        why = "write lambda config: objective(**config)" if by_name else error
        raise StudyError(
            f"the objective is called with {argument}, and with a run if it has a second parameter: {why}"
        ) from None


def takes_run(objective: Callable[..., Any]) -> bool:
    """Whether the objective has a second parameter for the run: one without a default, or one called run."""
    try:
        parameters = list(inspect.signature(objective).parameters.values())
    except (TypeError, ValueError):  # some builtins have no signature
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(positional) < 2:
        return False
    return positional[1].default is positional[1].empty or positional[1].name == "run"


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
    needs: Mapping[str, str] | None = None,
) -> Trial:
    """The result of a trial; a failure if the objective raises anything but KeyboardInterrupt.

    on_error: "raise" passes the exception on as ``ObjectiveRaised``.
    report:   for an objective that takes a run. Once told to stop, its result or exception is ignored.
    needs:    ``conditions_of`` the space, for an objective that takes a config.
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
        if isinstance(error, KeyError):
            _hint_at_inactive(error, trial, needs or {})
        if on_error == "raise":
            raise ObjectiveRaised(crashed(trial, error), error) from None
        return crashed(trial, error)


def conditions_of(space: Space) -> dict[str, str]:
    """When each parameter is active, by the name that configs have; without those that always are."""
    found: dict[str, list[str]] = {}
    for parameter in space.parameters:
        if parameter.condition is not None:
            found.setdefault(parameter.name, []).append(str(parameter.condition))
    return {name: textwrap.shorten(" or ".join(each), _MAX_CONDITION) for name, each in found.items()}


def _hint_at_inactive(error: KeyError, trial: Trial, needs: Mapping[str, str]) -> None:
    """Add a note to the error if the objective read a parameter that is inactive in the trial."""
    name = error.args[0] if error.args else None
    if isinstance(name, str) and name in needs and name not in trial.config:
        error.add_note(
            f"{name!r} is inactive in this trial (it needs {needs[name]}): use config.get({name!r})"
        )


def in_worker(evaluate: Evaluate, trial: Trial) -> Trial:
    """Evaluate in a worker process, where exceptions become results, since they may not be picklable."""
    try:
        return evaluate(trial)
    except ObjectiveRaised as raised:
        return raised.result
    except BaseException as error:
        return crashed(trial, error)


_NO_FAULT_OF_THE_CONFIG = (Transient, StorageError, ServiceError)
"""What an objective may raise in any config: the last two if a report could not be stored."""


def crashed(trial: Trial, error: BaseException) -> Trial:
    """The failure of a trial whose evaluation raised an exception, with the whole traceback."""
    learn = not isinstance(error, _NO_FAULT_OF_THE_CONFIG)
    result = failure(trial.number, reason(error), trial.attempt, learn)
    return replace(result, traceback=_traceback(error))


def reason(error: BaseException) -> str:
    """An exception as one line: its text and notes, and the line of the user's code that raised it."""
    try:
        said = "; ".join([str(error), *map(str, getattr(error, "__notes__", ()))])
    except BaseException:  # the exception's __str__ may fail too
        said = "its text cannot be shown"
    text = " ".join(f"{type(error).__name__}: {said}".rstrip(": ").split())
    if type(error).__name__ == "TrialPruned":  # compared by name, because Optuna may not be installed
        text += "; bough stops a trial by run.report(value, step): return once run.stop is true"
    if isinstance(error, AttributeError) and isinstance(error.obj, dict) and _ASKS.match(error.name or ""):
        text += "; an objective that asks a trial for its parameters takes no space"
    trace = _own_frame(error.__traceback__)
    if trace is None:
        return text
    return f"{text} (line {trace.tb_lineno} of {trace.tb_frame.f_code.co_filename})"


def _own_frame(trace: TracebackType | None) -> TracebackType | None:
    """The innermost frame outside of libraries, else the innermost frame; None if bough itself raised."""
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
