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
from typing import Any

from bough.acquisition.functions import EI, LOG_EI, LOG_PI, PI, Acquisition, lcb
from bough.acquisition.maximise.local import local_search
from bough.acquisition.maximise.paths import search_paths
from bough.acquisition.maximise.sample import best_of_samples
from bough.errors import MethodError
from bough.gp.kernels.stationary import SE, Laplace, Matern32, Matern52
from bough.gp.targets import Targets
from bough.space import Space
from bough.strategies import rivals
from bough.strategies.base import Strategy
from bough.strategies.decisions import Decision, by, joint_draw, separable_bound, trusting, two_steps
from bough.strategies.designs import RandomSearch
from bough.strategies.flat import flat_layout
from bough.strategies.guard import PERIOD, guarded
from bough.strategies.initial import InitialDesign
from bough.strategies.model_based import ModelBased
from bough.surrogates import kernel_gp
from bough.surrogates.additive_tree import additive_tree
from bough.surrogates.base import Surrogate
from bough.surrogates.independent import Independent
from bough.surrogates.nested import TERMS, nested
from bough.surrogates.semi_parametric import SemiParametric

__all__ = ["Method", "method", "methods", "resolve", "strategy_for"]

KERNELS = {"matern52": Matern52, "matern32": Matern32, "se": SE, "laplace": Laplace}
ACQUISITIONS = {"log-ei": LOG_EI, "ei": EI, "log-pi": LOG_PI, "pi": PI, "lcb": lcb()}
THOMPSON = "thompson"


@dataclass(frozen=True)
class Method:
    """A method's name with the options that differ from its defaults; what a study stores."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)


def methods() -> dict[str, str]:
    """Every method's name, with one line on what it is and where it comes from."""
    return {name: (build.__doc__ or "").partition("\n")[0] for name, build in _TABLE.items()}


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
    known = list(inspect.signature(_TABLE[chosen.name]).parameters)[1:]
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
    return _TABLE[chosen.name](space, **chosen.options)


def _bayes(
    surrogate: Surrogate,
    acquisition: str = "log-ei",
    decide: Decision | None = None,
    *,
    growth: float,
    initial: int | None,
    space: Space | None = None,
    power: bool = False,
    inward: bool = False,
) -> Strategy:
    """A model-based strategy; ``space``: given where the surrogate is to see it flattened."""
    thompson = acquisition == THOMPSON
    chosen: Acquisition = LOG_EI if thompson else ACQUISITIONS[acquisition]
    decision = joint_draw if thompson else decide or by(search_paths)
    flat = space.layout if space else None
    targets = partial(Targets.fit, power=power)
    return ModelBased(surrogate, decision, chosen, InitialDesign(initial), growth, flat, targets, inward)


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
    return _bayes(surrogate, acquisition, decide, growth=growth, initial=initial, power=power, inward=inward)


def _add_tree(
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
    return _bayes(surrogate, acquisition, decide, growth=growth, initial=initial)


def _add_tree_interactions(
    space: Space,
    kernel: str = "matern52",
    acquisition: str = "log-ei",
    growth: float = 0.05,
    initial: int | None = None,
) -> Strategy:
    """additive tree covariance with products along a path (Ma & Blaschko 2020, App. E)"""
    surrogate = additive_tree(space.layout, space.tree, base=KERNELS[kernel], interactions=True)
    return _bayes(surrogate, acquisition, growth=growth, initial=initial)


def _add_tree_ucb(
    space: Space, kernel: str = "matern52", growth: float = 0.05, initial: int | None = None
) -> Strategy:
    """additive tree covariance, a confidence bound per vertex (Ma & Blaschko 2020, Alg. 2)"""
    surrogate = additive_tree(space.layout, space.tree, base=KERNELS[kernel])
    return _bayes(surrogate, decide=separable_bound, growth=growth, initial=initial)


def _tree(space: Space, growth: float = 0.05, initial: int | None = None) -> Strategy:
    """leaf processes with linear weights at inner nodes, two-step path EI (Jenatton et al. 2017, sec. 2-3)"""
    surrogate = SemiParametric(space.layout, space.tree)
    return _bayes(surrogate, decide=two_steps(linear=True), growth=growth, initial=initial)


def _tree_nonlinear(space: Space, growth: float = 0.05, initial: int | None = None) -> Strategy:
    """the same with random Fourier features at inner nodes (Jenatton et al. 2017, sec. 4.3)"""
    surrogate = SemiParametric(space.layout, space.tree, nonlinear=True)
    return _bayes(surrogate, decide=two_steps(linear=False), growth=growth, initial=initial)


def _marginal(
    space: Space, acquisition: str = "log-ei", growth: float = 0.05, initial: int | None = None
) -> Strategy:
    """the same model with the weights integrated out, EI on every path (Jenatton et al. 2017, eq. 4)"""
    surrogate = SemiParametric(space.layout, space.tree, structured=False)
    return _bayes(surrogate, acquisition, growth=growth, initial=initial)


def _independent(
    space: Space, acquisition: str = "log-ei", growth: float = 0.05, initial: int | None = None
) -> Strategy:
    """one Gaussian process per path, nothing shared (rival in Jenatton et al. 2017)"""
    return _bayes(Independent(space.layout, space.tree), acquisition, growth=growth, initial=initial)


def _arc(
    space: Space, acquisition: str = "log-ei", growth: float = 0.05, initial: int | None = None
) -> Strategy:
    """the arc kernel over all parameters (Swersky et al. 2014; rival in Jenatton et al. 2017)"""
    return _bayes(kernel_gp.arc(space.layout), acquisition, growth=growth, initial=initial)


def _gp(
    space: Space,
    kernel: str = "matern52",
    acquisition: str = "log-ei",
    growth: float = 0.05,
    initial: int | None = None,
) -> Strategy:
    """a structure-blind Gaussian process, inactive values drawn at random (rival in Jenatton et al. 2017)"""
    surrogate = kernel_gp.flat(flat_layout(space.layout), base=KERNELS[kernel])
    return _bayes(surrogate, acquisition, growth=growth, initial=initial, space=space)


def _gp_warp(
    space: Space, acquisition: str = "log-ei", growth: float = 0.05, initial: int | None = None
) -> Strategy:
    """the structure-blind process on inputs warped by Beta CDFs (rival in Assael et al. 2014)"""
    surrogate = kernel_gp.warped(flat_layout(space.layout))
    return _bayes(surrogate, acquisition, growth=growth, initial=initial, space=space)


def _sampled(surrogate: Surrogate, local: bool, growth: float, initial: int | None) -> Strategy:
    decide = by(local_search if local else best_of_samples)
    return _bayes(surrogate, "ei", decide, growth=growth, initial=initial)


def _conditional(
    space: Space, samples: int = 10, growth: float = 0.05, initial: int | None = None
) -> Strategy:
    """covariance only between equal branches, best of 1000 samples (Lévesque et al. 2017)"""
    surrogate = kernel_gp.conditional(space.layout, samples=samples)
    return _sampled(surrogate, False, growth, initial)


def _conditional_ls(
    space: Space, samples: int = 10, growth: float = 0.05, initial: int | None = None
) -> Strategy:
    """covariance only between equal branches, local search (Lévesque et al. 2017)"""
    surrogate = kernel_gp.conditional(space.layout, samples=samples)
    return _sampled(surrogate, True, growth, initial)


def _laplace(space: Space, samples: int = 10, growth: float = 0.05, initial: int | None = None) -> Strategy:
    """Laplace kernel over imputed values, best of 1000 samples (Lévesque et al. 2017)"""
    surrogate = kernel_gp.joint(space.layout, base="laplace", samples=samples)
    return _sampled(surrogate, False, growth, initial)


def _laplace_ls(
    space: Space, samples: int = 10, growth: float = 0.05, initial: int | None = None
) -> Strategy:
    """Laplace kernel over imputed values, local search (Lévesque et al. 2017)"""
    surrogate = kernel_gp.joint(space.layout, base="laplace", samples=samples)
    return _sampled(surrogate, True, growth, initial)


def _matern(space: Space, samples: int = 10, growth: float = 0.05, initial: int | None = None) -> Strategy:
    """Matérn-5/2 over imputed values, best of 1000 samples (Lévesque et al. 2017)"""
    surrogate = kernel_gp.joint(space.layout, samples=samples)
    return _sampled(surrogate, False, growth, initial)


def _matern_ls(space: Space, samples: int = 10, growth: float = 0.05, initial: int | None = None) -> Strategy:
    """Matérn-5/2 over imputed values, local search (Lévesque et al. 2017)"""
    surrogate = kernel_gp.joint(space.layout, samples=samples)
    return _sampled(surrogate, True, growth, initial)


def _matern_noimpute(
    space: Space, samples: int = 10, growth: float = 0.05, initial: int | None = None
) -> Strategy:
    """Matérn-5/2, inactive values drawn at random, best of 1000 samples (Lévesque et al. 2017)"""
    surrogate = kernel_gp.joint(flat_layout(space.layout), impute=False, samples=samples)
    return _bayes(surrogate, "ei", by(best_of_samples), growth=growth, initial=initial, space=space)


def _mondrian(space: Space, samples: int = 10, growth: float = 0.05, initial: int | None = None) -> Strategy:
    """Mondrian features over imputed values, best of 1000 samples (Lévesque et al. 2017)"""
    surrogate = kernel_gp.mondrian(space.layout, samples=samples)
    return _sampled(surrogate, False, growth, initial)


def _random(space: Space) -> Strategy:
    """uniform random search (baseline)"""
    return RandomSearch()


_TABLE: dict[str, Callable[..., Strategy]] = {
    "auto": _auto,
    "add-tree": _add_tree,
    "add-tree-ucb": _add_tree_ucb,
    "add-tree-interactions": _add_tree_interactions,
    "tree": _tree,
    "tree-nonlinear": _tree_nonlinear,
    "independent": _independent,
    "marginal": _marginal,
    "arc": _arc,
    "gp": _gp,
    "conditional": _conditional,
    "conditional-ls": _conditional_ls,
    "laplace": _laplace,
    "laplace-ls": _laplace_ls,
    "matern": _matern,
    "matern-ls": _matern_ls,
    "matern-noimpute": _matern_noimpute,
    "mondrian": _mondrian,
    "gp-warp": _gp_warp,
    "treed": rivals.treed,
    "treed-warp": rivals.treed_warp,
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
