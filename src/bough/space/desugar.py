"""Turn declared parameters into flat ones: desugar choices, resolve names, order columns for evaluation.

A ``Choice`` becomes a categorical, and each of its children gets the condition that its option is
chosen. Conditions of outer choices are implied, since a comparison with an inactive parameter is false.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from bough.errors import ConditionError, SpaceError
from bough.space import conditions
from bough.space.binding import ALWAYS, Bound, bind, columns_read, implies, needed_active
from bough.space.choice import Choice, Declared
from bough.space.conditions import Compare, Condition, parse
from bough.space.parameter_constraints import ParameterConstraint, bind_relation
from bough.space.parameters import Categorical, Domain
from bough.space.relations import Mixture, parse_relation, rename_relation

__all__ = ["Flat", "Parameter", "desugar"]

MAX_PARAMETERS = 20_000


@dataclass(frozen=True)
class Parameter:
    """One column of a space.

    name: what configs call it.   path: its unique address, such as ``model=svm/C``.
    condition: when it is active, over unique names (paths where a name is not unique); None = always.
    """

    name: str
    path: str
    domain: Domain
    condition: Condition | None


class Flat(NamedTuple):
    """A space without choices, from which everything else is derived.

    parameters: in column order.   bound: the condition of each, over columns.
    clauses: forbidden clauses.    constraints: relations between parameters.
    order: columns such that conditions read only earlier ones.
    unique: what conditions call each column: its name where no other has it, else its path.
    """

    parameters: tuple[Parameter, ...]
    bound: tuple[Bound, ...]
    clauses: tuple[Bound, ...]
    constraints: tuple[ParameterConstraint, ...]
    order: tuple[int, ...]
    unique: tuple[str, ...]


Scope: TypeAlias = tuple[tuple[str, str], ...]
"""The choices around a declaration, outermost first: (path of the choice, label)."""


@dataclass(frozen=True)
class _Entry:
    name: str
    path: str
    domain: Domain
    scope: Scope
    when: str | None


def desugar(declared: Mapping[str, Declared], forbid: Sequence[str], require: Sequence[str] = ()) -> Flat:
    """Desugar and bind a whole space, or raise the first mistake in it."""
    entries = list(_entries(declared, (), ""))
    _check_names(entries)
    names = _Names(entries)
    domains = [entry.domain for entry in entries]

    def rebind(condition: Condition | None) -> Bound:
        return ALWAYS if condition is None else bind(condition, names.column, domains)

    texts: list[Condition | None] = []
    bound: list[Bound] = []
    for entry in entries:
        try:
            text = _condition(entry, names)
            bound.append(rebind(text))
        except ConditionError as error:
            raise ConditionError(f"parameter {entry.path!r}: {error}") from None
        texts.append(text)
    order = _topological(entries, bound)
    _drop_implied(order, texts, rebind)
    bound = list(map(rebind, texts))
    clauses = tuple(_bind_clause(clause, names, rebind) for clause in forbid)
    constraints = [each for relation in require for each in _bind_relation(relation, names, domains)]
    unique = tuple(map(names.unique, range(len(entries))))
    parameters = tuple(
        Parameter(entry.name, entry.path, entry.domain, text) for entry, text in zip(entries, texts)
    )
    return Flat(parameters, tuple(bound), clauses, tuple(constraints), tuple(order), unique)


def _entries(declared: Mapping[str, Declared], scope: Scope, prefix: str) -> Iterator[_Entry]:
    for name, parameter in declared.items():
        if not isinstance(name, str) or not name or "`" in name or not name.isprintable():
            raise SpaceError(f"parameter name {name!r} must be printable text without backticks")
        path = prefix + name
        if isinstance(parameter, Choice):
            yield _Entry(name, path, parameter.domain, scope, parameter.when)
            for label, children in parameter.options.items():
                yield from _entries(children, (*scope, (path, label)), f"{path}={label}/")
        elif isinstance(parameter, Domain):
            yield _Entry(name, path, parameter, scope, parameter.when)
        else:
            raise SpaceError(
                f"parameter {path!r} must be a Float, Int, Categorical or Choice, not {parameter!r:.80}"
                + (" (a mixture goes into require=[...])" if isinstance(parameter, Mixture) else "")
            )


def _check_names(entries: Sequence[_Entry]) -> None:
    """A name may repeat only under different options of a common choice; paths never."""
    if len(entries) > MAX_PARAMETERS:
        raise SpaceError(f"a space of {len(entries)} parameters is larger than {MAX_PARAMETERS}")
    paths: set[str] = set()
    # For a name, each place in the tree of choices has the parameter itself (None) or a choice around it.
    # Two things at one place can be active together. No pairs are compared: there may be many.
    known: dict[tuple[str, Scope], str | None] = {}
    for entry in entries:
        if entry.path in paths:
            raise SpaceError(f"two parameters have the path {entry.path!r}: rename one")
        paths.add(entry.path)
        around: list[str | None] = [*(choice for choice, _ in entry.scope), None]
        for depth, choice in enumerate(around):
            place = entry.name, entry.scope[:depth]
            if known.setdefault(place, choice) != choice:
                raise _used_twice(entry, entries)


def _used_twice(entry: _Entry, entries: Sequence[_Entry]) -> SpaceError:
    others = (each for each in entries if each.name == entry.name and each is not entry)
    other = next(each for each in others if not _exclusive(entry.scope, each.scope))
    return SpaceError(
        f"parameter name {entry.name!r} is used twice ({other.path!r} and {entry.path!r}); "
        "only different options of one Choice may share a name"
    )


def _exclusive(left: Scope, right: Scope) -> bool:
    labels = dict(left)
    return any(labels.get(choice, label) != label for choice, label in right)


class _Names:
    """Resolves names as written to columns, and says how the canonical form writes a column."""

    def __init__(self, entries: Sequence[_Entry]) -> None:
        self.by_path = {entry.path: i for i, entry in enumerate(entries)}
        self.by_name: dict[str, list[int]] = {}
        for i, entry in enumerate(entries):
            self.by_name.setdefault(entry.name, []).append(i)
        self.entries = entries

    def column(self, name: str) -> int:
        return self.by_path[name] if name in self.by_path else self.by_name[name][0]

    def unique(self, column: int) -> str:
        """The name where no other parameter has it, else the path."""
        entry = self.entries[column]
        return entry.name if len(self.by_name[entry.name]) == 1 else entry.path

    def resolve(self, name: str, scope: Scope) -> str:
        """Look in the branch of ``scope`` first, then outwards, then for a path or a name used only once."""
        candidates = self.by_name.get(name, [])
        visible = [i for i in candidates if scope[: len(self.entries[i].scope)] == self.entries[i].scope]
        if visible:
            return self.unique(visible[0])
        if name in self.by_path:
            return self.unique(self.by_path[name])
        if len(candidates) == 1:
            return self.unique(candidates[0])
        if candidates:
            paths = ", ".join(f"`{self.entries[i].path}`" for i in candidates)
            raise ConditionError(f"name {name!r} is ambiguous: write one of {paths}")
        raise ConditionError(f"unknown name {name!r}{self._hint(name)}")

    def _hint(self, name: str) -> str:
        if name in ("true", "false", "null", "none"):
            return " (constants are True, False and None)"
        for entry in self.entries:
            if isinstance(entry.domain, Categorical) and name in entry.domain.index:
                return f"; if the option of {entry.path!r} is meant, write {name!r} in quotes"
        close = difflib.get_close_matches(name, [*self.by_name], n=1)
        return f"; did you mean {close[0]!r}?" if close else ""


def _condition(entry: _Entry, names: _Names) -> Condition | None:
    """The option that the parameter is declared under (it implies all outer ones), and its ``when``."""
    parts: list[Condition] = []
    if entry.scope:
        choice, label = entry.scope[-1]
        parts.append(Compare(names.unique(names.by_path[choice]), "==", label))
    if entry.when is not None:
        parts.append(conditions.rename(parse(entry.when), lambda name: names.resolve(name, entry.scope)))
    return conditions.join(conditions.All, parts) if parts else None


def _bind_clause(clause: str, names: _Names, rebind: Callable[[Condition], Bound]) -> Bound:
    try:
        text = conditions.rename(parse(clause), lambda name: names.resolve(name, ()))
        return rebind(text)
    except ConditionError as error:
        raise ConditionError(f"forbid {clause!r:.120}: {error}") from None


def _bind_relation(text: str, names: _Names, domains: Sequence[Domain]) -> list[ParameterConstraint]:
    try:
        relation = rename_relation(parse_relation(text), lambda name: names.resolve(name, ()))
        return [replace(each, text=text) for each in bind_relation(relation, names.column, domains)]
    except ConditionError as error:
        raise ConditionError(f"require {text!r:.120}: {error}") from None


def _topological(entries: Sequence[_Entry], bound: Sequence[Bound]) -> list[int]:
    """Columns in declaration order, but each after those its condition reads."""
    reads = [sorted(columns_read(condition)) for condition in bound]
    order: list[int] = []
    state = [0] * len(entries)  # 0 = not seen, 1 = on the stack, 2 = done
    for start in range(len(entries)):
        stack = [start]
        while stack:
            column = stack[-1]
            if state[column] == 2:
                stack.pop()
                continue
            state[column] = 1
            waiting = [parent for parent in reads[column] if state[parent] != 2]
            for parent in waiting:
                if state[parent] == 1:
                    raise SpaceError(_cycle(entries, reads, parent))
            if waiting:
                stack.append(waiting[0])
            else:
                state[column] = 2
                order.append(column)
                stack.pop()
    return order


def _cycle(entries: Sequence[_Entry], reads: Sequence[Sequence[int]], start: int) -> str:
    """The shortest cycle through ``start``, as an error message."""
    came_from: dict[int, int] = {}
    queue = [start]
    for column in queue:
        for parent in reads[column]:
            if parent == start:
                way = [column]
                while way[-1] != start:
                    way.append(came_from[way[-1]])
                steps = " -> ".join(repr(entries[i].path) for i in [*way[::-1], start])
                return f"conditions form a cycle: {steps}"
            if parent not in came_from:
                came_from[parent] = column
                queue.append(parent)
    raise AssertionError("called without a cycle")


def _drop_implied(
    order: Sequence[int], texts: list[Condition | None], rebind: Callable[[Condition], Bound]
) -> None:
    """Drop parts of a conjunction that another part implies: ``model == 'svm' and kernel == 'rbf'`` becomes
    ``kernel == 'rbf'`` if kernel exists only for svm. So nested and flat spellings give the same groups."""
    meanings: dict[int, list[Bound]] = {}
    for column in order:
        text = texts[column]
        parts = text.parts if isinstance(text, conditions.All) else () if text is None else (text,)
        meanings[column] = [rebind(part) for part in parts]
        if len(parts) > 1:
            implied = _implied(meanings[column], meanings)
            kept = [part for part, meaning in zip(parts, meanings[column]) if not _follows(meaning, implied)]
            texts[column] = conditions.join(conditions.All, kept)


def _implied(parts: Sequence[Bound], meanings: Mapping[int, Sequence[Bound]]) -> set[Bound]:
    """The conditions that hold wherever the columns that ``parts`` read are active."""
    implied: set[Bound] = set()
    seen: set[int] = set()
    waiting = [column for part in parts for column in needed_active(part)]
    while waiting:
        column = waiting.pop()
        if column not in seen:
            seen.add(column)
            implied.update(meanings[column])
            waiting += [read for part in meanings[column] for read in needed_active(part)]
    return implied


def _follows(part: Bound, known: set[Bound]) -> bool:
    return part in known or any(implies(each, part) for each in known)
