"""A fidelity: the parameter that says how thoroughly a configuration is evaluated, such as epochs or rows.

``Int(3, 81, fidelity=True)`` is one. A space has at most one, and it is active in every configuration. Only
results at its highest value count; lower values are cheaper and give roughly the same results.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.errors import ConfigError, SpaceError

if TYPE_CHECKING:
    from bough.space.desugar import Flat, Parameter
    from bough.space.parameters import Float, Int
    from bough.space.space import Space

__all__ = ["REDUCTION", "check_fidelity", "find_fidelity", "full_space", "rungs"]

REDUCTION = 3
"""Each rung costs this many times as much as the one below; Li et al. 2018 and 2020 found 3 as good as 4."""


def check_fidelity(parameter: Float | Int) -> None:
    """Raise SpaceError if a parameter that is declared as a fidelity cannot be one."""
    if not isinstance(parameter.fidelity, bool):
        raise SpaceError(f"fidelity must be True or False, not {parameter.fidelity!r}")
    if not parameter.fidelity:
        return
    if parameter.low <= 0:
        raise SpaceError(f"a fidelity needs low above 0, not low={parameter.low!r}")
    try:
        parameter.check(parameter.high)
    except ConfigError as error:
        raise SpaceError(f"the high of a fidelity {error}") from None
    for name in ("default", "when", "likely"):
        if getattr(parameter, name) is not None:
            raise SpaceError(f"a fidelity is chosen by the study, so it cannot have {name}=")
    _as_methods_see_it(parameter)  # which refuses ranges that are too wide for a log scale


def _as_methods_see_it(parameter: Float | Int) -> Float | Int:
    return replace(parameter, fidelity=False, log=True, step=None)


def find_fidelity(flat: Flat, forbid: tuple[str, ...]) -> Parameter | None:
    """The fidelity of a space; SpaceError if there are two, or if anything depends on it."""
    from bough.space.binding import ALWAYS, columns_read  # it builds on parameters, which are checked here

    columns = [c for c, p in enumerate(flat.parameters) if getattr(p.domain, "fidelity", False)]
    if not columns:
        return None
    column = columns[0]
    name = flat.parameters[column].name
    if len(columns) > 1:
        other = flat.parameters[columns[1]].name
        raise SpaceError(f"a space has at most one fidelity, not both {name!r} and {other!r}")
    if flat.bound[column] != ALWAYS:
        raise SpaceError(
            f"the fidelity {name!r} must be active in every configuration: declare it outside of choices"
        )
    if len(flat.parameters) == 1:
        raise SpaceError(f"the space has no parameter besides the fidelity {name!r}: nothing to search")
    for parameter, bound in zip(flat.parameters, flat.bound):
        if column in columns_read(bound):
            raise SpaceError(f"a fidelity in a condition: {parameter.path!r} cannot depend on {name!r}")
    for text, clause in zip(forbid, flat.clauses):
        if column in columns_read(clause):
            raise SpaceError(f"a fidelity in a condition: forbid {text!r} cannot depend on {name!r}")
    for constraint in flat.constraints:
        if column in constraint.columns:
            raise SpaceError(f"a fidelity in a condition: {constraint.text!r} cannot depend on {name!r}")
    return flat.parameters[column]


def rungs(domain: Float | Int) -> tuple[Any, ...]:
    """The values at which configurations are evaluated, from the lowest to the highest in equal factors of
    about ``REDUCTION``."""
    steps = max(1, round(math.log(domain.high, REDUCTION) - math.log(domain.low, REDUCTION)))
    wanted = np.geomspace(domain.low, domain.high, steps + 1)
    ranks = domain.ranks(wanted.tolist())
    on_grid = np.rint(ranks) if domain.kind == "ordinal" else ranks
    values = domain.values(np.clip(on_grid, *domain.ends)).tolist()
    return tuple(sorted({*values[:-1], domain.high}))


def full_space(space: Space) -> Space:
    """The space for a method: the fidelity is an ordinary parameter on a log scale, of which only the highest
    value may be proposed. So models learn from all fidelities and search at the highest one."""
    fidelity = space.fidelity
    if fidelity is None:
        return space
    domain: Any = fidelity.domain
    declared: Mapping[str, Any] = {**space.declared, fidelity.name: _as_methods_see_it(domain)}
    return type(space)(declared, [*space.forbid, f"`{fidelity.name}` < {domain.high!r}"], space.require)
