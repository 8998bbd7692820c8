"""Parameters as columns of the encoded trials: found by name, varied around a trial, named at an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bough.errors import ConfigError
from bough.plot.snapshot import StudySnapshot, near
from bough.plot.theme import label
from bough.space.desugar import Parameter
from bough.trial import Config

__all__ = ["axis_title", "centre_row", "column_named", "column_values", "varied"]


def column_named(snapshot: StudySnapshot, name: str) -> int:
    """The column of a parameter, given by its path, or by its name if that is unique."""
    parameters = snapshot.space.parameters
    found = [i for i, p in enumerate(parameters) if p.path == name]
    found = found or [i for i, p in enumerate(parameters) if p.name == name]
    if len(found) == 1:
        return found[0]
    if found:
        paths = ", ".join(parameters[i].path for i in found)
        raise ConfigError(f"{name!r} names several parameters: say which of {paths}")
    known = [each for p in parameters for each in (p.name, p.path)]
    raise ConfigError(f"the space has no parameter {name!r}{near(name, known)}")


def centre_row(snapshot: StudySnapshot, columns: Sequence[int]) -> int | None:
    """The row of the best finished trial in which all these parameters are active."""
    ranked = snapshot.ranking
    active = snapshot.active[ranked][:, np.array(columns, dtype=np.intp)].all(axis=1)
    return int(ranked[np.argmax(active)]) if active.any() else None


def column_values(snapshot: StudySnapshot, column: int, most: int) -> list[Any]:
    """Up to ``most`` values of a parameter, evenly spread over its range; every option of a categorical."""
    domain = snapshot.space.parameters[column].domain
    if 0 < domain.levels <= most or domain.kind == "nominal":
        return list(domain.values(np.arange(float(domain.levels))))
    ranks = domain.rank_at(np.linspace(0, 1, most))
    return list(dict.fromkeys(domain.values(ranks).tolist()))


def varied(snapshot: StudySnapshot, centre: Config, **values: Any) -> Config | None:
    """``centre`` with some parameters changed (by name); None if that is not a configuration of the space."""
    config = {**centre, **values}
    try:
        return snapshot.space.validate(config)
    except ValueError:
        return None


def axis_title(parameter: Parameter) -> str:
    """The name, and the branch in small type below: in one line they would overlap or be cut."""
    branch = parameter.path.removesuffix(parameter.name).removesuffix("/")
    small = f"<br><span style='font-size:10px'>{label(branch)}</span>" if branch else ""
    return label(parameter.name) + small
