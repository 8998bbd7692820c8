"""``Choice``: a categorical whose every option opens a sub-space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

from bough.errors import SpaceError
from bough.space.beliefs import checked_likely
from bough.space.conditions import canonical
from bough.space.parameters import Categorical, Float, Int
from bough.space.scalars import UNSET

__all__ = ["MAX_DEPTH", "Choice", "Declared"]

MAX_DEPTH = 100
"""How deep choices may nest. Deeper ones come from a mistake in a program."""


@dataclass(frozen=True, repr=False)
class Choice:
    """A categorical whose every option opens a sub-space: ``Choice({label: {name: parameter}})``.

    likely: weights ``{label: weight}`` of how good options are expected to be, or a list of likely ones.
    """

    options: Mapping[str, Mapping[str, Declared]] = field(hash=False)
    default: str | None = None
    when: str | None = None
    likely: Mapping[str, float] | Sequence[Any] | None = field(default=None, compare=False)
    depth: int = field(default=1, init=False, compare=False)

    def __post_init__(self) -> None:
        given: Any = self.options
        if not isinstance(given, Mapping) or not given:
            hint = "; options without parameters are a Categorical" if isinstance(given, list) else ""
            raise SpaceError(f"Choice needs options: {{label: {{name: parameter, ...}}, ...}}{hint}")
        depths = [0]
        for label, children in self.options.items():
            if not isinstance(label, str):
                raise SpaceError(f"Choice label {label!r} must be a string")
            if not isinstance(children, Mapping):
                raise SpaceError(f"Choice option {label!r} must be a dict, not {children!r:.80}")
            depths += [child.depth for child in children.values() if isinstance(child, Choice)]
        if max(depths) >= MAX_DEPTH:
            raise SpaceError(f"Choices nest deeper than {MAX_DEPTH} levels")
        frozen = {label: MappingProxyType(dict(children)) for label, children in self.options.items()}
        object.__setattr__(self, "options", MappingProxyType(frozen))
        object.__setattr__(self, "when", canonical(self.when))
        object.__setattr__(self, "depth", max(depths) + 1)
        if self.default is not None and self.default not in list(frozen):
            raise SpaceError(
                f"Choice default must be one of {', '.join(map(repr, frozen))}, not {self.default!r}"
            )
        object.__setattr__(self, "likely", checked_likely(Categorical(tuple(frozen)), self.likely, "Choice"))

    @property
    def domain(self) -> Categorical:
        """The categorical that this choice stands for."""
        default = UNSET if self.default is None else self.default
        return Categorical(tuple(self.options), default=default, when=self.when, likely=self.likely)

    def _plain_options(self) -> dict[str, dict[str, Declared]]:
        return {label: dict(children) for label, children in self.options.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        return Choice, (self._plain_options(), self.default, self.when, self.likely)

    def __repr__(self) -> str:
        default = "" if self.default is None else f", default={self.default!r}"
        when = "" if self.when is None else f", when={self.when!r}"
        likely = "" if self.likely is None else f", likely={self.likely!r}"
        return f"Choice({self._plain_options()!r}{default}{when}{likely})"


Declared: TypeAlias = Float | Int | Categorical | Choice
"""The types with which a space is declared."""
