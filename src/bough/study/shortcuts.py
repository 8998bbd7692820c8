"""A whole study in one call: ``minimize``, ``maximize`` and ``optimize``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Unpack, cast

from bough.errors import StudyError
from bough.registry import Method
from bough.space import Space
from bough.storage import Storage
from bough.strategies.base import Strategy
from bough.study.other_names import unexpected
from bough.study.running.objective import check_objective
from bough.study.running.run_options import LocalRunOptions, check_run, listing_options
from bough.study.study import Study

__all__ = ["maximize", "minimize", "optimize"]

_like_run = listing_options(Study.run, LocalRunOptions)


@_like_run
def minimize(
    objective: Callable[..., Any],
    space: Space | None = None,
    trials: int | None = None,
    *,
    constraints: Sequence[str] = (),
    method: str | Method | Strategy = "auto",
    seed: int | None = None,
    stopping: str | None = None,
    learn_from: Sequence[Any] = (),
    storage: str | Storage | None = None,
    name: str | None = None,
    **options: Unpack[LocalRunOptions],
) -> Study:
    """Search ``space`` for the config with the smallest ``objective(config)``; returns the finished study.

    The objective returns a number, or a dict with "value" and, if known, "noise" (the standard deviation of
    the value) and "cost"; numbers under other names are kept as ``trial.measures``, and ``constraints`` may
    limit them: ``["memory <= 512"]``.
    See ``Study`` for what a study is and for ``learn_from``. ``options`` are those of ``Study.run``: workers,
    timeout, callbacks ...

    Without a space the objective gets a trial and asks it for its parameters: ``trial.float(name, low,
    high)``, ``trial.int``, ``trial.categorical`` and ``trial.choice``. The study learns from the trials which
    parameters exist under which earlier answers; ``study.space`` is what it learned.
    """
    wanted = dict(
        constraints=constraints,
        method=method,
        seed=seed,
        stopping=stopping,
        learn_from=learn_from,
        storage=storage,
        name=name,
    )
    return _optimize(objective, space, trials, wanted, options)


@_like_run
def maximize(
    objective: Callable[..., Any],
    space: Space | None = None,
    trials: int | None = None,
    *,
    constraints: Sequence[str] = (),
    method: str | Method | Strategy = "auto",
    seed: int | None = None,
    stopping: str | None = None,
    learn_from: Sequence[Any] = (),
    storage: str | Storage | None = None,
    name: str | None = None,
    **options: Unpack[LocalRunOptions],
) -> Study:
    """Like ``minimize``, for the largest ``objective(config)``."""
    wanted = dict(
        constraints=constraints,
        method=method,
        seed=seed,
        stopping=stopping,
        learn_from=learn_from,
        storage=storage,
        name=name,
    )
    return _optimize(objective, space, trials, {**wanted, "direction": "maximize"}, options)


@_like_run
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
    learn_from: Sequence[Any] = (),
    storage: str | Storage | None = None,
    name: str | None = None,
    **options: Unpack[LocalRunOptions],
) -> Study:
    """Like ``minimize``, for several objectives.

    The objective returns a dict of numbers that has every name in ``objectives`` and ``constraints``; see
    ``Study`` for these. The results are in ``study.front``, for one objective in ``study.best``.
    """
    goals = dict(objectives=objectives, constraints=constraints, reference=reference)
    wanted = dict(
        method=method, seed=seed, stopping=stopping, learn_from=learn_from, storage=storage, name=name
    )
    return _optimize(objective, space, trials, {**wanted, **goals}, options)


def _optimize(
    objective: Callable[..., Any],
    space: Space | None,
    trials: int | None,
    wanted: Mapping[str, Any],
    options: LocalRunOptions,
) -> Study:
    """Run a study in the space; without a space, one that learns it."""
    options = cast(
        LocalRunOptions, {k: list(v) if isinstance(v, Iterator) else v for k, v in options.items()}
    )
    if isinstance(space, int):
        raise StudyError(f"the second argument is the space: write trials={space}")
    if space is None and wanted["learn_from"]:
        raise StudyError(
            "learn_from= needs a space: pass one, such as Space.trace(f) of a function that asks"
        )
    if unknown := options.keys() - LocalRunOptions.__annotations__.keys():  # before anything is stored
        if (wrong := min(unknown)) in ("objectives", "reference"):
            raise TypeError(f"unexpected keyword argument {wrong!r}: bough.optimize takes it")
        if wrong == "direction":
            use = "bough.minimize or bough.maximize, or objectives={name: direction} of bough.optimize"
            raise TypeError(f"unexpected keyword argument 'direction': use {use}")
        raise unexpected(wrong, ["trials", *wanted, *LocalRunOptions.__annotations__])

    def study(**given: Any) -> Study:
        if space is not None:
            return Study(space, **given)
        from bough.study.learned_study import LearnedStudy  # only for objectives that ask

        return LearnedStudy(**given)

    if wanted["storage"] is not None:
        rehearsal = {**wanted, "storage": None, "learn_from": ()}  # these may be names of stored studies
        _check(study(**rehearsal), objective, trials, options, space is not None)
    return study(**wanted).run(objective, trials, **options)


def _check(
    rehearsal: Study, objective: Any, trials: int | None, options: LocalRunOptions, in_space: bool
) -> None:
    """Check the options on a study in memory, so that a mistake is found before the real one is stored."""
    from bough.study.stopping.races import begin_race

    given: dict[str, Any] = dict(options)
    instances = given.pop("instances", None)
    if instances is not None and in_space:
        begin_race(rehearsal, objective, instances)
    else:
        check_objective(objective, "a config" if in_space else "a trial")
    check_run(rehearsal, trials, **given)
