"""The revisions of a study's space, each with the number of its first trial."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bough.errors import ConfigError
from bough.space import Space
from bough.storage import Amendment

__all__ = [
    "SPACE_KINDS",
    "Names",
    "Revision",
    "backfills",
    "by_name",
    "fixed_values",
    "names_asked",
    "revision_of",
    "revisions_of",
    "without_undone",
]

SPACE_KINDS = ("space", "learned")
"""The kinds of amendments that may change the space."""

Names = Mapping[int, Sequence[str]]
"""By the number of a trial, the names that its objective asked for."""


@dataclass(frozen=True, eq=False)
class Revision:
    """A space, and the number of the first trial that was made in it.

    backfill: by path, the values of this space's new parameters in earlier trials.
    fix: by path, the values of removed parameters in trials of this space.
    """

    space: Space
    since: int = 0
    backfill: Mapping[str, Any] = field(default_factory=dict)
    fix: Mapping[str, Any] = field(default_factory=dict)


def revisions_of(space: Space, amendments: Sequence[Amendment]) -> list[Revision]:
    """All revisions of a study; only ``space`` if it was never changed.

    A study that learns its space has one revision, because its trials change their configs with the space.
    """
    changes = [each for each in amendments if each.kind in SPACE_KINDS and "space" in each.body]
    if not changes:
        return [Revision(space)]
    if changes[-1].kind == "learned":
        return [Revision(Space.from_json(changes[-1].body["space"]))]
    first = Revision(Space.from_json(changes[0].body["before"]))
    later = [
        Revision(
            Space.from_json(change.body["space"]), change.since, change.body["backfill"], change.body["fix"]
        )
        for change in changes
    ]
    return [first, *later]


def names_asked(amendments: Sequence[Amendment]) -> Names:
    """The names that each trial of a learned space asked for (``lessons``); empty for other studies."""
    return {
        each.trial: each.body["asked"]
        for each in amendments
        if each.kind == "learned" and each.trial is not None
    }


def revision_of(number: int, revisions: Sequence[Revision]) -> int:
    """The index of the revision in which a trial was made."""
    return bisect_right([revision.since for revision in revisions], number) - 1


def backfills(revisions: Sequence[Revision]) -> list[dict[str, Any]]:
    """For each revision, the values of later parameters in its trials."""
    fills: list[dict[str, Any]] = [{} for _ in revisions]
    for index in range(len(revisions)):
        for later in revisions[index + 1 :]:
            fills[index].update(later.backfill)
    return fills


def by_name(fill: Mapping[str, Any], space: Space) -> dict[str, Any]:
    """Values by name; ConfigError where two parameters have the name, and only one the value."""
    names = [parameter.name for parameter in space.parameters]
    found = {parameter.name: fill[parameter.path] for parameter in space if parameter.path in fill}
    if any(names.count(name) > 1 for name in found):
        raise ConfigError("a name does not say which parameter is meant")
    return found


def fixed_values(revisions: Sequence[Revision]) -> dict[str, tuple[Any, int]]:
    """Removed parameters with a fixed value: this value, and the last revision that had the parameter."""
    found: dict[str, tuple[Any, int]] = {}
    for index, revision in enumerate(revisions):
        for path in revision.space.by_path:
            found.pop(path, None)  # it came back
        for path, value in revision.fix.items():
            found[path] = value, index - 1
    return found


def without_undone(revisions: Sequence[Revision]) -> list[Revision]:
    """The revisions, except those that were undone before any trial was made in them.

    Their ``backfill`` and ``fix`` are undone too.
    """
    kept: list[Revision] = []
    for revision in revisions:
        for index, earlier in enumerate(kept):
            stated = revision.backfill or revision.fix
            had_no_trial = index + 1 == len(kept) or kept[index + 1].since == revision.since
            if had_no_trial and not stated and earlier.space == revision.space:
                kept[index:] = [replace(earlier, space=revision.space)]  # its parameters in the new order
                break
        else:
            kept.append(revision)
    return kept
