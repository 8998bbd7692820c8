"""The tests and summaries of the reports. Lower scores are better; inf is a study without any success.

Scores of a problem are an array (methods, seeds); ``scores`` maps problems to them, methods in one order.
Seeds of one problem are not independent evidence about problems, so statements about problems in general use
each problem as one observation; only the paired Wilcoxon test pools (problem, seed), as documented there.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

Scores = Mapping[str, np.ndarray]


def ranks(scores: np.ndarray) -> np.ndarray:
    """(methods, columns) ranks 1 = best within each column, ties averaged."""
    return stats.rankdata(scores, axis=0)


def problem_ranks(scores: Scores) -> np.ndarray:
    """(methods, problems) ranks within each seed, averaged over the seeds of a problem."""
    return np.stack([ranks(of_problem).mean(axis=1) for of_problem in scores.values()], axis=1)


def average_ranks(scores: Scores) -> np.ndarray:
    """(methods,) the mean over problems of ``problem_ranks``."""
    return problem_ranks(scores).mean(axis=1)


def friedman(scores: Scores) -> float:
    """p of Friedman's test that all methods are equal; a row is a problem, with its mean ranks over seeds.

    Needs three methods and two problems; NaN otherwise, or if all are tied everywhere.
    """
    table = problem_ranks(scores)
    if table.shape[0] < 3 or table.shape[1] < 2 or np.all(np.ptp(table, axis=0) == 0):
        return float("nan")
    return float(stats.friedmanchisquare(*table).pvalue)


@functools.cache  # the quantile takes a second
def critical_difference(methods: int, problems: int, alpha: float = 0.05) -> float:
    """Nemenyi: average ranks further apart than this differ significantly (Demšar 2006, sec. 3.2.2)."""
    q = stats.studentized_range.ppf(1 - alpha, methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(methods * (methods + 1) / (6 * problems)))


def cliques(average: np.ndarray, difference: float) -> list[tuple[int, ...]]:
    """Largest groups of methods, best first, whose average ranks lie within ``difference`` of each other."""
    order = [int(i) for i in np.argsort(average, kind="stable")]
    found: list[tuple[int, ...]] = []
    for start, first in enumerate(order):
        group = tuple(i for i in order[start:] if average[i] - average[first] <= difference)
        if len(group) > 1 and not any(set(group) <= set(known) for known in found):
            found.append(group)
    return found


def wilcoxon(differences: np.ndarray, alternative: str = "two-sided") -> float:
    """p of Wilcoxon's signed-rank test; zero differences are left out; 1 if there are no others.

    Exact up to 50 differences, ties or not; the normal approximation beyond. ``alternative`` "greater": the
    differences tend to be positive.
    """
    differences = np.asarray(differences, dtype=float)
    differences = differences[np.isfinite(differences) & (differences != 0)]
    if len(differences) == 0:
        return 1.0
    if len(differences) > 50:
        return float(stats.wilcoxon(differences, alternative=alternative, method="approx").pvalue)
    doubled = np.rint(2 * stats.rankdata(np.abs(differences))).astype(int)  # mid-ranks are multiples of 1/2
    chance = np.ones(1)  # the probability of each sum of positive ranks, if signs are fair coin flips
    for rank in doubled:
        chance = (np.pad(chance, (0, rank)) + np.pad(chance, (rank, 0))) / 2
    observed = int(doubled[differences > 0].sum())
    above, below = float(chance[observed:].sum()), float(chance[: observed + 1].sum())
    return min(1.0, above if alternative == "greater" else 2 * min(above, below))


def leaning(differences: np.ndarray) -> float:
    """The sum of signed ranks: below 0 if differences tend to be negative."""
    differences = np.asarray(differences, dtype=float)
    return float(np.sum(np.sign(differences) * stats.rankdata(np.abs(differences))))


def differences(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """first - second; 0 for two studies without success; a success beats none by twice the largest."""
    with np.errstate(invalid="ignore"):
        gap = np.where(np.isinf(first) & np.isinf(second), 0.0, first - second)
    largest = np.max(np.abs(gap[np.isfinite(gap)]), initial=1.0)
    return np.where(np.isinf(gap), np.sign(gap) * 2 * largest, gap)


def pooled_differences(scores: Scores, first: int, second: int) -> np.ndarray:
    """Differences over all (problem, seed), in each problem divided by the mean size of its differences.

    Values of different problems have different units; without the division, the largest unit alone would
    decide the ranks of the signed-rank test.
    """
    parts = []
    for of_problem in scores.values():
        gap = differences(of_problem[first], of_problem[second])
        size = np.mean(np.abs(gap))
        parts.append(gap / size if size > 0 else gap)
    return np.concatenate(parts)


def holm(p: Sequence[float]) -> np.ndarray:
    """Holm's step-down adjustment of several p values."""
    p_array = np.asarray(p, dtype=float)
    order = np.argsort(p_array, kind="stable")
    stepped = (len(p_array) - np.arange(len(p_array))) * p_array[order]
    adjusted = np.empty_like(p_array)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(stepped))
    return adjusted


@dataclass(frozen=True)
class Loss:
    """A problem on which another method is better than the reference."""

    problem: str
    method: int
    better: int
    worse: int
    p: float
    corrected: float


def losses(scores: Scores, reference: int, alpha: float = 0.05) -> list[Loss]:
    """Where other methods beat the reference: p < alpha, or better in every seed if seeds are too few.

    p is one-sided over the seeds of a problem; ``corrected`` is Holm's over all problems, method by method.
    """
    names = list(scores)
    found = []
    for method in range(len(next(iter(scores.values())))):
        if method == reference:
            continue
        gaps = [differences(scores[name][reference], scores[name][method]) for name in names]
        p = [wilcoxon(gap, "greater") for gap in gaps]
        for name, gap, own, corrected in zip(names, gaps, p, holm(p)):
            better, worse = int(np.sum(gap > 0)), int(np.sum(gap < 0))
            if own < alpha or (better == len(gap) and better > 1):
                found.append(Loss(name, method, better, worse, own, float(corrected)))
    return sorted(found, key=lambda loss: (loss.corrected, loss.p, loss.problem))


def evaluations_to_reach(curves: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """(seeds,) the first trial whose best value is at most the target of its seed; inf if none is.

    curves: (seeds, trials) best so far; targets: (seeds,).
    """
    reached = curves <= targets[:, None]
    return np.where(reached.any(axis=1), 1.0 + reached.argmax(axis=1), np.inf)


def share_needed(curves: Mapping[str, np.ndarray], first: int, second: int) -> dict[str, float]:
    """By problem: the share of the budget that ``first`` needs for the final value of ``second``.

    curves: problem -> (methods, seeds, trials). Seeds are paired. The result is the median over a problem's
    seeds, which is inf (not reached within the budget) if half of them or more are. So the median over
    problems is correct although some runs are censored, as long as fewer than half of the problems are.
    """
    share = {}
    for problem, of_problem in curves.items():
        needed = evaluations_to_reach(of_problem[first], of_problem[second, :, -1])
        share[problem] = censored_median(needed / of_problem.shape[2])
    return share


def censored_median(values: Sequence[float] | np.ndarray) -> float:
    """The median of values some of which may be inf; inf if one of the middle values is."""
    ordered = np.sort(np.asarray(values, dtype=float))
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return float(high if np.isinf(high) else (low + high) / 2)


def bootstrap(
    samples: np.ndarray,
    statistic: Callable[[np.ndarray], float],
    rng: np.random.Generator,
    level: float = 0.9,
    repeats: int = 2000,
) -> tuple[float, float]:
    """Percentile bootstrap interval of a statistic of independent samples (first axis)."""
    draws = rng.integers(0, len(samples), (repeats, len(samples)))
    values = [statistic(samples[draw]) for draw in draws]
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
