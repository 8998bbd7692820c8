"""The options of ``run``: their names, their defaults, and their checks.

``Study.run`` documents each option. Other functions take ``**options: Unpack[RunOptions]``: type checkers and
editors read the names here, and ``listing_options`` shows them in ``help`` and notebooks. A run begins with
``check_run``, which stores nothing.
"""

from __future__ import annotations

import inspect
import logging
import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any, SupportsIndex, TypedDict, TypeVar, Unpack

from bough.errors import StudyError
from bough.study.handles import as_float, is_positive
from bough.study.other_names import unexpected
from bough.study.running.executors import check_pool
from bough.study.running.objective import OnError
from bough.study.running.progress import ProgressOption, reporter
from bough.study.running.runnable import RunnableStudy
from bough.study.running.settling import check_until
from bough.study.running.spending import checked_budget
from bough.trial import Trial

__all__ = ["LocalRunOptions", "RunOptions", "RunPlan", "check_run", "listing_options", "warn_at_start"]

F = TypeVar("F", bound=Callable[..., Any])

MAX_PATHS = 256
"""The search for parameters that are never active visits every path; larger spaces are not searched."""

_log = logging.getLogger("bough")


class RunOptions(TypedDict, total=False):
    """Options of a run, for local and served studies."""

    workers: int | None
    executor: Executor | None
    timeout: float | None
    trial_timeout: float | None
    callbacks: Sequence[Callable[[Any, Trial], Any]]
    progress: ProgressOption
    on_error: OnError
    budget: float | None
    until: str | None


class LocalRunOptions(RunOptions, total=False):
    """Options of a run whose study is in this process."""

    instances: Iterable[Any] | None


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """The checked options of ``run``, with their defaults."""

    trials: int | None = None
    workers: int | None = None
    executor: Executor | None = None
    timeout: float | None = None
    trial_timeout: float | None = None
    callbacks: Sequence[Callable[[Any, Trial], Any]] = ()
    progress: ProgressOption = None
    on_error: OnError = "record"
    budget: float | None = None
    until: str | None = None


def listing_options(source: Callable[..., Any], options: type) -> Callable[[F], F]:
    """Let a function's signature list its ``**options`` by name, with the defaults of ``source``."""

    def decorate(function: F) -> F:
        shown = inspect.signature(function)
        own = [each for each in shown.parameters.values() if each.kind is not each.VAR_KEYWORD]
        known = inspect.signature(source).parameters
        listed = [known[name] for name in options.__annotations__]
        function.__signature__ = shown.replace(parameters=[*own, *listed])  # type: ignore[attr-defined]
        return function

    return decorate


def check_run(study: object, trials: int | None = None, **options: Unpack[RunOptions]) -> RunPlan:
    """The plan of a run; StudyError if one of its options is wrong."""
    if unknown := options.keys() - RunOptions.__annotations__.keys():
        raise unexpected(min(unknown), ["trials", *LocalRunOptions.__annotations__])
    plan = RunPlan(trials=trials, **options)
    if trials is not None and (
        isinstance(trials, bool) or not isinstance(trials, SupportsIndex) or trials < 0
    ):
        raise StudyError(f"trials must be a number of trials or None, not {trials!r}")
    times = {"timeout": plan.timeout, "trial_timeout": plan.trial_timeout}
    for name, seconds in times.items():
        if seconds is not None and not is_positive(seconds, infinite=True):
            raise StudyError(f"{name} must be a positive number of seconds or None, not {seconds!r}")
        times[name] = None if seconds is None else as_float(seconds)
    if plan.budget is not None:
        checked_budget(plan.budget)
    check_until(plan.until, study)
    reporter(plan.progress)
    if plan.on_error not in ("record", "raise"):
        raise StudyError(f"on_error must be 'record' or 'raise', not {plan.on_error!r}")
    callbacks = list(plan.callbacks) if isinstance(plan.callbacks, Iterable) else plan.callbacks
    if not isinstance(callbacks, list) or not all(map(callable, callbacks)):
        raise StudyError(f"callbacks must be a list of functions, not {callbacks!r:.80}")
    for callback in callbacks:
        _check_callback(callback)
    check_pool(plan.workers, plan.executor, plan.trial_timeout)
    return replace(plan, callbacks=callbacks, timeout=times["timeout"], trial_timeout=times["trial_timeout"])


def _check_callback(callback: Callable[..., Any]) -> None:
    """StudyError unless it takes a study and a trial: better now than after the first trial."""
    try:
        signature = inspect.signature(callback)
    except (TypeError, ValueError):  # a builtin without a signature
        return
    try:
        signature.bind(None, None)
    except TypeError:
        name = getattr(callback, "__name__", type(callback).__name__)
        raise StudyError(
            f"a callback is called with two arguments, study and trial, which {name!r} does not take"
        ) from None


def warn_at_start(study: RunnableStudy, plan: RunPlan) -> None:
    """Warn about parameters that are never active, and about a run without any limit."""
    space = study.space
    for column in space.tree.never_active(MAX_PATHS):
        path, condition = space.parameters[column].path, space.parameters[column].condition
        _log.warning("parameter %r is never active: no configuration meets %s", path, condition)
    limits = (plan.trials, plan.timeout, plan.budget, plan.until)
    if all(limit is None for limit in limits) and not plan.callbacks and space.size == math.inf:
        _log.warning(
            "this run has no limit, such as trials= or timeout=: Ctrl-C ends it and keeps all results"
        )
