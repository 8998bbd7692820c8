"""A space as people think of it: a tree of branches, whatever graph its conditions make.

Every parameter that a condition reads is a *fork*, every value (or range) of it a *branch*, and a
parameter lives in the deepest branch that its condition implies. Where a condition reads several
parameters and implies no single branch, the parameter stands above them with its condition written
out. Independent choices are forks side by side; they are never multiplied out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeAlias

import numpy as np

from bough.plot.ways import Way, cuts_by_switch, ways
from bough.space import Space
from bough.space.conditions import All, Any, Compare, Condition, Not, Relate
from bough.space.flatten import Parameter
from bough.trial import Trial

__all__ = ["Activity", "Branch", "Fork", "Route", "Tally", "activity", "count", "few", "outline"]

Activity: TypeAlias = Mapping[str, frozenset[int]]
"""The numbers of the trials in which the parameter of each path is active."""

Route: TypeAlias = tuple[tuple[str, str], ...]
"""How to reach a branch from the root: (path of a fork, label of the way taken), and so on."""


@dataclass(frozen=True)
class Tally:
    """How the trials of a branch went; best: the trial with the best value, if any is finished."""

    trials: int = 0
    failed: int = 0
    best: Trial | None = None


@dataclass(frozen=True)
class Fork:
    """A parameter that decides how to go on.

    condition: what must hold for it to be active beyond what the branch it stands in says already.
    """

    name: str
    path: str
    branches: tuple[Branch, ...]
    condition: str | None = None


@dataclass(frozen=True)
class Branch:
    """One way on from a fork, and all that hangs below it; the root has an empty route.

    parameters: (path, condition) of the plain parameters that live here; conditions as in ``Fork``.
    """

    route: Route
    way: Way
    parameters: tuple[tuple[str, str | None], ...] = ()
    forks: tuple[Fork, ...] = ()
    tally: Tally = Tally()

    @property
    def label(self) -> str:
        return self.way.label

    def walk(self) -> Iterator[Branch]:
        """This branch and all below it, from top to bottom."""
        yield self
        for fork in self.forks:
            for branch in fork.branches:
                yield from branch.walk()


def count(branch: Branch, trials: Sequence[Trial], active: Activity, minimizes: bool) -> Branch:
    """The same tree with the trials of every branch counted."""
    forks = []
    for fork in branch.forks:
        reaching = [t for t in trials if t.number in active[fork.path]]
        branches = tuple(
            count(onward, [t for t in reaching if onward.way.holds(t.config[fork.name])], active, minimizes)
            for onward in fork.branches
        )
        forks.append(replace(fork, branches=branches))
    sign = 1.0 if minimizes else -1.0
    done = [(sign * t.value, t.number, t) for t in trials if t.state == "done" and t.value is not None]
    best = min(done)[2] if done else None
    tally = Tally(len(trials), sum(t.state == "failed" for t in trials), best)
    return replace(branch, forks=tuple(forks), tally=tally)


def activity(space: Space, trials: Sequence[Trial]) -> Activity:
    """In which trials each parameter is active; a name may stand for several parameters, a path does not."""
    if not trials:
        return {parameter.path: frozenset() for parameter in space.parameters}
    on = space.layout.active(space.encode([t.config for t in trials]).on)
    numbers = np.array([t.number for t in trials])
    return {p.path: frozenset(numbers[on[:, i]].tolist()) for i, p in enumerate(space.parameters)}


def outline(space: Space) -> Branch:
    """The tree of branches of a space, with nothing counted yet."""
    known = _by_written_name(space)
    cuts = cuts_by_switch(p.condition for p in space.parameters if p.condition is not None)
    options = {name: ways(known[name].domain, found) for name, found in cuts.items()}
    homes = _homes(known, options)
    living: dict[Route, list[str]] = {}
    for name in known:
        living.setdefault(homes[name], []).append(name)

    def grow(route: Route, way: Way) -> Branch:
        plain: list[tuple[str, str | None]] = []
        forks: list[Fork] = []
        for name in living.get(route, ()):
            parameter = known[name]
            condition = _left_over(parameter.condition, route, known, options)
            if name not in options:
                plain.append((parameter.path, condition))
                continue
            branches = tuple(
                grow((*route, (parameter.path, onward.label)), onward) for onward in options[name]
            )
            forks.append(Fork(parameter.name, parameter.path, branches, condition))
        return Branch(route, way, tuple(plain), tuple(forks))

    return grow((), Way("all trials"))


def few(names: Sequence[str], room: int) -> str:
    """As many names as there is room for, and how many more there are."""
    shown = 1
    while shown < len(names) and len(", ".join(names[: shown + 1])) <= room:
        shown += 1
    return ", ".join(names[:shown]) + (f" + {len(names) - shown}" if shown < len(names) else "")


def _by_written_name(space: Space) -> dict[str, Parameter]:
    """Parameters as conditions write them: by name where no other has it, else by path."""
    uses = Counter(p.name for p in space.parameters)
    return {p.name if uses[p.name] == 1 else p.path: p for p in space.parameters}


def _homes(known: Mapping[str, Parameter], options: Mapping[str, list[Way]]) -> dict[str, Route]:
    """For each parameter the route of the deepest branch that its condition implies."""
    homes: dict[str, Route] = {}

    def home(name: str) -> Route:
        if name not in homes:
            condition = known[name].condition
            homes[name] = () if condition is None else implied(condition)
        return homes[name]

    def implied(condition: Condition) -> Route:
        match condition:
            case Compare(name, "==", value):
                way = next((way for way in options[name] if way.holds(value)), None)
                return home(name) if way is None else (*home(name), (known[name].path, way.label))
            case Compare(name):
                return home(name)
            case Relate(left, _, right):
                return max(home(left), home(right), key=len)
            case All(parts):
                return reduce(_deeper, (implied(part) for part in parts))
            case Any(parts):
                return reduce(_shared, (implied(part) for part in parts))
            case Not():  # may hold because something is inactive, so it implies no branch
                return ()

    for name in known:
        home(name)
    return homes


def _deeper(left: Route, right: Route) -> Route:
    """The longer of two routes; what they share if they contradict each other, so that nothing lies there."""
    ways = dict(left)
    if any(ways.get(path, way) != way for path, way in right):
        return _shared(left, right)
    return max(left, right, key=len)


def _shared(left: Route, right: Route) -> Route:
    """The steps that two routes have in common."""
    steps = 0
    while steps < min(len(left), len(right)) and left[steps] == right[steps]:
        steps += 1
    return left[:steps]


def _left_over(
    condition: Condition | None,
    route: Route,
    known: Mapping[str, Parameter],
    options: Mapping[str, list[Way]],
) -> str | None:
    """The part of a condition that the branch at the end of the route does not say already."""
    if condition is None:
        return None

    def said(part: Condition) -> bool:
        if not isinstance(part, Compare) or part.op != "==":
            return False
        taken = dict(route).get(known[part.name].path)
        # a way that is a single value says which; one that is a range says less than the condition
        return any(
            way.label == taken and way.is_value and way.holds(part.value) for way in options[part.name]
        )

    parts = condition.parts if isinstance(condition, All) else (condition,)
    rest = tuple(part for part in parts if not said(part))
    if not rest:
        return None
    return str(rest[0] if len(rest) == 1 else All(rest))
