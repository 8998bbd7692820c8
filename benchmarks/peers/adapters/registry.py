"""The module and function of each peer; libraries are loaded only when needed."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from .space import Optimiser

ADAPTERS = {
    "optuna": ("with_optuna", "tpe"),
    "optuna-group": ("with_optuna", "grouped_tpe"),
    "optuna-gp": ("with_optuna", "flat_gp"),
    "optuna-gp-cond": ("with_optuna", "conditional_gp"),
    "smac": ("with_smac", "forest"),
    "smac-gp": ("with_smac", "gp"),
    "hyperopt": ("with_hyperopt", "tpe"),
    "ax": ("with_ax", "hierarchical"),
    "botorch": ("with_botorch", "conditional"),
}
"""Name of the peer: module, function."""


def adapter(peer: str) -> Callable[..., Optimiser]:
    """``(space, seed, trials) -> Optimiser`` of the peer."""
    module, function = ADAPTERS[peer]
    found: Callable[..., Optimiser] = getattr(importlib.import_module(f".{module}", __package__), function)
    return found
