"""How much beliefs count for a proposal: they shape the design, then fade, and are dropped where wrong.

Every second trial of the initial design, up to three, is drawn from the beliefs. With n trials since the
design (or since the belief was given, if that was later) a belief counts with the exponent STRENGTH / n²: see
``acquisition.beliefs``. It is dropped while the observations contradict it. The test asks the model, for each
believed parameter: with the others as in the best trials, where does the best value lie? If at least
MIN_LIKELY_TRIALS trials had a likely value, and fewer than MIN_PROBABILITY of the posterior draws have their
minimum at one, the belief does not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bough.acquisition.beliefs import BeliefWeight, Density, OptionDensity, density, is_likely
from bough.history import History
from bough.points import FloatArray, Points, distinct
from bough.space import Space
from bough.space.beliefs import Belief, likely_text
from bough.space.sampling import sample_points
from bough.strategies import streams
from bough.strategies.context import ConditionedModel

__all__ = ["CountedBelief", "belief_weights", "count_beliefs", "draw_believed", "explain_beliefs"]

STRENGTH = 3.0
"""The exponent at n = 1. πBO uses a tenth of the number of trials, divided by n. But the log weights of all
believed parameters add up: divided by n, wrong beliefs about many of them mislead for dozens of trials;
divided by n² (as in DynaBO, arXiv 2511.02570), for about five, which is enough for beliefs that are right."""

MIN_LIKELY_TRIALS = 3
MIN_PROBABILITY = 0.05
DRAWS = 256
BEST_TRIALS = 3
"""The test varies one parameter of this many best trials."""

GRID = 16
"""Values of a numeric parameter that the test compares."""

BRANCH_DRAWS = 64
"""Random points per point of a design, from which those on likely branches are drawn."""


@dataclass(frozen=True, eq=False)
class CountedBelief:
    """A belief and how much it counts for one proposal.

    probability: that the best value is a likely one, by the test; None while there are too few trials.
    """

    belief: Belief
    density: Density
    exponent: float
    probability: float | None

    @property
    def is_dropped(self) -> bool:
        return self.probability is not None and self.probability < MIN_PROBABILITY


def count_beliefs(
    space: Space, history: History, design_size: int, model: ConditionedModel | None
) -> list[CountedBelief]:
    """The beliefs of a history with their exponents. model: tests them; None for no test."""
    found = []
    tried = len(history.done) + len(history.failed) + len(history.pending)
    if history.fidelity is not None:  # a configuration counts once, whatever the number of its trials
        tried = history.number
    for belief in history.beliefs:
        trials = max(tried - max(belief.since, design_size) + 1, 1)
        believed = density(space.rules.domains[belief.column], belief)
        probability = None if model is None else _probability(space, history, model, belief, believed)
        found.append(CountedBelief(belief, believed, STRENGTH / trials**2, probability))
    return found


def belief_weights(space: Space, beliefs: Sequence[CountedBelief]) -> list[BeliefWeight]:
    """The criterion of the beliefs that count, if there are any."""
    held = [each for each in beliefs if not each.is_dropped]
    if not held:
        return []
    columns, densities = [each.belief.column for each in held], [each.density for each in held]
    return [BeliefWeight(space.layout, columns, densities, [each.exponent for each in held])]


def explain_beliefs(beliefs: Sequence[CountedBelief]) -> dict[str, str]:
    """By path: what is believed, and how much it counts."""
    told = {}
    for each in beliefs:
        text = f"likely {likely_text(each.belief.likely)}, counts with exponent {each.exponent:.2g}"
        if each.is_dropped:
            text = (
                f"likely {likely_text(each.belief.likely)}, dropped: the results say that the best value "
                f"lies elsewhere (probability of this belief below {MIN_PROBABILITY:.0%})"
            )
        told[each.belief.path] = text
    return told


def _probability(
    space: Space, history: History, model: ConditionedModel, belief: Belief, believed: Density
) -> float | None:
    """The share of posterior draws over values of one parameter whose minimum is at a likely value."""
    column = belief.column
    # Other values are compared at the highest fidelity, so only trials there count.
    rows = np.flatnonzero(space.layout.active(history.done.on)[:, column] & ~history.is_lower)
    if is_likely(believed, history.done.x[rows, column]).sum() < MIN_LIKELY_TRIALS:
        return None
    best = rows[np.argsort(model.z[rows], kind="stable")]
    pool = _compared(space, history.done.take(best), column, believed)
    likely = is_likely(believed, pool.x[:, column])
    if likely.all() or not likely.any():
        return None
    rng = np.random.default_rng([history.seed, history.number, streams.BELIEF_TEST])
    drawn = model.posteriors[0].sample(pool, DRAWS, rng)
    return float(np.mean(likely[np.argmin(drawn, axis=1)]))


def _compared(space: Space, best: Points, column: int, believed: Density) -> Points:
    """The best trials with every value of one column, and the best trials of each option of a switch."""
    levels = len(believed.probability) if isinstance(believed, OptionDensity) else GRID
    kept = best.take(slice(0, BEST_TRIALS))
    parts = [kept]
    if isinstance(believed, OptionDensity) and space.layout.switch[column]:
        # Another option opens other parameters, so only tried trials say how good it can be.
        options = [np.flatnonzero(best.x[:, column] == value) for value in np.unique(best.x[:, column])]
        parts += [best.take(rows[:BEST_TRIALS]) for rows in options]
    else:
        x = np.repeat(np.where(space.layout.active(kept.on), kept.x, 0.5), levels, axis=0)
        x[:, column] = np.tile((np.arange(levels) + 0.5) / levels, len(kept))
        varied = space.snap(x)
        parts.append(varied.take(space.legal(varied)))
    return distinct(space.layout, Points.concat(parts))


def draw_believed(
    space: Space, beliefs: Sequence[Belief], points: Points, rng: np.random.Generator
) -> Points:
    """``points`` with their values drawn from the beliefs; a row that would be forbidden stays as it is.

    Where there are beliefs about switches, the branch of each row is drawn, too.
    """
    believed = {belief.column: density(space.rules.domains[belief.column], belief) for belief in beliefs}
    switches = [column for column in believed if space.layout.switch[column]]
    if switches:
        points = _on_likely_branches(space, believed, switches, len(points), rng)
    x = np.where(space.layout.active(points.on), points.x, 0.5)
    for column, each in believed.items():
        if column not in switches:
            share = rng.random(len(x)) if isinstance(each, OptionDensity) else points.x[:, column]
            x[:, column] = np.where(space.layout.active(points.on)[:, column], each.quantile(share), 0.5)
    drawn = space.snap(x)
    keep = space.legal(drawn)[:, None]
    return Points(np.where(keep, drawn.x, points.x), np.where(keep, drawn.on, points.on))


def _on_likely_branches(
    space: Space, believed: dict[int, Density], switches: Sequence[int], n: int, rng: np.random.Generator
) -> Points:
    """``n`` random points, on likely branches more often."""
    pool = sample_points(space, BRANCH_DRAWS * n, rng)
    weight = BeliefWeight(space.layout, switches, [believed[c] for c in switches], [1.0] * len(switches))
    share: FloatArray = np.exp(weight(pool))
    return pool.take(rng.choice(len(pool), size=n, replace=False, p=share / share.sum()))
