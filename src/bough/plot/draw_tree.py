"""Figure ``tree``: the branches of the space, and the trials and best values of each.

A bar is a branch. A ribbon shows its trials: its width is their number, its colour their best value. Branches
without trials are thin and grey.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bough.plot.figure import Drawing, figure
from bough.plot.outline import Branch, Tally, shortened
from bough.plot.snapshot import StudySnapshot
from bough.plot.theme import FADED, SCALE, graph_objects, label, number
from bough.plot.traces import counted
from bough.plot.tree_layout import Bar, Ribbon, TreeLayout, lay_out
from bough.space import Space

__all__ = ["tree"]

BAR_HALF_PX = 6

COLUMN_PX = 120
"""The least width of a column in pixels: labels of inner branches overlap in narrower ones."""


@figure("Branches of the space", wide=True, branching=True)
def tree(snapshot: StudySnapshot) -> Drawing:
    """The branching space as a tree: the wider a ribbon, the more trials; colour = best value.

    Hovering a branch lists its parameters and its best trial.
    """
    go = graph_objects()
    layout = lay_out(snapshot.root, snapshot.minimizes)
    colours = _Colours.of(layout, snapshot.minimizes)
    drawn = go.Figure()
    shapes = [_ribbon(ribbon, colours) for ribbon in layout.ribbons]
    shapes += [_leader(bar) for bar in layout.bars if bar.branch.switches]
    # The dashboard finds the bar of a branch by this name.
    shapes += [_bar(bar, colours) | {"name": f"branch {i}"} for i, bar in enumerate(layout.bars)]
    drawn.update_layout(shapes=shapes, annotations=_labels(layout, snapshot) + _pills(layout))
    drawn.add_scatter(
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
            "color": [colours.value(bar.branch.tally) for bar in layout.bars],
            "coloraxis": "coloraxis",
        },
    )
    right = 28 + max(_label_px(bar.branch, layout.compact) for bar in layout.bars if not bar.branch.switches)
    drawn.update_layout(
        height=max(layout.height + 150, 320),
        coloraxis={
            "cmin": colours.low,
            "cmax": colours.high,
            "reversescale": not snapshot.minimizes,
            "colorbar": {
                "orientation": "h",
                "title": {
                    "text": f"best {label(snapshot.goals.value_name)}",
                    "side": "top",
                    "font": {"size": 12},
                },
                "thickness": 10,
                "lenmode": "pixels",
                "len": 220,
                "x": 0,
                "xanchor": "left",
                "y": 0,
                "yanchor": "top",
                "xpad": 24,  # room for half of the number at the left end
                "ypad": 6,
                **colours.ticks(),
                "outlinewidth": 0,
            },
            "showscale": colours.high > colours.low,
        },
        xaxis={
            "visible": False,
            "range": [-0.06, max(layout.width, 0.4) + 0.06],  # bars are not cut in half
            "fixedrange": True,
        },
        yaxis={"visible": False, "range": [layout.height + 8, -8], "fixedrange": True},
        hovermode="closest",
        margin={"l": 24, "r": right, "t": 76, "b": 66},
        meta={"min_width": round(24 + COLUMN_PX * layout.width + right)},
    )
    note = "wide: many trials; blue: good values"
    if any(len(bar.branch.switches) > 1 for bar in layout.bars):
        note += "; ribbons that start together carry the same trials"
    if any(condition for bar in layout.bars for _, condition in bar.branch.parameters):
        note += "; * has a further condition"
    return drawn, note


@dataclass(frozen=True)
class _Colours:
    """Maps best values to colours; the worst fifth of the branches shares the last colour."""

    low: float
    high: float
    minimizes: bool
    beyond: bool = False

    @staticmethod
    def of(layout: TreeLayout, minimizes: bool) -> _Colours:
        found = [b.branch.tally.best.value for b in layout.bars if b.branch.tally.best is not None]
        if not found:
            return _Colours(0.0, 0.0, minimizes)
        values = np.array(found, float)
        low, high = np.quantile(values, [0.0, 0.8] if minimizes else [0.2, 1.0]).tolist()
        return _Colours(low, high, minimizes, bool(((values < low) | (values > high)).any()))

    def ticks(self) -> dict[str, Any]:
        """The ends of the colour bar; that of the worst values says whether some lie beyond."""
        low, high = number(self.low), number(self.high)
        if self.beyond:
            low, high = (low, f"≥ {high}") if self.minimizes else (f"≤ {low}", high)
        return {"tickmode": "array", "tickvals": [self.low, self.high], "ticktext": [low, high]}

    def value(self, tally: Tally) -> float:
        """The best value of a branch; the highest one if the branch has none."""
        return self.high if tally.best is None or tally.best.value is None else tally.best.value

    def css(self, tally: Tally) -> str:
        if tally.best is None:
            return FADED
        value = self.value(tally)
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
    half = (x0 + x1) / 2
    top0, top1 = ribbon.top0, ribbon.top1
    low0, low1 = top0 + ribbon.height, top1 + ribbon.height
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
        "xsizemode": "pixel",
        "xanchor": bar.x,
        "x0": -BAR_HALF_PX,
        "x1": BAR_HALF_PX,
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
    """The labels: to the right of a leaf, above an inner branch."""
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
        if bar.branch.switches:
            place = {
                "x": bar.x,
                "y": bar.label,
                "xanchor": "left",
                "yanchor": "bottom",
                "yshift": 3,
                "xshift": -BAR_HALF_PX,
            }
        else:
            place = {
                "x": bar.x,
                "y": bar.middle,
                "xanchor": "left",
                "yanchor": "middle",
                "xshift": 2 * BAR_HALF_PX,
            }
        found.append({"text": text, "showarrow": False, "align": "left", **place})
    return found


def _label(branch: Branch, compact: bool, is_best: bool) -> str:
    star = " ★" if is_best and branch.path and not branch.switches else ""
    name, facts, parameters = _label_lines(branch)
    if compact:
        return f"<b>{label(name)}</b>{star} <span style='font-size:11px'>{facts}</span>"
    lines = [f"<b>{label(name)}</b>{star}", f"<span style='font-size:12px'>{facts}</span>"]
    if parameters:
        lines.append(f"<span style='font-size:11px;color:{FADED}'>{label(parameters)}</span>")
    return "<br>".join(lines)


def _label_lines(branch: Branch) -> tuple[str, str, str]:
    """The branch's name, its counts, and its parameters."""
    tally = branch.tally
    facts = "not tried"
    if tally.trials:
        facts = counted(tally.trials, "trial") + (f", {tally.failed} failed" if tally.failed else "")
        facts += f" · best {number(tally.best.value)}" if tally.best is not None else ""
    names = [each.name + ("*" if condition else "") for each, condition in branch.parameters]
    return branch.label, facts, shortened(names, 26) if names else ""


def _label_px(branch: Branch, compact: bool) -> int:
    """The approximate width of a leaf's label in pixels."""
    name, facts, parameters = _label_lines(branch)
    head = 8.2 * min(len(name) + 2, 42)
    if compact:
        return round(head + 6.2 * len(facts))
    return round(max(head, 6.8 * len(facts), 6.4 * min(len(parameters), 40)))


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
    where = " → ".join(f"{label(space[path].name)} = {label(value)}" for path, value in branch.path)
    lines = [f"<b>{where or 'all trials'}</b>", f"{tally.trials} trials, {tally.failed} failed"]
    if tally.best is not None:
        lines.append(f"best {number(tally.best.value)} in trial {tally.best.number}:")
        lines += [f"  {label(name)} = {label(value)}" for name, value in list(tally.best.config.items())[:12]]
    if branch.parameters:
        lines.append("<i>parameters</i>")
    for parameter, condition in branch.parameters[:12]:
        when = f" when {label(condition)}" if condition else ""
        lines.append(f"  {label(parameter.name)}: {label(repr(parameter.domain))}{when}")
    return "<br>".join(lines)


def _address(branch: Branch) -> list[list[str]]:
    """The branch as an argument of ``StudySnapshot.within``, for pages that restrict other figures to it."""
    return [list(step) for step in branch.path]
