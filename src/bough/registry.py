"""Every method by name: a short composition of surrogate, acquisition, decision and initial design.

A function below is a method: its keyword arguments are the options of ``bough.method(name, ...)``,
its docstring's first line is what ``bough.methods()`` says of it.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

from bough.acquisition.maximise.paths import search_paths
from bough.errors import MethodError
from bough.space import Space
from bough.strategies import rivals
from bough.strategies.base import Strategy
from bough.strategies.compose import ACQUISITIONS, KERNELS, THOMPSON, model_based
from bough.strategies.decisions import by, trusting
from bough.strategies.designs import RandomSearch
from bough.strategies.flat import flat_layout
from bough.strategies.guard import PERIOD, guarded
from bough.surrogates import kernel_gp
from bough.surrogates.nested import TERMS, nested

__all__ = ["Method", "method", "methods", "resolve", "strategy_for"]


@dataclass(frozen=True)
class Method:
    """A method's name with the options that differ from its defaults; what a study stores."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)


def methods() -> dict[str, str]:
    """Every method's name, with one line on what it is and where it comes from."""
    return {name: (_build(name).__doc__ or "").partition("\n")[0] for name in _TABLE}


def method(name: str, **options: Any) -> Method:
    """A method with options, for ``method=``; an unknown name or option is an error that says what exists."""
    return resolve(Method(name, options))


def resolve(chosen: str | Method) -> Method:
    """Check a name or Method: its name, its options and their values."""
    if isinstance(chosen, str):
        chosen = Method(chosen)
    if not isinstance(chosen, Method):
        raise MethodError(f"method must be a name or bough.method(...), not {type(chosen).__name__}")
    if not isinstance(chosen.name, str):
        raise MethodError(f"a method's name is a string, not {chosen.name!r}")
    if chosen.name not in _TABLE:
        near = difflib.get_close_matches(chosen.name, _TABLE, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(_TABLE)}"
        raise MethodError(f"unknown method {chosen.name!r}: {hint}")
    known = list(inspect.signature(_build(chosen.name)).parameters)[1:]
    for option, value in chosen.options.items():
        if option not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise MethodError(f"method {chosen.name!r} has no option {option!r}: {takes}")
        wanted = _VALUES.get(f"{chosen.name}.{option}", _VALUES[option])
        if not wanted.holds(value):
            raise MethodError(f"option {option!r} of method {chosen.name!r} is {value!r}: give {wanted.text}")
    return chosen


def strategy_for(chosen: Method, space: Space) -> Strategy:
    """The strategy that a checked method stands for, on a space."""
    return _build(chosen.name)(space, **chosen.options)


def _build(name: str) -> Callable[..., Strategy]:
    """The function that makes a method; those of the papers are imported when first used."""
    found = _TABLE[name]
    if isinstance(found, str):
        module, _, attribute = found.partition(":")
        build: Callable[..., Strategy] = getattr(import_module(module), attribute)
        return build
    return found


def _auto(
    space: Space,
    acquisition: str = "log-ei",
    guard: int = PERIOD,
    trust: int = 2,
    power: bool = False,
    growth: float = 0.05,
    initial: int | None = None,
    samples: int = 0,
    without: str | None = None,
    inward: bool = True,
) -> Strategy:
    """the default: branch levels, additive groups and interactions in one covariance (this project)"""
    decide = by(partial(search_paths, starts=16))
    decide = trusting(decide, trust) if trust else decide
    decide = guarded(decide, guard) if guard else decide
    surrogate = nested(space.layout, space.tree, without=without, samples=samples)
    return model_based(
        surrogate, acquisition, decide, growth=growth, initial=initial, power=power, inward=inward
    )


def _gp(
    space: Space,
    kernel: str = "matern52",
    acquisition: str = "log-ei",
    growth: float = 0.05,
    initial: int | None = None,
) -> Strategy:
    """a structure-blind Gaussian process, inactive values drawn at random (rival in Jenatton et al. 2017)"""
    surrogate = kernel_gp.flat(flat_layout(space.layout), base=KERNELS[kernel])
    return model_based(surrogate, acquisition, growth=growth, initial=initial, space=space)


def _random(space: Space) -> Strategy:
    """uniform random search (baseline)"""
    return RandomSearch()


_TABLE: dict[str, Callable[..., Strategy] | str] = {
    "auto": _auto,
    "add-tree": "bough.papers.ma2020.methods:add_tree",
    "add-tree-ucb": "bough.papers.ma2020.methods:add_tree_ucb",
    "add-tree-interactions": "bough.papers.ma2020.methods:add_tree_interactions",
    "tree": "bough.papers.jenatton2017.methods:tree",
    "tree-nonlinear": "bough.papers.jenatton2017.methods:tree_nonlinear",
    "independent": "bough.papers.jenatton2017.methods:independent",
    "marginal": "bough.papers.jenatton2017.methods:marginal",
    "arc": "bough.papers.jenatton2017.methods:arc",
    "gp": _gp,
    "conditional": "bough.papers.levesque2017.methods:conditional",
    "conditional-ls": "bough.papers.levesque2017.methods:conditional_ls",
    "laplace": "bough.papers.levesque2017.methods:laplace",
    "laplace-ls": "bough.papers.levesque2017.methods:laplace_ls",
    "matern": "bough.papers.levesque2017.methods:matern",
    "matern-ls": "bough.papers.levesque2017.methods:matern_ls",
    "matern-noimpute": "bough.papers.levesque2017.methods:matern_noimpute",
    "mondrian": "bough.papers.levesque2017.methods:mondrian",
    "gp-warp": "bough.papers.assael2014.methods:gp_warp",
    "treed": "bough.papers.assael2014.methods:treed",
    "treed-warp": "bough.papers.assael2014.methods:treed_warp",
    "forest": rivals.forest,
    "tpe": rivals.tpe,
    "cma": rivals.cma,
    "sobol": rivals.sobol,
    "lhs": rivals.lhs,
    "grid": rivals.grid,
    "random": _random,
}


@dataclass(frozen=True)
class _Value:
    """What an option may be, and how to say so."""

    holds: Callable[[Any], bool]
    text: str


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _real(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_COUNT = _Value(lambda v: _whole(v) and v >= 1, "a whole number, at least 1")
_POSITIVE = _Value(lambda v: _real(v) and 0 < v < 1e6, "a positive number")
_SHARE = _Value(lambda v: _real(v) and 0 < v < 1, "a number between 0 and 1")

_VALUES: dict[str, _Value] = {  # by option, or by method.option where one method differs
    "candidates": _COUNT,
    "least": _Value(lambda v: _whole(v) and v >= 2, "a number of points, at least 2"),
    "population": _Value(
        lambda v: v is None or (_whole(v) and v >= 4), "a number of trials, at least 4, or None"
    ),
    "prior": _POSITIVE,
    "quantile": _SHARE,
    "random": _SHARE,
    "resolution": _Value(lambda v: _whole(v) and v >= 2, "a number of positions, at least 2"),
    "rows": _COUNT,
    "sigma": _POSITIVE,
    "startup": _COUNT,
    "trees": _COUNT,
    "weight": _POSITIVE,
    "kernel": _Value(lambda v: isinstance(v, str) and v in KERNELS, f"one of {', '.join(KERNELS)}"),
    "acquisition": _Value(
        lambda v: isinstance(v, str) and (v == THOMPSON or v in ACQUISITIONS),
        f"one of {', '.join([*ACQUISITIONS, THOMPSON])}",
    ),
    "samples": _Value(lambda v: _whole(v) and v >= 0, "a number of slice samples, 0 for the mode"),
    "treed.samples": _COUNT,
    "treed-warp.samples": _COUNT,
    "without": _Value(
        lambda v: v is None or (isinstance(v, str) and v in TERMS), f"one of {', '.join(TERMS)}, or None"
    ),
    "growth": _Value(
        lambda v: _real(v) and 0 <= v < 10,
        "the fraction by which data grow before a refit, 0 to refit at every trial",
    ),
    "guard": _Value(
        lambda v: _whole(v) and v >= 0, "every how many trials another branch gets a turn, 0 for never"
    ),
    "trust": _Value(
        lambda v: _whole(v) and v >= 0, "every how many trials the model's means are trusted, 0 for never"
    ),
    "inward": _Value(lambda v: isinstance(v, bool), "True to count points on the edges of the space less"),
    "power": _Value(lambda v: isinstance(v, bool), "True to make values more normal by a power transform"),
    "initial": _Value(
        lambda v: v is None or (_whole(v) and v >= 1),
        "a number of initial points, or None for one per path, 4 to 16",
    ),
}
