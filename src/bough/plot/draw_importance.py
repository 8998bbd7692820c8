"""Figure ``importance``: how much of the variance of the results each parameter explains.

The numbers are those of ``decomposition``, for the tree ensemble fitted to the finished trials.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bough.plot.decomposition import Decomposition, decompose
from bough.plot.model import FEW_TRIALS
from bough.plot.outline import Switch
from bough.plot.snapshot import StudySnapshot
from bough.plot.theme import CATEGORIES, graph_objects, label
from bough.plot.traces import empty_note, titled
from bough.points import FloatArray

__all__ = ["draw_importance", "importances"]

SAMPLES = 1024
MOST_BARS = 20
LEAST = 0.001
"""Smaller shares are Monte Carlo error."""


def importances(snapshot: StudySnapshot) -> tuple[Decomposition, float]:
    """The decomposition of what the trees believe, and their skill; needs five finished trials."""
    ensemble = snapshot.ensemble
    rng = np.random.default_rng(0)
    found = decompose(
        lambda points: ensemble.predict(points)[0],
        snapshot.space,
        rng,
        samples=SAMPLES,
        restrict=_restriction(snapshot),
    )
    return found, ensemble.skill


def draw_importance(snapshot: StudySnapshot) -> Any:
    """Bars per parameter: its own effect where it is active, and what it adds together with others."""
    go = graph_objects()
    figure = go.Figure()
    if len(snapshot.done) < FEW_TRIALS:
        return empty_note(titled(figure, snapshot, "Importance"), f"needs {FEW_TRIALS} finished trials")
    found, skill = importances(snapshot)
    fixed = {path for path, _ in snapshot.branch}
    shares = [share for share in found.shares if share.total >= LEAST and share.path not in fixed]
    shares = sorted(shares, key=lambda share: share.total)[-MOST_BARS:]
    if not shares:
        return empty_note(titled(figure, snapshot, "Importance"), "all results are alike")
    names = [label(share.path) for share in shares]
    for switch, colour, what in (
        (True, CATEGORIES[1], "between branches"),
        (False, CATEGORIES[0], "within branches"),
    ):
        figure.add_bar(
            x=[share.main if share.switch == switch else None for share in shares],
            y=names,
            orientation="h",
            name=f"{what}: by itself",
            marker={"color": colour},
            hovertemplate="%{y}: %{x:.1%} by itself<extra></extra>",
        )
        figure.add_bar(
            x=[max(share.total - share.main, 0.0) if share.switch == switch else None for share in shares],
            y=names,
            orientation="h",
            name="with others",
            showlegend=False,
            marker={"color": colour, "opacity": 0.35},
            customdata=[share.total for share in shares],
            hovertemplate="%{y}: %{customdata:.1%} with its interactions<extra></extra>",
        )
    figure.update_layout(
        barmode="stack",
        bargap=0.35,
        height=170 + 30 * len(names),
        hovermode="closest",
        xaxis={
            "title": "share of the variance (pale: with others)",
            "tickformat": ".0%",
            "rangemode": "tozero",
        },
        yaxis={"ticks": "", "showline": False, "showgrid": False},
    )
    note = (
        f"{found.between:.0%} of the variance lies between branches"
        if snapshot.space.layout.switch.any()
        else ""
    )
    if math.isfinite(skill):
        note += ("; " if note else "") + f"the model explains {max(skill, 0):.0%} of held-out results"
    return titled(figure, snapshot, "Importance", note)


def _restriction(snapshot: StudySnapshot) -> Callable[[FloatArray], FloatArray]:
    """Maps draws of the cube into the branch that the snapshot was narrowed to."""
    column = {parameter.path: i for i, parameter in enumerate(snapshot.space.parameters)}
    switches: dict[str, Switch] = {
        switch.path: switch for branch in snapshot.root.walk() for switch in branch.switches
    }
    allowed: dict[int, FloatArray] = {}
    for path, wanted in snapshot.branch:
        value = next(branch.value for branch in switches[path].branches if branch.label == wanted)
        domain = snapshot.space.parameters[column[path]].domain
        unit = (np.arange(2048) + 0.5) / 2048
        holds = [value.holds(each) for each in domain.values(domain.rank_at(unit)).tolist()]
        allowed[column[path]] = unit[holds]

    def restrict(u: FloatArray) -> FloatArray:
        for i, units in allowed.items():
            u[:, i] = units[(u[:, i] * len(units)).astype(np.intp)]
        return u

    return restrict
