"""Figures of a study: ``bough.plot.tree(study).show()``, or ``save(figure, "tree.html")``.

Each function takes a study (local, served, or a ``StudySnapshot``) and returns a Plotly figure.
``branch={"model": "svm"}`` narrows a figure to one branch; ``dark=True`` draws it for a dark page.
Plotly is an extra: ``pip install 'bough-opt[plot]'``.
"""

from bough.plot.draw_curves import curves as curves
from bough.plot.draw_regret import regret as regret
from bough.plot.figures import *  # noqa: F403  (every figure in the list is public)
from bough.plot.html_report import report as report
from bough.plot.saving import save as save
from bough.plot.snapshot import StudySnapshot as StudySnapshot
from bough.plot.theme import template as template
