"""A whole study in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

from bough.errors import StudyError
from bough.registry import Method
from bough.space import Space
from bough.storage import Storage
from bough.strategies.base import Strategy
from bough.study.events import ProgressOption
from bough.study.objective import OnError
from bough.study.study import Study
from bough.trial import Trial

__all__ = ["maximize", "minimize", "optimize"]


def minimize(
    objective: Callable[..., Any],
    space: Space | None = None,
    trials: int | None = None,
    *,
    method: str | Method | Strategy = "auto",
    seed: int | None = None,
    stopping: str | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    storage: str | Storage | None = None,
    name: str | None = None,
    timeout: float | None = None,
    trial_timeout: float | None = None,
    callbacks: Sequence[Callable[[Study, Trial], Any]] = (),
    progress: ProgressOption = None,
    on_error: OnError = "record",
    budget: float | None = None,
    until: str | None = None,
    instances: Iterable[Any] | None = None,
) -> Study:
    """Search ``space`` for the config with the smallest ``objective(config)``; returns the finished study.

    The objective returns a number, or a dict with "value" and, if known, "noise" (the standard deviation of
    the value) and "cost"; numbers under other names are kept as ``trial.measures``.
    See ``Study`` for what a study is, ``Study.run`` for how it is run.

    Without a space the objective gets a trial and asks it for its parameters: ``trial.float(name, low,
    high)``, ``trial.int``, ``trial.categorical`` and ``trial.choice``. The study learns from the trials which
    parameters exist under which earlier answers; ``study.space`` is what it learned.
    """
    study = _study(
        space, name=name, storage=storage, method=method, seed=seed, stopping=stopping, direction="minimize"
    )
    return study.run(
        objective,
        trials,
        workers=workers,
        executor=executor,
        timeout=timeout,
        trial_timeout=trial_timeout,
        callbacks=callbacks,
        progress=progress,
        on_error=on_error,
        budget=budget,
        until=until,
        instances=instances,
    )


def maximize(
    objective: Callable[..., Any],
    space: Space | None = None,
    trials: int | None = None,
    *,
    method: str | Method | Strategy = "auto",
    seed: int | None = None,
    stopping: str | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    storage: str | Storage | None = None,
    name: str | None = None,
    timeout: float | None = None,
    trial_timeout: float | None = None,
    callbacks: Sequence[Callable[[Study, Trial], Any]] = (),
    progress: ProgressOption = None,
    on_error: OnError = "record",
    budget: float | None = None,
    until: str | None = None,
    instances: Iterable[Any] | None = None,
) -> Study:
    """Like ``minimize``, for the largest ``objective(config)``."""
    study = _study(
        space, name=name, storage=storage, method=method, seed=seed, stopping=stopping, direction="maximize"
    )
    return study.run(
        objective,
        trials,
        workers=workers,
        executor=executor,
        timeout=timeout,
        trial_timeout=trial_timeout,
        callbacks=callbacks,
        progress=progress,
        on_error=on_error,
        budget=budget,
        until=until,
        instances=instances,
    )


def optimize(
    objective: Callable[..., Any],
    space: Space | None = None,
    trials: int | None = None,
    *,
    objectives: Mapping[str, str] | Sequence[str] | None = None,
    constraints: Sequence[str] = (),
    reference: Mapping[str, float] | None = None,
    method: str | Method | Strategy = "auto",
    seed: int | None = None,
    stopping: str | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    storage: str | Storage | None = None,
    name: str | None = None,
    timeout: float | None = None,
    trial_timeout: float | None = None,
    callbacks: Sequence[Callable[[Study, Trial], Any]] = (),
    progress: ProgressOption = None,
    on_error: OnError = "record",
    budget: float | None = None,
    until: str | None = None,
    instances: Iterable[Any] | None = None,
) -> Study:
    """Like ``minimize``, for several objectives, or under constraints.

    The objective returns a dict of numbers that has every name in ``objectives`` and ``constraints``; see
    ``Study`` for these. The results are in ``study.front``, for one objective in ``study.best``.
    """
    study = _study(
        space,
        name=name,
        storage=storage,
        method=method,
        seed=seed,
        stopping=stopping,
        objectives=objectives,
        constraints=constraints,
        reference=reference,
    )
    return study.run(
        objective,
        trials,
        workers=workers,
        executor=executor,
        timeout=timeout,
        trial_timeout=trial_timeout,
        callbacks=callbacks,
        progress=progress,
        on_error=on_error,
        budget=budget,
        until=until,
        instances=instances,
    )


def _study(space: Space | None, **options: Any) -> Study:
    """A study in the space, or one that learns it."""
    if isinstance(space, int):
        raise StudyError(f"the second argument is the space: write trials={space}")
    if space is not None:
        return Study(space, **options)
    from bough.study.learned_study import LearnedStudy  # only for objectives that ask

    return LearnedStudy(**options)
