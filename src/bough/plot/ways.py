"""How the range of a switch splits into the ways on from it: options, single values, or ranges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bough.space.conditions import All, Compare, Condition, Not, Relate
from bough.space.conditions import Any as AnyOf
from bough.space.parameters import Categorical, Domain, Float, Int

__all__ = ["Cut", "Way", "comparisons", "cuts_by_switch", "ways", "word"]

FEW_LEVELS = 8
"""A numeric switch with at most so many values has a way per value; another one has a way per range."""


class Cut(NamedTuple):
    """A place where conditions split a numeric range: just before ``at``, or just after it."""

    at: float
    after: bool


@dataclass(frozen=True)
class Way:
    """One value of a switch, or piece ``index`` of a range that ``cuts`` split."""

    label: str
    value: Any = None
    cuts: tuple[Cut, ...] | None = None
    index: int = 0

    def holds(self, value: Any) -> bool:
        """Whether a config with this value of the switch goes this way."""
        if self.cuts is not None:
            return _piece(value, self.cuts) == self.index
        return isinstance(value, bool) == isinstance(self.value, bool) and bool(value == self.value)

    @property
    def is_value(self) -> bool:
        """Whether only one value goes this way."""
        cuts = self.cuts
        return cuts is None or (0 < self.index < len(cuts) and cuts[self.index - 1].at == cuts[self.index].at)

    def matches(self, value: Any) -> bool:
        """Like ``holds``, for a value that may not belong to the switch at all."""
        try:
            return self.holds(value)
        except TypeError:
            return False


def comparisons(condition: Condition) -> Iterator[Compare | Relate]:
    """The single comparisons that a condition is made of, from left to right."""
    match condition:
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from comparisons(part)
        case Not(part):
            yield from comparisons(part)
        case _:
            yield condition


def cuts_by_switch(conditions: Iterable[Condition]) -> dict[str, tuple[Cut, ...]]:
    """Every parameter that some condition reads, with the places where conditions cut its range."""
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


def ways(domain: Domain, cuts: Sequence[Cut]) -> list[Way]:
    """The ways on from a switch: one per option, per value of a short range, or per piece of a cut range."""
    if isinstance(domain, Categorical):
        labels = [word(option) for option in domain.options]
        if len(set(labels)) < len(labels):  # 1 and '1' must not look alike
            labels = [repr(option) for option in domain.options]
        return [Way(label, value=option) for label, option in zip(labels, domain.options)]
    if 0 < domain.levels <= FEW_LEVELS:
        return [
            Way(word(value), value=value) for value in domain.values(np.arange(float(domain.levels))).tolist()
        ]
    inside = tuple(cut for cut in cuts if _splits(domain, cut))
    return [Way(_range_word(domain, inside, i), cuts=inside, index=i) for i in range(len(inside) + 1)]


def word(value: object) -> str:
    """A value as a label."""
    if isinstance(value, float):
        return str(int(value)) if value == int(value) and abs(value) < 1e6 else f"{value:.4g}"
    return str(value)


def _splits(domain: Float | Int, cut: Cut) -> bool:
    """Whether a cut leaves something of the range on both sides."""
    if cut.after:
        return domain.low <= cut.at < domain.high
    return domain.low < cut.at <= domain.high


def _piece(value: float, cuts: Sequence[Cut]) -> int:
    return sum(value > cut.at or (value == cut.at and not cut.after) for cut in cuts)


def _range_word(domain: Float | Int, cuts: Sequence[Cut], index: int) -> str:
    if not cuts:
        return f"{word(domain.low)} to {word(domain.high)}"
    low = cuts[index - 1] if index else None
    high = cuts[index] if index < len(cuts) else None
    if low and high and low.at == high.at:
        return word(low.at)
    parts = [f"{'>' if low.after else '≥'} {word(low.at)}"] if low else []
    parts += [f"{'≤' if high.after else '<'} {word(high.at)}"] if high else []
    return ", ".join(parts)
