"""Figures of a study: ``bough.plot.tree(study).show()``, or ``save(figure, "tree.html")``.

Each function takes a study (local, served, or a ``StudyView`` of one) and returns a Plotly figure.
``branch={"model": "svm"}`` narrows a figure to one branch; ``dark=True`` draws it for a dark page.
Plotly is an extra: ``pip install 'bough-opt[plot]'``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bough.plot.draw_branches import draw_branches
from bough.plot.draw_contour import draw_contour
from bough.plot.draw_history import draw_history
from bough.plot.draw_importance import draw_importance
from bough.plot.draw_parallel import draw_parallel
from bough.plot.draw_regret import draw_regret, one_each
from bough.plot.draw_slice import draw_slice
from bough.plot.draw_tree import draw_tree
from bough.plot.html_report import report
from bough.plot.saving import save
from bough.plot.theme import template
from bough.plot.view import StudyLike, StudyView

__all__ = [
    "FIGURES",
    "StudyView",
    "branches",
    "contour",
    "history",
    "importance",
    "parallel",
    "regret",
    "report",
    "save",
    "slice",
    "template",
    "tree",
]

Branch = Mapping[str, Any] | None

FIGURES: dict[str, Callable[[StudyView], Any]] = {
    "tree": draw_tree,
    "history": draw_history,
    "branches": draw_branches,
    "parallel": draw_parallel,
    "importance": draw_importance,
    "slice": draw_slice,
    "contour": draw_contour,
}
"""Every figure of one study, by name, as a function of a ``StudyView``; the template is yours to set."""


def tree(study: StudyLike | StudyView, *, branch: Branch = None, dark: bool = False) -> Any:
    """The branching space as a tree: a ribbon is as wide as its trials are many; colour = best value."""
    return _dressed(draw_tree(StudyView.of(study).within(branch)), dark)


def history(study: StudyLike | StudyView, *, branch: Branch = None, dark: bool = False) -> Any:
    """Every result in the order of the trials, and the best so far."""
    return _dressed(draw_history(StudyView.of(study).within(branch)), dark)


def branches(study: StudyLike | StudyView, *, branch: Branch = None, dark: bool = False) -> Any:
    """How the trials spread over the branches, and the best value of each, over time."""
    return _dressed(draw_branches(StudyView.of(study).within(branch)), dark)


def parallel(study: StudyLike | StudyView, *, branch: Branch = None, dark: bool = False) -> Any:
    """Trials as lines across the parameters; a rail for those that are inactive."""
    return _dressed(draw_parallel(StudyView.of(study).within(branch)), dark)


def importance(study: StudyLike | StudyView, *, branch: Branch = None, dark: bool = False) -> Any:
    """The share of the variance that each parameter explains, between and within branches."""
    return _dressed(draw_importance(StudyView.of(study).within(branch)), dark)


def slice(study: StudyLike | StudyView, *, branch: Branch = None, dark: bool = False) -> Any:
    """Results against each parameter of the best branch, with the model's mean and band."""
    return _dressed(draw_slice(StudyView.of(study).within(branch)), dark)


def contour(
    study: StudyLike | StudyView,
    x: str | None = None,
    y: str | None = None,
    *,
    branch: Branch = None,
    dark: bool = False,
) -> Any:
    """The model's mean over two numeric parameters; the two most important unless named."""
    return _dressed(draw_contour(StudyView.of(study).within(branch), x, y), dark)


def regret(
    studies: Mapping[str, Sequence[StudyLike | StudyView]] | Sequence[StudyLike | StudyView] | StudyLike,
    optimum: float | None = None,
    *,
    dark: bool = False,
) -> Any:
    """The best value so far of one or more studies; ``{label: [studies]}`` draws bands over repetitions.

    With ``optimum``, the distance to it on a log scale.
    """
    if isinstance(studies, Mapping):
        groups = {name: [StudyView.of(one) for one in several] for name, several in studies.items()}
    else:
        several = studies if isinstance(studies, Sequence) else [studies]
        groups = one_each([StudyView.of(study) for study in several])
    return _dressed(draw_regret(groups, optimum), dark)


def _dressed(figure: Any, dark: bool) -> Any:
    figure.update_layout(template=template(dark))
    return figure
