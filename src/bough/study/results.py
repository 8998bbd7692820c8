"""From what an objective returned, or a user told, to a result that can be stored."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any

from bough.errors import TrialError
from bough.trial import Trial

__all__ = ["failure", "outcome", "reason", "told"]


def told(number: int, value: Any, noise: Any = None, cost: Any = None, attempt: int = 0) -> Trial:
    """The result of trial ``number``; NaN and infinite values are failures, a non-number is a TrialError."""
    what = f"the value of trial {number}" if number >= 0 else "the value"
    result = _real(value, what)
    if not math.isfinite(result):
        return failure(number, f"the value is {result}", attempt)
    return Trial(
        number,
        {},
        "done",
        value=result,
        noise=_optional(noise, "noise", lowest=0.0),
        cost=_optional(cost, "cost", lowest=-math.inf),
        attempt=attempt,
    )


def outcome(trial: Trial, returned: Any) -> Trial:
    """The result of an objective that returned ``returned``; whatever is wrong with it makes a failure."""
    parts = returned if isinstance(returned, Mapping) else {"value": returned}
    unknown = set(parts) - {"value", "noise", "cost"}
    if unknown or "value" not in parts:
        known = "'value', and perhaps 'noise' and 'cost'"
        text = f"the objective returned a dict with {sorted(map(repr, parts))}, expected {known}"
        return failure(trial.number, text, trial.attempt)
    try:
        return told(trial.number, parts["value"], parts.get("noise"), parts.get("cost"), trial.attempt)
    except TrialError as error:
        return failure(trial.number, f"the objective returned {error}", trial.attempt)


def failure(number: int, why: str, attempt: int = 0) -> Trial:
    """The result of a trial that failed; the reason is kept in a form that every storage can hold."""
    text = why.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()
    return Trial(number, {}, "failed", error=text[:2000], attempt=attempt)


def reason(error: BaseException) -> str:
    """An exception as one line: what, and where it was raised."""
    text = " ".join(f"{type(error).__name__}: {error}".rstrip(": ").split())
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return (
        text if trace is None else f"{text} (line {trace.tb_lineno} of {trace.tb_frame.f_code.co_filename})"
    )


def _real(value: Any, what: str) -> float:
    """A real number of any make: Python's, NumPy's, a scalar array, a tensor."""
    scalar = isinstance(value, numbers.Real) or (
        hasattr(value, "__float__")
        and getattr(value, "shape", ()) == ()
        and not isinstance(value, (numbers.Complex, str))
        and getattr(getattr(value, "dtype", None), "kind", "f") in "fiub"
    )
    if not scalar:
        raise TrialError(f"{what} must be a number, not {_short(value)}")
    try:
        return float(value)
    except OverflowError:  # an int beyond all floats
        return math.inf if value > 0 else -math.inf


def _optional(value: Any, what: str, lowest: float) -> float | None:
    if value is None:
        return None
    result = _real(value, what)
    if not (math.isfinite(result) and result >= lowest):
        bound = " and not negative" if lowest == 0 else ""
        raise TrialError(f"{what} must be finite{bound}, not {result}")
    return result


def _short(value: Any) -> str:
    text = repr(value)
    text = text if len(text) <= 40 else text[:37] + "..."
    return text if value is None else f"{text} ({type(value).__name__})"
