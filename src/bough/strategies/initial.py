"""The first points of a study, before a model has anything to learn from.

By default one per path of the space, from the middle half of its ranges: every branch gets one look, at a
point that represents it fairly. A uniform point in many dimensions is extreme in some of them, and users
choose ranges whose ends they do not expect to be best. A space with few paths gets more points, spread
evenly. A space with very many paths gets a random subset of them; the model explores the rest because it is
uncertain there.

``paths`` draws the point of each path uniformly from all of its box, as the experiments of Jenatton et al.
2017 do. ``random``, ``sobol`` and ``lhs`` ignore the paths (Dewancker et al., the designs of INITSAMPLES).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bough.history import History
from bough.points import IntArray, Points
from bough.space import Space
from bough.space.sampling import latin_hypercube, path_points, sample_points, sobol_points, spread_points
from bough.strategies import streams
from bough.strategies.base import lowest_rows, tried_points, tried_with_numbers
from bough.strategies.fidelity_history import at_fidelity, first_trials
from bough.strategies.first_look import MIDDLE_SHARE, first_look

__all__ = ["KINDS", "InitialDesign", "InitialOption", "initial_design"]

KINDS = ("middle", "paths", "random", "sobol", "lhs")
"""``middle``: a point per path from the middle of its ranges, the default. The others: see above."""

InitialOption = int | str | tuple[str, int] | None
"""Values of a method's option ``initial``: a number of points, a kind, both, or None."""

MIN_POINTS = 4
"""Points even if there are fewer paths: a model cannot be fitted to fewer."""

BELIEVED_POINTS = 3
"""Largest number of design points that are drawn from beliefs. Wrong beliefs cost about this many trials; if
they are right, the model continues from there."""

MAX_POINTS = 16
"""From here on the model chooses better than a design, whatever the number of paths."""


@dataclass(frozen=True)
class InitialDesign:
    """A design of ``count`` points; None: one per path, at least MIN_POINTS and at most MAX_POINTS."""

    count: int | None = None
    kind: str = "middle"

    @property
    def reason(self) -> str:
        """Why a point of this design is tried."""
        if self.kind in ("middle", "paths"):
            return "part of the initial design: every branch gets a look"
        return f"part of the initial design ({self.kind})"

    def size(self, space: Space) -> int:
        if self.count is not None:
            return self.count
        return min(max(len(space.tree.all_paths(MAX_POINTS)), MIN_POINTS), MAX_POINTS)

    def points(self, space: Space, seed: int) -> Points:
        """The whole design. It depends on the study's seed only."""
        rng = np.random.default_rng([seed, streams.DESIGN])
        size = self.size(space)
        if self.kind == "random":
            return sample_points(space, size, rng)
        if self.kind == "sobol":
            return sobol_points(space, size, rng)
        if self.kind == "lhs":
            return _latin_hypercube(space, size, rng)
        middle = self.kind == "middle"
        first = path_points(space, size, rng, share=MIDDLE_SHARE if middle else 1.0)
        if len(first) >= size:
            return first.take(slice(0, size))
        rest = (spread_points if middle else sample_points)(space, size - len(first), rng)
        return Points.concat([first, rest])

    def next(self, space: Space, history: History) -> Points | None:
        """The next design point, or None when the design is done.

        Points that came from elsewhere (defaults, queued or added trials) count: where the design has a point
        per path, a path they cover is not visited again. A path that comes late still gets its point.
        """
        tried = tried_points(history)
        if history.is_learned and len(tried) < MAX_POINTS and self.kind in ("middle", "paths"):
            rng = np.random.default_rng([history.seed, len(tried), streams.FIRST_LOOK])
            if (look := first_look(space, tried, rng)) is not None:
                return look
        is_over = len(tried) >= self.size(space)
        if is_over and not len(self.early_points(space, history)):  # nearly always: no path can be late
            return None
        design, row = self.points(space, history.seed), len(tried)
        if self.kind in ("middle", "paths"):
            new = _rows_on_new_paths(space, design, tried)
            if is_over:
                return design.take(new[:1]) if len(new) else None
            row = int(new[0]) if len(new) else row
        turn, believes = divmod(len(tried), 2)
        if history.beliefs and believes and turn < BELIEVED_POINTS:
            design = self._believed(space, history, design)
        return design.take([row])

    def early_points(self, space: Space, history: History) -> Points:
        """The first points that were tried, as many as the design has; no row if no path can be late.

        No path can be late if these points cover all paths, if the design does not visit every path (as with
        beliefs about switches), or if none of these points is on a path of the current space: then every path
        is new.
        """
        nothing, size = history.done.take([]), self.size(space)
        believed = any(space.layout.switch[belief.column] for belief in history.beliefs)
        if believed or self.kind not in ("middle", "paths") or len(space.tree.all_paths(size)) > size:
            return nothing
        tried, numbers = tried_with_numbers(history)
        if history.fidelity is None:
            early = tried.take(lowest_rows(numbers, size))
        else:  # a configuration is as early as its first trial, at any fidelity
            tried = at_fidelity(tried, history.fidelity)
            early = tried.take(list(first_trials(space, tried, numbers).values())[:size])
        # Points of an earlier space may be on no path of this one.
        seen = len(np.unique(space.tree.branch_ids(early)[space.legal(early)]))
        some_are_late = 0 < seen < len(space.tree.all_paths(size))
        return early if len(early) == size and some_are_late else nothing

    def _believed(self, space: Space, history: History, design: Points) -> Points:
        """The design drawn from the beliefs, on likely branches; its points take turns with the plain ones.

        Where beliefs are wrong, the plain ones tell the model about the rest of the space.
        """
        from bough.strategies.beliefs import draw_believed  # loads the models, which a design needs only here

        rng = np.random.default_rng([history.seed, streams.BELIEVED_DESIGN])
        return draw_believed(space, history.beliefs, design, rng)


def initial_design(option: InitialOption) -> InitialDesign:
    """The design that the option ``initial`` of a method stands for."""
    if isinstance(option, (tuple, list)):
        kind, count = option
        return InitialDesign(int(count), str(kind))
    return InitialDesign(kind=option) if isinstance(option, str) else InitialDesign(option)


def _rows_on_new_paths(space: Space, points: Points, known: Points) -> IntArray:
    """The rows of ``points`` on paths that no known point is on."""
    branch = space.tree.branch_ids(Points.concat([known, points]))
    return np.flatnonzero(~np.isin(branch[len(known) :], branch[: len(known)]))


def _latin_hypercube(space: Space, size: int, rng: np.random.Generator) -> Points:
    """A Latin hypercube over all columns. Random points replace forbidden ones."""
    points = space.snap(latin_hypercube(size, len(space), rng))
    legal = points.take(space.legal(points))
    return Points.concat([legal, sample_points(space, size - len(legal), rng)])
