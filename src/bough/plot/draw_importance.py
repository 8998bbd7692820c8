"""Figure ``importance``: how much of the variance of the values each parameter explains.

The shares come from ``decomposition``, applied to the tree ensemble fitted to the finished trials.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bough.gp.output_transform import OutputTransform
from bough.plot.decomposition import Decomposition, decompose
from bough.plot.ensemble import Ensemble, fit_ensemble
from bough.plot.figure import Drawing, NothingToShow, figure
from bough.plot.model import MIN_TRIALS
from bough.plot.outline import Switch
from bough.plot.snapshot import StudySnapshot
from bough.plot.theme import CATEGORIES, graph_objects, label
from bough.plot.traces import counted, joined
from bough.points import FloatArray

__all__ = ["importance", "importances"]

SAMPLES = 1024
MAX_BARS = 20
MAX_NAME = 24
MAX_PATH = 40
"""The longest path in characters; ``MAX_NAME`` if its end is unique. Longer ones do not fit on a phone."""
MIN_SHARE = 0.001
"""The smallest share that is shown: smaller ones are Monte Carlo error."""

MAX_FAR_SHARE = 0.1
"""The largest share of the values that is cut off."""

MIN_SKILL = 0.1
"""The share of held-out variance that the trees must explain; below it, no importance is shown."""


def importances(snapshot: StudySnapshot) -> tuple[Decomposition, float]:
    """The decomposition of the trees' predictions, and their skill; needs five finished trials."""
    ensemble = _ensemble(snapshot)
    rng = np.random.default_rng(0)
    found = decompose(
        lambda points: ensemble.predict(points)[0],
        snapshot.space,
        rng,
        samples=SAMPLES,
        restrict=_restriction(snapshot),
    )
    return found, ensemble.skill


def _ensemble(snapshot: StudySnapshot) -> Ensemble:
    """Trees for values without far ones, because a few diverged trials would be nearly all the variance."""
    values, far = _cut_off(snapshot)
    if not far:
        return snapshot.ensemble
    return fit_ensemble(
        snapshot.space.layout, snapshot.points, values, np.random.default_rng(len(snapshot.done))
    )


def _cut_off(snapshot: StudySnapshot) -> tuple[FloatArray, int]:
    """The values, standardised and to minimise, and how many of them are cut off.

    Values are cut off where models do it, but few of them: many far values tell branches or regions apart.
    """
    y = snapshot.values if snapshot.minimizes else -snapshot.values
    seen = OutputTransform.fit(y, at_least=float(np.quantile(y, 1 - MAX_FAR_SHARE, method="lower")))
    with np.errstate(over="ignore"):
        far = (y / seen.unit - seen.shift) / seen.spread > seen.cap
    return seen.forward(y), int(np.count_nonzero(far))


@figure("Importance")
def importance(snapshot: StudySnapshot) -> Drawing:
    """The share of the variance that each parameter explains, between and within branches.

    Not shown if the trees explain almost nothing of held-out values: the shares would be noise.
    """
    drawn = graph_objects().Figure()
    if len(snapshot.done) < MIN_TRIALS:
        raise NothingToShow(f"needs {MIN_TRIALS} finished trials")
    if snapshot.values.min() == snapshot.values.max():
        raise NothingToShow("all values are equal")
    found, skill = importances(snapshot)
    if not skill >= MIN_SKILL:
        share = "nothing" if not skill > 0.005 else f"only {skill:.0%}"
        why = f"withheld: the model explains {share} of held-out values, so the shares would be noise"
        raise NothingToShow(why)
    fixed = {path for path, _ in snapshot.branch}
    shares = [share for share in found.shares if share.total >= MIN_SHARE and share.path not in fixed]
    shares = sorted(shares, key=lambda share: share.total)[-MAX_BARS:]
    if not shares:
        raise NothingToShow("no parameter explains any variance")
    names, paths = _short_names([share.path for share in shares]), [label(share.path) for share in shares]
    branching = bool(snapshot.space.layout.switch.any())
    for switch, colour, legend in (
        (True, CATEGORIES[1], "between branches: by itself"),
        (False, CATEGORIES[0], "within branches: by itself" if branching else "by itself"),
    ):
        if all(share.switch != switch for share in shares):
            continue
        drawn.add_bar(
            x=[share.main if share.switch == switch else None for share in shares],
            y=names,
            orientation="h",
            name=legend,
            marker={"color": colour},
            customdata=paths,
            hovertemplate="%{customdata}: %{x:.1%} by itself<extra></extra>",
        )
        drawn.add_bar(
            x=[max(share.total - share.main, 0.0) if share.switch == switch else None for share in shares],
            y=names,
            orientation="h",
            name="with others",
            showlegend=False,
            marker={"color": colour, "opacity": 0.35},
            customdata=[[path, share.total] for path, share in zip(paths, shares)],
            hovertemplate="%{customdata[0]}: %{customdata[1]:.1%} with its interactions<extra></extra>",
        )
    pale = any(share.total - share.main >= MIN_SHARE for share in shares)
    drawn.update_layout(
        barmode="stack",
        bargap=0.35,
        height=170 + 30 * len(names),
        hovermode="closest",
        xaxis={
            "title": "share of the variance" + ("<br>(pale: with others)" if pale else ""),
            "tickformat": ".0%",
            "rangemode": "tozero",
        },
        yaxis={"ticks": "", "showline": False, "showgrid": False},
    )
    note = f"{found.between:.0%} of the variance lies between branches" if branching else ""
    far = _cut_off(snapshot)[1]
    return drawn, joined(
        note,
        f"the model explains {skill:.0%} of held-out values",
        f"{counted(far, 'far value')} cut off" if far else "",
    )


def _short_names(paths: Sequence[str]) -> list[str]:
    """Paths for a narrow axis: only the end of a long one, unless another path has the same end."""
    ends = [f"…/{path.rsplit('/', 1)[-1]}" if len(path) > MAX_NAME else path for path in paths]
    longer = [path if len(path) <= MAX_PATH else f"…{path[1 - MAX_PATH :]}" for path in paths]
    return [label(end if ends.count(end) == 1 else other) for end, other in zip(ends, longer)]


def _restriction(snapshot: StudySnapshot) -> Callable[[FloatArray], FloatArray]:
    """A map of draws from the cube into the branch that the snapshot is restricted to."""
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
