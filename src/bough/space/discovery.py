"""Learn a space from what programs asked: which parameters exist under which earlier answers.

A *run* is one call of a define-by-run objective: the parameters it asked for, in order, with their values.
For every parameter that some runs lack, a decision tree over earlier answers says when it exists. The tree is
exact on all runs, so each of them is a configuration of the learned space. Where earlier answers cannot tell
(the function tossed a coin, say), a hidden yes/no switch stands for the decision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bough.space.parameters import Categorical, Domain, Int
from bough.space.space import Space

__all__ = ["ASKED", "discover"]

ASKED = "asked for: "
"""Prefix of the hidden switch of a parameter whose presence nothing explains."""

Run = Mapping[str, Any]


def discover(domains: Mapping[str, Domain], runs: Sequence[Run]) -> tuple[Space, list[dict[str, Any]]]:
    """The space of these parameters, and the runs as its configurations.

    domains: what each parameter may be, without conditions. Without any run, all parameters are active; with
    runs, a parameter that none of them has is left out, because nothing tells when it exists.
    """
    order = _order(domains, runs)
    parameters: dict[str, Domain] = {}
    configs = [dict(run) for run in runs]
    for place, name in enumerate(order):
        rows = list(range(len(runs)))
        present = [name in run for run in runs]
        if all(present):
            parameters[name] = domains[name]
        if all(present) or not any(present):
            continue
        earlier = [other for other in order[:place] if _precedes(other, name, runs)]
        rule = _rule(name, rows, earlier, domains, runs)
        if rule is None:
            hidden = ASKED + name
            parameters[hidden] = Categorical([False, True])
            for config, here in zip(configs, present, strict=True):
                config[hidden] = here
            rule = f"{_quoted(hidden)} == True"
        parameters[name] = replace(domains[name], when=rule)
    return Space(parameters), configs


def _order(domains: Mapping[str, Domain], runs: Sequence[Run]) -> list[str]:
    """All parameters, each after those that the first run with it asked before."""
    order: list[str] = []
    for run in runs:
        place = 0
        for name in run:
            if name in order:
                place = max(place, order.index(name) + 1)
            else:
                order.insert(place, name)
                place += 1
    return order + [name for name in domains if name not in order]


def _precedes(other: str, name: str, runs: Sequence[Run]) -> bool:
    """Whether ``other`` was asked first wherever both were asked, and was asked wherever ``name`` was."""
    for run in runs:
        if name in run:
            asked = list(run)
            if other not in run or asked.index(other) > asked.index(name):
                return False
    return True


def _rule(
    name: str, rows: list[int], earlier: Sequence[str], domains: Mapping[str, Domain], runs: Sequence[Run]
) -> str | None:
    """A condition that holds exactly in those of ``rows`` whose run has ``name``; None if there is none."""
    best: str | None = None
    for other in earlier:
        answers = [(runs[row][other], name in runs[row], row) for row in rows if other in runs[row]]
        if not answers or len({here for _, here, _ in answers}) == 1:
            continue  # it says nothing about the presence of ``name``
        found = (
            _by_option(name, other, answers, earlier, domains, runs)
            if isinstance(domains[other], Categorical)
            else _by_threshold(name, other, answers, domains[other])
        )
        if found is not None and (best is None or len(found) < len(best)):
            best = found
    return best


def _by_option(
    name: str,
    other: str,
    answers: Sequence[tuple[Any, bool, int]],
    earlier: Sequence[str],
    domains: Mapping[str, Domain],
    runs: Sequence[Run],
) -> str | None:
    """Some options of ``other`` bring ``name``, some do not, and under some a further rule decides."""
    bringing, terms = [], []
    rest = [candidate for candidate in earlier if candidate != other]
    for option in dict.fromkeys(answer for answer, _, _ in answers):
        rows = [row for answer, _, row in answers if answer == option]
        present = {name in runs[row] for row in rows}
        if present == {True}:
            bringing.append(option)
        elif len(present) == 2:
            further = _rule(name, rows, rest, domains, runs)
            if further is None:
                return None
            terms.append(f"({_quoted(other)} == {option!r} and {further})")
    if bringing:
        terms.insert(0, f"{_quoted(other)} in ({', '.join(map(repr, bringing))},)")
    return terms[0] if len(terms) == 1 else f"({' or '.join(terms)})"


def _by_threshold(
    name: str, other: str, answers: Sequence[tuple[Any, bool, int]], domain: Domain
) -> str | None:
    """``name`` exists above, or below, some value of the number ``other``."""
    having = [answer for answer, here, _ in answers if here]
    lacking = [answer for answer, here, _ in answers if not here]
    for sign, inner, outer in ((">=", min(having), max(lacking)), ("<=", max(having), min(lacking))):
        if (inner > outer) if sign == ">=" else (inner < outer):
            middle = (inner + outer) / 2
            if isinstance(domain, Int):
                middle = -(-(inner + outer) // 2) if sign == ">=" else (inner + outer) // 2
            return f"{_quoted(other)} {sign} {middle!r}"
    return None


def _quoted(name: str) -> str:
    return f"`{name}`"
