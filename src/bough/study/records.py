"""Makes the record of a new study, and checks an existing record against the user's arguments."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from bough.errors import MalformedError, StudyError
from bough.registry import describe, stored_method
from bough.space import Space
from bough.space.beliefs import beliefs_of, likely_text
from bough.space.desugar import Parameter
from bough.space.parameters import Categorical
from bough.space.render import describe as domain_text
from bough.space.scalars import scalar_key, shown
from bough.storage import Amendment, StudyRecord
from bough.study.goals import Goals, goals_of
from bough.study.handles import as_index

__all__ = ["STOPPING_RULES", "check_same", "checked_seed", "new_record"]

STOPPING_RULES = ("median", "asha", "none")
"""The names of the rules. The first one is the default, and a storage keeps nothing for it."""


def new_record(
    space: Space,
    name: str | None,
    goals: Goals,
    method: Any,
    seed: int | None,
    stopping: str | None = None,
) -> StudyRecord:
    """The record of a new study, from checked arguments; draws a seed if none is given."""
    if not isinstance(space, Space):
        raise _no_space(space)
    if name is None:
        raise MalformedError("a study in a storage needs a name: pass name=")
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > 200:
        raise MalformedError(f"a study's name must be 1 to 200 printable characters, not {repr(name)[:80]}")
    if name in (".", ".."):
        raise MalformedError(f"a study cannot be named {name!r}: browsers treat that as part of a path")
    if stopping not in (None, *STOPPING_RULES):
        rules = ", ".join(map(repr, STOPPING_RULES))
        raise MalformedError(f"stopping must be one of {rules}, not {repr(stopping)[:80]}")
    if stopping in STOPPING_RULES[:2] and space.fidelity is not None:
        raise MalformedError(
            f"stopping={stopping!r} does not go with the fidelity {space.fidelity.name!r}, which decides how "
            "long trials run: omit stopping"
        )
    goals.check_limits(space)
    chosen = describe(method)
    return StudyRecord(
        name,
        space.to_json(),
        goals.direction,
        json.dumps({"name": chosen.name, "options": dict(chosen.options)}, sort_keys=True),
        secrets.randbits(32) if seed is None else checked_seed(seed),
        goals=goals.to_json(),
        stopping=None if stopping == STOPPING_RULES[0] else stopping,
    )


def _no_space(given: Any) -> MalformedError:
    hint = "; write bough.Space({...})" if isinstance(given, dict) else ""
    takes_objective = "; minimize(objective, space) and study.run(objective) take an objective"
    hint = takes_objective if callable(given) else hint
    return MalformedError(f"space must be a bough.Space, not {type(given).__name__}{hint}")


def check_same(
    record: StudyRecord,
    wanted: StudyRecord,
    method: Any,
    seed: int | None,
    stopping: str | None = None,
    amendments: Callable[[], Sequence[Amendment]] = list,
) -> None:
    """StudyError, saying what differs, if an existing study does not match the wanted one.

    A method "auto", and a seed or stopping rule None, match any; a space without beliefs matches any beliefs.
    amendments: reads the study's amendments, to say when its space was changed.
    """
    differs = next(_differences(record, wanted, method, seed, stopping, amendments), None)
    if differs:
        raise StudyError(
            f"study {record.name!r} exists and differs: {differs}; use another name (study.add and "
            "`bough import` carry results over), or delete it"
        )


def _differences(
    record: StudyRecord,
    wanted: StudyRecord,
    method: Any,
    seed: int | None,
    stopping: str | None,
    amendments: Callable[[], Sequence[Amendment]],
) -> Iterator[str]:
    old, new = (goals_of(each.goals, each.direction) for each in (record, wanted))
    if not old.agrees_with(new) and record.goals != wanted.goals:
        yield f"its goal is to {old.describe()}, not to {new.describe()}"
    if record.direction != wanted.direction:
        yield f"its direction is {record.direction}, not {wanted.direction}"
    if record.space != wanted.space:  # the texts differ also if only the order of parameters does
        stored, given = Space.from_json(record.space), Space.from_json(wanted.space)
        differs = _difference(stored, given)
        if differs is not None:
            raise _other_space(record.name, differs, given, amendments())
        if (differs := _other_beliefs(stored, given)) is not None:
            yield differs
    if not (isinstance(method, str) and method == "auto") and stored_method(record.method) != stored_method(
        wanted.method
    ):
        yield f"its method is {_method_text(record)}, not {_method_text(wanted)} {_leave_out('method')}"
    if seed is not None and record.seed != wanted.seed:
        yield f"its seed is {record.seed}, not {wanted.seed} {_leave_out('seed')}"
    if stopping is not None and record.stopping != wanted.stopping:
        rules = [each.stopping or STOPPING_RULES[0] for each in (record, wanted)]
        yield f"its stopping rule is {rules[0]!r}, not {rules[1]!r} {_leave_out('stopping')}"


def _leave_out(option: str) -> str:
    return f"(leave {option} out to continue the study)"


def _other_space(name: str, differs: str, given: Space, amendments: Sequence[Amendment]) -> StudyError:
    for change in reversed([each for each in amendments if each.kind == "space"]):
        if Space.from_json(change.body["before"]) == given:
            return StudyError(
                f"study {name!r} exists: its space was changed at trial {change.since}, and yours is the one "
                "before; open it without a space (bough.open_study, bough.connect), or go back by "
                "study.change(space) or `bough change`"
            )
    return StudyError(
        f"study {name!r} exists and differs: {differs}; study.change(space) or `bough change` goes on in "
        "another space (bough.open_study opens it as it is), or use another name"
    )


def _difference(stored: Space, given: Space) -> str | None:
    """The first difference between two spaces, in words; None if they are equal."""
    if stored == given:
        return None
    old, new = stored.by_path, given.by_path
    for path in [*old, *new]:
        if path not in new:
            return f"its space has a parameter {path!r} that yours lacks"
        if path not in old:
            return f"its space lacks your parameter {path!r}"
        if old[path] != new[path]:
            return f"its parameter {path!r} {_parameter_difference(old[path], new[path])}"
    if stored.require != given.require:
        return f"its required relations are {list(stored.require)}, not {list(given.require)}"
    return f"its forbidden clauses are {list(stored.forbid)}, not {list(given.forbid)}"


def _other_beliefs(stored: Space, given: Space) -> str | None:
    """The first difference between the beliefs of two equal spaces; None if the given one has no beliefs."""
    old = {belief.path: belief.likely for belief in beliefs_of(stored)}
    new = {belief.path: belief.likely for belief in beliefs_of(given)}
    for path in [*old, *new] if new else []:
        if old.get(path) != new.get(path):
            before, after = (likely_text(each[path]) if path in each else "any" for each in (old, new))
            return f"the likely values of its {path!r} are {before}, not {after} (study.believe changes them)"
    return None


def _parameter_difference(stored: Parameter, given: Parameter) -> str:
    """How two parameters with the same path differ: in their domains, else in their conditions."""
    old, new = (replace(each.domain, when=None, likely=None) for each in (stored, given))
    if isinstance(old, Categorical) and isinstance(new, Categorical):
        for option in old.options:
            if scalar_key(option) not in new.index:
                return f"has an option {option!r} that yours lacks"
        for option in new.options:
            if scalar_key(option) not in old.index:
                return f"lacks your option {option!r}"
    if old != new:
        before, after = domain_text(old), domain_text(new)
        return f"is {before}, not {after}" if before != after else f"is {old!r}, not {new!r}"
    conditions = [stored.condition, given.condition]
    before, after = ("always" if each is None else f"when {each}" for each in conditions)
    return f"is active {before}, not {after}"


def _method_text(record: StudyRecord) -> str:
    method = stored_method(record.method)
    options = ", ".join(f"{name}={value!r}" for name, value in method.options.items())
    return f"{method.name!r} with {options}" if options else repr(method.name)


def checked_seed(seed: Any) -> int:
    try:
        number = as_index(seed)
    except TypeError:
        raise MalformedError(f"seed must be an integer, not {seed!r}") from None
    if not 0 <= number < 2**63:
        raise MalformedError(f"seed must be between 0 and 2**63 - 1, not {shown(number)}")
    return number
