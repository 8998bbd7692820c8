"""The methods of Ma & Blaschko 2020."""

from __future__ import annotations

import numpy as np

from bough.acquisition.maximise.paths import search_paths
from bough.papers.ma2020.additive_tree import additive_tree
from bough.papers.ma2020.separable_ucb import additive_ucb
from bough.points import Points
from bough.space import Space
from bough.strategies.base import Strategy
from bough.strategies.compose import KERNELS, model_based
from bough.strategies.decisions import Situation, by, trusting


def add_tree(
    space: Space,
    kernel: str = "matern52",
    acquisition: str = "log-ei",
    trust: int = 0,
    growth: float = 0.05,
    initial: int | None = None,
) -> Strategy:
    """additive tree covariance, EI searched on every path (Ma & Blaschko 2020, Alg. 1)"""
    surrogate = additive_tree(space.layout, space.tree, base=KERNELS[kernel])
    decide = trusting(by(search_paths), trust) if trust else None
    return model_based(surrogate, acquisition, decide, growth=growth, initial=initial)


def add_tree_interactions(
    space: Space,
    kernel: str = "matern52",
    acquisition: str = "log-ei",
    growth: float = 0.05,
    initial: int | None = None,
) -> Strategy:
    """additive tree covariance with products along a path (Ma & Blaschko 2020, App. E)"""
    surrogate = additive_tree(space.layout, space.tree, base=KERNELS[kernel], interactions=True)
    return model_based(surrogate, acquisition, growth=growth, initial=initial)


def add_tree_ucb(
    space: Space, kernel: str = "matern52", growth: float = 0.05, initial: int | None = None
) -> Strategy:
    """additive tree covariance, a confidence bound per vertex (Ma & Blaschko 2020, Alg. 2)"""
    surrogate = additive_tree(space.layout, space.tree, base=KERNELS[kernel])
    return model_based(surrogate, decide=separable_bound, growth=growth, initial=initial)


def separable_bound(now: Situation, rng: np.random.Generator) -> Points:
    """Ma & Blaschko 2020, Algorithm 2: every vertex maximises its own bound."""
    posteriors = now.model.posteriors
    return additive_ucb(now.space, posteriors, now.number + 1, near=now.near, avoid=now.avoid, rng=rng)  # type: ignore[arg-type]
