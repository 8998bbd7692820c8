"""``run(instances=...)``: trials are evaluated on the same instances, in the same order, until dropped.

The instances are stored as an amendment of the study, in an order that the seed shuffles. The value on the
i-th instance is the report of step i. Nothing else is stored, and the decision to drop a trial depends only
on what is stored. ``stopping.race_values`` has the statistics.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any, Protocol

import numpy as np

from bough.errors import MalformedError, StudyError
from bough.storage import Amendment
from bough.strategies import streams
from bough.study.amendable_study import AmendableStudy
from bough.study.goals import Goals
from bough.study.results import outcome
from bough.study.running.objective import NoResult, Run
from bough.study.stopping.final_values import TrialCurve
from bough.study.stopping.race_values import (
    KIND,
    LEAST_CHANCE,
    adjusted_mean,
    chance_to_win,
    instances_of,
    is_complete,
    seen_by,
)
from bough.study.trial_index import TrialIndex
from bough.trial import Config, Trial

__all__ = [
    "RacedObjective",
    "begin_race",
    "check_no_race",
    "in_order_of",
    "mean_result",
    "race_order",
    "raced_objective",
    "reason_to_drop",
    "with_standard_error",
]

SHOWN_CHARACTERS = 60
"""The number of characters of an instance that a message shows."""


def begin_race(
    study: AmendableStudy, objective: Callable[..., Any], instances: Iterable[Any]
) -> RacedObjective:
    """An objective with a run that evaluates ``objective(config, instance)`` on the study's instances."""
    return raced_objective(objective, race_order(study, instances), study.goals)


def raced_objective(objective: Callable[..., Any], order: Sequence[Any], goals: Goals) -> RacedObjective:
    """The objective on instances in the order of the race; StudyError if it does not take an instance."""
    try:
        inspect.signature(objective).bind({}, order[0])
    except TypeError as error:
        raise StudyError(f"instances= needs an objective(config, instance): {error}") from None
    except ValueError:  # some builtins have no signature
        pass
    return RacedObjective(objective, order, goals)


def in_order_of(instances: Iterable[Any], answer: Callable[[list[Any]], Sequence[Any]]) -> list[Any]:
    """The instances in the order in which ``answer`` returns their JSON data."""
    given = _by_text(instances)
    return [given[_text(each)] for each in answer([json.loads(text) for text in given])]


def race_order(study: AmendableStudy, instances: Iterable[Any]) -> list[Any]:
    """The instances in the order of the race; stores them if the study has none yet.

    StudyError if the study has other instances, or if it cannot race.
    """
    goals = study.goals
    if not goals.is_single:
        raise StudyError(
            f"study {study.name!r} has several objectives or constraints: a race needs one objective without "
            "limits; leave the instances out and let each evaluation return means over them"
        )
    if goals.fidelity is not None:
        raise StudyError(
            f"study {study.name!r} has the fidelity {goals.fidelity[0]!r}: a race over instances needs none"
        )
    if study.stopping == "asha":
        raise StudyError(
            f"study {study.name!r} stops by 'asha', which compares learning curves: a race over instances "
            "needs stopping='median' (it then drops trials by its own test) or 'none'"
        )
    given = _by_text(instances)
    study.amend(lambda view: _new_race(view, given, study.name, study.seed))
    return [given[_text(each)] for each in instances_of(study.amendments)]


class Amended(Protocol):
    """A study with amendments, local or served."""

    @property
    def name(self) -> str: ...
    @property
    def amendments(self) -> list[Amendment]: ...


def check_no_race(study: Amended) -> None:
    """StudyError if the study races over instances: a run must then give them."""
    if known := instances_of(study.amendments):
        raise StudyError(f"study {study.name!r} races over {len(known)} instances: give them again")


def _by_text(instances: Iterable[Any]) -> dict[str, Any]:
    """The instances by their JSON texts, which identify them."""
    if isinstance(instances, (str, bytes, Mapping)) or not isinstance(instances, Iterable):
        raise MalformedError(f"instances must be a list, such as ['a.cnf', 'b.cnf'], not {_shown(instances)}")
    found: dict[str, Any] = {}
    for each in instances:
        try:
            text = _text(each)
        except (TypeError, ValueError, RecursionError):
            raise MalformedError(
                f"the instance {_shown(each)} ({type(each).__name__}) is not JSON data: name instances by "
                "texts or numbers, and let the objective load them"
            ) from None
        if text in found:
            raise MalformedError(f"the instance {_shown(each)} is given twice")
        found[text] = each
    if not found:
        raise MalformedError("instances must have at least one instance: the list is empty")
    return found


def _new_race(view: TrialIndex, given: Mapping[str, Any], name: str, seed: int) -> Amendment | None:
    """The amendment that stores the instances; None if the study already has these."""
    known = [_text(each) for each in instances_of(view.amendments)]
    if not known:
        if any(trial.attempt for trial in view.trials):
            raise StudyError(f"study {name!r} has trials that were run without instances: use another name")
        texts = list(given)
        order = np.random.default_rng([seed, streams.INSTANCE_ORDER]).permutation(len(texts))
        return Amendment(KIND, {"instances": [json.loads(texts[place]) for place in order]})
    missing, new = (
        [text for text in known if text not in given],
        [text for text in given if text not in known],
    )
    if missing or new:
        lacks = f"yours lack {missing[0][:SHOWN_CHARACTERS]}" if missing else ""
        adds = f"{new[0][:SHOWN_CHARACTERS]} is new" if new else ""
        differs = " and ".join(filter(None, (lacks, adds)))
        raise StudyError(
            f"study {name!r} races over {len(known)} instances, and they changed: {differs}; use another name"
        )
    return None


def _text(instance: Any) -> str:
    return json.dumps(instance, sort_keys=True, allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError


def _shown(instance: Any) -> str:
    try:
        return repr(instance)[:SHOWN_CHARACTERS]
    except Exception:
        return f"<{type(instance).__name__}>"


class RacedObjective:
    """Evaluates a config on one instance after another, and reports each value, until told to stop."""

    def __init__(self, objective: Callable[..., Any], instances: Sequence[Any], goals: Goals) -> None:
        self._objective, self._instances, self._goals = objective, instances, goals

    def __call__(self, config: Config, run: Run) -> dict[str, float] | None:
        results = []
        for step, instance in enumerate(self._instances, start=1):
            results.append(self._result(config, instance, run.trial))
            if run.report(_value(results[-1]), step):
                return None
        return mean_result(results, self._goals)

    def _result(self, config: Config, instance: Any, trial: Trial) -> Trial:
        try:
            result = outcome(trial, self._objective(dict(config), instance), self._goals)
        except BaseException as error:
            error.add_note(f"on instance {_shown(instance)}")
            raise
        if result.state != "done":
            raise NoResult(f"on instance {_shown(instance)}: {result.error}")
        return result


def mean_result(results: Sequence[Trial], goals: Goals) -> dict[str, float]:
    """The result of a trial from its results on all instances: means, and the sum of costs."""
    shared = set.intersection(*(set(result.measures) for result in results))
    means = {name: fmean(result.measures[name] for result in results) for name in sorted(shared)}
    if goals.is_plain:
        means["value"] = fmean(map(_value, results))
    costs = [result.cost for result in results if result.cost is not None]
    return {**means, "cost": sum(costs)} if len(costs) == len(results) else means


def _value(result: Trial) -> float:
    assert result.value is not None
    return result.value


def reason_to_drop(view: TrialIndex, number: int, sign: float) -> str | None:
    """Why a running trial should stop: it lost against the incumbent. None if it should go on."""
    count = len(instances_of(view.amendments))
    trial = TrialCurve.of(view.trials[number], view.curves.of(view.trials[number]), sign)
    complete = _complete(view, sign, count)
    if not complete:
        return None
    best = min(complete, key=lambda each: complete[each].result)
    chance = chance_to_win(trial, complete[best], count)
    if chance >= LEAST_CHANCE:
        return None
    places, values = seen_by(trial, count)
    theirs = seen_by(complete[best], count)[1][places]
    return (
        f"after {len(places)} of {count} instances, its mean was {sign * values.mean():.6g}, that of trial "
        f"{best} {sign * theirs.mean():.6g}: a chance of {chance:.2g} to be better over all"
    )


def with_standard_error(result: Trial, view: TrialIndex, sign: float) -> Trial:
    """The result of a trial that ran on all instances, with its standard error and the number of instances.

    The first trial has no standard error: the effects of the instances are not known yet.
    """
    count = len(instances_of(view.amendments))
    if not 0 <= result.number < len(view.trials):  # the storage will raise the error
        return result
    known = view.stored.get(result.number, view.trials[result.number])
    trial = TrialCurve.of(known, view.curves.of(known), sign)
    if not is_complete(trial, count):
        return result
    if known.is_finished:  # told again: its standard error stays, although other trials ended since
        return replace(result, noise=known.noise, notes={**result.notes, "instances": count})
    found = adjusted_mean(trial, list(_complete(view, sign, count).values()), count)
    noise = result.noise if found is None else found[1]
    return replace(result, noise=noise, notes={**result.notes, "instances": count})


def _complete(view: TrialIndex, sign: float, count: int) -> dict[int, TrialCurve]:
    """The trials that ran on all instances and were not retracted, by number."""
    done = [trial for trial in view.trials if trial.feasible and view.curves.has(trial)]
    curves = {trial.number: TrialCurve.of(trial, view.curves.of(trial), sign) for trial in done}
    return {number: curve for number, curve in curves.items() if is_complete(curve, count)}
