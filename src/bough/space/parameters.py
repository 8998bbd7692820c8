"""Float, Int and Categorical: the values of a parameter, and their maps to the unit interval.

A *rank* is the number that conditions compare: the index of a value on a grid or in a list of options, or
the value itself for a real number. Every parameter has four vectorised maps:

    value --ranks--> rank --position--> unit        unit --rank_at--> rank --values--> value

``position(rank_at(u))`` snaps to the nearest value. Encoding, sampling and models use these maps, and
so need no knowledge of logs, steps or options.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import ConfigError, SpaceError
from bough.points import FloatArray, Kind
from bough.space.beliefs import checked_likely
from bough.space.conditions import canonical
from bough.space.fidelity import check_fidelity
from bough.space.scalars import (
    UNSET,
    Scalar,
    Unset,
    as_number,
    as_option,
    decimals,
    finite,
    plain,
    scalar_key,
    shown,
)

__all__ = ["UNSET", "Categorical", "Domain", "Float", "Int", "Unset"]

_NAMED = ("log", "step", "default", "when", "likely", "fidelity")

LARGEST_INT, LARGEST_LOG_INT = 2**50, 2**36
"""Up to here, neighbouring integers differ clearly in the unit interval, without and with a log scale."""


class _Domain:
    """What all domains have; values share the unit interval evenly, each in the middle of its share."""

    @property
    @abstractmethod
    def levels(self) -> int: ...
    @abstractmethod
    def check(self, value: object) -> Scalar: ...
    @abstractmethod
    def ranks(self, values: Sequence[Any]) -> FloatArray: ...

    @property
    def ends(self) -> tuple[float, float]:
        """First and last rank."""
        return 0.0, self.levels - 1.0

    def contains(self, value: object) -> bool:
        try:
            self.check(value)
        except ConfigError:
            return False
        return True

    def unit(self, value: object) -> float:
        """The unit position of a value; ConfigError if the domain does not have it."""
        return float(self.position(self.ranks([self.check(value)]))[0])

    def position(self, ranks: FloatArray) -> FloatArray:
        return (ranks + 0.5) / self.levels

    def rank_at(self, unit: FloatArray) -> FloatArray:
        return np.clip(np.floor(unit * self.levels), 0, self.levels - 1)


@dataclass(frozen=True, repr=False)
class Float(_Domain):
    """A real number in ``[low, high]``, or on the grid ``low, low + step, ...`` up to ``high``.

    likely: the range ``(low, high)`` where good values are expected.
    fidelity: True if the study chooses it, from low (cheap and rough) to high (``space.fidelity``).
    """

    low: float
    high: float
    log: bool = False
    step: float | None = None
    default: float | None = None
    when: str | None = None
    likely: tuple[float, float] | None = field(default=None, compare=False)
    fidelity: bool = False

    def __post_init__(self) -> None:
        low, high = _bounds(self, "Float")
        _set(self, low=low, high=high, when=canonical(self.when))
        if self.step is not None:
            step = finite(self.step, "Float step")
            if step <= 0 or step > high - low:
                raise SpaceError(f"Float step={step!r} must be above 0 and at most high - low")
            if self.log:
                raise SpaceError("Float cannot have both log=True and step=")
            _set(self, step=float(step))
            if self.levels > LARGEST_INT:
                raise SpaceError(f"Float step={step!r} makes more than {LARGEST_INT} values")
        _check_default_and_likely(self)
        check_fidelity(self)

    @cached_property
    def kind(self) -> Kind:
        return "real" if self.step is None else "ordinal"

    @cached_property
    def levels(self) -> int:
        """Number of grid values; 0 for a real."""
        if self.step is None:
            return 0
        steps = (self.high - self.low) / self.step
        nearest = round(steps)  # counts as reached in spite of rounding: 0.3 / 0.1 < 3
        return (nearest if abs(steps - nearest) <= 1e-9 + 4 * math.ulp(steps) else math.floor(steps)) + 1

    @property
    def ends(self) -> tuple[float, float]:
        return (self.low, self.high) if self.step is None else super().ends

    @cached_property
    def _decimals(self) -> int | None:
        """Decimals that low and step are written with, where rounding to them is exact."""
        digits = max(decimals(self.low), decimals(self.step or 0.0))
        largest = max(abs(self.low), abs(self.high))
        return digits if digits <= 15 and largest * 10.0**digits < 2**53 else None

    def check(self, value: object) -> float:
        """``value`` as a float of this domain, or a ConfigError that says what would be right."""
        number = as_number(value)
        if number is None or not self.low <= number <= self.high:
            raise ConfigError(f"must be a number in [{self.low!r}, {self.high!r}], not {shown(value)}")
        if self.step is None:
            return float(number)
        rank = round((number - self.low) / self.step)
        nearest = float(self.values(np.array([float(min(rank, self.levels - 1))]))[0])
        if abs(nearest - number) > 1e-9 * max(self.step, abs(number) * 1e-3):
            raise ConfigError(
                f"must be {self.low!r} plus a multiple of {self.step!r}, not {value!r} (nearest: {nearest!r})"
            )
        return nearest

    def ranks(self, values: Sequence[Any]) -> FloatArray:
        numbers = np.asarray(values, dtype=float)
        return numbers if self.step is None else np.rint((numbers - self.low) / self.step)

    def values(self, ranks: FloatArray) -> FloatArray:
        if self.step is None:
            return ranks
        numbers: FloatArray = self.low + ranks * self.step
        if self._decimals is not None:  # 0.1 * 3 should read 0.3
            scale = 10.0**self._decimals
            numbers = np.rint(numbers * scale) / scale
        return np.minimum(numbers, self.high)

    def position(self, ranks: FloatArray) -> FloatArray:
        if self.step is not None:
            return super().position(ranks)
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            unit = (np.log(ranks) - low) / (high - low)
        else:
            unit = (ranks - self.low) / (self.high - self.low)
        return np.clip(unit, 0.0, 1.0)

    def rank_at(self, unit: FloatArray) -> FloatArray:
        if self.step is not None:
            return super().rank_at(unit)
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            number = np.exp(low + np.clip(unit, 0.0, 1.0) * (high - low))
        else:
            number = self.low + np.clip(unit, 0.0, 1.0) * (self.high - self.low)
        number = np.clip(number, self.low, self.high)
        # The ends exactly: exp(log(x)) may miss x by a rounding.
        return np.where(unit >= 1.0, self.high, np.where(unit <= 0.0, self.low, number))

    def __repr__(self) -> str:
        return _call("Float", [self.low, self.high], _given(self, *_NAMED))


@dataclass(frozen=True, repr=False)
class Int(_Domain):
    """An integer in ``[low, high]``, every ``step``-th of them, or spread evenly on a log scale.

    likely: the range ``(low, high)`` where good values are expected.
    fidelity: True if the study chooses it, from low (cheap and rough) to high (``space.fidelity``).
    """

    kind: ClassVar[Kind] = "ordinal"

    low: int
    high: int
    log: bool = False
    step: int | None = None
    default: int | None = None
    when: str | None = None
    likely: tuple[float, float] | None = field(default=None, compare=False)
    fidelity: bool = False

    def __post_init__(self) -> None:
        low, high = _bounds(self, "Int")
        if low != int(low) or high != int(high):
            raise SpaceError(f"Int bounds must be whole numbers, not {self.low!r} and {self.high!r}")
        _set(self, low=int(self.low), high=int(self.high), when=canonical(self.when))
        largest = LARGEST_LOG_INT if self.log else LARGEST_INT
        if max(abs(self.low), abs(self.high)) > largest:
            raise SpaceError(f"Int bounds beyond {largest} are too large: use Float for {self.high!r}")
        if self.step is not None:
            step = finite(self.step, "Int step")
            if step != int(step) or step < 1 or step > self.high - self.low:
                raise SpaceError(f"Int step={self.step!r} must be a whole number from 1 to high - low")
            if self.log:
                raise SpaceError("Int cannot have both log=True and step=")
            _set(self, step=None if step == 1 else int(step))
        _check_default_and_likely(self)
        check_fidelity(self)

    @cached_property
    def levels(self) -> int:
        """Number of values."""
        return (self.high - self.low) // (self.step or 1) + 1

    def check(self, value: object) -> int:
        """``value`` as an int of this domain, or a ConfigError that says what would be right."""
        number = as_number(value)
        if number is None or number != number or not self.low <= number <= self.high or number != int(number):
            raise ConfigError(f"must be a whole number from {self.low} to {self.high}, not {shown(value)}")
        if (int(number) - self.low) % (self.step or 1):
            raise ConfigError(f"must be {self.low} plus a multiple of {self.step}, not {value!r}")
        return int(number)

    def ranks(self, values: Sequence[Any]) -> FloatArray:
        return (np.asarray(values, dtype=float) - self.low) / (self.step or 1)

    def values(self, ranks: FloatArray) -> NDArray[np.int64]:
        return self.low + (self.step or 1) * np.asarray(ranks).astype(np.int64)

    def position(self, ranks: FloatArray) -> FloatArray:
        if not self.log:
            return super().position(ranks)
        low, high = math.log(self.low - 0.5), math.log(self.high + 0.5)
        unit: FloatArray = (np.log(self.low + ranks) - low) / (high - low)
        return unit

    def rank_at(self, unit: FloatArray) -> FloatArray:
        if not self.log:
            return super().rank_at(unit)
        low, high = math.log(self.low - 0.5), math.log(self.high + 0.5)
        number = np.rint(np.exp(low + np.clip(unit, 0.0, 1.0) * (high - low)))
        return np.clip(number, self.low, self.high) - self.low

    def __repr__(self) -> str:
        return _call("Int", [self.low, self.high], _given(self, *_NAMED))


@dataclass(frozen=True, repr=False, eq=False)
class Categorical(_Domain):
    """One of ``options`` (strings, numbers, booleans or None), with an order if ``ordered``.

    Options are told apart by type: ``1``, ``True`` and ``"1"`` differ. Only ``1`` and ``1.0`` are the
    same number, since a JSON file cannot tell them apart reliably.

    likely: weights ``{option: weight}`` of how good options are expected to be, or a list of likely options.
    """

    options: Sequence[Scalar]
    ordered: bool = False
    default: Scalar | Unset = UNSET
    when: str | None = None
    likely: Mapping[Any, float] | Sequence[Any] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.options, str | bytes | Mapping) or not isinstance(self.options, Iterable):
            raise SpaceError(f"Categorical options must be a list of values, not {self.options!r}")
        if isinstance(self.options, set | frozenset):
            raise SpaceError("Categorical options must be a list: a set has another order in every process")
        options = tuple(as_option(option) for option in self.options)
        if not options:
            raise SpaceError("Categorical needs at least one option")
        seen: set[object] = set()
        for option in options:
            if scalar_key(option) in seen:
                raise SpaceError(f"Categorical option {option!r} is given twice")
            seen.add(scalar_key(option))
        if not isinstance(self.ordered, bool):
            raise SpaceError(f"Categorical ordered must be True or False, not {shown(self.ordered)}")
        _set(self, options=options, when=canonical(self.when))
        if self.default is None and scalar_key(None) not in seen:
            _set(self, default=UNSET)
        _check_default_and_likely(self)

    @cached_property
    def kind(self) -> Kind:
        return "ordinal" if self.ordered else "nominal"

    @cached_property
    def levels(self) -> int:
        """Number of options."""
        return len(self.options)

    @cached_property
    def index(self) -> dict[object, int]:
        """Position of each option, by its typed key."""
        return {scalar_key(option): i for i, option in enumerate(self.options)}

    @cached_property
    def _table(self) -> NDArray[np.object_]:
        return np.array(self.options, dtype=object)

    def check(self, value: object) -> Scalar:
        """The option equal to ``value``, or a ConfigError that lists the options."""
        try:
            return self.options[self.index[scalar_key(plain(value))]]
        except (KeyError, TypeError):
            options = ", ".join(map(repr, self.options[:10])) + (", ..." if self.levels > 10 else "")
            raise ConfigError(f"must be one of {options}, not {shown(value)}") from None

    def ranks(self, values: Sequence[Any]) -> FloatArray:
        index = self.index
        ranks = [index[value if isinstance(value, str) else scalar_key(value)] for value in values]
        return np.array(ranks, dtype=float)

    def values(self, ranks: FloatArray) -> NDArray[np.object_]:
        return self._table[np.asarray(ranks).astype(np.intp)]

    def _identity(self) -> tuple[object, ...]:
        default = self.default if self.default is UNSET else scalar_key(self.default)
        return tuple(map(scalar_key, self.options)), self.ordered, default, self.when

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Categorical) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __repr__(self) -> str:
        named = _given(self, "ordered", "when", "likely")
        if self.default is not UNSET:
            named["default"] = self.default
        return _call("Categorical", [list(self.options)], named)


Domain: TypeAlias = Float | Int | Categorical
"""The parameters that hold a value. A ``Choice`` is desugared to a Categorical."""


def _set(parameter: object, **values: object) -> None:
    for name, value in values.items():
        object.__setattr__(parameter, name, value)


def _bounds(parameter: Float | Int, kind: str) -> tuple[float, float]:
    low = float(finite(parameter.low, f"{kind} low"))
    high = float(finite(parameter.high, f"{kind} high"))
    call = f"{kind}({parameter.low!r}, {parameter.high!r}{', log=True' if parameter.log is True else ''})"
    if low >= high:
        raise SpaceError(f"{call}: low={parameter.low!r} must be below high={parameter.high!r}")
    if not math.isfinite(high - low):
        raise SpaceError(f"{call}: the range is too wide for floating point")
    if not isinstance(parameter.log, bool):
        raise SpaceError(f"{call}: log must be True or False, not {parameter.log!r}")
    if parameter.log and low <= 0:
        raise SpaceError(f"{call}: log=True needs low above 0, not low={parameter.low!r}")
    if parameter.log and math.log(low) >= math.log(high):
        raise SpaceError(f"{call}: the range is too narrow for log=True")
    return low + 0.0, high + 0.0  # no negative zero


def _check_default_and_likely(parameter: Domain) -> None:
    """Raise SpaceError unless the default and the belief are values of the domain."""
    _set(parameter, likely=checked_likely(parameter, parameter.likely, type(parameter).__name__))
    if parameter.default is UNSET or (parameter.default is None and not isinstance(parameter, Categorical)):
        return
    try:
        _set(parameter, default=parameter.check(parameter.default))
    except ConfigError as error:
        raise SpaceError(f"{type(parameter).__name__} default {error}") from None


def _given(parameter: object, *names: str) -> dict[str, object]:
    values = {name: getattr(parameter, name) for name in names}
    return {name: value for name, value in values.items() if value is not None and value is not False}


def _call(name: str, positional: list[Any], named: dict[str, object]) -> str:
    arguments = [*map(repr, positional), *(f"{key}={value!r}" for key, value in named.items())]
    return f"{name}({', '.join(arguments)})"
