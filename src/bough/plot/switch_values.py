"""The values of a switch, each with its own branch: options, single numbers, or ranges of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bough.plot.theme import number
from bough.space.conditions import Compare, Condition, comparisons
from bough.space.parameters import Categorical, Domain, Float, Int

__all__ = ["MAX_SINGLE_LEVELS", "Cut", "SwitchValue", "cuts_by_switch", "switch_values"]

MAX_SINGLE_LEVELS = 8
"""The most values of a numeric switch with a branch per value; a larger switch has a branch per range."""


class Cut(NamedTuple):
    """Where conditions split a numeric range: just before ``at``, or just after it."""

    at: float
    after: bool


@dataclass(frozen=True)
class SwitchValue:
    """One value of a switch, or range number ``index`` of those between ``cuts``."""

    label: str
    value: Any = None
    cuts: tuple[Cut, ...] | None = None
    index: int = 0

    def holds(self, value: Any) -> bool:
        """Whether a config with this value of the switch is on the branch."""
        if self.cuts is not None:
            return _range_index(value, self.cuts) == self.index
        return isinstance(value, bool) == isinstance(self.value, bool) and bool(value == self.value)

    @property
    def is_single(self) -> bool:
        """Whether exactly one value leads to the branch."""
        cuts = self.cuts
        return cuts is None or (0 < self.index < len(cuts) and cuts[self.index - 1].at == cuts[self.index].at)

    def matches(self, value: Any) -> bool:
        """Like ``holds``, for a value of any type."""
        try:
            return self.holds(value)
        except TypeError:
            return False


def cuts_by_switch(conditions: Iterable[Condition]) -> dict[str, tuple[Cut, ...]]:
    """Every switch by the name that conditions use, with the cuts they make in its range."""
    found: dict[str, set[Cut]] = {}
    for condition in conditions:
        for leaf in comparisons(condition):
            if not isinstance(leaf, Compare):
                found.setdefault(leaf.left, set())
                found.setdefault(leaf.right, set())
                continue
            cuts = found.setdefault(leaf.name, set())
            for value in leaf.value if isinstance(leaf.value, tuple) else (leaf.value,):
                if isinstance(value, int | float) and not isinstance(value, bool):
                    sides = {"<": (False,), ">=": (False,), "<=": (True,), ">": (True,)}.get(
                        leaf.op, (False, True)
                    )
                    cuts.update(Cut(float(value), after) for after in sides)
    return {name: tuple(sorted(cuts)) for name, cuts in found.items()}


def switch_values(domain: Domain, cuts: Sequence[Cut]) -> list[SwitchValue]:
    """The branches of a switch: one per option, per value of a short range, or per range between cuts."""
    if isinstance(domain, Categorical):
        labels = [_text(option) for option in domain.options]
        if len(set(labels)) < len(labels):  # 1 and '1' need different labels
            labels = [repr(option) for option in domain.options]
        return [SwitchValue(label, value=option) for label, option in zip(labels, domain.options)]
    if 0 < domain.levels <= MAX_SINGLE_LEVELS:
        return [
            SwitchValue(_text(value), value=value)
            for value in domain.values(np.arange(float(domain.levels))).tolist()
        ]
    inside = tuple(cut for cut in cuts if _splits(domain, cut))
    return [SwitchValue(_range_text(domain, inside, i), cuts=inside, index=i) for i in range(len(inside) + 1)]


def _text(value: object) -> str:
    """A value as a label."""
    return number(value) if isinstance(value, float) else str(value)


def _splits(domain: Float | Int, cut: Cut) -> bool:
    """Whether values remain on both sides of a cut."""
    if cut.after:
        return domain.low <= cut.at < domain.high
    return domain.low < cut.at <= domain.high


def _range_index(value: float, cuts: Sequence[Cut]) -> int:
    return sum(value > cut.at or (value == cut.at and not cut.after) for cut in cuts)


def _range_text(domain: Float | Int, cuts: Sequence[Cut], index: int) -> str:
    if not cuts:
        return f"{_text(domain.low)} to {_text(domain.high)}"
    low = cuts[index - 1] if index else None
    high = cuts[index] if index < len(cuts) else None
    if low and high and low.at == high.at:
        return _text(low.at)
    parts = [f"{'>' if low.after else '≥'} {_text(low.at)}"] if low else []
    parts += [f"{'≤' if high.after else '<'} {_text(high.at)}"] if high else []
    return ", ".join(parts)
