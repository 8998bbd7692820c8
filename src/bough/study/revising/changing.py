"""A change of a study's space: what differs, whether it is possible, and the amendment that makes it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bough.errors import BoughError, ConfigError, MalformedError, StudyError
from bough.space import Space
from bough.space.beliefs import beliefs_of
from bough.space.desugar import Parameter
from bough.space.parameters import Categorical, Domain
from bough.space.scalars import scalar_key
from bough.storage import Amendment
from bough.study.revising.model_space import model_space
from bough.study.revising.revisions import Revision
from bough.trial import Trial

__all__ = ["differences", "space_change"]

ALIKE = 0.65
"""The similarity, from 0 to 1, at which one name may be a misspelling of another: svm and svn reach it."""

NO_DIGITS = str.maketrans("", "", "0123456789")


def differences(old: Space, new: Space) -> list[str]:
    """The differences between two spaces, one line each: ``+`` is added, ``-`` is removed, ``~`` changes."""
    lines: list[str] = []
    before, after = old.by_path, new.by_path
    for path, parameter in before.items():
        if path not in after:
            lines.append(f"- {path}: {_text(parameter)}")
        elif (_text(parameter), _condition(parameter)) != (_text(after[path]), _condition(after[path])):
            lines += _changed(path, parameter, after[path])
    lines += [f"+ {path}: {_text(parameter)}" for path, parameter in after.items() if path not in before]
    for sign, one, other in (("-", old, new), ("+", new, old)):
        lines += [f"{sign} forbid: {clause}" for clause in one.forbid if clause not in other.forbid]
        lines += [f"{sign} require: {text}" for text in one.require if text not in other.require]
    return lines


def space_change(
    revisions: Sequence[Revision],
    trials: Sequence[Trial],
    space: Space,
    backfill: Mapping[str, Any],
    fix: Mapping[str, Any],
) -> Amendment | None:
    """The amendment that makes ``space`` the current one; None if it already is.

    StudyError if the change is not possible: a value that is not allowed, a queued trial that is not in the
    new space, a name that looks misspelt.
    """
    current = revisions[-1].space
    if not isinstance(space, Space):
        raise StudyError(f"space must be a bough.Space, not {type(space).__name__}")
    for name, given in (("backfill", backfill), ("fix", fix)):
        if not isinstance(given, Mapping):
            raise MalformedError(f"{name} must be a dict of parameters and values, not {given!r:.60}")
    if space == current and not backfill and not fix:
        if beliefs_of(space) and set(beliefs_of(space)) != set(beliefs_of(current)):
            raise StudyError("only the likely values differ, which study.believe changes")
        return None
    _check_fidelity(current, space)
    values = _values("backfill", backfill, space, current, "new in the changed space")
    fixed = _values("fix", fix, current, space, "gone from the changed space")
    _check_names(current, space, values, fixed)
    for trial in trials:
        if trial.state == "queued":
            _check_queued(trial, space)
    _check_union([*revisions, Revision(space, len(trials), values, fixed)], trials)
    return Amendment(
        "space", {"before": current.to_dict(), "space": space.to_dict(), "backfill": values, "fix": fixed}
    )


def _values(what: str, given: Mapping[str, Any], space: Space, other: Space, must_be: str) -> dict[str, Any]:
    """Values by path, for parameters of ``space`` that ``other`` lacks."""
    paths = other.by_path
    candidates = [parameter for parameter in space.parameters if parameter.path not in paths]
    found: dict[str, Any] = {}
    for name, value in given.items():
        matching = [p for p in candidates if p.path == name] or [p for p in candidates if p.name == name]
        if not matching:
            names = ", ".join(repr(parameter.path) for parameter in candidates) or "none"
            raise MalformedError(f"{what} names {name!r}, which is not {must_be}; these are: {names}")
        try:
            found |= {parameter.path: parameter.domain.check(value) for parameter in matching}
        except ConfigError as error:
            raise MalformedError(f"{what}: parameter {name!r} {error}") from None
    return found


def _check_names(old: Space, new: Space, backfill: Mapping[str, Any], fix: Mapping[str, Any]) -> None:
    """StudyError if an added parameter or option may be a misspelling of a removed one."""
    before, after = old.by_path, new.by_path
    for path in (each for each in after if each in before):
        gone, come = _options_apart(before[path].domain, after[path].domain)
        for option in come:
            if (meant := _meant(option, gone)) is not None:
                raise StudyError(
                    f"option {option!r} of {path!r} comes and {meant!r} goes: is it misspelt? If not, change "
                    f"the space in two steps: first with both, then without {meant!r}"
                )
    gone = [path for path in before if path not in after and path not in fix]
    for path in (each for each in after if each not in before and each not in backfill):
        branch = path.rpartition("/")[0]
        meant = _meant(path, [each for each in gone if each.rpartition("/")[0] == branch])
        if meant is not None:
            raise StudyError(
                f"{path!r} comes and {meant!r} goes: is it misspelt? If not, give {path!r} a value by "
                f"backfill, or {meant!r} one by fix, or change the space in two steps"
            )


def _options_apart(old: Domain, new: Domain) -> tuple[list[str], list[str]]:
    """The text options that only the first, and only the second, of two categoricals has."""
    if not (isinstance(old, Categorical) and isinstance(new, Categorical)):
        return [], []
    before, after = ([each for each in one.options if isinstance(each, str)] for one in (old, new))
    return [each for each in before if each not in after], [each for each in after if each not in before]


def _meant(name: str, gone: Sequence[str]) -> str | None:
    """The removed name of which ``name`` is a likely misspelling; None if there is none."""
    alike = {known: _alike(name, known) for known in gone}
    nearest = max(alike, key=alike.__getitem__, default=None)
    return nearest if nearest is not None and alike[nearest] >= ALIKE else None


def _alike(one: str, other: str) -> float:
    """The similarity of two names; 0 for names that differ only in their digits, such as units1 and units2.

    Parts between slashes that both names share are ignored: org/t5 and org/opt are different models, and two
    parameters of one branch differ only in their last parts.
    """
    if one.translate(NO_DIGITS) == other.translate(NO_DIGITS):
        return 0.0
    mine, theirs = (text.casefold().split("/") for text in (one, other))
    if len(mine) == len(theirs):
        apart = [pair for pair in zip(mine, theirs) if pair[0] != pair[1]]
        mine, theirs = [pair[0] for pair in apart], [pair[1] for pair in apart]
    return difflib.SequenceMatcher(None, "/".join(mine), "/".join(theirs)).ratio()


def _check_queued(trial: Trial, space: Space) -> None:
    try:
        space.validate(trial.config)
    except ConfigError as error:
        raise StudyError(
            f"trial {trial.number} waits in the queue, but the changed space does not have it ({error}): "
            f"study.fail({trial.number}, 'the space changes') removes it"
        ) from None


def _check_union(revisions: Sequence[Revision], trials: Sequence[Trial]) -> None:
    """Build the space that the method would work in; StudyError if that is not possible."""
    try:
        model_space(revisions, trials)
    except BoughError as error:
        raise StudyError(f"earlier trials cannot be carried over to the changed space: {error}") from None


def _check_fidelity(old: Space, new: Space) -> None:
    if repr(old.fidelity) != repr(new.fidelity):
        raise StudyError(
            f"the fidelity of a study cannot change from {_fidelity(old)} to {_fidelity(new)}: start "
            "another study, and add the results"
        )


def _fidelity(space: Space) -> str:
    return "none" if space.fidelity is None else f"{space.fidelity.name}={space.fidelity.domain!r}"


def _changed(path: str, old: Parameter, new: Parameter) -> list[str]:
    lines = []
    if isinstance(old.domain, Categorical) and isinstance(new.domain, Categorical):
        before, after = old.domain, new.domain
        gone = [each for each in before.options if scalar_key(each) not in after.index]
        come = [each for each in after.options if scalar_key(each) not in before.index]
        lines += [f"- {path}: option {each!r}" for each in gone]
        lines += [f"+ {path}: option {each!r}" for each in come]
    if not lines and _bare(old) != _bare(new):
        lines.append(f"~ {path}: {_bare(old)} -> {_bare(new)}")
    if _condition(old) != _condition(new):
        lines.append(f"~ {path}: when {_condition(old)} -> when {_condition(new)}")
    return lines


def _condition(parameter: Parameter) -> str:
    return "always" if parameter.condition is None else str(parameter.condition)


def _bare(parameter: Parameter) -> str:
    return repr(replace(parameter.domain, when=None))


def _text(parameter: Parameter) -> str:
    when = "" if parameter.condition is None else f" when {parameter.condition}"
    return f"{_bare(parameter)}{when}"
