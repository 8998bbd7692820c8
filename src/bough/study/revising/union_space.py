"""The union of the revisions of a study's space: a column for every parameter that any trial had.

``model_space`` explains the purpose of the union. Trials fall into *classes*: one for all trials that fit the
current space, and one per earlier revision for those that do not. A column has a condition for each class
that has the parameter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bough.errors import ConfigError
from bough.points import Points
from bough.space import Space
from bough.space.conditions import All, Compare, Condition, comparisons, parse, quote, rename
from bough.space.conditions import Any as AnyOf
from bough.space.conditions import join as joined
from bough.space.desugar import Parameter
from bough.space.parameters import Categorical, Domain
from bough.space.relations import parse_relation, rename_relation
from bough.space.scalars import scalar_key
from bough.space.union import bare, join_domains
from bough.study.revising.revisions import Revision, backfills, fixed_values

__all__ = ["ByPath", "Union", "make_union"]

ByPath = dict[str, Any]
"""A config with paths instead of names."""


@dataclass(frozen=True, eq=False)
class _Column:
    """A column of the union: its domain, and its condition in each class of trials that has it."""

    domain: Domain
    conditions: dict[int, Condition | None]


@dataclass(frozen=True, eq=False)
class Union:
    """A union, and the names of its columns.

    names: for each revision, the column of each path. switch: the hidden switch; None if there is none.
    own: the revisions whose trials may be on a separate branch.
    fills: for each revision, values for the columns that its configs lack.
    """

    space: Space
    names: Sequence[Mapping[str, str]]
    fills: Sequence[ByPath]
    switch: str | None = None
    own: frozenset[int] = field(default_factory=frozenset)

    def encode(self, index: int, rows: Sequence[ByPath]) -> Points:
        """Configs of a revision as points: on the current space's branch if they fit, else on another one."""
        last = len(self.names) - 1
        if index == last or index not in self.own:
            return self._encode(index, last, rows)
        fits = np.array(self._fits(index, rows), dtype=bool)
        order = np.argsort(~fits, kind="stable")
        count = int(fits.sum())
        points = Points.concat(
            [
                self._encode(index, last, [rows[row] for row in order[:count].tolist()]),
                self._encode(index, index, [rows[row] for row in order[count:].tolist()]),
            ]
        )
        return points.take(np.argsort(order))

    def _fits(self, index: int, rows: Sequence[ByPath]) -> list[bool]:
        """Whether each row belongs to the branch of the current space.

        Which parameters are active depends only on the switches, so it is enough to try one row for every
        combination of names and switch values.
        """
        names, last = self.names[index], len(self.names) - 1
        domains = {parameter.name: parameter.domain for parameter in self.space}
        switches = {self.space.parameters[column].name for column in self.space.tree.switches}
        known: dict[object, bool] = {}
        found = []
        for row in rows:
            config = {names[path]: value for path, value in row.items()}
            if not all(domains[name].contains(value) for name, value in config.items()):
                found.append(False)
                continue
            key = tuple((name, scalar_key(config[name]) if name in switches else None) for name in config)
            if key not in known:
                known[key] = self.takes(index, last, [row])
            found.append(known[key])
        return found

    def takes(self, index: int, branch: int, rows: Sequence[ByPath]) -> bool:
        """Whether configs of a revision can be on the branch of another one."""
        try:
            self._encode(index, branch, rows)
        except (ConfigError, KeyError):
            return False
        return True

    def _encode(self, index: int, branch: int, rows: Sequence[ByPath]) -> Points:
        names = self.names[index]
        configs = [{names[path]: value for path, value in row.items()} for row in rows]
        if self.switch is not None:
            configs = [{**config, self.switch: str(branch)} for config in configs]
        return self.space.encode(configs, self.fills[index])


def make_union(
    revisions: Sequence[Revision], rows: Mapping[int, Sequence[ByPath]], share: bool, keep_fixed: bool
) -> Union:
    """The union for rows of earlier revisions.

    share: whether parameters with the same path share a column. keep_fixed: whether removed parameters with a
    fixed value are active in new trials. BoughError if this union is not possible.
    """
    last = len(revisions) - 1
    current = revisions[last].space
    columns = {p.path: _Column(bare(p.domain), {last: _renamed(p, current, {})}) for p in current.parameters}
    names: list[dict[str, str]] = [{} for _ in revisions]
    names[last] = {path: path for path in columns}
    fixed = fixed_values(revisions) if keep_fixed else {}
    for index in sorted(rows, reverse=True):
        names[index] = _take_in(columns, revisions[index].space, index, rows[index], share)
    values = {path: value for path, (value, _) in fixed.items()}
    for path, (_, had) in fixed.items():
        _keep_fixed(columns, revisions[had].space, path, [last, *(index for index in rows if index > had)])
    # A backfilled parameter may have a different domain by now.
    fills = [
        {
            path: value
            for path, value in fill.items()
            if path not in names[index] and path in columns and columns[path].domain.contains(value)
        }
        | {path: value for path, (value, had) in fixed.items() if index > had}
        for index, fill in enumerate(backfills(revisions))
    ]
    _settle_dormant(columns, current, last)
    plain = Union(_space(columns, current, values, None, [last]), names, fills)
    misfits = frozenset(index for index in rows if not plain.takes(index, last, rows[index]))
    if not misfits:
        return plain
    _let_fills_join(columns, fills, misfits, last)
    for index in misfits:
        _settle_dormant(columns, revisions[index].space, index)
    switch = "revision"
    while switch in columns:
        switch += "#"
    classes = [last, *sorted(misfits, reverse=True)]
    made = _space(columns, current, values, switch, classes)
    union = Union(made, names, fills, switch, misfits)
    for index in rows:
        union.encode(index, rows[index])  # a ConfigError here means that parameters cannot be shared
    return union


def _take_in(
    columns: dict[str, _Column],
    space: Space,
    index: int,
    rows: Sequence[ByPath],
    share: bool,
) -> dict[str, str]:
    """Add the parameters of an earlier revision to the columns; returns the column of each path."""
    names: dict[str, str] = {}
    read = {space[name].path for p in space.parameters for name in _names_in(p.condition)}
    for parameter in space.parameters:
        path, name, domain = parameter.path, parameter.path, None
        if path in columns:
            values = [row[path] for row in rows if path in row]
            domain = _widened(columns[path].domain, parameter.domain, values, path in read)
        if path in columns and (domain is None or not share):
            name = f"{path}@{index}"
            while name in columns:
                name += "@"
            domain = None
        names[path] = name
        known = columns[name].conditions if name in columns else {}
        columns[name] = _Column(domain or bare(parameter.domain), known)
    for parameter in space.parameters:
        columns[names[parameter.path]].conditions[index] = _renamed(parameter, space, names)
    return names


def _widened(now: Domain, before: Domain, values: Iterable[Any], is_read: bool) -> Domain | None:
    """``now`` if it has all the values; else its union with ``before``, or None if they have no union.

    is_read: whether conditions of the earlier space read the parameter; its values must then all be kept.
    """
    fits = not is_read and all(map(now.contains, values))
    return now if fits else join_domains(now, before)


def _keep_fixed(columns: dict[str, _Column], space: Space, path: str, classes: Iterable[int]) -> None:
    """Keep a removed parameter with a fixed value active in later trials."""
    parameter = space[path]
    if path not in columns:
        columns[path] = _Column(bare(parameter.domain), {})
    for index in classes:
        columns[path].conditions[index] = _renamed(parameter, space, {})


def _settle_dormant(columns: dict[str, _Column], space: Space, index: int) -> None:
    """Give a class the parameters that can never be active in it, under the condition of the other classes.

    These are the parameters below an option that its space lacks. Trials with that option then need no
    separate branch, because the option already is one.
    """
    gone: dict[str, set[object]] = {}
    for parameter in space.parameters:
        if parameter.path in columns and isinstance(parameter.domain, Categorical):
            union = columns[parameter.path].domain
            known = {scalar_key(option) for option in parameter.domain.options}
            if isinstance(union, Categorical):
                gone[parameter.path] = {scalar_key(option) for option in union.options} - known
    dormant: set[str] = set()

    def never(condition: Condition | None) -> bool:
        match condition:
            case Compare(name, op, value):
                values = value if isinstance(value, tuple) else (value,)
                dead = gone.get(name, set())
                return name in dormant or (
                    op in ("==", "in") and all(scalar_key(each) in dead for each in values)
                )
            case All(parts):
                return any(map(never, parts))
            case AnyOf(parts):
                return all(map(never, parts))
            case _:
                return False

    found = True
    while found:
        found = False
        for name, column in columns.items():
            if index in column.conditions or name in dormant:
                continue
            if all(never(condition) for condition in column.conditions.values()):
                dormant.add(name)
                found = True
    for name in dormant:
        conditions = columns[name].conditions
        newest = conditions[max(conditions)]
        if all(condition == newest for condition in conditions.values()):
            conditions[index] = newest


def _let_fills_join(
    columns: dict[str, _Column], fills: Sequence[ByPath], misfits: Iterable[int], last: int
) -> None:
    """Make backfilled parameters active in earlier trials under their current condition."""
    for index in misfits:
        for path in fills[index]:
            condition = columns[path].conditions.get(last)
            if all(index in columns[name].conditions for name in _names_in(condition)):
                columns[path].conditions.setdefault(index, condition)


def _space(
    columns: Mapping[str, _Column],
    current: Space,
    fixed: ByPath,
    switch: str | None,
    classes: Sequence[int],
) -> Space:
    """The union as a space whose legal configurations are those of the current one."""
    last = classes[0]
    used = {
        name: column
        for name, column in columns.items()
        if any(index in column.conditions for index in classes)
    }
    declared: dict[str, Any] = {
        name: replace(column.domain, when=_when(column.conditions, switch, classes))
        for name, column in used.items()
    }
    forbid: list[str] = []
    for parameter in current.parameters:
        forbid += _outside(parameter.path, columns[parameter.path].domain, parameter.domain)
    forbid += [str(rename(parse(clause), lambda name: current[name].path)) for clause in current.forbid]
    forbid += [f"{quote(path)} != {value!r}" for path, value in fixed.items()]
    if switch is not None:
        declared[switch] = Categorical([str(index) for index in classes])
        forbid.append(f"{quote(switch)} != {str(last)!r}")
    require = [
        str(rename_relation(parse_relation(text), lambda name: current[name].path))
        for text in current.require
    ]
    return Space(declared, forbid=forbid, require=require)


def _when(
    conditions: Mapping[int, Condition | None], switch: str | None, classes: Sequence[int]
) -> str | None:
    """The condition of a column over all classes of trials."""
    present = [index for index in classes if index in conditions]
    kinds: dict[Condition | None, list[int]] = {}
    for index in present:
        kinds.setdefault(conditions[index], []).append(index)
    if switch is None or (len(kinds) == 1 and len(present) == len(classes)):
        condition = next(iter(kinds))
        return None if condition is None else str(condition)
    parts: list[Condition] = []
    for condition, members in kinds.items():
        labels = tuple(str(index) for index in members)
        test = Compare(switch, "==", labels[0]) if len(labels) == 1 else Compare(switch, "in", labels)
        parts.append(test if condition is None else joined(All, [test, condition]))
    return str(joined(AnyOf, parts))


def _outside(path: str, union: Domain, current: Domain) -> list[str]:
    """Clauses that keep a column of the union within the domain of the current space."""
    name = quote(path)
    if isinstance(union, Categorical) and isinstance(current, Categorical):
        left = {scalar_key(option) for option in current.options}
        gone = tuple(option for option in union.options if scalar_key(option) not in left)
        return [str(Compare(path, "in", gone))] if gone else []
    assert not isinstance(union, Categorical) and not isinstance(current, Categorical)
    below = [f"{name} < {current.low!r}"] if union.low < current.low else []
    return below + ([f"{name} > {current.high!r}"] if union.high > current.high else [])


def _renamed(parameter: Parameter, space: Space, names: Mapping[str, str]) -> Condition | None:
    if parameter.condition is None:
        return None
    return rename(parameter.condition, lambda name: names.get(space[name].path, space[name].path))


def _names_in(condition: Condition | None) -> set[str]:
    found: set[str] = set()
    for each in () if condition is None else comparisons(condition):
        found |= {each.name} if isinstance(each, Compare) else {each.left, each.right}
    return found
