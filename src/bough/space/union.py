"""Parameters of two spaces as one: the domain that holds the values of both."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from bough.space.parameters import UNSET, Categorical, Domain, Int
from bough.space.scalars import scalar_key

__all__ = ["bare", "join_domains"]


def bare(domain: Domain) -> Domain:
    """The domain without condition and default."""
    if isinstance(domain, Categorical):
        return replace(domain, when=None, default=UNSET)
    return replace(domain, when=None, default=None)


def join_domains(now: Domain, before: Domain) -> Domain | None:
    """A domain with the values of both and the scale of the first; None if they are of different kinds.

    Ranges become their hull, options their union. Grids must be cut from one grid, and ordered options must
    agree about the order.
    """
    now, before = bare(now), bare(before)
    if isinstance(now, Categorical) or isinstance(before, Categorical):
        options = _joined_options(now, before)
        return None if options is None else _replaced(now, options=options)
    if type(now) is not type(before) or now.step != before.step:
        return None
    step = now.step or (1 if isinstance(now, Int) else None)
    if step is not None and abs(math.remainder(before.low - now.low, step)) > 1e-9 * step:
        return None
    low, high = min(now.low, before.low), max(now.high, before.high)
    return _replaced(now, low=low, high=high, log=now.log and low > 0)


def _joined_options(now: Domain, before: Domain) -> list[Any] | None:
    if not isinstance(now, Categorical) or not isinstance(before, Categorical):
        return None
    if now.ordered != before.ordered:
        return None
    joined = list(now.options)
    keys = [scalar_key(option) for option in joined]
    earlier = [scalar_key(option) for option in before.options]
    for place, option in enumerate(before.options):
        if earlier[place] in keys:
            continue
        at = keys.index(earlier[place - 1]) + 1 if now.ordered and place else 0 if now.ordered else len(keys)
        joined.insert(at, option)
        keys.insert(at, earlier[place])
    if now.ordered and [key for key in keys if key in earlier] != earlier:
        return None
    return joined


def _replaced(domain: Any, **changes: Any) -> Domain:
    made: Domain = replace(domain, **changes)
    return made
