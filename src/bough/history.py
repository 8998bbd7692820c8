"""What a strategy sees of a study: encoded trials, in the order in which they were told.

A proposal is a function of ``History`` alone (and of a random generator seeded by study seed and
trial number), so resuming, serving and benchmarking a study are one code path.
"""

from __future__ import annotations

from dataclasses import dataclass

from bough.points import FloatArray, IntArray, Points

__all__ = ["History"]


@dataclass(frozen=True, eq=False, slots=True)
class History:
    """The trials of a study, encoded. Inside, everything minimises.

    seed:    the study's seed.
    number:  the number of the trial that is to be proposed.
    done:    n finished points, in the order of their results; y: (n,) values to minimise.
    noise:   (n,) told standard deviations of y, NaN where none was told.
    failed:  points whose trials failed.
    pending: points that are running or queued, in the order of their numbers.
    *_numbers: trial numbers of those rows (warm-start rows added by hand have numbers too).
    """

    seed: int
    number: int
    done: Points
    y: FloatArray
    noise: FloatArray
    done_numbers: IntArray
    failed: Points
    failed_numbers: IntArray
    pending: Points
    pending_numbers: IntArray
