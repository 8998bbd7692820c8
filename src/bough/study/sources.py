"""Earlier studies that a study learns from: read when it is created, stored with it, mapped to its space.

Their results are stored in the study itself, because proposals depend only on what the study stores.
Parameters are matched by path, or by name if the name is unique in both spaces. Both must be numeric, or both
categorical. Results with values outside this space, or below the highest fidelity, are left out. A parameter
that the earlier study lacks gets random values, so the model of that study finds no effect of it.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from bough.errors import StudyError
from bough.history import Source
from bough.space import Space
from bough.space.parameters import Categorical
from bough.storage import Amendment, MemoryStorage, Storage
from bough.strategies import streams
from bough.study.goals import Goals

__all__ = ["LARGEST_VALUE", "check_sources", "present_sources", "source_amendments"]

MAX_STUDIES = 8
MAX_RESULTS = 200
"""The most results kept of each study: the best half, the latest, and some of the others."""

MIN_RESULTS = 3

LARGEST_VALUE = 1e300
"""Results beyond this absolute value are left out: they overflow when they are standardised."""


def source_amendments(learn_from: Sequence[Any], space: Space, storage: Storage) -> list[Amendment]:
    """The studies given to ``learn_from``, as amendments; StudyError names one that cannot be used."""
    given = _as_list(learn_from)
    if len(given) > MAX_STUDIES:
        raise StudyError(f"learn_from takes at most {MAX_STUDIES} studies, not {len(given)}")
    for i, each in enumerate(given):
        if any(each is other or (isinstance(each, str) and each == other) for other in given[:i]):
            raise StudyError(f"learn_from names {_name(each)!r} twice")
    amendments: list[Amendment] = []
    for position, each in enumerate(given):
        body = _body(_study(each, storage))
        if _is_file(each):
            body["file"] = os.path.basename(each)
        _mapped(space, body, position)
        amendments.append(Amendment("source", body, None, 0, position, time.time()))
    return amendments


def check_sources(learn_from: Sequence[Any], amendments: Sequence[Amendment], name: str) -> None:
    """StudyError unless the study learns from studies of these names; an empty ``learn_from`` matches any.

    Results are stored with the study, so the file of an earlier study may no longer exist.
    """
    bodies = [each.body for each in amendments if each.kind == "source"]
    files = {str(body["file"]): str(body["name"]) for body in bodies if "file" in body}
    known = [str(body["name"]) for body in bodies]
    wanted = [_name(each, files) for each in _as_list(learn_from)]
    if wanted and sorted(wanted) != sorted(known):
        old = ", ".join(map(repr, known)) or "no other study"
        new = ", ".join(map(repr, wanted))
        raise StudyError(f"study {name!r} exists and learns from {old}, not from {new}; use another name")


def present_sources(space: Space, amendments: Sequence[Amendment]) -> tuple[Source, ...]:
    """The earlier studies, mapped to the study's space; one that does not fit a changed space is left out."""
    found = []
    for amendment in amendments:
        if amendment.kind == "source":
            try:
                found.append(_mapped(space, amendment.body, amendment.position))
            except StudyError:
                continue
    return tuple(found)


def _as_list(learn_from: Any) -> list[Any]:
    if isinstance(learn_from, (str, os.PathLike)) or hasattr(learn_from, "trials"):
        return [learn_from]
    if not isinstance(learn_from or (), Iterable):
        raise StudyError(f"learn_from takes studies, files and names of studies, not {learn_from!r:.80}")
    return list(learn_from or ())


def _name(given: Any, files: Mapping[str, str] = MappingProxyType({})) -> str:
    """The name of an earlier study. files: study names by file name, for files that no longer exist."""
    if _is_file(given):
        return str(_of_file(given).name)
    if not isinstance(given, (str, os.PathLike)):
        return str(given.name)
    return files.get(os.path.basename(given), str(given))


def _is_file(given: Any) -> bool:
    return isinstance(given, (str, os.PathLike)) and os.path.isfile(given)


def _of_file(path: str | os.PathLike[str]) -> Any:
    from bough.study.catalogue import import_study  # it imports studies, which import this module

    return import_study(os.fspath(path), MemoryStorage())


def _study(given: Any, storage: Storage) -> Any:
    """An earlier study, given as an open study, an exported file, or a name in the storage."""
    if _is_file(given):
        return _of_file(given)
    if isinstance(given, (str, os.PathLike)):
        found = storage.find(str(given))
        if not found:
            raise StudyError(
                f"learn_from: there is neither a file nor a study {str(given)!r} in this storage"
            )
        from bough.study.study import Study

        return Study.of_record(found[0], storage)
    if not all(hasattr(given, name) for name in ("name", "space", "trials", "goals")):
        raise StudyError(f"learn_from takes studies, files and names of studies, not {given!r:.80}")
    return given


def _body(study: Any) -> dict[str, Any]:
    """The stored form of an earlier study; StudyError if it has too few results."""
    goals: Goals = study.goals
    if not goals.is_single:
        raise StudyError(f"learn_from: study {study.name!r} has several objectives or constraints")
    results = [
        (dict(trial.config), float(goals.sign * trial.value))
        for trial in study.current_trials  # completed by backfill
        if trial.state == "done" and not trial.partial and trial.retracted is None
        if abs(trial.value) < LARGEST_VALUE and study.space.contains(trial.config)
    ]
    if len(results) < MIN_RESULTS:
        current = {trial.number for trial in study.current_trials}
        earlier = sum(t.state == "done" and t.number not in current for t in study.trials)
        found = "no results" if not results else f"only {len(results)} of them"
        full = "" if goals.fidelity is None else " at {}={:g}, the highest fidelity".format(*goals.fidelity)
        where = f"{full} in its present space, and {earlier} in earlier ones" if earlier else full
        raise StudyError(
            f"learn_from needs at least {MIN_RESULTS} results; study {study.name!r} has {found}{where}"
        )
    from bough.strategies.hyperparameters import working_rows  # loads the models

    rows = working_rows(np.array([value for _, value in results]), MAX_RESULTS)
    kept = [list(results[row]) for row in rows.tolist()]
    return {"name": study.name, "space": study.space.to_dict(), "results": kept}


def _mapped(space: Space, body: Mapping[str, Any], position: int) -> Source:
    """The results of an earlier study as points of a space; StudyError if too few of them fit."""
    theirs = Space.from_json(body["space"])
    match = _matches(space, theirs)
    if not match:
        raise StudyError(f"learn_from: study {body['name']!r} shares no parameter with this space")
    configs = [config for config, _ in body["results"]]
    active = theirs.layout.active(theirs.encode(configs).on) if configs else np.zeros((0, len(theirs)), bool)
    # The seed depends only on the position, so a mapped point is the same at every proposal.
    x = np.random.default_rng([position, streams.SOURCE_FILL]).random((len(configs), len(space)))
    bad = np.zeros(x.shape, dtype=bool)
    for column, their in match.items():
        name, domain = theirs.parameters[their].name, space.parameters[column].domain
        for row in np.flatnonzero(active[:, their]).tolist():
            value = configs[row][name]
            bad[row, column] = not domain.contains(value)
            x[row, column] = 0.5 if bad[row, column] else domain.unit(value)
    points = space.snap(x)
    fits = ~np.any(bad & space.layout.active(points.on), axis=1) & space.legal(points)
    y = np.array([value for _, value in body["results"]], dtype=float)
    if fits.sum() < MIN_RESULTS:
        raise StudyError(
            f"learn_from: only {int(fits.sum())} of the {len(y)} results of study {body['name']!r} fit this "
            f"space; at least {MIN_RESULTS} are needed"
        )
    return Source(str(body["name"]), points.take(fits), y[fits])


def _matches(space: Space, theirs: Space) -> dict[int, int]:
    """The column of the earlier space for each column of this one that has a counterpart there."""
    paths = {parameter.path: column for column, parameter in enumerate(theirs.parameters)}
    counts = Counter(parameter.name for parameter in theirs.parameters)
    names = {p.name: column for column, p in enumerate(theirs.parameters) if counts[p.name] == 1}
    ours = Counter(parameter.name for parameter in space.parameters)
    found = {}
    for column, parameter in enumerate(space.parameters):
        their = paths.get(parameter.path)
        if their is None and ours[parameter.name] == 1:
            their = names.get(parameter.name)
        if their is not None:
            kinds = (parameter.domain, theirs.parameters[their].domain)
            if len({isinstance(domain, Categorical) for domain in kinds}) == 1:
                found[column] = their
    return found
