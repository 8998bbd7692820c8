"""Turns the return value of an objective, or the arguments of ``tell``, into a result that can be stored."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from bough.errors import TrialError
from bough.strict_json import loads
from bough.study.goals import VALUE, Goals
from bough.study.handles import as_float, is_real
from bough.trial import Config, Trial, storable

__all__ = ["completed", "failure", "known_results", "outcome", "real_number", "stopped", "told"]


def told(
    number: int,
    value: Any,
    noise: Any = None,
    cost: Any = None,
    attempt: int = 0,
    notes: Mapping[str, Any] | None = None,
    goals: Goals = VALUE,
) -> Trial:
    """The result of trial ``number``.

    value: a number, or a dict with "value", optionally "noise" and "cost", and other names. Other numbers are
    kept as the trial's measures, other JSON data as its notes. A NaN or infinite value makes the trial fail;
    a value that is not a number is a TrialError.

    goals: with named objectives or limits, the value is the first objective, or without objectives the number
    of violated limits. If a measure that a goal names is missing or not finite, the trial fails with that
    reason. Noise is then a dict by measure; a number is the noise of the only objective.
    """
    parts = value if isinstance(value, Mapping) else {"value": value}
    if not goals.is_plain:
        parts = _by_name(value, goals)
        if why := _unusable(parts, goals):
            measures, other = _sort(parts)
            failed = failure(number, why, attempt)
            return replace(failed, measures=measures, notes={**other, **_checked_notes(notes)})
        parts = {**parts, "value": _value(parts, goals)}
    if "value" not in parts:
        there = ", ".join(_text(each) for each in parts) or "nothing"
        raise TrialError(f"the result has no 'value' (there is {there})")
    for name, given in (("noise", noise), ("cost", cost)):
        if given is not None and parts.get(name) is not None:
            raise TrialError(f"{name} is given twice: in the dict, and as {name}=")
    noises: dict[str, float] = {}
    if not goals.is_plain:
        noise, noises = _noises(parts.get("noise", noise), parts, goals)
        parts = {name: each for name, each in parts.items() if name != "noise"}
    what = f"the value of trial {number}" if number >= 0 else "the value"
    result = real_number(parts["value"], what)
    measures, other = _sort(parts)
    kept = {**other, **_checked_notes(notes)}
    if not math.isfinite(result):
        failed = failure(number, f"the value is {result}", attempt)
        return replace(failed, measures=measures, notes=kept)
    return Trial(
        number,
        {},
        "done",
        value=result,
        noise=_optional(parts.get("noise", noise), "noise"),
        cost=_optional(parts.get("cost", cost), "cost"),
        attempt=attempt,
        measures=measures,
        notes=kept,
        noises=noises,
    )


def known_results(results: Any, goals: Goals) -> list[tuple[Config, Trial]]:
    """The configs and results to add, from tuples (config, value) or (config, value, noise)."""
    if isinstance(results, Mapping) or not isinstance(results, Iterable):
        raise TrialError(f"give a list of (config, value) or (config, value, noise), not {_short(results)}")
    found = []
    for given in results:
        if not isinstance(given, tuple | list) or len(given) not in (2, 3):
            raise TrialError(
                f"a result to add is (config, value) or (config, value, noise), not {_short(given)}"
            )
        config, value, noise = given if len(given) == 3 else (*given, None)
        found.append((config, told(-1, value, noise, goals=goals)))
    return found


def completed(result: Trial, goals: Goals) -> Trial:
    """The result; a failure if it lacks a measure that a goal names."""
    if goals.is_plain or result.state != "done":
        return result
    parts = {**result.measures, goals.value_name: result.value}
    why = _unusable(parts, goals)
    if why is not None:
        return replace(failure(result.number, why, result.attempt), notes=result.notes)
    return result if goals.objectives else replace(result, value=_value(parts, goals))


def _value(parts: Mapping[Any, Any], goals: Goals) -> float:
    """The value of a trial: its first objective, or without objectives the number of limits it violates."""
    if goals.objectives:
        return real_number(parts[goals.names[0]], goals.names[0])
    return float(sum(limit.slack(real_number(parts[limit.name], limit.name)) > 0 for limit in goals.limits))


def _noises(given: Any, parts: Mapping[Any, Any], goals: Goals) -> tuple[float | None, dict[str, float]]:
    """The noise of the value, and of each measure, from a number or a dict by name."""
    first = goals.names[0] if goals.objectives else None
    if not isinstance(given, Mapping):
        if given is not None and len(goals.names) != 1:
            raise TrialError(
                f"noise must be a dict by measure, such as {{{goals.needed[0]!r}: 0.1}}, not {_short(given)}"
            )
        return _optional(given, "noise"), {}
    noises = {}
    for name, each in given.items():
        if name not in parts or not is_real(parts[name]):
            raise TrialError(f"noise names {_text(name)}, which was not measured")
        deviation = _optional(each, f"the noise of {name!r}")
        if deviation is not None:
            noises[storable(str(name))] = deviation
    return noises.get(first) if first is not None else None, noises


def _by_name(value: Any, goals: Goals) -> Mapping[Any, Any]:
    """A told value as a dict of measures; a number stands for the only objective."""
    if isinstance(value, Mapping):
        return value
    if len(goals.needed) > 1:
        raise TrialError(f"tell a dict with {', '.join(map(repr, goals.needed))}, not {_short(value)}")
    return {goals.needed[0]: value}


def _unusable(parts: Mapping[Any, Any], goals: Goals) -> str | None:
    """What is wrong with a measure that a goal names; None if all are finite numbers."""
    for name in goals.needed:
        if name not in parts:
            there = ", ".join(_text(each) for each in parts) or "nothing"
            return f"the measure {name!r} is missing (there is {there})"
        if not is_real(parts[name]):
            return f"the measure {name!r} is {_short(parts[name])}, not a number"
        if not math.isfinite(number := real_number(parts[name], name)):
            return f"the measure {name!r} is {number}"
    return None


def outcome(trial: Trial, returned: Any, goals: Goals = VALUE) -> Trial:
    """The result of an objective that returned ``returned``; a failure if that is not valid."""
    if not goals.is_plain:
        try:
            return told(trial.number, returned, attempt=trial.attempt, goals=goals)
        except TrialError as error:
            why = f"the objective returned a wrong result: {error}"
            if not isinstance(returned, Mapping) and len(goals.needed) > 1:
                names = ", ".join(map(repr, goals.needed))
                why = f"the objective returned {_short(returned)}, not a dict with {names}"
            return failure(trial.number, why, trial.attempt)
    value = returned.get("value") if isinstance(returned, Mapping) else returned
    if isinstance(returned, Mapping) and "value" not in returned:
        names = ", ".join(_text(name) for name in returned) or "nothing"
        why = f"the objective returned a dict without 'value' (it has {names}): name its result 'value'"
    elif value is None:
        why = "the objective returned None, not a number: is a 'return' missing?"
    elif not is_real(value):
        why = f"the objective returned {_short(value)}, not a number"
    else:
        try:
            return told(trial.number, returned, attempt=trial.attempt)
        except TrialError as error:
            why = f"the objective returned a wrong result: {error}"
    return failure(trial.number, why, trial.attempt)


def _sort(parts: Mapping[Any, Any]) -> tuple[dict[str, float], dict[str, Any]]:
    """The entries of a returned dict that bough does not interpret: numbers are measures, the rest notes."""
    measures: dict[str, float] = {}
    notes: dict[str, Any] = {}
    for key, value in parts.items():
        name = storable(str(key))
        if name in ("value", "noise", "cost"):
            continue
        try:
            number = real_number(value, name)
        except TrialError:
            notes[name] = _as_json(value)
        else:
            if math.isfinite(number):
                measures[name] = number
            else:
                notes[name] = str(number)
    return measures, notes


def _as_json(value: Any) -> Any:
    """The value as JSON data; its ``repr`` if it is not JSON data."""
    try:
        return _clean(loads(json.dumps(value, allow_nan=False), any_text=True))
    except (TypeError, ValueError, RecursionError):
        return storable(_text(value))


def _checked_notes(notes: Mapping[str, Any] | None) -> dict[str, Any]:
    if notes is None:
        return {}
    if not isinstance(notes, Mapping) or not all(isinstance(name, str) for name in notes):
        raise TrialError(f"notes must be a dict of names and JSON data, not {_short(notes)}")
    try:
        kept: dict[str, Any] = _clean(loads(json.dumps(dict(notes), allow_nan=False), any_text=True))
    except (TypeError, ValueError, RecursionError) as error:
        raise TrialError(f"notes must be JSON data: {error}") from None
    return kept


def _clean(data: Any) -> Any:
    """JSON data with all texts in a form that every storage can hold."""
    if isinstance(data, str):
        return storable(data)
    if isinstance(data, list):
        return [_clean(each) for each in data]
    if isinstance(data, dict):
        return {storable(name): _clean(each) for name, each in data.items()}
    return data


def failure(number: int, why: str, attempt: int = 0, learn: bool = True) -> Trial:
    """The result of a trial that failed; the reason is kept in a form that every storage can hold.

    learn: whether methods learn from it to avoid such configs.
    """
    if not isinstance(learn, bool):
        raise TrialError(f"learn must be True or False, not {_short(learn)}")
    return Trial(number, {}, "failed", error=storable(why)[:2000], attempt=attempt, learn=learn)


def stopped(trial: Trial) -> Trial:
    """The result of a trial that was told to stop."""
    return Trial(trial.number, {}, "stopped", attempt=trial.attempt)


def real_number(value: Any, what: str) -> float:
    """A real number of any type as a float (infinite if too large); TrialError for anything else."""
    if not is_real(value):
        raise TrialError(f"{what} must be a number, not {_short(value)}")
    try:
        return as_float(value)
    except Exception as error:  # its own __float__ may raise anything
        raise TrialError(
            f"{what} must be a number, and float() of {_short(value)} raises {type(error).__name__}"
        ) from None


def _optional(value: Any, what: str) -> float | None:
    if value is None:
        return None
    result = real_number(value, what)
    if not (math.isfinite(result) and result >= 0.0):
        raise TrialError(f"{what} must be finite and not negative, not {result}")
    return result


def _text(value: Any) -> str:
    """``repr`` of the value, even if the ``__repr__`` of its class raises."""
    try:
        return repr(value)
    except Exception:
        return f"<{type(value).__name__}>"


def _short(value: Any) -> str:
    text = _text(value)
    text = text if len(text) <= 40 else text[:37] + "..."
    return text if value is None else f"{text} ({type(value).__name__})"
