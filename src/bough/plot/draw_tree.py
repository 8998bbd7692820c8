"""Figure ``tree``: the branching space with what the search did in it.

A bar is a branch and a ribbon the trials that took it: as wide as they are many, coloured by the
best value among them. Branches never tried are thin and grey. Hovering a branch lists its
parameters and its best trial.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bough.plot.outline import Branch, Tally, shortened
from bough.plot.snapshot import StudySnapshot
from bough.plot.theme import FADED, SCALE, graph_objects, label, number
from bough.plot.traces import titled
from bough.plot.tree_layout import Bar, Ribbon, TreeLayout, lay_out
from bough.space import Space

__all__ = ["draw_tree"]

BAR = 0.022
"""Half the width of a bar, in columns."""


def draw_tree(snapshot: StudySnapshot) -> Any:
    """The tree of branches: width = trials, colour = best value, hover = parameters."""
    go = graph_objects()
    layout = lay_out(snapshot.root)
    colours = _Colours.of(layout, snapshot.minimizes)
    figure = go.Figure()
    shapes = [_ribbon(ribbon, colours) for ribbon in layout.ribbons]
    shapes += [_bar(bar, colours) for bar in layout.bars]
    shapes += [_leader(bar) for bar in layout.bars if bar.branch.path and bar.branch.switches]
    figure.update_layout(shapes=shapes, annotations=_labels(layout, snapshot) + _pills(layout))
    figure.add_scatter(
        x=[bar.x for bar in layout.bars],
        y=[bar.middle for bar in layout.bars],
        mode="markers",
        showlegend=False,
        text=[_hover(bar.branch, snapshot.space) for bar in layout.bars],
        hovertemplate="%{text}<extra></extra>",
        customdata=[_address(bar.branch) for bar in layout.bars],
        marker={
            "size": 26,
            "opacity": 0,
            "color": [colours.value(bar.branch.tally, colours.high) for bar in layout.bars],
            "coloraxis": "coloraxis",
        },
    )
    figure.update_layout(
        height=max(layout.height + 130, 320),
        coloraxis={
            "cmin": colours.low,
            "cmax": colours.high,
            "reversescale": not snapshot.minimizes,
            "colorbar": {
                "title": {"text": "best value", "side": "right"},
                "thickness": 11,
                "len": 0.7,
                "outlinewidth": 0,
            },
            "showscale": colours.high > colours.low,
        },
        xaxis={
            "visible": False,
            "range": [-0.27 * (layout.width + 0.95), layout.width + 0.95],
            "fixedrange": True,
        },
        yaxis={"visible": False, "range": [layout.height + 8, -18], "fixedrange": True},
        hovermode="closest",
        margin={"l": 16, "r": 16, "t": 76, "b": 20},
    )
    note = "a ribbon is as wide as its trials are many; blue is best"
    if any(condition for bar in layout.bars for _, condition in bar.branch.parameters):
        note += "; * has a further condition"
    return titled(figure, snapshot, "Branches of the space", note)


class _Colours:
    """Best values to colours; the worst fifth of the branches shares the pale end."""

    def __init__(self, low: float, high: float, minimizes: bool) -> None:
        self.low, self.high, self.minimizes = low, high, minimizes

    @staticmethod
    def of(layout: TreeLayout, minimizes: bool) -> _Colours:
        values = [b.branch.tally.best.value for b in layout.bars if b.branch.tally.best is not None]
        if not values:
            return _Colours(0.0, 0.0, minimizes)
        low, high = np.quantile(np.array(values, float), [0.0, 0.8] if minimizes else [0.2, 1.0])
        return _Colours(float(low), float(high), minimizes)

    def value(self, tally: Tally, missing: float) -> float:
        return missing if tally.best is None or tally.best.value is None else tally.best.value

    def css(self, tally: Tally) -> str:
        if tally.best is None:
            return FADED
        value = self.value(tally, self.high)
        share = 0.0 if self.high <= self.low else (value - self.low) / (self.high - self.low)
        share = min(max(share if self.minimizes else 1 - share, 0.0), 1.0)
        stops = np.array([stop for stop, _ in SCALE])
        channels = np.array(
            [[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for _, colour in SCALE], dtype=float
        )
        red, green, blue = (round(float(np.interp(share, stops, channels[:, i]))) for i in range(3))
        return f"rgb({red},{green},{blue})"


def _ribbon(ribbon: Ribbon, colours: _Colours) -> dict[str, Any]:
    x0, x1 = ribbon.x0, ribbon.x1
    if ribbon.x0 == int(ribbon.x0):
        x0 += BAR
    half = (x0 + x1) / 2
    top0, top1 = ribbon.top0, ribbon.top1
    low0, low1 = top0 + ribbon.height0, top1 + ribbon.height1
    if ribbon.tally.trials == 0:
        path = f"M{x0},{top0} C{half},{top0} {half},{top1} {x1},{top1}"
        return {
            "type": "path",
            "path": path,
            "line": {"color": FADED, "width": 1, "dash": "dot"},
            "layer": "below",
        }
    path = (
        f"M{x0},{top0} C{half},{top0} {half},{top1} {x1},{top1} L{x1},{low1} "
        f"C{half},{low1} {half},{low0} {x0},{low0} Z"
    )
    return {
        "type": "path",
        "path": path,
        "fillcolor": colours.css(ribbon.tally),
        "opacity": 0.42,
        "line": {"width": 0},
        "layer": "below",
    }


def _bar(bar: Bar, colours: _Colours) -> dict[str, Any]:
    return {
        "type": "rect",
        "x0": bar.x - BAR,
        "x1": bar.x + BAR,
        "y0": bar.top,
        "y1": bar.top + bar.height,
        "fillcolor": colours.css(bar.branch.tally),
        "line": {"width": 0},
        "layer": "above",
    }


def _leader(bar: Bar) -> dict[str, Any]:
    """A thin line from an inner branch's label down to its bar."""
    line = {"color": FADED, "width": 1}
    return {
        "type": "line",
        "x0": bar.x,
        "x1": bar.x,
        "y0": bar.label,
        "y1": bar.top,
        "line": line,
        "layer": "below",
    }


def _labels(layout: TreeLayout, snapshot: StudySnapshot) -> list[dict[str, Any]]:
    """Right of a leaf, above an inner branch, left of the root."""
    best = snapshot.best
    found = []
    for bar in layout.bars:
        is_best = (
            best is not None
            and bar.branch.tally.best is not None
            and bar.branch.tally.best.number == best.number
        )
        text = _label(bar.branch, layout.compact, is_best)
        place: dict[str, Any]
        if not bar.branch.path:
            place = {
                "x": bar.x,
                "y": bar.middle,
                "xanchor": "right",
                "yanchor": "middle",
                "xshift": -14,
                "align": "right",
            }
        elif bar.branch.switches:
            place = {
                "x": bar.x,
                "y": bar.label,
                "xanchor": "left",
                "yanchor": "bottom",
                "yshift": 3,
                "xshift": -8,
            }
        else:
            place = {"x": bar.x, "y": bar.middle, "xanchor": "left", "yanchor": "middle", "xshift": 12}
        found.append({"text": text, "showarrow": False, "align": "left", **place})
    return found


def _label(branch: Branch, compact: bool, is_best: bool) -> str:
    tally = branch.tally
    name = f"<b>{label(branch.label)}</b>" + (" ★" if is_best and branch.path and not branch.switches else "")
    if tally.trials == 0:
        facts = "not tried"
    else:
        facts = f"{tally.trials} trial{'s' if tally.trials != 1 else ''}"
        if tally.failed:
            facts += f", {tally.failed} failed"
        if tally.best is not None:
            facts += f"{' · ' if branch.path else '<br>'}best {number(tally.best.value)}"
    if compact:
        return f"{name} <span style='font-size:11px'>{facts}</span>"
    lines = [name, f"<span style='font-size:12px'>{facts}</span>"]
    if branch.parameters:
        names = [
            path.rpartition("/")[2] + ("*" if condition else "") for path, condition in branch.parameters
        ]
        lines.append(f"<span style='font-size:11px;color:{FADED}'>{label(shortened(names, 40))}</span>")
    return "<br>".join(lines)


def _pills(layout: TreeLayout) -> list[dict[str, Any]]:
    return [
        {
            "text": label(pill.switch.name) + ("*" if pill.switch.condition else ""),
            "x": pill.x,
            "y": pill.y,
            "showarrow": False,
            "bgcolor": "#57606a",
            "bordercolor": "#57606a",
            "borderpad": 3,
            "font": {"color": "#ffffff", "size": 12},
            "hovertext": f"only when {label(pill.switch.condition)}" if pill.switch.condition else None,
        }
        for pill in layout.pills
    ]


def _hover(branch: Branch, space: Space) -> str:
    tally = branch.tally
    where = " → ".join(f"{label(path.rpartition('/')[2])} = {label(value)}" for path, value in branch.path)
    lines = [f"<b>{where or 'all trials'}</b>", f"{tally.trials} trials, {tally.failed} failed"]
    if tally.best is not None:
        lines.append(f"best {number(tally.best.value)} in trial {tally.best.number}:")
        lines += [f"  {label(name)} = {label(value)}" for name, value in list(tally.best.config.items())[:12]]
    if branch.parameters:
        lines.append("<i>parameters</i>")
    for path, condition in branch.parameters[:12]:
        domain = label(repr(space[path].domain))
        lines.append(
            f"  {label(path.rpartition('/')[2])}: {domain}"
            + (f" when {label(condition)}" if condition else "")
        )
    return "<br>".join(lines)


def _address(branch: Branch) -> list[list[str]]:
    """What a page needs to narrow its other figures to this branch (see ``StudySnapshot.within``)."""
    return [list(step) for step in branch.path]
