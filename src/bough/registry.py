"""Methods by name. A method is imported when it is first used.

A registered method is a class (usually a frozen dataclass) whose arguments are its options. An instance
either is a strategy (it has ``propose``) or makes one for a space (it has ``strategy(space)``). Packages add
names through the entry-point group ``bough.methods``.
"""

from __future__ import annotations

import difflib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from bough.errors import MethodError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from bough.space import Space
    from bough.strategies.base import Strategy

__all__ = ["Method", "build", "describe", "is_registered", "method", "methods", "stored_method"]
__all__ += ["with_present_names"]

ENTRY_POINTS = "bough.methods"

BUILT_IN: dict[str, tuple[str, str]] = {  # name: (module:class, one line)
    "auto": (
        "bough.auto:Auto",
        "the default: levels, groups and interactions in one covariance (this project)",
    ),
    "add-tree": (
        "bough.papers.ma2020.methods:AddTree",
        "additive tree covariance, EI searched on every path (Ma & Blaschko 2020, Alg. 1)",
    ),
    "add-tree-ucb": (
        "bough.papers.ma2020.methods:AddTreeUcb",
        "additive tree covariance, a confidence bound per vertex (Ma & Blaschko 2020, Alg. 2)",
    ),
    "add-tree-interactions": (
        "bough.papers.ma2020.methods:AddTreeInteractions",
        "additive tree covariance with products along a path (Ma & Blaschko 2020, App. E)",
    ),
    "tree": (
        "bough.papers.jenatton2017.methods:SemiParametricTree",
        "leaf processes with linear weights at inner nodes, path EI (Jenatton et al. 2017, sec. 2-3)",
    ),
    "tree-nonlinear": (
        "bough.papers.jenatton2017.methods:NonlinearTree",
        "'tree' with random Fourier features at inner nodes (Jenatton et al. 2017, sec. 4.3)",
    ),
    "independent": (
        "bough.papers.jenatton2017.methods:IndependentPaths",
        "one Gaussian process per path, nothing shared (baseline in Jenatton et al. 2017)",
    ),
    "marginal": (
        "bough.papers.jenatton2017.methods:MarginalTree",
        "'tree' with the weights integrated out, EI on every path (Jenatton et al. 2017, eq. 4)",
    ),
    "arc": (
        "bough.papers.jenatton2017.methods:ArcGP",
        "the arc kernel over all parameters (Swersky et al. 2014; baseline in Jenatton et al. 2017)",
    ),
    "gp": (
        "bough.strategies.gp:PlainGP",
        "a plain Gaussian process, inactive values drawn at random (baseline in Jenatton et al. 2017)",
    ),
    "conditional": (
        "bough.papers.levesque2017.methods:Conditional",
        "covariance only between equal signatures, best of 1000 samples (Lévesque et al. 2017)",
    ),
    "conditional-ls": (
        "bough.papers.levesque2017.methods:ConditionalLocal",
        "covariance only between equal signatures, local search (Lévesque et al. 2017)",
    ),
    "laplace": (
        "bough.papers.levesque2017.methods:LaplaceGP",
        "Laplace kernel over imputed values, best of 1000 samples (Lévesque et al. 2017)",
    ),
    "laplace-ls": (
        "bough.papers.levesque2017.methods:LaplaceLocal",
        "Laplace kernel over imputed values, local search (Lévesque et al. 2017)",
    ),
    "matern": (
        "bough.papers.levesque2017.methods:MaternGP",
        "Matérn-5/2 over imputed values, best of 1000 samples (Lévesque et al. 2017)",
    ),
    "matern-ls": (
        "bough.papers.levesque2017.methods:MaternLocal",
        "Matérn-5/2 over imputed values, local search (Lévesque et al. 2017)",
    ),
    "matern-noimpute": (
        "bough.papers.levesque2017.methods:MaternNoImpute",
        "Matérn-5/2, inactive values drawn at random, best of 1000 samples (Lévesque et al. 2017)",
    ),
    "mondrian": (
        "bough.papers.levesque2017.methods:MondrianGP",
        "Mondrian features over imputed values, best of 1000 samples (Lévesque et al. 2017)",
    ),
    "gp-warp": (
        "bough.papers.assael2014.methods:WarpedGP",
        "a plain Gaussian process on inputs warped by Beta CDFs (baseline in Assael et al. 2014)",
    ),
    "treed": (
        "bough.papers.assael2014.methods:TreedGP",
        "treed Gaussian processes with pooled hyperparameters (Assael et al. 2014)",
    ),
    "treed-warp": (
        "bough.papers.assael2014.methods:WarpedTreedGP",
        "'treed' on inputs warped by Beta CDFs (Assael et al. 2014)",
    ),
    "forest": (
        "bough.strategies.forest:RandomForest",
        "random forest, local search, some random trials (SMAC: Hutter, Hoos & Leyton-Brown 2011)",
    ),
    "tpe": (
        "bough.strategies.parzen:ParzenSearch",
        "tree-structured Parzen estimators, joint within a group (Bergstra et al. 2011)",
    ),
    "cma": ("bough.strategies.cma:CmaSearch", "CMA-ES on the flattened space (Hansen 2016)"),
    "pso": (
        "bough.strategies.pso:ParticleSwarm",
        "a particle swarm on the flattened space (Kennedy & Eberhart 1995; baseline)",
    ),
    "sobol": ("bough.strategies.designs:SobolSearch", "a scrambled Sobol sequence (baseline)"),
    "lhs": ("bough.strategies.designs:LatinHypercube", "a Latin hypercube on every path (baseline)"),
    "grid": (
        "bough.strategies.grid:GridSearch",
        "a grid, in an order that covers the space early (baseline)",
    ),
    "random": ("bough.strategies.designs:RandomSearch", "uniform random search (baseline)"),
}

RENAMED = {  # option of version 0.1: its name now
    "trust": "exploit_every",
    "growth": "refit_growth",
    "least": "min_leaf_size",
    "weight": "leaf_weight",
    "random": "random_fraction",
    "rows": "points_per_path",
    "without": "drop_term",
}
REMOVED = {
    "auto": (
        "inward",
        "boundary_penalty",
        "guard",
        "explore_branches_every",
        "branch_optimism_sds",
        "negligible_gain_sds",
        "stall_length",
        "branch_search_starts",
        "power",
        "refit_surprise_sds",
        "around",
        "samples",
    )
}
"""Options of earlier versions whose rule was removed. Stored studies continue without them."""

SAME_AS = {"ei": "log-ei", "pi": "log-pi"}
"""Synonyms that version 0.1 accepted, and the acquisitions that they stand for."""


@dataclass(frozen=True)
class Method:
    """A method's name with the options that were given: what a study stores."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)


def methods() -> dict[str, str]:
    """The name of every method, with one line on it and its source."""
    found = {name: text for name, (_, text) in BUILT_IN.items()}
    for name, entry in _entry_points().items():
        found.setdefault(name, _one_line(entry))
    return found


def method(name: str, **options: Any) -> Method:
    """A method with options, for ``method=``. Raises MethodError for an unknown name or option."""
    chosen = Method(name, options)
    _made(chosen)
    return chosen


def describe(chosen: Any) -> Method:
    """The name and options that a study stores for ``method=``: a name, a Method, or an object.

    An instance of a registered class is stored under its registered name. Any other object is stored under
    the name of its class, with the dataclass fields that differ from their defaults, if JSON can hold them.
    """
    if isinstance(chosen, (str, Method)):
        named = Method(chosen) if isinstance(chosen, str) else chosen
        _made(named)
        return named
    if isinstance(chosen, type) and (hasattr(chosen, "propose") or hasattr(chosen, "strategy")):
        raise MethodError(f"method is the class {chosen.__name__}: pass an object, {chosen.__name__}(...)")
    if not (hasattr(chosen, "propose") or hasattr(chosen, "strategy")):
        raise MethodError(
            "method must be a name, bough.method(...), or an object with propose(space, history, rng), "
            f"not {chosen!r}"
        )
    kind = type(chosen)
    places = {entry.value: name for name, entry in _entry_points().items()}
    places |= {place: name for name, (place, _) in BUILT_IN.items()}
    if (name := places.get(f"{kind.__module__}:{kind.__qualname__}")) is not None:
        return Method(name, _changed_fields(chosen))
    if is_registered(kind.__name__):
        raise MethodError(f"class {kind.__name__!r} has the name of a registered method: rename it")
    return Method(kind.__name__, _changed_fields(chosen))


def build(chosen: Any, space: Space, several: bool = False) -> Strategy:
    """The strategy of a name, a Method or an object, on a space.

    several: for several objectives, or under constraints. The class then needs ``goal_strategy(space)`` or
    ``ignores_values = True``; otherwise a MethodError lists the methods that have one.
    """
    made = _made(Method(chosen) if isinstance(chosen, str) else chosen)
    if several and not _takes_goals(made):
        able = ", ".join(name for name in BUILT_IN if _takes_goals(_load(name)))
        raise MethodError(
            f"method {describe(chosen).name!r} takes one objective without constraints; {able} take more"
        )
    if several and hasattr(made, "goal_strategy"):
        aware: Strategy = made.goal_strategy(space)
        return aware
    strategy: Strategy = made.strategy(space) if hasattr(made, "strategy") else made
    if not hasattr(strategy, "propose"):
        raise MethodError(
            f"{type(made).__name__}.strategy(space) returned {strategy!r}: return an object with "
            "propose(space, history, rng)"
        )
    return strategy


def _takes_goals(kind: Any) -> bool:
    return hasattr(kind, "goal_strategy") or getattr(kind, "ignores_values", False)


def is_registered(name: str) -> bool:
    """Whether a name belongs to a built-in method or to a method of an installed package."""
    return name in BUILT_IN or name in _entry_points()


def stored_method(text: str) -> Method:
    """The method in the record of a study; options of version 0.1 get their present names."""
    stored = json.loads(text)
    return with_present_names(Method(stored["name"], stored.get("options", {})))


def with_present_names(stored: Method) -> Method:
    """A method that version 0.1 may have stored, with the present names of its options."""
    options = dict(stored.options)
    if stored.name in BUILT_IN:
        known = inspect.signature(_load(stored.name)).parameters
        for old, new in RENAMED.items():
            if old in options and old not in known:
                options[new] = options.pop(old)
        for gone in REMOVED.get(stored.name, ()):
            options.pop(gone, None)
        if options.get("acquisition") in SAME_AS:
            options["acquisition"] = SAME_AS[options["acquisition"]]
        if options.get("drop_term") == "roughness":  # a term that auto no longer has
            del options["drop_term"]
    return Method(stored.name, options)


def _made(chosen: Any) -> Any:
    """An instance of the class that a Method names, with its options checked; any other object unchanged."""
    if not isinstance(chosen, Method):
        return chosen
    make = _load(chosen.name)
    known = list(inspect.signature(make).parameters)
    for option in chosen.options:
        if option not in known:
            near = difflib.get_close_matches(option, known, n=1)
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            takes = f"did you mean {near[0]!r}?" if near else takes
            if RENAMED.get(option) in known:
                takes = f"it is now called {RENAMED[option]!r}"
            if option in REMOVED.get(chosen.name, ()):
                takes = "its rule was removed, so leave the option out"
            raise MethodError(f"method {chosen.name!r} has no option {option!r}: {takes}")
    try:
        return make(**chosen.options)
    except MethodError as error:
        raise MethodError(f"method {chosen.name!r}: {error}") from None
    except (TypeError, ValueError) as error:  # raised by a third-party class
        raise MethodError(f"method {chosen.name!r} does not accept these options: {error}") from None


def _load(name: Any) -> Callable[..., Any]:
    """The registered class of a name."""
    if not isinstance(name, str):
        raise MethodError(f"a method's name is a string, not {name!r}")
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name][0].partition(":")
        made: Callable[..., Any] = getattr(import_module(module), attribute)
        return made
    third_party = _entry_points()
    if name in third_party:
        try:
            made = third_party[name].load()
        except Exception as error:
            raise MethodError(
                f"method {name!r} cannot be imported from {third_party[name].value}: {error}"
            ) from error
        return made
    known = [*BUILT_IN, *third_party]
    folded = {each.casefold(): each for each in known}
    near = difflib.get_close_matches(name.casefold(), folded, n=1)
    hint = f"did you mean {folded[near[0]]!r}?" if near else f"known methods are {', '.join(known)}"
    raise MethodError(f"unknown method {name!r}: {hint}")


def _entry_points() -> dict[str, EntryPoint]:
    """Methods of other packages by name."""
    from importlib.metadata import entry_points  # takes longer to import than all of this module

    return {entry.name: entry for entry in entry_points(group=ENTRY_POINTS)}


def _one_line(entry: EntryPoint) -> str:
    """The first line of the docstring of another package's method."""
    try:
        return (inspect.getdoc(entry.load()) or entry.value).partition("\n")[0]
    except Exception as error:
        return f"cannot be imported from {entry.value}: {error}"


def _changed_fields(made: Any) -> dict[str, Any]:
    """The dataclass fields of an object that differ from their defaults, if JSON can hold them."""
    if not is_dataclass(made):
        return {}
    changed = {}
    for each in fields(made):
        default = each.default if each.default_factory is MISSING else each.default_factory()
        value = getattr(made, each.name)
        if each.init and (default is MISSING or _differs(value, default)):
            changed[each.name] = value
    try:
        json.dumps(changed)
    except (TypeError, ValueError):  # ValueError: data that contains itself
        return {}
    return changed


def _differs(value: Any, default: Any) -> bool:
    try:
        return bool(value != default)
    except (TypeError, ValueError):  # arrays compare entry by entry
        return True
