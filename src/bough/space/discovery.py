"""Learn a space from what programs asked: which parameters exist under which earlier answers.

A *run* is one call of a define-by-run objective: the parameters it asked for, in order, with their values.
For every parameter that some runs lack, a condition over earlier answers says when it exists
(``presence``). It is exact on all runs, so each of them is a configuration of the learned space. If earlier
answers cannot tell (the function may toss a coin), a hidden yes/no switch stands for the decision.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bough.space.choice import Choice, Declared
from bough.space.conditions import Compare, comparisons, parse
from bough.space.parameters import Categorical, Domain
from bough.space.presence import Run, condition_of_presence
from bough.space.scalars import scalar_key
from bough.space.space import Space

__all__ = ["ASKED", "discover", "nested", "whole_runs"]

ASKED = "asked for: "
"""Prefix of the hidden switch of a parameter whose presence nothing explains."""


def discover(
    domains: Mapping[str, Domain], runs: Sequence[Run], choices: Collection[str] = ()
) -> tuple[Space, list[dict[str, Any]]]:
    """The space of these parameters, and the runs as its configurations.

    domains: the domain of each parameter, without conditions. Without any run, all parameters are active;
    with runs, a parameter that none of them has is left out, because nothing tells when it exists.
    choices: parameters that become a ``Choice``, with the parameters of each option inside it.
    """
    shapes = list(dict.fromkeys(tuple(run) for run in runs))  # far fewer than runs
    order = _order(domains, shapes)
    places = [{name: place for place, name in enumerate(shape)} for shape in shapes]
    parameters: dict[str, Domain] = {}
    configs = [dict(run) for run in runs]
    for rank, name in enumerate(order):
        present = [name in place for place in places]
        if all(present):
            parameters[name] = domains[name]
        if all(present) or not any(present):
            continue
        earlier = [other for other in order[:rank] if _precedes(other, name, places)]
        rule = condition_of_presence(name, earlier, domains, runs)
        if rule is None:
            hidden = ASKED + name
            parameters[hidden] = Categorical([False, True])
            for config, run in zip(configs, runs, strict=True):
                config[hidden] = name in run
            rule = f"`{hidden}` == True"
        parameters[name] = replace(domains[name], when=rule)
    return Space(nested(parameters, choices)), configs


def whole_runs(runs: Sequence[Run], failed: Sequence[bool], domains: Mapping[str, Domain]) -> list[bool]:
    """Which runs asked for all of their path.

    A failed run may have ended before it asked for the rest. It did if another run gave the same answers to
    its switches and asked for more. Such a run would look like a branch that does not exist.
    """
    beginnings: set[tuple[tuple[str, Any], ...]] = set()
    asked = [_asked(run, domains) for run in runs]
    for is_failed, names in zip(failed, asked, strict=True):
        if not is_failed:
            beginnings.update(names[:length] for length in range(len(names)))
    return [not (is_failed and names in beginnings) for is_failed, names in zip(failed, asked, strict=True)]


def _asked(run: Run, domains: Mapping[str, Domain]) -> tuple[tuple[str, Any], ...]:
    """The parameters that a run asked for, in order, with its categories; numbers differ from run to run."""
    return tuple(
        (name, scalar_key(value) if isinstance(domains[name], Categorical) else None)
        for name, value in run.items()
    )


def _order(domains: Mapping[str, Domain], shapes: Sequence[Sequence[str]]) -> list[str]:
    """All parameters, each after those that the first run with it asked before."""
    order: list[str] = []
    for shape in shapes:
        place = 0
        for name in shape:
            if name in order:
                place = max(place, order.index(name) + 1)
            else:
                order.insert(place, name)
                place += 1
    return order + [name for name in domains if name not in order]


def _precedes(other: str, name: str, places: Sequence[Mapping[str, int]]) -> bool:
    """Whether ``other`` was asked first wherever both were asked, and was asked wherever ``name`` was."""
    return all(name not in place or place.get(other, place[name]) < place[name] for place in places)


def nested(parameters: Mapping[str, Domain], choices: Collection[str]) -> dict[str, Declared]:
    """The same space with ``choices`` as Choice: parameters of a single option are declared in it."""
    inside: dict[str, dict[str, dict[str, str | None]]] = {
        name: {str(option): {} for option in domain.options}
        for name, domain in parameters.items()
        if name in choices and isinstance(domain, Categorical)
    }
    top: dict[str, str | None] = {}
    home: dict[str, tuple[str, str] | None] = {}
    for name, domain in parameters.items():
        home[name], when = _home(domain.when, inside, home)
        here = home[name]
        (top if here is None else inside[here[0]][here[1]])[name] = when

    def declared(name: str, when: str | None) -> Declared:
        if name not in inside:
            return replace(parameters[name], when=when)
        branches = {
            option: {child: declared(child, rule) for child, rule in children.items()}
            for option, children in inside[name].items()
        }
        return Choice(branches, when=when)

    return {name: declared(name, when) for name, when in top.items()}


def _home(
    when: str | None, choices: Collection[str], home: Mapping[str, tuple[str, str] | None]
) -> tuple[tuple[str, str] | None, str | None]:
    """The option of a choice in which a parameter is declared, and its condition there."""
    if when is None:
        return None, None
    rule = parse(when)
    if isinstance(rule, Compare) and rule.name in choices and rule.op == "==":
        return (rule.name, str(rule.value)), None
    homes = {home[each.name] for each in comparisons(rule) if isinstance(each, Compare)}
    return (homes.pop() if len(homes) == 1 else None), when
