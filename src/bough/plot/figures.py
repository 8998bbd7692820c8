"""The list of figures, in the order in which reports and pages show them."""

from __future__ import annotations

from bough.plot.draw_branches import branches as branches
from bough.plot.draw_contour import contour as contour
from bough.plot.draw_front import front as front
from bough.plot.draw_history import history as history
from bough.plot.draw_hypervolume import hypervolume as hypervolume
from bough.plot.draw_importance import importance as importance
from bough.plot.draw_parallel import parallel as parallel
from bough.plot.draw_slice import slice as slice
from bough.plot.draw_tree import tree as tree

FIGURES = {
    each.name: each
    for each in (tree, front, hypervolume, history, branches, importance, contour, parallel, slice)
}
