"""The argument of a define-by-run objective: a trial that it asks for its parameters, one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bough.errors import SpaceError
from bough.space.discovery import ASKED
from bough.space.parameters import Categorical, Domain, Float, Int
from bough.space.render import describe
from bough.space.scalars import Scalar

__all__ = ["Answer", "AskingTrial"]

Answer = Callable[[str, Domain, Mapping[str, Any]], Any]
"""Gives the value of a parameter, from its name, its domain and the answers so far."""

MAX_ASKED = 10_000
"""Largest number of names per call: a function that asks for more probably never ends."""

HINTS = {
    "params": "the answers so far are trial.config",
    "report": "give the objective a second argument, objective(trial, run), and call run.report(value, step)",
    "should_prune": "give the objective a second argument, objective(trial, run), and return if run.stop",
    "set_user_attr": "return a dict, such as {'value': 0.1, 'size': 64}",
}
"""What to use instead of methods and attributes of Optuna's trials."""

_Number = float  # the methods of the class below hide the names of the types
_Integer = int


class AskingTrial:
    """Ask for parameters by name: ``trial.float("C", 1e-3, 1e3, log=True)``.

    A name that is asked for again gets the same value. A parameter has one range, in all calls.

    number: the number of the trial.   config: the answers so far.
    """

    def __init__(self, number: int, answer: Answer, known: Mapping[str, Domain] | None = None) -> None:
        self.number = number
        self._answer = answer
        self._known = known or {}
        self._domains: dict[str, Domain] = {}
        self._config: dict[str, Any] = {}
        self._choices: set[str] = set()

    @property
    def config(self) -> dict[str, Any]:
        """The answers so far, in the order of the questions."""
        return dict(self._config)

    @property
    def domains(self) -> dict[str, Domain]:
        """The domains of the parameters that were asked for."""
        return dict(self._domains)

    @property
    def choices(self) -> frozenset[str]:
        """The parameters that were asked for by ``choice``."""
        return frozenset(self._choices)

    def float(
        self, name: str, low: _Number, high: _Number, *, log: bool = False, step: _Number | None = None
    ) -> _Number:
        """A real number in [low, high], optionally on a log scale or a grid."""
        value: _Number = self._ask(name, lambda: Float(low, high, log=log, step=step))
        return value

    def int(
        self, name: str, low: _Integer, high: _Integer, *, log: bool = False, step: _Integer | None = None
    ) -> _Integer:
        """An integer in [low, high]."""
        value: _Integer = self._ask(name, lambda: Int(low, high, log=log, step=step))
        return value

    def categorical(self, name: str, options: Iterable[Scalar], *, ordered: bool = False) -> Any:
        """One of the options: strings, numbers, booleans or None."""
        return self._ask(name, lambda: Categorical(_listed(options), ordered=ordered))

    def choice(self, name: str, labels: Iterable[str]) -> str:
        """One of the labels: a switch, whose options decide what is asked for next."""
        given = _listed(labels)
        for label in given if isinstance(given, list) else ():
            if not isinstance(label, str):
                raise SpaceError(f"trial.choice({name!r}): the label {label!r} must be a string")
        value: str = self._ask(name, lambda: Categorical(given))
        self._choices.add(name)
        return value

    def __getitem__(self, name: object) -> Any:
        raise SpaceError(
            f"a trial has no item {name!r}: without a space the objective asks for its parameters, such as "
            f"trial.float({name!r}, 0, 1)"
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("suggest_"):
            hint = f"write trial.{name.removeprefix('suggest_')}"
        else:
            hint = HINTS.get(name, "ask for float, int, categorical or choice")
        raise AttributeError(f"a trial has no {name!r}: {hint}")

    def _ask(self, name: str, make: Callable[[], Domain]) -> Any:
        if not isinstance(name, str) or not name or "`" in name or not name.isprintable():
            raise SpaceError(f"a trial is asked for a name of printable text without backticks, not {name!r}")
        if name.startswith(ASKED):
            raise SpaceError(f"names that start with {ASKED!r} are bough's own: rename {name!r}")
        try:
            domain = make()
        except SpaceError as error:
            raise SpaceError(f"parameter {name!r}: {error}") from None
        before = self._domains.get(name)
        if before is not None:
            if before != domain:
                raise SpaceError(
                    f"the trial asks for {name!r} twice, as {describe(before)} and as {describe(domain)}: "
                    "use two names"
                )
            return self._config[name]
        known = self._known.get(name)
        if known is not None and known != domain:
            raise changed(name, known, domain)
        if len(self._config) >= MAX_ASKED:
            raise SpaceError(f"the trial asks for more than {MAX_ASKED:,} parameters")
        value = self._answer(name, domain, self._config)
        self._domains[name], self._config[name] = domain, value
        return value


def _listed(options: Iterable[Scalar]) -> Any:
    """Any ordered iterable as a list. Anything else stays as it is, and ``Categorical`` refuses it."""
    refused = isinstance(options, str | set | frozenset) or not isinstance(options, Iterable)
    return options if refused else list(options)


def changed(name: str, before: Domain, now: Domain) -> SpaceError:
    """The error for a parameter whose range differs from its range in an earlier call."""
    return SpaceError(
        f"parameter {name!r} was {describe(before)} in an earlier trial and is {describe(now)} in this one: "
        f"keep its range, or use another name where it differs, such as {name + '_2'!r}"
    )
