"""The tree of branches of a space, and how the trials spread over it.

Every parameter that a condition reads is a *switch*. Each of its values, or ranges of values, opens a
*branch*. A parameter belongs to the deepest branch that its condition implies. If the condition reads
several switches and implies no single branch, the parameter stays above them and keeps its condition.
Independent switches are listed side by side: their branches are not combined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeAlias

import numpy as np

from bough.plot.switch_values import SwitchValue, cuts_by_switch, switch_values
from bough.space import Space
from bough.space.conditions import All, Any, Compare, Condition, Not, Relate
from bough.space.desugar import Parameter
from bough.trial import Trial

__all__ = [
    "Activity",
    "Branch",
    "BranchPath",
    "Switch",
    "Tally",
    "activity",
    "count",
    "joint_tally",
    "outline",
    "shortened",
]

Activity: TypeAlias = Mapping[str, frozenset[int]]
"""For each parameter, by path, the numbers of the trials in which it is active."""

BranchPath: TypeAlias = tuple[tuple[str, str], ...]
"""How to reach a branch from the root: (path of a switch, label of its value), one pair per step."""


@dataclass(frozen=True)
class Tally:
    """Counts of a branch's trials; best: the finished trial with the best value."""

    trials: int = 0
    failed: int = 0
    best: Trial | None = None


@dataclass(frozen=True)
class Switch:
    """A parameter whose value decides between branches.

    condition: what must hold for it to be active, besides being on the branch above.
    """

    name: str
    path: str
    branches: tuple[Branch, ...]
    condition: str | None = None


@dataclass(frozen=True)
class Branch:
    """One value of a switch with everything below it; the root has an empty path.

    parameters: (parameter, condition) for those here that are not switches; conditions as in ``Switch``.
    """

    path: BranchPath
    value: SwitchValue
    parameters: tuple[tuple[Parameter, str | None], ...] = ()
    switches: tuple[Switch, ...] = ()
    tally: Tally = Tally()

    @property
    def label(self) -> str:
        return self.value.label

    def walk(self) -> Iterator[Branch]:
        """This branch and all below it, from top to bottom."""
        yield self
        for switch in self.switches:
            for branch in switch.branches:
                yield from branch.walk()


def count(branch: Branch, trials: Sequence[Trial], active: Activity, minimizes: bool) -> Branch:
    """The same tree with the trials of every branch counted."""
    switches = []
    for switch in branch.switches:
        reaching = [t for t in trials if t.number in active[switch.path]]
        branches = tuple(
            count(below, [t for t in reaching if below.value.holds(t.config[switch.name])], active, minimizes)
            for below in switch.branches
        )
        switches.append(replace(switch, branches=branches))
    best = _best([t for t in trials if t.feasible], minimizes)
    tally = Tally(len(trials), sum(t.state == "failed" for t in trials), best)
    return replace(branch, switches=tuple(switches), tally=tally)


def joint_tally(tallies: Sequence[Tally], minimizes: bool) -> Tally:
    """The tally of several branches that have no trial in common."""
    best = _best([tally.best for tally in tallies if tally.best is not None], minimizes)
    return Tally(sum(tally.trials for tally in tallies), sum(tally.failed for tally in tallies), best)


def _best(trials: Sequence[Trial], minimizes: bool) -> Trial | None:
    """The trial with the best value, the first if several tie."""
    sign = 1.0 if minimizes else -1.0
    done = [(sign * t.value, t.number, t) for t in trials if t.value is not None]
    return min(done)[2] if done else None


def activity(space: Space, trials: Sequence[Trial]) -> Activity:
    """In which trials each parameter is active, by path: two parameters may share a name, but not a path."""
    if not trials:
        return {parameter.path: frozenset() for parameter in space.parameters}
    on = space.layout.active(space.encode([t.config for t in trials]).on)
    numbers = np.array([t.number for t in trials])
    return {p.path: frozenset(numbers[on[:, i]].tolist()) for i, p in enumerate(space.parameters)}


def outline(space: Space) -> Branch:
    """The tree of branches of a space, not yet counted."""
    known = _by_written_name(space)
    cuts = cuts_by_switch(p.condition for p in space.parameters if p.condition is not None)
    options = {name: switch_values(known[name].domain, found) for name, found in cuts.items()}
    homes = _homes(known, options)
    residents: dict[BranchPath, list[str]] = {}
    for name in known:
        residents.setdefault(homes[name], []).append(name)

    def grow(path: BranchPath, value: SwitchValue) -> Branch:
        plain: list[tuple[Parameter, str | None]] = []
        switches: list[Switch] = []
        for name in residents.get(path, ()):
            parameter = known[name]
            condition = _remainder(parameter.condition, path, known, options)
            if name not in options:
                plain.append((parameter, condition))
                continue
            branches = tuple(grow((*path, (parameter.path, each.label)), each) for each in options[name])
            switches.append(Switch(parameter.name, parameter.path, branches, condition))
        return Branch(path, value, tuple(plain), tuple(switches))

    return grow((), SwitchValue("all trials"))


def shortened(names: Sequence[str], room: int) -> str:
    """As many names as fit into ``room`` characters, and how many more there are."""
    shown = 1
    while shown < len(names) and len(", ".join(names[: shown + 1])) <= room:
        shown += 1
    return ", ".join(names[:shown]) + (f" and {len(names) - shown} more" if shown < len(names) else "")


def _by_written_name(space: Space) -> dict[str, Parameter]:
    """Parameters as conditions write them: by name if it is unique, else by path."""
    uses = Counter(p.name for p in space.parameters)
    return {p.name if uses[p.name] == 1 else p.path: p for p in space.parameters}


def _homes(known: Mapping[str, Parameter], options: Mapping[str, list[SwitchValue]]) -> dict[str, BranchPath]:
    """For each parameter the path of the deepest branch that its condition implies."""
    homes: dict[str, BranchPath] = {}

    def home(name: str) -> BranchPath:
        if name not in homes:
            condition = known[name].condition
            homes[name] = () if condition is None else implied(condition)
        return homes[name]

    def implied(condition: Condition) -> BranchPath:
        match condition:
            case Compare(name, "==", value):
                found = next((each for each in options[name] if each.holds(value)), None)
                return home(name) if found is None else (*home(name), (known[name].path, found.label))
            case Compare(name):
                return home(name)
            case Relate(left, _, right):
                return max(home(left), home(right), key=len)
            case All(parts):
                return reduce(_deeper, (implied(part) for part in parts))
            case Any(parts):
                return reduce(_shared, (implied(part) for part in parts))
            case Not():  # may hold because a parameter is inactive, so it implies no branch
                return ()

    for name in known:
        home(name)
    return homes


def _deeper(left: BranchPath, right: BranchPath) -> BranchPath:
    """The longer of two paths; their common start if they contradict each other."""
    labels = dict(left)
    if any(labels.get(switch, label) != label for switch, label in right):
        return _shared(left, right)
    return max(left, right, key=len)


def _shared(left: BranchPath, right: BranchPath) -> BranchPath:
    """The steps that two paths have in common."""
    steps = 0
    while steps < min(len(left), len(right)) and left[steps] == right[steps]:
        steps += 1
    return left[:steps]


def _remainder(
    condition: Condition | None,
    path: BranchPath,
    known: Mapping[str, Parameter],
    options: Mapping[str, list[SwitchValue]],
) -> str | None:
    """The part of a condition that being on the branch does not imply."""
    if condition is None:
        return None

    def implied(part: Condition) -> bool:
        if not isinstance(part, Compare) or part.op != "==":
            return False
        taken = dict(path).get(known[part.name].path)
        # A branch of a single value implies the condition; a branch of a range may not.
        return any(
            each.label == taken and each.is_single and each.holds(part.value) for each in options[part.name]
        )

    parts = condition.parts if isinstance(condition, All) else (condition,)
    rest = tuple(part for part in parts if not implied(part))
    if not rest:
        return None
    return str(rest[0] if len(rest) == 1 else All(rest))
