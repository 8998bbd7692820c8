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

from collections.abc import Callable, Sequence
from dataclasses import replace
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


class _Carried(ModelSpace):
    """The current space; configs of earlier trials are completed with values of new parameters."""

    def __init__(self, revisions: Sequence[Revision]) -> None:
        super().__init__(revisions[-1].space)
        self._revisions = revisions
        self._fills = [by_name(fill, self.space) for fill in backfills(revisions)]

    def encode(self, trials: Sequence[Trial]) -> Points:
        def encode(index: int, trials: Sequence[Trial]) -> Points:
            configs = [trial.config for trial in trials]
            return self.space.encode(configs, self._fills[index])

        return _by_revision(trials, self._revisions, encode)


class _Union(ModelSpace):
    """The union of all revisions."""

    def __init__(self, union: Union, revisions: Sequence[Revision]) -> None:
        super().__init__(union.space, revisions[-1].space)
        self._union, self._revisions = union, revisions
        self._paths = {parameter.path: parameter.name for parameter in self.current.parameters}
        self.hidden_switch = union.switch

    def encode(self, trials: Sequence[Trial]) -> Points:
        def encode(index: int, trials: Sequence[Trial]) -> Points:
            rows = by_path(self._revisions[index].space, [trial.config for trial in trials])
            return self._union.encode(index, rows)

        return _by_revision(trials, self._revisions, encode)

    def encode_configs(self, configs: Sequence[Config]) -> Points:
        return self._union.encode(len(self._revisions) - 1, by_path(self.current, configs))

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
    found: dict[int, list[Config]] = {}
    for trial in trials:
        found.setdefault(revision_of(trial.number, revisions), []).append(trial.config)
    return {index: by_path(revisions[index].space, configs) for index, configs in found.items()}


def _by_revision(
    trials: Sequence[Trial],
    revisions: Sequence[Revision],
    encode: Callable[[int, Sequence[Trial]], Points],
) -> Points:
    """Trials encoded one revision at a time; the points are in the order of the trials."""
    runs: list[tuple[int, list[Trial]]] = []
    for trial in trials:
        index = revision_of(trial.number, revisions)
        if not runs or runs[-1][0] != index:
            runs.append((index, []))
        runs[-1][1].append(trial)
    if not runs:
        return encode(len(revisions) - 1, [])
    return Points.concat([encode(index, group) for index, group in runs])
