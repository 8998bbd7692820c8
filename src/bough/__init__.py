"""Bayesian optimization for search spaces that branch.

Names are loaded when first used: ``import bough`` alone loads neither SciPy nor SQLAlchemy nor any
optional dependency.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bough.client import connect as connect
    from bough.errors import BoughError as BoughError
    from bough.errors import Transient as Transient
    from bough.registry import method as method
    from bough.registry import methods as methods
    from bough.space import Categorical as Categorical
    from bough.space import Choice as Choice
    from bough.space import Float as Float
    from bough.space import Int as Int
    from bough.space import Mixture as Mixture
    from bough.space import Space as Space
    from bough.strategies.base import Strategy as Strategy
    from bough.study import Study as Study
    from bough.study import maximize as maximize
    from bough.study import minimize as minimize
    from bough.study import open_study as open_study
    from bough.study import optimize as optimize
    from bough.study import studies as studies
    from bough.trial import Trial as Trial

__version__ = "0.2.0"

_HOME = {
    "BoughError": "bough.errors",
    "Categorical": "bough.space",
    "Choice": "bough.space",
    "Float": "bough.space",
    "Int": "bough.space",
    "Mixture": "bough.space",
    "Space": "bough.space",
    "Strategy": "bough.strategies.base",
    "Study": "bough.study",
    "Transient": "bough.errors",
    "Trial": "bough.trial",
    "connect": "bough.client",
    "errors": "bough.errors",
    "maximize": "bough.study",
    "method": "bough.registry",
    "methods": "bough.registry",
    "minimize": "bough.study",
    "open_study": "bough.study",
    "optimize": "bough.study",
    "plot": "bough.plot",
    "studies": "bough.study",
}

__all__ = [
    "BoughError", "Categorical", "Choice", "Float", "Int", "Mixture", "Space", "Strategy", "Study",
    "Transient", "Trial", "connect", "errors", "maximize", "method", "methods", "minimize", "open_study",
    "optimize", "plot", "studies",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'bough' has no attribute {name!r}")
    module = import_module(_HOME[name])
    value = module if _HOME[name] == f"bough.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
