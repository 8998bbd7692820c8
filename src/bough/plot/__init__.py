"""Figures of a study: ``bough.plot.tree(study).show()``, or ``save(figure, "tree.html")``.

Each function takes a study (local, served, or a ``StudySnapshot``) and returns a Plotly figure.
``branch={"model": "svm"}`` restricts a figure to one branch; ``measure="memory"`` shows this measure instead
of the first objective; ``dark=True`` draws it for a dark page.
Plotly is an extra: ``pip install 'bough-opt[plot]'``.

Names are loaded on first use, so the command line prints trees of branches without loading any figure.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bough.plot.draw_curves import curves as curves
    from bough.plot.draw_regret import regret as regret
    from bough.plot.figures import *  # noqa: F403  (every figure in the list is public)
    from bough.plot.html_report import report as report
    from bough.plot.saving import save as save
    from bough.plot.snapshot import StudySnapshot as StudySnapshot
    from bough.plot.theme import template as template

_HOME = {
    "StudySnapshot": "snapshot",
    "curves": "draw_curves",
    "regret": "draw_regret",
    "report": "html_report",
    "save": "saving",
    "template": "theme",
}


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'bough.plot' has no attribute {name!r}")
    module = import_module(f"bough.plot.{_HOME.get(name, 'figures')}")
    if not hasattr(module, name):
        raise AttributeError(f"module 'bough.plot' has no attribute {name!r}")
    return getattr(module, name)


def __dir__() -> list[str]:
    from bough.plot.figures import FIGURES

    return sorted([*globals(), *_HOME, *FIGURES])
