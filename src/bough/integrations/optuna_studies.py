"""Converts Optuna studies to bough studies, and back: trials, goals, reports and attributes."""

from __future__ import annotations

import contextlib
import json
import math
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.exceptions import ExperimentalWarning
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState, create_trial

from bough.errors import ConfigError, SpaceError, StudyError, TrialError, about_parameter
from bough.integrations.optuna_results import constraints_of, slacks_of
from bough.integrations.optuna_trials import distribution_of, hull
from bough.registry import Method
from bough.space import Categorical, Float, Space
from bough.space.discovery import ASKED, discover, whole_runs
from bough.space.parameters import Domain
from bough.space.scalars import Scalar
from bough.storage import Storage
from bough.strategies.base import Strategy
from bough.study import Study
from bough.study.catalogue import create_study
from bough.study.goals import Goals, Limit, parse_goals
from bough.study.records import new_record
from bough.study.results import failure, told
from bough.trial import Trial

__all__ = ["export_study", "import_study"]

NOISE, COST, ERROR = "bough:noise", "bough:cost", "bough:error"
"""User attributes for fields of bough's trials that Optuna's trials lack."""

_FINISHED = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)


def import_study(
    study: optuna.Study,
    *,
    name: str | None = None,
    storage: str | Storage | None = None,
    space: Space | None = None,
    method: str | Method | Strategy = "auto",
    seed: int | None = None,
) -> Study:
    """A new bough study with the finished trials of an Optuna study; waiting and running trials are left out.

    name:    of the new study; by default the name of the Optuna study.
    storage: where it is kept; by default in memory.
    space:   the search space; by default learned from the trials. Ranges that changed become their hull.

    Objectives and constraints become the study's goals, and a pruned trial a stopped one with its reports.
    User attributes become measures if they are numbers, and notes otherwise. A trial without a finite value
    becomes a failed one. A constraint that a completed trial lacks counts as violated, as in the sampler.
    """
    if not isinstance(study, optuna.Study):
        raise StudyError(f"import_study needs a study of Optuna, not {type(study).__name__}")
    if space is not None and not isinstance(space, Space):
        raise StudyError(f"space must be a bough.Space, not {type(space).__name__}")
    trials = [trial for trial in study.get_trials(deepcopy=False) if trial.state in _FINISHED]
    asked = [trial for trial in trials if trial.params]
    if not asked:
        raise StudyError(f"the Optuna study {study.study_name!r} has no finished trial with parameters")
    goals = _goals_of(study, trials)
    if space is None:
        space, kept, configs = _learned(asked, study.study_name)
    else:
        kept, configs = _in_space(space, asked, study.study_name)
    record = new_record(space, study.study_name if name is None else name, goals, method, seed)
    constraints = list(dict.fromkeys(key for trial in kept for key in constraints_of(trial)))
    rows = []
    for number, (trial, config, slacks) in enumerate(
        zip(kept, configs, slacks_of(kept, constraints).tolist(), strict=True)
    ):
        measured = {_measure(key): slack for key, slack in zip(constraints, slacks) if not math.isnan(slack)}
        with _of_trial(trial, study.study_name):
            rows.append(_imported(trial, number, config, goals, measured))
    return create_study(record, rows, [], record.name, storage)


def export_study(
    study: Study, *, study_name: str | None = None, storage: Any = None, **options: Any
) -> optuna.Study:
    """A new Optuna study with the trials of a bough study; queued and running trials are waiting there.

    study_name: of the new study, by default the name of this one. storage and other options are those of
    ``optuna.create_study``. Limits become constraints, measures and notes user attributes. A retracted trial
    becomes a failed one, and a trial below the highest fidelity a pruned one.
    """
    if not hasattr(study, "goals"):
        raise StudyError(f"export_study needs a study of bough, not {type(study).__name__}")
    goals = study.goals
    if not goals.objectives:
        raise StudyError(f"study {study.name!r} has no objective, which a study of Optuna needs")
    rows = [(trial, _asked(trial), _frozen(trial, study.space, goals)) for trial in study.trials]
    made = optuna.create_study(
        study_name=study_name or study.name,
        storage=storage,
        directions=[StudyDirection[direction.upper()] for _, direction in goals.objectives],
        **options,
    )
    if goals.names != ("value",):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalWarning)
            made.set_metric_names(list(goals.names))
    is_new = not made.get_trials(deepcopy=False)  # False if ``load_if_exists`` found an existing study
    try:
        for trial, config, frozen in rows:
            if frozen is None:
                made.enqueue_trial(config)
            else:
                with _placed(trial):
                    made.add_trial(frozen)
    except BaseException:  # users would mistake a partial study for a complete one
        if is_new:
            optuna.delete_study(study_name=made.study_name, storage=made._storage)
        raise
    return made


def _asked(trial: Trial) -> dict[str, Any]:
    """The parameters that the objective asked for, with their values."""
    return {name: value for name, value in trial.config.items() if not name.startswith(ASKED)}


def _frozen(trial: Trial, space: Space, goals: Goals) -> FrozenTrial | None:
    """A finished trial as Optuna stores it; None for a queued or running one."""
    if not trial.is_finished:
        return None
    with _placed(trial):
        return _exported(trial, _asked(trial), space, goals)


@contextlib.contextmanager
def _placed(trial: Trial) -> Iterator[None]:
    """StudyError that names the trial if it cannot be converted to Optuna."""
    try:
        yield
    except (ValueError, ConfigError) as error:
        raise StudyError(f"trial {trial.number} cannot be converted to an Optuna trial: {error}") from None


# ---- goals -----------------------------------------------------------------------------------


def _goals_of(study: optuna.Study, trials: Sequence[FrozenTrial]) -> Goals:
    directions = [direction.name.lower() for direction in study.directions]
    names = study.metric_names
    constraints = [
        str(_limit(key, trials)) for key in dict.fromkeys(key for t in trials for key in constraints_of(t))
    ]
    if len(directions) == 1 and names is None:
        return parse_goals(None, constraints, None, directions[0])
    names = names or [f"value {i}" for i in range(len(directions))]
    return parse_goals(dict(zip(names, directions, strict=True)), constraints, None)


def _limit(key: str, trials: Sequence[FrozenTrial]) -> Limit:
    """The limit for a constraint of Optuna: as bough wrote it, else that its measure is at most 0."""
    try:
        limit = Limit.parse(key)
    except StudyError:
        return Limit(_measure(key), "<=", 0.0)
    whole = [trial for trial in trials if trial.state == TrialState.COMPLETE]
    measured = all(limit.name in trial.user_attrs for trial in whole)
    return limit if measured else Limit(_measure(key), "<=", 0.0)


def _measure(key: str) -> str:
    return f"constraint {key}".replace("`", "'")


# ---- trials ----------------------------------------------------------------------------------


def _learned(
    trials: Sequence[FrozenTrial], study: str
) -> tuple[Space, list[FrozenTrial], list[dict[str, Any]]]:
    """The space learned from the trials, and the trials that are configurations of it."""
    seen: dict[str, list[BaseDistribution]] = {}
    for trial in trials:
        for name, distribution in trial.distributions.items():
            seen.setdefault(name, []).append(distribution)
    domains = {name: _domain(name, distributions) for name, distributions in seen.items()}
    runs = []
    for trial in trials:
        with _of_trial(trial, study):
            runs.append(_config(trial, domains))
    whole = whole_runs(runs, [trial.state == TrialState.FAIL for trial in trials], domains)
    kept = [row for row, is_whole in enumerate(whole) if is_whole]
    space, configs = discover(domains, [runs[row] for row in kept])
    return space, [trials[row] for row in kept], configs


def _domain(name: str, distributions: Sequence[BaseDistribution]) -> Domain:
    latest = distributions[-1]
    if isinstance(latest, CategoricalDistribution):
        with about_parameter(name):
            return Categorical([_option(choice, latest.choices) for choice in latest.choices])
    if all(each == latest for each in distributions) and latest.single():
        return Categorical([latest.low])  # type: ignore[attr-defined]  # a number
    found = hull(name, distributions)
    if isinstance(found, Float) and isinstance(latest, IntDistribution):
        raise SpaceError(
            f"parameter {name!r} has integers up to {latest.high}, too many for an Int: pass space= with a "
            "Float"
        )
    return found


@contextlib.contextmanager
def _of_trial(trial: FrozenTrial, study: str) -> Iterator[None]:
    """StudyError that names the trial if it cannot be converted to bough."""
    try:
        yield
    except (ConfigError, TrialError) as error:
        raise StudyError(f"trial {trial.number} of {study!r} cannot be imported: {error}") from None


def _option(choice: Any, choices: Sequence[Any]) -> Scalar:
    """An option of Optuna as JSON data: itself, or its name if that is unique among the options."""
    if choice is None or isinstance(choice, (str, int, float, bool)):
        return choice
    names = [getattr(each, "__name__", None) or str(each) for each in choices]
    name = names[choices.index(choice)]
    return name if names.count(name) == 1 and name not in choices else choices.index(choice)


def _answers(trial: FrozenTrial) -> dict[str, Any]:
    """The parameters of a trial with their values as JSON data."""
    return {
        name: _option(value, each.choices)
        if isinstance(each := trial.distributions[name], CategoricalDistribution)
        else value
        for name, value in trial.params.items()
    }


def _config(trial: FrozenTrial, domains: Mapping[str, Domain]) -> dict[str, Any]:
    found = {}
    for name, value in _answers(trial).items():
        try:
            found[name] = domains[name].check(value)
        except ConfigError as error:
            raise ConfigError(f"parameter {name!r} {error}; pass space= with a range that has it") from None
    return found


def _in_space(
    space: Space, trials: Sequence[FrozenTrial], name: str
) -> tuple[list[FrozenTrial], list[dict[str, Any]]]:
    """The trials as configurations of a given space; only failed trials may be outside of it."""
    kept, configs = [], []
    for trial in trials:
        try:
            configs.append(space.validate(_answers(trial)))
            kept.append(trial)
        except ConfigError as error:
            if trial.state != TrialState.FAIL:
                raise StudyError(f"trial {trial.number} of {name!r} is not in the space: {error}") from None
    return kept, configs


def _imported(
    trial: FrozenTrial, number: int, config: dict[str, Any], goals: Goals, slacks: Mapping[str, float]
) -> Trial:
    attributes = {key: value for key, value in trial.user_attrs.items() if key not in (NOISE, COST, ERROR)}
    extra: dict[str, Any] = {name: slack for name, slack in slacks.items() if name in goals.needed}
    if trial.state == TrialState.COMPLETE:
        values = dict(zip(goals.names, trial.values, strict=True))
        noise = trial.user_attrs.get(NOISE)  # a number, or a dict by measure
        result = told(
            number,
            {**_measures(attributes), **extra, **values},
            noise,
            trial.user_attrs.get(COST),
            1,
            goals=goals,
        )
    else:
        result = failure(number, str(trial.user_attrs.get(ERROR) or _why(trial)), 1)
        result = replace(result, measures={**_measures(attributes), **extra})
    curve = tuple((step, v) for step, v in sorted(trial.intermediate_values.items()) if math.isfinite(v))
    if trial.state == TrialState.PRUNED and curve:
        result = replace(result, state="stopped", error=None)
    started, finished = trial.datetime_start, trial.datetime_complete
    return replace(
        result,
        config=config,
        curve=curve,
        curves={goals.names[0]: curve} if curve and not goals.is_single else {},
        notes={**result.notes, **_notes(attributes)},
        started=None if started is None else started.timestamp(),
        finished=0.0 if finished is None else finished.timestamp(),
    )


def _why(trial: FrozenTrial) -> str:
    pruned = trial.state == TrialState.PRUNED
    return "pruned in Optuna before it reported a value" if pruned else "failed in Optuna"


def _is_number(value: Any) -> bool:
    is_real = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_real and abs(value) <= sys.float_info.max  # False for NaN, too


def _measures(attributes: Mapping[str, Any]) -> dict[str, float]:
    """The user attributes that are numbers, except names with another meaning in a result."""
    return {
        k: float(v) for k, v in attributes.items() if _is_number(v) and k not in ("noise", "cost", "value")
    }


def _notes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    taken = _measures(attributes)
    return {
        key: json.loads(json.dumps(value, default=str))
        for key, value in attributes.items()
        if key not in taken
    }


def _exported(trial: Trial, config: dict[str, Any], space: Space, goals: Goals) -> FrozenTrial:
    on = space.layout.active(space.encode([trial.config]).on)[0]
    distributions = {
        parameter.name: distribution_of(parameter.domain)
        for parameter, is_on in zip(space.parameters, on)
        if is_on and parameter.name in config
    }
    failed = trial.retracted is not None  # Optuna has no other state for a retracted result
    names = goals.names if trial.state == "done" and not failed else ()
    attributes: dict[str, Any] = dict(trial.notes)
    attributes.update({key: value for key, value in trial.measures.items() if key not in names})
    why = f"retracted: {trial.retracted}" if failed else trial.error
    told = {NOISE: trial.noises or trial.noise, COST: trial.cost, ERROR: why}
    attributes.update({key: value for key, value in told.items() if value is not None})
    done = TrialState.PRUNED if trial.partial else TrialState.COMPLETE
    states = {"done": done, "stopped": TrialState.PRUNED, "failed": TrialState.FAIL}
    made = create_trial(
        state=TrialState.FAIL if failed else states[trial.state],
        values=[goals.measured(trial, name) for name in names] or (None if failed else _last_report(trial)),
        params=config,
        distributions=distributions,
        user_attrs=attributes,
        system_attrs=_constraints(trial, goals) if names else {},
        intermediate_values=dict(trial.curve),
    )
    if trial.started is not None:
        made.datetime_start = datetime.fromtimestamp(trial.started)
    if trial.finished is not None:
        made.datetime_complete = datetime.fromtimestamp(trial.finished)
    return made


def _last_report(trial: Trial) -> list[float] | None:
    """The last report of a trial: the value of a pruned trial in Optuna."""
    return [trial.curve[-1][1]] if trial.state == "stopped" and trial.curve else None


def _constraints(trial: Trial, goals: Goals) -> dict[str, Any]:
    """The limits as Optuna stores constraints: by name since version 5, as a list before."""
    slacks = goals.slacks(trial)
    if not slacks:
        return {}
    if not hasattr(FrozenTrial, "constraints"):
        return {"constraints": list(slacks)}
    return {f"constraints:{_key(limit)}": slack for limit, slack in zip(goals.limits, slacks)}


def _key(limit: Limit) -> str:
    """The name of a constraint: as it was in the Optuna study it came from, or as bough writes it."""
    came = limit.name.startswith("constraint ") and limit.sign == "<=" and limit.bound == 0
    return limit.name.removeprefix("constraint ") if came else str(limit)
