"""Facts about each branch of a study for ``study.explain``: its trials, and what the model expects there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from bough.errors import ConfigError, StudyError
from bough.history import History
from bough.space import Space
from bough.space.parameters import Domain
from bough.space.tree import Path
from bough.strategies import streams
from bough.strategies.base import Strategy
from bough.strategies.outlook import ExpectsOfBranches
from bough.study.encoded import ModelSpace
from bough.study.handles import checked_branch
from bough.trial import Trial

__all__ = ["MAX_BRANCHES", "explain_branches", "known_paths", "matching_paths"]

MAX_BRANCHES = 64
"""Paths that are described at most. Of a space with more, only those with the latest trials are."""

SHOWN_BRANCHES = 12
"""Branches that an error lists at most."""

RECENT_SHARE = 0.25
"""The last quarter of the trials counts as recent: a branch with one of them was chosen lately."""

_INSIDE = 1e-9
"""A step into a range from either end, because a range includes only one of its ends."""


def explain_branches(
    model: ModelSpace,
    strategy: Strategy,
    history: History,
    trials: Sequence[Trial],
    comparable: Collection[int],
    branches: Sequence[Sequence[Path]],
    sign: float,
) -> list[dict[str, Any]]:
    """Facts about each branch, a list of paths. sign: −1 if the study maximises.

    A trial whose result was retracted is not counted. comparable: the numbers of the trials that may be best.
    """
    trials = [trial for trial in trials if trial.retracted is None]
    space = model.space
    keys = [path.key for path in space.tree.path_of(model.encode(trials))]
    expects = None
    if isinstance(strategy, ExpectsOfBranches) and len(history.done):
        rng = np.random.default_rng([history.seed, history.number, streams.OUTLOOK])
        expects = strategy.outlook(space, history, branches, rng)
    told = []
    for index, paths in enumerate(branches):
        mine = {path.key for path in paths}
        own = [trial for trial, key in zip(trials, keys) if key in mine]
        values = [sign * t.value for t in own if t.value is not None and t.number in comparable]
        entry: dict[str, Any] = {
            "branch": {k: v for k, v in _switch_values(space, paths).items() if k != model.hidden_switch},
            "trials": len(own),
            "failed": sum(trial.state == "failed" for trial in own),
            "best": sign * min(values) if values else None,
            "last_trial": own[-1].number if own else None,
        }
        if expects is not None:
            entry["may_reach"] = sign * float(expects.reach[index])
            entry["holds_optimum"] = float(expects.holds_optimum[index])
            entry["gain_share"] = float(np.exp(expects.log_gain[index] - np.max(expects.log_gain)))
        entry["reason"] = _reason(entry, len(trials))
        told.append(entry)
    return told


def matching_paths(model: ModelSpace, wanted: Mapping[str, Any], paths: Sequence[Path]) -> list[Path]:
    """The paths on which the switches have these values; ConfigError if there is none."""
    space = model.space
    switches = {space.parameters[column].name for column in space.tree.switches} - {model.hidden_switch}
    for name in checked_branch(wanted):
        if name not in switches:
            there = f"the switches are {', '.join(sorted(switches))}" if switches else "the space has none"
            raise ConfigError(f"{str(name)[:40]!r} is not a switch: {there}")
    found = [path for path in paths if all(_holds(space, path, *item) for item in wanted.items())]
    if not found:
        shown = [_switch_values(space, [path]) for path in paths[:SHOWN_BRANCHES]]
        known = [_text({k: v for k, v in each.items() if k != model.hidden_switch}) for each in shown]
        more = ", ..." if len(paths) > len(known) else ""
        raise ConfigError(f"no branch has {_text(wanted)}; there are {', '.join(known)}{more}")
    return found


def known_paths(model: ModelSpace, tried: Sequence[Trial]) -> list[Path]:
    """All paths if there are at most ``MAX_BRANCHES``; otherwise those with trials, the latest first."""
    space = model.space
    paths = list(space.tree.paths(MAX_BRANCHES + 1))
    if len(paths) <= MAX_BRANCHES:
        return paths
    if not tried:
        raise StudyError("the space has too many branches to list, and none of them has a trial yet")
    found = {path.key: path for path in space.tree.path_of(model.encode(tried[::-1]))}
    return [path for path in found.values() if space.tree.is_open(path)][:MAX_BRANCHES]


def _holds(space: Space, path: Path, name: str, value: Any) -> bool:
    """Whether a switch of that name is active on the path and may have the value, or the range, there."""
    columns = [c for c in space.tree.switches if path.on[space.layout.group[c]]]
    domains = {c: space.parameters[c].domain for c in columns if space.parameters[c].name == name}
    return any(
        (domain.contains(value) and path.low[column] <= domain.unit(value) <= path.high[column])
        or (
            isinstance(value, list | tuple) and [*value] == _ends(domain, path.low[column], path.high[column])
        )
        for column, domain in domains.items()
    )


def _text(switches: Mapping[str, Any]) -> str:
    return " and ".join(f"{name}={value!r}" for name, value in switches.items())


def _switch_values(space: Space, paths: Sequence[Path]) -> dict[str, Any]:
    """The switches that have one value, or one range, on all paths."""
    described = []
    for path in paths:
        active = [column for column in space.tree.switches if path.on[space.layout.group[column]]]
        described.append(
            {
                space.parameters[column].name: _ends(
                    space.parameters[column].domain, path.low[column], path.high[column]
                )
                for column in active
            }
        )
    first, *others = described
    return {name: ends for name, ends in first.items() if all(name in o and o[name] == ends for o in others)}


def _ends(domain: Domain, low: float, high: float) -> Any:
    """The value between two unit positions, or the first and the last one."""
    inside = np.clip([low + _INSIDE, high - _INSIDE], 0.0, 1.0 - _INSIDE)
    first, last = domain.values(domain.rank_at(inside)).tolist()
    return first if first == last else [first, last]


def _reason(entry: Mapping[str, Any], total: int) -> str:
    """Why the branch was, or was not, chosen lately."""
    count, last = entry["trials"], entry["last_trial"]
    share = entry.get("gain_share")
    compared = (
        "no model compares the branches"
        if share is None
        else "its expected gain is the largest"
        if share >= 1
        else f"its expected gain is {_percent(share)} of the largest"
    )
    if count == 0:
        return f"not tried yet: {compared}"
    if entry["failed"] == count:
        compared = "its only trial failed" if count == 1 else f"all {count} of its trials failed"
    if last >= (1 - RECENT_SHARE) * total:
        return f"chosen lately (trial {last}): {compared}"
    return f"not chosen since trial {last}: {compared}"


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else "less than 1 %"
