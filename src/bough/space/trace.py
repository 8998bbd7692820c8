"""``Space.trace``: the space of a function that only asks.

The function is called with chosen answers. First its switches are walked: every option of every categorical
parameter, and a few values of every number, one change at a time, then two, and so on. Random answers follow.
Conditions are learned from the calls (``discovery``), thresholds of numbers are found by bisection, and the
result is checked against random calls. Calls that do not fit are learned from, too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bough.errors import BoughError, SpaceError
from bough.space.asking import AskingTrial
from bough.space.conditions import Compare, comparisons
from bough.space.discovery import ASKED, discover
from bough.space.parameters import Categorical, Domain
from bough.space.scalars import scalar_key
from bough.space.space import Space

__all__ = ["trace"]

MAX_ENUMERATED = 12
"""Numbers with at most this many values are walked value by value, as categorical parameters always are."""

CHECKS = 200
"""Random calls that the learned space must contain."""

ROUNDS = 10
"""How often a space that does not contain a call is learned again."""

BISECTIONS = 60

Ask = Callable[[AskingTrial], object]


def trace(function: Ask, runs: int) -> Space:
    """The space of ``function(trial)``, which only asks; at most ``runs`` calls explore it."""
    if not callable(function):
        raise SpaceError(f"Space.trace takes a function of a trial, not {function!r:.80}")
    if not isinstance(runs, int) or runs < 1:
        raise SpaceError(f"runs must be a positive number of calls, not {runs!r}")
    calls = _Calls(function, np.random.default_rng(0))
    _walk(calls, runs)
    for _ in range(ROUNDS):
        space = calls.learned()
        _bisect(calls, space)
        space = calls.learned()
        unforeseen = sum(not calls.is_foreseen(space) for _ in range(CHECKS))
        if not unforeseen:
            return space
    raise SpaceError(
        "the function asks for parameters under conditions that the calls so far do not tell: "
        f"declare the space, or raise runs= above {runs}"
    )


class _Calls:
    """The calls of the function so far: what each asked for, and the answers."""

    def __init__(self, function: Ask, rng: np.random.Generator) -> None:
        self._function, self._rng = function, rng
        self.domains: dict[str, Domain] = {}
        self._choices: set[str] = set()
        self.runs: dict[tuple[Any, ...], dict[str, Any]] = {}

    def call(self, given: Mapping[str, Any], *, middle: bool = False) -> dict[str, Any]:
        """Call the function; parameters that are not ``given`` get random values.

        middle: instead of random values, the first option and the middle of every range.
        """

        def answer(name: str, domain: Domain, _: Mapping[str, Any]) -> Any:
            if name in given:
                return given[name]
            unit = (0.0 if isinstance(domain, Categorical) else 0.5) if middle else self._rng.random()
            return _value(domain, unit)

        trial = AskingTrial(len(self.runs), answer, self.domains)
        try:
            self._function(trial)
        except BoughError:
            raise
        except Exception as error:
            raise SpaceError(
                f"the function raised {type(error).__name__} ({error}) with the answers {trial.config}: "
                "Space.trace needs a function that only asks"
            ) from error
        run = trial.config
        if not run:
            raise SpaceError("the function asked for nothing: it must call trial.float, trial.int, ...")
        self.domains.update(trial.domains)
        self._choices.update(trial.choices)
        key = tuple((name, scalar_key(value)) for name, value in run.items())
        self.runs.setdefault(key, run)
        return run

    def learned(self) -> Space:
        """The space of all calls; SpaceError if earlier answers cannot explain why two calls differ."""
        runs = list(self.runs.values())
        space, _ = discover(self.domains, runs, self._choices)
        for parameter in space:
            if parameter.name.startswith(ASKED):
                name = parameter.name.removeprefix(ASKED)
                with_it, without = _pair(name, runs)
                raise SpaceError(
                    f"no comparison of earlier answers tells when {name!r} is asked for: with {with_it} "
                    f"it is, with {without} it is not; declare the space instead"
                )
        return space

    def is_foreseen(self, space: Space) -> bool:
        """Whether the space has what the function asks for in a random call."""
        return space.contains(self.call({}))

    def candidates(self, name: str) -> list[Any]:
        """The values of a parameter that a walk tries."""
        domain = self.domains[name]
        if 0 < domain.levels <= MAX_ENUMERATED or isinstance(domain, Categorical):
            return [_at_rank(domain, rank) for rank in range(domain.levels)]
        return [_value(domain, unit) for unit in (0.0, 0.25, 0.75, 1.0)]


def _walk(calls: _Calls, budget: int) -> None:
    """Change one answer of a call at a time, breadth first, then fill up with random calls."""
    base = calls.call({}, middle=True)
    queue: deque[tuple[dict[str, Any], dict[str, Any]]] = deque([({}, base)])
    seen = {tuple(sorted((n, scalar_key(v)) for n, v in base.items()))}
    made = 1
    while queue and made < budget:
        given, run = queue.popleft()
        for name, value in run.items():
            if name in given:
                continue
            for other in calls.candidates(name):
                if scalar_key(other) == scalar_key(value) or made >= budget:
                    continue
                found = calls.call({**given, name: other}, middle=True)
                made += 1
                key = tuple(sorted((n, scalar_key(v)) for n, v in found.items()))
                if key not in seen:
                    seen.add(key)
                    queue.append(({**given, name: other}, found))
    for _ in range(min(CHECKS, budget)):
        calls.call({})


def _bisect(calls: _Calls, space: Space) -> None:
    """Find every threshold of a number in the conditions of ``space`` as exactly as a float allows."""
    for parameter in space:
        if parameter.condition is None:
            continue
        for each in comparisons(parameter.condition):
            if not isinstance(each, Compare) or each.op not in ("<", "<=", ">", ">="):
                continue
            compared = each.name
            asked = [run for run in calls.runs.values() if compared in run]
            having = [run for run in asked if parameter.name in run]
            lacking = [run[compared] for run in asked if parameter.name not in run]
            if having and lacking:
                _bisect_one(calls, parameter.name, compared, having[-1], lacking)


def _bisect_one(calls: _Calls, name: str, compared: str, having: dict[str, Any], lacking: list[Any]) -> None:
    """Move ``compared`` of a run that has ``name`` towards a value that lacks it, until neighbours differ."""
    domain = calls.domains[compared]

    def is_there(rank: float) -> bool:
        return name in calls.call({**having, compared: _at_rank(domain, rank)})

    near = float(domain.ranks([having[compared]])[0])
    others = sorted(set(domain.ranks(lacking).tolist()), key=lambda rank: abs(rank - near))
    far = next((rank for rank in others if not is_there(rank)), None)
    if far is None:  # something other than this number decides here
        return
    for _ in range(BISECTIONS):
        between = (near + far) / 2 if domain.kind == "real" else (near + far) // 2
        if between in (near, far):
            return
        if is_there(between):
            near = between
        else:
            far = between


def _pair(name: str, runs: list[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two runs that differ in as few answers as possible, one of which asked for ``name``."""
    pairs = [
        (sum(left.get(key) != right.get(key) for key in (left | right) if key != name), left, right)
        for left in runs[:200]
        if name in left
        for right in runs[:200]
        if name not in right
    ]
    _, left, right = min(pairs, key=lambda pair: pair[0])
    return left, right


def _value(domain: Domain, unit: float) -> Any:
    return _at_rank(domain, float(domain.rank_at(np.array([unit]))[0]))


def _at_rank(domain: Domain, rank: float) -> Any:
    return domain.check(domain.values(np.array([float(rank)]))[0])
