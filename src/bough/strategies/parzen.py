"""Tree-structured Parzen estimators (Bergstra et al. 2011): densities of good trials and of the others.

The finished trials are split at a quantile of their values into good and other ones. For each
group of parameters that exist under the same condition, a Parzen estimator per set,

    p(x) = [ a u(x) + Σ_i Π_c k_c(x_c | x_ic) ] / (a + n),

is a mixture of n product kernels, centred at the rows of the set in which the group is active,
and of the uniform prior u with weight a. It is joint within a group. The tree generates a
configuration from the root down: in each group that the choices so far have made active,
candidates are drawn from the estimator l of the good trials, and the one with the largest
log l − log g stays, which is the one of largest expected improvement (section 4.1 of the paper).
Failed and pending trials count among the others. Candidates that complete a forbidden or already tried
configuration are discarded. If none remain, the search backtracks to the parent group's next-best candidate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from bough.acquisition.maximise.candidates import CandidateFilter
from bough.history import History
from bough.points import BoolArray, FloatArray, IntArray, Points
from bough.space import Space
from bough.strategies.base import check_exhausted, tried_points
from bough.strategies.designs import LatinHypercube, RandomSearch
from bough.strategies.goal_ranking import GoalRanking
from bough.strategies.options import POSITIVE, SHARE, Options, at_least, option

__all__ = ["Parzen", "ParzenSearch"]

UNIFORM_VARIANCE = 1 / 12
"""Variance of a uniform variable on [0, 1]: the prior for the spread of a column."""

MIN_BANDWIDTH = 1e-3
"""Smallest bandwidth of a real column, in the unit cube."""

MAX_GOOD = 25
"""Largest number of good trials, as in Hyperopt: more would blur the estimate of where good values lie."""

MAX_DEAD_ENDS = 16
"""Groups with only forbidden or already tried candidates, until random search takes over."""


@dataclass(frozen=True, eq=False)
class Parzen:
    """The estimator of one group's d columns.

    centres: (n, d) the rows, values in the unit cube.
    levels:  (d,) number of levels of each column; 0 for a real one.
    nominal: (d,) whether a column's levels have no order.
    prior:   weight a of the uniform prior; each row weighs 1.
    """

    centres: FloatArray
    levels: FloatArray
    nominal: BoolArray
    prior: float = 1.0

    @cached_property
    def widths(self) -> FloatArray:
        """(d,) bandwidths of ordered columns: Scott's rule, n^(−1/(d+4)) times the spread.

        The spread is computed from the rows and ``prior`` uniform ones, so a few rows that are close by
        chance still get wide kernels. Never below half a level.
        """
        n, d = self.centres.shape
        mean = (self.centres.sum(axis=0) + 0.5 * self.prior) / (n + self.prior)
        squares = ((self.centres - mean) ** 2).sum(axis=0)
        of_prior = UNIFORM_VARIANCE + (0.5 - mean) ** 2
        spread = np.sqrt((squares + self.prior * of_prior) / (n + self.prior))
        floor = np.where(self.levels > 0, 0.5 / np.maximum(self.levels, 1), MIN_BANDWIDTH)
        return np.asarray(np.maximum(spread * max(n, 1) ** (-1 / (d + 4)), floor))

    @cached_property
    def blur(self) -> FloatArray:
        """(d,) probability that a nominal column forgets its centre and is drawn uniformly.

        A kernel counts 1 for its own option, and the pseudo-count a / (n + 1) for every option, which
        vanishes as n grows.
        """
        pseudo = self.levels * self.prior / (len(self.centres) + 1)
        return np.where(self.nominal, pseudo / (1 + pseudo), 0.0)

    @cached_property
    def _tails(self) -> tuple[FloatArray, FloatArray]:
        """(n, d) normal probabilities below 0 and below 1 around each centre."""
        below, above = -self.centres / self.widths, (1 - self.centres) / self.widths
        return np.asarray(ndtr(below)), np.asarray(ndtr(above))

    def sample(self, n: int, rng: np.random.Generator) -> FloatArray:
        """(n, d) independent draws: a component first, then its kernel."""
        rows, d = self.centres.shape
        uniform, choice = rng.random((n, d)), rng.random((n, d))
        if rows == 0:
            return uniform
        component = np.floor(rng.random(n) * (rows + self.prior)).astype(int)
        from_prior = component >= rows
        component[from_prior] = 0
        low, high = (tail[component] for tail in self._tails)
        centre = self.centres[component]
        ordered = np.clip(centre + self.widths * ndtri(low + uniform * (high - low)), 0.0, 1.0)
        nominal = np.where(choice < self.blur, uniform, centre)
        return np.asarray(np.where(from_prior[:, None], uniform, np.where(self.nominal, nominal, ordered)))

    def log_density(self, x: FloatArray) -> FloatArray:
        """(m,) log p of rows x (m, d): a density in ordered columns, a probability in nominal ones."""
        prior = np.log(self.prior) - np.log(self.levels[self.nominal]).sum()
        kernels = np.zeros((len(x), len(self.centres)))
        if not self.nominal.all():
            kernels += self._log_normal(x[:, ~self.nominal])
        if self.nominal.any():
            kernels += self._log_agree(x[:, self.nominal])
        top = kernels.max(axis=1, initial=prior)
        total = np.exp(kernels - top[:, None]).sum(axis=1) + np.exp(prior - top)
        return np.asarray(top + np.log(total / (self.prior + len(self.centres))))

    def _log_normal(self, x: FloatArray) -> FloatArray:
        """(m, n) Σ_c log of the normal density truncated to [0, 1], over ordered columns."""
        ordered = ~self.nominal
        width = self.widths[ordered]
        low, high = self._tails
        log_mass = np.log(np.sqrt(2 * np.pi) * width * (high - low)[:, ordered]).sum(axis=1)
        z = (x[:, None, :] - self.centres[None, :, ordered]) / width
        return np.asarray(-0.5 * np.einsum("mnd,mnd->mn", z, z) - log_mass)

    def _log_agree(self, x: FloatArray) -> FloatArray:
        """(m, n) Σ_c log of the blurred indicator, over nominal columns."""
        agree = x[:, None, :] == self.centres[None, :, self.nominal]
        elsewhere = self.blur[self.nominal] / self.levels[self.nominal]
        here = 1 - self.blur[self.nominal] + elsewhere
        return np.asarray(np.where(agree, np.log(here), np.log(elsewhere)).sum(axis=2))


@dataclass(frozen=True)
class ParzenSearch(Options):
    """startup: trials of a Latin hypercube design before the first estimate.
    candidates: draws from the good estimator. prior: weight of the uniform prior.
    quantile: share of trials that count as good, at most MAX_GOOD of them.
    """

    startup: int = option(10, at_least(1))
    candidates: int = option(24, at_least(1))
    quantile: float = option(0.1, SHARE)
    prior: float = option(1.0, POSITIVE)

    def goal_strategy(self, space: Space) -> GoalRanking:
        """For several objectives, or under constraints."""
        return GoalRanking(self)

    def propose(self, space: Space, history: History, rng: np.random.Generator) -> Points:
        check_exhausted(space, history)
        tried = tried_points(history)
        if len(tried) < self.startup or len(history.done) == 0:
            return LatinHypercube().propose(space, history, rng)
        point = self._descend(space, *self.split(history), CandidateFilter(space, tried), rng)
        return RandomSearch().propose(space, history, rng) if point is None else point

    def explain(
        self, space: Space, history: History, point: Points, rng: np.random.Generator
    ) -> dict[str, Any]:
        if len(tried_points(history)) < self.startup or len(history.done) == 0:
            return {"reason": "part of the initial design: a Latin hypercube on every path"}
        good, others = self.split(history)
        ratio = 0.0
        for group in np.flatnonzero(point.on[0]).tolist():
            x = point.x[:, space.layout.columns_of(group)]
            likely, usual = (self.estimator(space, group, points) for points in (good, others))
            ratio += float((likely.log_density(x) - usual.log_density(x))[0])
        return {
            "criterion": ratio,
            "reason": "the largest ratio of the density of good trials to that of the others, group by group",
        }

    def split(self, history: History) -> tuple[Points, Points]:
        """Good trials, and all others."""
        order = np.argsort(history.y, kind="stable")
        split = min(int(np.ceil(self.quantile * len(order))), MAX_GOOD)
        others = Points.concat([history.done.take(order[split:]), history.failed, history.pending])
        return history.done.take(order[:split]), others

    def estimator(self, space: Space, group: int, points: Points) -> Parzen:
        """The estimator of a group's columns from the points in which it is active."""
        columns = space.layout.columns_of(group)
        rows = points.x[points.on[:, group]][:, columns]
        return Parzen(
            rows, space.layout.levels[columns].astype(float), space.layout.nominal[columns], self.prior
        )

    def _descend(
        self, space: Space, good: Points, others: Points, allowed: CandidateFilter, rng: np.random.Generator
    ) -> Points | None:
        """A configuration from the root down: in each group that is active, the best of its candidates.

        Depth-first, the candidates of a group in the order of their ratio; None after many dead ends.
        """
        layout = space.layout
        peopled = np.bincount(layout.group, minlength=layout.groups) > 0
        root = space.snap(np.full((1, layout.columns), 0.5))
        trail = [(-1, iter([root]))]  # groups that are decided, and their candidates that are left
        dead_ends = 0
        while trail and dead_ends < MAX_DEAD_ENDS:
            decided, left = trail[-1]
            point = next(left, None)
            if point is None:
                trail.pop()
                continue
            undecided = np.flatnonzero((point.on[0] & peopled)[decided + 1 :])
            if not len(undecided):
                return point
            group = decided + 1 + int(undecided[0])  # every group comes after those that switch it
            found = self._candidates(space, group, point, good, others, rng)
            complete = np.asarray(~(found.on & peopled)[:, group + 1 :].any(axis=1))
            if complete.any():
                if space.require:  # values of different groups may have to fit together
                    found = Points(np.where(complete[:, None], space.snap(found.x).x, found.x), found.on)
                found = found.take(~complete | allowed.mask(found))
            dead_ends += not len(found)
            trail.append((group, map(found.take, ([row] for row in range(len(found))))))
        return None

    def _candidates(
        self, space: Space, group: int, point: Points, good: Points, others: Points, rng: np.random.Generator
    ) -> Points:
        """``point`` with other values of a group: distinct draws of its good estimator, best first."""
        columns = space.layout.columns_of(group)
        likely, usual = (self.estimator(space, group, points) for points in (good, others))
        drawn = _snapped(space, columns, likely.sample(self.candidates, rng))
        ratio = likely.log_density(drawn) - usual.log_density(drawn)
        order = np.argsort(-ratio, kind="stable").tolist()
        rows = list({drawn[row].tobytes(): row for row in order}.values())
        x = np.repeat(point.x, len(rows), axis=0)
        x[:, columns] = drawn[rows]
        switches = bool(space.layout.switch[columns].any())
        return space.snap(x) if switches else Points(x, np.repeat(point.on, len(rows), axis=0))


def _snapped(space: Space, columns: IntArray, x: FloatArray) -> FloatArray:
    """Values x (m, d) of some columns, moved to the nearest level of each that has levels."""
    x = x.copy()
    for index, column in enumerate(columns.tolist()):
        if space.layout.levels[column]:
            domain = space.parameters[column].domain
            x[:, index] = domain.position(domain.rank_at(x[:, index]))
    return x
