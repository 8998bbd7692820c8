"""The space that a study's method works in once the study's space was changed: that one, or a union.

The method still learns from trials made before the space changed. If all their configs, completed by
``backfill``, belong to the current space, the method works there. Otherwise it works in a *union*:

- If an earlier trial needs it, a parameter gets the hull of its ranges, or the union of its options.
- A removed parameter stays as a column: inactive in new trials, or with its value in ``fix``.
- A trial that lacks a new parameter, or has a removed one, is on a separate branch: a hidden switch says
  which revision it belongs to.
- Forbidden clauses keep proposals inside the current space: its ranges, its options, its revision.

So the union is an ordinary space that every method accepts. A fidelity becomes an ordinary parameter
(``space.fidelity.full_space``).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from bough.errors import BoughError, ConfigError
from bough.points import Points
from bough.space import Space
from bough.space.fidelity import full_space
from bough.study.encoded import ModelSpace
from bough.study.revising.revisions import Revision, backfills, by_name, revision_of, without_undone
from bough.trial import Config, Trial

if TYPE_CHECKING:
    from bough.study.revising.union_space import ByPath, Union

__all__ = ["model_space"]


class _Revised(ModelSpace):
    """A space with an encoding for each revision."""

    def __init__(self, space: Space, revisions: Sequence[Revision]) -> None:
        super().__init__(space, revisions[-1].space)
        self._revisions = revisions

    @abstractmethod
    def _encoded(self, index: int, configs: Sequence[Config]) -> Points:
        """Configs of one revision as points."""

    def encode(self, trials: Sequence[Trial]) -> Points:
        runs = groupby(trials, key=lambda trial: revision_of(trial.number, self._revisions))
        parts = [self._encoded(index, [trial.config for trial in run]) for index, run in runs]
        return Points.concat(parts) if parts else self.encode_configs([])

    def encode_configs(self, configs: Sequence[Config]) -> Points:
        return self._encoded(len(self._revisions) - 1, configs)


class _Carried(_Revised):
    """The current space; configs of earlier trials are completed with values of new parameters."""

    def __init__(self, revisions: Sequence[Revision]) -> None:
        super().__init__(revisions[-1].space, revisions)
        self._fills = [by_name(fill, self.space) for fill in backfills(revisions)]

    def _encoded(self, index: int, configs: Sequence[Config]) -> Points:
        return self.space.encode(configs, self._fills[index])


class _Union(_Revised):
    """The union of all revisions."""

    def __init__(self, union: Union, revisions: Sequence[Revision]) -> None:
        super().__init__(union.space, revisions)
        self._union = union
        self._paths = {parameter.path: parameter.name for parameter in self.current}
        self.hidden_switch = union.switch

    def _encoded(self, index: int, configs: Sequence[Config]) -> Points:
        return self._union.encode(index, by_path(self._revisions[index].space, configs))

    def decode(self, points: Points) -> list[Config]:
        found = []
        for row in self.space.decode(points):
            config = {self._paths[path]: value for path, value in row.items() if path in self._paths}
            found.append(self.current.validate(config))
        return found


def model_space(revisions: Sequence[Revision], trials: Sequence[Trial]) -> ModelSpace:
    """The space for a study's method; ``trials``: all trials, in the order of their numbers."""
    revisions = without_undone(revisions)
    revisions = [replace(revision, space=full_space(revision.space)) for revision in revisions]
    current = revisions[-1].space
    earlier = list(trials[: revisions[-1].since])
    if not earlier:
        return ModelSpace(current)
    if not any(revision.fix for revision in revisions):
        try:
            carried = _Carried(revisions)
            carried.encode(earlier)
            return carried
        except ConfigError:
            pass  # some trial does not fit into the current space
    from bough.study.revising.union_space import make_union  # few studies need it

    rows = _rows_by_revision(revisions, earlier)
    for share, keep_fixed in ((True, True), (True, False), (False, False)):
        try:
            return _Union(make_union(revisions, rows, share, keep_fixed), revisions)
        except BoughError:  # conditions of different revisions may contradict each other
            if not share:
                raise
    raise AssertionError("a union without shared parameters is always possible")


def by_path(space: Space, configs: Sequence[Config]) -> list[ByPath]:
    """Configs with paths instead of names."""
    active = space.layout.active(space.encode(configs).on)
    parameters = space.parameters
    return [
        {parameters[c].path: config[parameters[c].name] for c in row.nonzero()[0].tolist()}
        for config, row in zip(configs, active)
    ]


def _rows_by_revision(revisions: Sequence[Revision], trials: Sequence[Trial]) -> dict[int, list[ByPath]]:
    """The configs of each revision that has trials."""
    found: dict[int, list[Config]] = {}
    for trial in trials:
        found.setdefault(revision_of(trial.number, revisions), []).append(trial.config)
    return {index: by_path(revisions[index].space, configs) for index, configs in found.items()}
