"""Sampling the hyperparameters of all leaves at once from their pseudo-likelihoods (``pooling``).

The factors of a pseudo-likelihood split into blocks: rows of one factor with one activation signature. The
chains of the leaves are independent, so they advance side by side, and each round evaluates the blocks of all
of them together (``stacked``).

In the constant mean m the log density is quadratic, base + cross·m − ½ (1 + square) m² with its prior
N(0, 1). So the chains use the density with m integrated out, and each kept state gets a draw
m ~ N(cross / (1 + square), 1 / (1 + square)): the same joint density with one coordinate less to sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import special

from bough.gp.likelihood import Data
from bough.gp.params import JointPrior
from bough.gp.slice import slice_side_by_side
from bough.papers.assael2014.pooling import Target
from bough.papers.assael2014.stacked import LOG_2PI, PROFILES, Block, Blocks
from bough.papers.assael2014.warp import MARGIN
from bough.points import FloatArray, IntArray

__all__ = ["Columns", "Densities", "Terms", "padded", "sample_targets"]

MATRIX_ENTRIES_PER_BATCH = 200_000
"""Matrix entries to evaluate together: as many as fit into the processor's cache."""

INTERVAL_PRIOR_SDS = 4.0
"""Width of a coordinate's slice interval, in standard deviations of its prior."""


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns that the covariance compares: numeric ones by difference, nominal ones by equality.

    group: (columns,) the group that activates each column of the points. kernel: a key of PROFILES.
    warp: whether numeric columns are warped by Beta CDFs first. The covariance's theta are the logs of
    variance, with ``warp`` α and β of all numeric columns, and length-scales, numeric columns first.
    """

    numeric: tuple[int, ...]
    nominal: tuple[int, ...]
    group: IntArray
    warp: bool
    kernel: str = "matern52"


@dataclass(frozen=True, eq=False)
class Terms:
    """log density = base + cross·m − ½ (1 + square) m² as a function of the mean m; each (targets,)."""

    base: FloatArray
    cross: FloatArray
    square: FloatArray

    def at(self, mean: FloatArray) -> FloatArray:
        """(targets,) the log density at means (targets,)."""
        return self.base + mean * self.cross - 0.5 * mean**2 * (1 + self.square)

    def marginal(self) -> FloatArray:
        """(targets,) the log density with the mean integrated out, less ½ log 2π."""
        return self.base + 0.5 * self.cross**2 / (1 + self.square) - 0.5 * np.log1p(self.square)

    def most_likely_mean(self) -> FloatArray:
        """(targets,) the means with the largest likelihood, without their prior."""
        return self.cross / self.square

    def profile(self) -> FloatArray:
        """(targets,) the log likelihood at those means."""
        return self.base + 0.5 * self.cross**2 / self.square

    def draw_mean(self, rng: np.random.Generator) -> FloatArray:
        """(targets,) means from their density given all else."""
        return rng.normal(self.cross / (1 + self.square), 1 / np.sqrt(1 + self.square))


@dataclass(frozen=True, eq=False)
class Densities:
    """The log densities of several targets, evaluated together.

    Their arguments are theta of each target's ``Hyper`` without the mean, ``padded``. The arrays
    of this object are scratch space: values that one call leaves there only save work in the next one.
    prior: False for the pseudo-likelihood of eq. (8) alone; ``Terms`` still count the mean's prior.
    """

    columns: Columns
    targets: Sequence[Target]
    data: Data
    prior: bool = True

    def __call__(self, logs: FloatArray) -> Terms:
        """The terms of each target at its hyperparameters (targets, p), which are inside their bounds."""
        count, numeric = len(self.targets), len(self.columns.numeric)
        rows = np.zeros((count, self._width))
        rows[:, 1:-1] = logs[:, : self._width - 2]
        kernel = rows.take(self._places)
        used = 1 + 2 * numeric * self.columns.warp
        if self.columns.warp:
            self._warp(kernel[:, 1:used].reshape(count, 2, numeric))
        inverse = np.zeros((count, kernel.shape[1] - used + 1))
        unit, profile = PROFILES[self.columns.kernel]
        inverse[:, :-1] = unit * np.exp(-kernel[:, used:])
        variance, noise = np.exp(kernel[:, 0]), np.exp(rows.take(self._noise))
        parts = self._blocks.terms(self._values, inverse, variance, noise, profile)
        base, cross, square = (
            np.bincount(self._blocks.owner, part, minlength=count).astype(float) for part in parts
        )
        if self.prior:
            means, sds, constants = self._prior
            base += constants - 0.5 * np.square((rows - means) / sds).sum(axis=1)
        return Terms(base, cross, square)

    def _warp(self, shapes: FloatArray) -> None:
        """Bring the warped values up to date with log α and log β (targets, 2, numeric).

        A chain moves along one coordinate at a time, so most columns have not changed.
        """
        target, column = np.nonzero((shapes != self._shapes).any(axis=1))
        alpha, beta = np.exp(shapes[target, :, column]).T
        self._values[target, column] = special.betainc(alpha[:, None], beta[:, None], self._plain[column])
        self._shapes[:] = shapes

    @cached_property
    def _plain(self) -> FloatArray:
        """(numeric, n) values before warping."""
        x = np.where(self.data.points.on[:, self.columns.group], self.data.points.x, 0.5)
        values = np.ascontiguousarray(x[:, list(self.columns.numeric)].T)
        return np.clip(values, MARGIN, 1 - MARGIN) if self.columns.warp else values

    @cached_property
    def _values(self) -> FloatArray:
        """(targets, numeric, n) values as each target warps them with ``_shapes``."""
        return np.repeat(self._plain[None], len(self.targets), axis=0)

    @cached_property
    def _shapes(self) -> FloatArray:
        return np.zeros((len(self.targets), 2, len(self.columns.numeric)))

    @cached_property
    def _width(self) -> int:
        """Width of a row: a place for the mean, theta without the mean, at least one zero."""
        return 1 + max(len(target.hyper.start) for target in self.targets)

    @cached_property
    def _places(self) -> IntArray:
        """(targets, p) the positions of the covariance's theta in such rows."""
        places = np.stack([target.hyper.places for target in self.targets])
        return (places % self._width) + self._width * np.arange(len(places))[:, None]

    @cached_property
    def _noise(self) -> IntArray:
        return np.array([i * self._width + target.hyper.noise for i, target in enumerate(self.targets)])

    @cached_property
    def _prior(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Means and sds of the normal log priors, at the positions of such rows, and the constants."""
        means, sds = np.zeros((2, len(self.targets), self._width))
        sds += np.inf
        for mean, sd, target in zip(means, sds, self.targets):
            mean[1 : len(target.hyper.start)], sd[1 : len(target.hyper.start)] = target.hyper.log_normal
        constants = np.where(np.isinf(sds), 0.0, np.log(np.where(np.isinf(sds), 1.0, sds)) + 0.5 * LOG_2PI)
        return means, sds, -constants.sum(axis=1)

    @cached_property
    def _blocks(self) -> Blocks:
        on, group = self.data.points.on, self.columns.group
        numeric, nominal = (np.array(c, np.intp) for c in (self.columns.numeric, self.columns.nominal))
        _, signature = np.unique(np.packbits(on, axis=1), axis=0, return_inverse=True)
        blocks = []
        for owner, target in enumerate(self.targets):
            for part in target.parts:
                for same in np.unique(signature[part.rows]):
                    rows = part.rows[signature[part.rows] == same]
                    active = on[rows[0]][group]
                    compared = np.flatnonzero(active[numeric]), np.flatnonzero(active[nominal])
                    blocks.append(Block(owner, part.weight, rows, *compared))
        return Blocks.of(blocks, self.data, len(numeric), self.columns.nominal)


def padded(rows: Sequence[FloatArray]) -> FloatArray:
    """(rows, longest) the rows stacked and padded with zeros."""
    out = np.zeros((len(rows), max(len(row) for row in rows)))
    for whole, row in zip(out, rows):
        whole[: len(row)] = row
    return out


def sample_targets(
    columns: Columns,
    targets: Sequence[Target],
    data: Data,
    rng: np.random.Generator,
    *,
    samples: int,
    burn: int,
) -> list[FloatArray]:
    """(samples, p) draws of theta for each target, by slice sampling from the median of its prior."""
    streams = rng.spawn(len(targets) + 1)
    found = []
    for some in _portions(targets):
        densities = Densities(columns, targets[some], data)
        kept = _sample(densities, streams[some], samples, burn)
        means = [densities(kept[:, i]).draw_mean(streams[-1]) for i in range(samples)]
        for target, mean, own in zip(targets[some], np.transpose(means), kept):
            found.append(np.column_stack([mean, own[:, : len(target.hyper.start) - 1]]))
    return found


def _sample(
    densities: Densities, streams: Sequence[np.random.Generator], samples: int, burn: int
) -> FloatArray:
    """(targets, samples, p) states of their chains, with the means integrated out."""
    targets, running = densities.targets, densities

    def log_density(rows: IntArray, x: FloatArray) -> FloatArray:
        nonlocal running
        if len(rows) < len(running.targets):
            running = replace(densities, targets=[targets[row] for row in rows])
        return running(x).marginal()

    low, high = zip(*(JointPrior(target.hyper.params).bounds for target in targets))
    return slice_side_by_side(
        log_density,
        padded([target.hyper.start[1:] for target in targets]),
        streams,
        sizes=np.array([len(target.hyper.start) - 1 for target in targets]),
        box=(padded(low), padded(high)),
        width=INTERVAL_PRIOR_SDS * padded([target.hyper.log_normal[1] for target in targets]),
        samples=samples,
        burn=burn,
    )


def _portions(targets: Sequence[Target]) -> Iterator[slice]:
    """Targets that are worth evaluating together."""
    first, total = 0, 0
    for i, target in enumerate(targets):
        size = sum(len(part.rows) ** 2 for part in target.parts)
        if i > first and total + size > MATRIX_ENTRIES_PER_BATCH:
            yield slice(first, i)
            first, total = i, 0
        total += size
    yield slice(first, len(targets))
