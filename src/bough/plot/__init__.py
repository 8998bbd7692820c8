"""Figures of a study: ``bough.plot.tree(study).show()``, or ``save(figure, "tree.html")``.

Each function takes a study (local, served, or a ``StudySnapshot`` of one) and returns a Plotly figure.
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
from bough.plot.snapshot import StudyLike, StudySnapshot
from bough.plot.theme import template

__all__ = [
    "FIGURES",
    "StudySnapshot",
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

FIGURES: dict[str, Callable[[StudySnapshot], Any]] = {
    "tree": draw_tree,
    "history": draw_history,
    "branches": draw_branches,
    "parallel": draw_parallel,
    "importance": draw_importance,
    "slice": draw_slice,
    "contour": draw_contour,
}
"""Every figure of one study, by name, as a function of a ``StudySnapshot``; the template is yours to set."""


def tree(study: StudyLike | StudySnapshot, *, branch: Branch = None, dark: bool = False) -> Any:
    """The branching space as a tree: a ribbon is as wide as its trials are many; colour = best value."""
    return _themed(draw_tree(StudySnapshot.of(study).within(branch)), dark)


def history(study: StudyLike | StudySnapshot, *, branch: Branch = None, dark: bool = False) -> Any:
    """Every result in the order of the trials, and the best so far."""
    return _themed(draw_history(StudySnapshot.of(study).within(branch)), dark)


def branches(study: StudyLike | StudySnapshot, *, branch: Branch = None, dark: bool = False) -> Any:
    """How the trials spread over the branches, and the best value of each, over time."""
    return _themed(draw_branches(StudySnapshot.of(study).within(branch)), dark)


def parallel(study: StudyLike | StudySnapshot, *, branch: Branch = None, dark: bool = False) -> Any:
    """Trials as lines across the parameters; a rail for those that are inactive."""
    return _themed(draw_parallel(StudySnapshot.of(study).within(branch)), dark)


def importance(study: StudyLike | StudySnapshot, *, branch: Branch = None, dark: bool = False) -> Any:
    """The share of the variance that each parameter explains, between and within branches."""
    return _themed(draw_importance(StudySnapshot.of(study).within(branch)), dark)


def slice(study: StudyLike | StudySnapshot, *, branch: Branch = None, dark: bool = False) -> Any:
    """Results against each parameter of the best branch, with the model's mean and band."""
    return _themed(draw_slice(StudySnapshot.of(study).within(branch)), dark)


def contour(
    study: StudyLike | StudySnapshot,
    x: str | None = None,
    y: str | None = None,
    *,
    branch: Branch = None,
    dark: bool = False,
) -> Any:
    """The model's mean over two numeric parameters; the two most important unless named."""
    return _themed(draw_contour(StudySnapshot.of(study).within(branch), x, y), dark)


def regret(
    studies: Mapping[str, Sequence[StudyLike | StudySnapshot]]
    | Sequence[StudyLike | StudySnapshot]
    | StudyLike,
    optimum: float | None = None,
    *,
    dark: bool = False,
) -> Any:
    """The best value so far of one or more studies; ``{label: [studies]}`` draws bands over repetitions.

    With ``optimum``, the distance to it on a log scale.
    """
    if isinstance(studies, Mapping):
        groups = {name: [StudySnapshot.of(one) for one in several] for name, several in studies.items()}
    else:
        several = studies if isinstance(studies, Sequence) else [studies]
        groups = one_each([StudySnapshot.of(study) for study in several])
    return _themed(draw_regret(groups, optimum), dark)


def _themed(figure: Any, dark: bool) -> Any:
    figure.update_layout(template=template(dark))
    return figure
