"""The geometry of the tree figure: bars, ribbons between them, and labels, in pixels from the top.

It is computed from a counted ``Branch``, without Plotly. The height of a bar or ribbon is proportional to its
number of trials. Every branch has room for its label, even if it has few trials.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from bough.plot.outline import Branch, Switch, Tally, joint_tally
from bough.plot.switch_values import SwitchValue

__all__ = ["Bar", "Pill", "Ribbon", "TreeLayout", "lay_out"]

MAX_LEAVES = 60
MAX_BRANCHES = 12
"""Branches of a switch that a large tree shows: those with the most trials, and one for the rest."""

LINE_PX, COMPACT_ROW_PX, GAP_PX = 18.0, 27.0, 14.0
"""Heights in pixels of a line of text, of a row with one line, and of the gap between two switches."""

SWITCH_STEP, BRANCH_STEP = 0.42, 1.0


@dataclass(frozen=True)
class Bar:
    """A branch: a bar at ``x``, ``height`` pixels down from ``top``.

    label: where the label of an inner branch ends, above its bar.
    """

    branch: Branch
    x: float
    top: float
    height: float
    label: float

    @property
    def middle(self) -> float:
        return self.top + self.height / 2


@dataclass(frozen=True)
class Pill:
    """A switch: its name at (x, y)."""

    switch: Switch
    x: float
    y: float


@dataclass(frozen=True)
class Ribbon:
    """The trials that go from (x0, top0) to (x1, top1); ``height`` is proportional to their number."""

    x0: float
    top0: float
    x1: float
    top1: float
    height: float
    tally: Tally


@dataclass(frozen=True)
class TreeLayout:
    """The whole figure; width in columns, height in pixels. compact: labels have one line, not three."""

    bars: tuple[Bar, ...]
    pills: tuple[Pill, ...]
    ribbons: tuple[Ribbon, ...]
    width: float
    height: float
    compact: bool


def lay_out(root: Branch, minimizes: bool) -> TreeLayout:
    """Place every branch: leaves below each other, an inner branch beside the middle of its subtree."""
    if sum(1 for _ in _leaves(root)) > MAX_LEAVES:
        root = _folded(root, minimizes)
    leaves = sum(1 for _ in _leaves(root))
    compact = leaves > 14
    scale = min(max(140.0, 24.0 * leaves), 300.0) / max(root.tally.trials, 1)
    bars: list[Bar] = []
    pills: list[Pill] = []
    ribbons: list[Ribbon] = []

    def place(branch: Branch, x: float, top: float) -> tuple[Bar, float]:
        """Place a branch and all below it from ``top`` on; returns its bar, and where the next may begin."""
        height = max(scale * branch.tally.trials, 2.0)
        if not branch.switches:
            room = max(label_room(branch), height + 10.0)
            bar = Bar(branch, x, top + (room - height) / 2, height, label=top)
            bars.append(bar)
            return bar, top + room
        # The label of an inner branch is above its whole subtree, where no ribbon can cross it.
        label = top + label_room(branch)
        cursor = label
        placed: list[tuple[Switch, list[Bar]]] = []
        for switch in branch.switches:
            below = []
            for child in switch.branches:
                bar, cursor = place(child, x + BRANCH_STEP, cursor)
                below.append(bar)
            cursor += GAP_PX
            placed.append((switch, below))
        middles = [bar.middle for _, below in placed for bar in (below[0], below[-1])]
        middle = (min(middles) + max(middles)) / 2
        bar = Bar(branch, x, middle - height / 2, height, label)
        bars.append(bar)
        for switch, below in placed:
            connect(bar, switch, below)
        return bar, max(cursor - GAP_PX, bar.top + height)

    def label_room(branch: Branch) -> float:
        return COMPACT_ROW_PX if compact else LINE_PX * (3.2 if branch.parameters else 2.4)

    def connect(parent: Bar, switch: Switch, below: list[Bar]) -> None:
        """Ribbons from the parent's bar to the switch, and from there to each branch.

        A trial takes a branch of every switch that it reaches, so the ribbons of parallel switches
        start from the same part of the bar and overlap there.
        """
        reaching = [max(scale * bar.branch.tally.trials, 1.0) for bar in below]
        x, y = parent.x + SWITCH_STEP, (below[0].middle + below[-1].middle) / 2
        pills.append(Pill(switch, x, y))
        start = y - sum(reaching) / 2
        tally = joint_tally([bar.branch.tally for bar in below], minimizes)
        width = sum(reaching)
        ribbons.append(Ribbon(parent.x, parent.middle - width / 2, x, start, width, tally))
        for bar, width in zip(below, reaching):
            ribbons.append(Ribbon(x, start, bar.x, bar.middle - width / 2, width, bar.branch.tally))
            start += width

    _, bottom = place(root, 0.0, 0.0)
    return TreeLayout(tuple(bars), tuple(pills), tuple(ribbons), max(b.x for b in bars), bottom, compact)


def _leaves(branch: Branch) -> Iterator[Branch]:
    return (b for b in branch.walk() if not b.switches)


def _folded(branch: Branch, minimizes: bool) -> Branch:
    """The branch with only the branches of each switch that have most trials; one more joins the others."""
    switches = []
    for switch in branch.switches:
        ranked = sorted(switch.branches, key=lambda b: -b.tally.trials)
        kept = {id(b) for b in ranked[: MAX_BRANCHES - 1]}
        if len(ranked) <= MAX_BRANCHES:
            kept = {id(b) for b in ranked}
        shown = tuple(_folded(b, minimizes) for b in switch.branches if id(b) in kept)
        rest = [b.tally for b in switch.branches if id(b) not in kept]
        if rest:
            label, total = f"{len(rest)} more", joint_tally(rest, minimizes)
            shown += (Branch((*branch.path, (switch.path, label)), SwitchValue(label), tally=total),)
        switches.append(replace(switch, branches=shown))
    return replace(branch, switches=tuple(switches))
