"""Which trials belong to a study's current space: ``best``, ``front``, ``recommend`` and figures use these.

A trial of an earlier space belongs to the current one if its config, completed with the values of
``backfill``, is legal there. Users then see the completed config.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bough.errors import ConfigError, StudyError
from bough.space import Space
from bough.study.revising.revisions import Revision, backfills, by_name, revision_of, without_undone
from bough.trial import Config, Trial

__all__ = ["CurrentSpace", "nothing_current"]


class CurrentSpace:
    """The newest revision of a space, and the configs of earlier trials in it."""

    def __init__(self, revisions: Sequence[Revision]) -> None:
        revisions = without_undone(revisions)
        self.space, self.since = revisions[-1].space, revisions[-1].since
        self._revisions = revisions
        self._fills = [_fill(fill, self.space) for fill in backfills(revisions)]
        self._configs: dict[int, Config | None] = {}

    def find(self, trial: Trial) -> Trial | None:
        """The trial with its config in the current space; None if it does not belong there."""
        if trial.number >= self.since:
            return trial
        if trial.number not in self._configs:
            fill = self._fills[revision_of(trial.number, self._revisions)]
            self._configs[trial.number] = _completed(self.space, trial.config, fill)
        config = self._configs[trial.number]
        return None if config is None else replace(trial, config=config)

    def trials(self, trials: Sequence[Trial]) -> list[Trial]:
        """The trials that belong to the current space."""
        found = map(self.find, trials)
        return [trial for trial in found if trial is not None]


def nothing_current(study: str, since: int, trials: Sequence[Trial], sign: float) -> StudyError | None:
    """The error if only trials of an earlier space have a feasible result; None if no trial has one."""
    feasible = [trial for trial in trials if trial.feasible and trial.value is not None]
    if not feasible:
        return None
    best = min(feasible, key=lambda trial: sign * (trial.value or 0.0))
    return StudyError(
        f"study {study!r} has no result in its current space, which holds from trial {since} on; the best "
        f"result before was {best.value:.6g} in trial {best.number}"
    )


def _fill(values: dict[str, Any], space: Space) -> dict[str, Any]:
    try:
        return by_name(values, space)
    except ConfigError:  # a name that two parameters have
        return {}


def _completed(space: Space, config: Config, fill: Mapping[str, Any]) -> Config | None:
    try:
        active = space.layout.active(space.encode([config], fill).on)[0]
        names = [parameter.name for parameter, is_on in zip(space.parameters, active) if is_on]
        return space.validate({name: config[name] if name in config else fill[name] for name in names})
    except ConfigError:
        return None
