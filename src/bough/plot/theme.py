"""The style of every figure: fonts, light and dark, colours that colour-blind readers can distinguish.

Text and background colours come only from the template. So a page can switch a finished figure between
light and dark by replacing its template.
"""

from __future__ import annotations

import math
from functools import cache
from types import ModuleType
from typing import Any

from bough.errors import MissingExtraError

__all__ = [
    "BAD",
    "CATEGORIES",
    "FADED",
    "GOOD",
    "SCALE",
    "checked_template",
    "graph_objects",
    "label",
    "number",
    "template",
]

CATEGORIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#6a3d9a")
"""Okabe and Ito's palette; violet replaces yellow and black, which are invisible on light or dark."""

FADED = "#8b949e"
"""For inactive, untried and failed elements; legible on light and dark backgrounds."""

GOOD, BAD = "#0072b2", "#d55e00"

SCALE = ((0.0, "#1f77b8"), (0.25, "#6aa5cf"), (0.5, "#b3b7b6"), (0.75, "#dba06a"), (1.0, "#d06a1c"))
"""From the best values, blue, to the worst, orange: distinct for colour-blind readers, light or dark."""

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


def graph_objects() -> ModuleType:
    """``plotly.graph_objects``, or an error that says how to install it."""
    try:
        import plotly.graph_objects as go
    except ImportError:
        raise MissingExtraError(
            "figures need Plotly, which is not installed: pip install 'bough-opt[plot]'"
        ) from None
    module: ModuleType = go
    return module


def template(dark: bool = False) -> dict[str, Any]:
    """The Plotly template of all figures, as plain data."""
    text, ground, grid = ("#d7dde4", "#14191f", "#2b333c") if dark else ("#24292f", "#ffffff", "#e4e8ec")
    veil = "rgba(20,25,31,0.72)" if dark else "rgba(255,255,255,0.72)"  # labels stay legible over lines
    axis = {
        "gridcolor": grid,
        "linecolor": FADED,
        "zerolinecolor": grid,
        "tickcolor": FADED,
        "automargin": True,
        "title": {"standoff": 10, "font": {"size": 13}},
        "showline": True,
        "ticks": "outside",
        "ticklen": 4,
    }
    return {
        "layout": {
            "font": {"family": _FONT, "size": 13, "color": text},
            "title": {
                "x": 0,
                "xref": "paper",
                "xanchor": "left",
                "font": {"size": 17},
                "y": 1,
                "yref": "container",
                "yanchor": "top",
                "pad": {"t": 22},
            },
            "paper_bgcolor": ground,
            "plot_bgcolor": ground,
            "colorway": list(CATEGORIES),
            "colorscale": {"sequential": [list(stop) for stop in SCALE]},
            "coloraxis": {"colorscale": [list(stop) for stop in SCALE]},
            "xaxis": axis,
            "yaxis": axis,
            "annotationdefaults": {"bgcolor": veil},
            "hoverlabel": {"align": "left", "font": {"family": _FONT, "size": 12}},
            "legend": {"orientation": "h", "x": 0, "y": 1.01, "yanchor": "bottom", "font": {"size": 12}},
            "margin": {"l": 64, "r": 28, "t": 102, "b": 56},
        }
    }


@cache
def checked_template(dark: bool) -> Any:
    """The template on top of Plotly's, as an object; cached, because Plotly is slow to validate it."""
    figure = graph_objects().Figure()
    figure.update_layout(template=template(dark))
    return figure.layout.template


def number(value: float | None) -> str:
    """A value as a person would write it: about four digits, no trailing zeros."""
    if value is None or not math.isfinite(value):
        return "–"
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.4g}"


def label(value: object) -> str:
    """A parameter's value in a figure: short numbers, long words cut, markup escaped."""
    if isinstance(value, float):
        return number(value)
    text = str(value)
    text = text if len(text) <= 40 else text[:37] + "…"
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
