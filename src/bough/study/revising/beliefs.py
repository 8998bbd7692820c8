"""Beliefs that are stated while a study runs: amendments, merged with the beliefs of the space.

The latest statement about a parameter counts. An empty statement withdraws every belief, even those of the
space.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from bough.errors import MalformedError, SpaceError
from bough.space import Space
from bough.space.beliefs import Belief, beliefs_of, checked_likely, likely_json
from bough.space.desugar import Parameter
from bough.storage import Amendment

__all__ = ["belief_amendment", "present_beliefs"]


def belief_amendment(space: Space, given: Mapping[str, Any] | None) -> Amendment:
    """The stored form of ``study.believe(given)``, or a StudyError that says what would be right."""
    if given is not None and not isinstance(given, Mapping):
        raise MalformedError(f"beliefs are a dict of parameters and likely values, not {given!r:.80}")
    likely = {}
    for name, value in (given or {}).items():
        parameter = _parameter(space, name)
        if parameter == space.fidelity:
            raise MalformedError(f"the fidelity {name!r} is chosen by the study: it cannot have a belief")
        try:
            checked = checked_likely(parameter.domain, value, f"parameter {parameter.path!r}:")
        except SpaceError as error:
            raise MalformedError(str(error)) from None
        likely[parameter.path] = None if checked is None else likely_json(checked)
    return Amendment("belief", {"likely": likely})


def _parameter(space: Space, name: Any) -> Parameter:
    found = [p for p in space.parameters if p.path == name] or [p for p in space.parameters if p.name == name]
    if len(found) == 1:
        return found[0]
    if found:
        raise MalformedError(f"{name!r} is ambiguous: name one of {', '.join(repr(p.path) for p in found)}")
    known = [*(p.path for p in space.parameters), *(p.name for p in space.parameters)]
    near = difflib.get_close_matches(str(name), known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise MalformedError(f"the space has no parameter {name!r}{hint}")


def present_beliefs(space: Space, amendments: Sequence[Amendment]) -> tuple[Belief, ...]:
    """The beliefs of a space and of its study, without those that do not fit a changed space."""
    told: dict[str, tuple[Any, int]] = {}
    domains = {parameter.path: parameter.domain for parameter in space.parameters}
    for amendment in amendments:
        if amendment.kind != "belief":
            continue
        likely = amendment.body["likely"]
        for path, value in likely.items() if likely else dict.fromkeys(domains).items():
            if path in domains and _fits(domains[path], value):
                told[path] = value, amendment.since
    return beliefs_of(space, told)


def _fits(domain: Any, likely: Any) -> bool:
    try:
        checked_likely(domain, likely, "")
    except SpaceError:
        return False
    return True
