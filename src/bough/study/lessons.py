"""What a study without a space learns from a trial: the space, and the config of every trial in it.

A trial's *run* is the parameters that its objective asked for, with the answers. If a run is not a
configuration of the space learned so far, the space is learned again from all runs (``space.discovery``), and
each trial gets its run as its config. This is stored as an amendment of the kind "learned" about the trial:

- "asked": the names in the trial's run, in the order of the questions. Its config may have more names: a
  failed or stopped trial may have ended before it asked for them.
- "space": the new space, if configs of trials changed.

The order matters, because a condition reads only what was asked before. A config has the order of its space,
which may be another one. So the first trial that asks for its names in some other order than its config also
has an amendment, and trials that ask for the same names are taken to ask in that order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bough.space import Choice, Space
from bough.space.choice import Declared
from bough.space.discovery import ASKED, discover, whole_runs
from bough.space.parameters import Domain
from bough.strategies.best_answer import completions
from bough.study.revising.revisions import Names
from bough.trial import Trial

__all__ = ["AskedResult", "domains_of", "is_news", "taught"]


@dataclass(frozen=True, slots=True)
class AskedResult(Trial):
    """A result whose config is the run of its trial, with the domains of its parameters."""

    domains: Mapping[str, Domain] = field(default_factory=dict)
    choices: frozenset[str] = frozenset()

    def plain(self) -> Trial:
        """The result as a plain ``Trial`` without a config, which the storage already has."""
        return Trial(**{name: getattr(self, name) for name in Trial.__slots__} | {"config": {}})


def domains_of(space: Space) -> dict[str, Domain]:
    """The domain of each parameter of a learned space, without its condition."""
    return {
        parameter.name: replace(parameter.domain, when=None)
        for parameter in space
        if not parameter.name.startswith(ASKED)
    }


def is_news(result: AskedResult, trial: Trial, names: Names) -> bool:
    """Whether the run of a result differs from what is known of its trial."""
    if result.state != "done":  # it may have ended before it asked for the rest of its proposal
        return set(result.config) != set(names.get(trial.number, ())) or not (
            result.config.items() <= trial.config.items()
        )
    expected, asked = _runs([trial], names)[trial.number], list(result.config)
    return result.config != expected or (asked != list(expected) and asked not in names.values())


def taught(
    trials: Sequence[Trial], names: Names, result: AskedResult, space: Space, seed: int
) -> tuple[Space, list[Trial]]:
    """The space that includes the run of a result, and the trials whose configs change."""
    if result.state != "done" and result.config.items() <= trials[result.number].config.items():
        return space, []  # its config keeps the proposed values of parameters that it did not ask for
    configs = {trial.number: trial.config for trial in trials} | {result.number: dict(result.config)}
    if not space.contains(result.config):
        space, configs = _discovered(trials, names, result, space, seed)
    return space, [
        replace(trial, config=configs[trial.number])
        for trial in trials
        if configs[trial.number] != trial.config
    ]


def _discovered(
    trials: Sequence[Trial], names: Names, result: AskedResult, space: Space, seed: int
) -> tuple[Space, dict[int, dict[str, Any]]]:
    """The space learned from all runs, and the configs of all trials in it."""
    runs = _runs(trials, names) | {result.number: dict(result.config)}
    over = [
        trial.number
        for trial in trials
        if trial.is_finished or trial.number in names or trial.number == result.number
    ]
    ended_early = [
        (result if number == result.number else trials[number]).state in ("failed", "stopped")
        for number in over
    ]
    domains = domains_of(space) | dict(result.domains)
    is_whole = whole_runs([runs[number] for number in over], ended_early, domains)
    teaching = [number for number, whole in zip(over, is_whole) if whole]
    learned, configs = discover(
        domains, [runs[number] for number in teaching], _choices(space) | result.choices
    )
    exact = dict(zip(teaching, configs))
    return learned, {n: exact[n] if n in exact else _fitted(learned, runs[n], seed) for n in runs}


def _runs(trials: Sequence[Trial], names: Names) -> dict[int, dict[str, Any]]:
    """The parameters that each trial is known to have asked for, in this order if it is known."""
    orders = {frozenset(asked): asked for asked in reversed(list(names.values()))}  # the first one counts
    runs = {}
    for trial in trials:
        own = [name for name in trial.config if not name.startswith(ASKED)]
        asked = names.get(trial.number, orders.get(frozenset(own), own))
        runs[trial.number] = {name: trial.config[name] for name in asked if name in trial.config}
    return runs


def _choices(space: Space) -> frozenset[str]:
    """The parameters of a learned space that are choices."""

    def inside(declared: Mapping[str, Declared]) -> set[str]:
        found = set()
        for name, parameter in declared.items():
            if isinstance(parameter, Choice):
                found |= {name}.union(*(inside(children) for children in parameter.options.values()))
        return found

    return frozenset(inside(space.declared))


def _fitted(space: Space, given: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """A complete configuration for a trial that is running, or that ended before it asked for everything."""
    points = completions(space, given, 100, np.random.default_rng(seed))
    return space.decode(points.take([0]))[0]
