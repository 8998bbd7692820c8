"""``Space``: the immutable description of a search space, from which everything else is derived."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from bough.errors import ConfigError, SpaceError
from bough.points import BoolArray, FloatArray, Layout, Points
from bough.space import encoding, render, sampling, serialise
from bough.space.activity import EncodedView, Rules
from bough.space.binding import identity
from bough.space.choice import Declared
from bough.space.conditions import canonical
from bough.space.desugar import Flat, Parameter, desugar
from bough.space.encoding import Config
from bough.space.feasible_sampling import drawn_points
from bough.space.fidelity import find_fidelity
from bough.space.groups import make_groups
from bough.space.parameters import Categorical, Domain, Unset
from bough.space.projection import repair
from bough.space.relations import Mixture, check_mixtures, relation_text
from bough.space.scalars import Scalar
from bough.space.size import is_empty, size, why_empty
from bough.space.tree import Tree

if TYPE_CHECKING:
    from bough.space.asking import AskingTrial

__all__ = ["Space"]

LEGAL_PROBES = 1000
"""Random points that are tried before a walk decides whether any configuration is legal."""


class Space:
    """A search space that may branch.

    parameters: name to Float, Int, Categorical or Choice.
    forbid: conditions that no configuration may satisfy.
    require: relations between numbers that every configuration meets: "overlap < chunk", "a + 2 * b <= 10",
             "sum(units1, units2) <= 512" (over the active ones), or a Mixture. A relation that names an
             inactive parameter outside of sum(...) does not apply.
    """

    declared: Mapping[str, Declared]
    forbid: tuple[str, ...]
    require: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    """The flat parameters, one per column."""
    fidelity: Parameter | None
    """The parameter that was declared with ``fidelity=True``."""
    _flat: Flat

    def __init__(
        self,
        parameters: Mapping[str, Declared],
        forbid: Sequence[str] = (),
        require: Sequence[str | Mixture] = (),
    ) -> None:
        if not isinstance(parameters, Mapping) or not parameters:
            raise SpaceError("a Space needs a dict of at least one parameter")
        for name, given, of in (("forbid", forbid, "conditions"), ("require", require, "relations")):
            if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
                raise SpaceError(f"{name} must be a list of {of}, not {given!r:.80}")
        clauses = tuple(dict.fromkeys(canonical(clause) for clause in forbid))
        relations = tuple(dict.fromkeys(relation_text(relation) for relation in require))
        flat = desugar(parameters, clauses, relations)
        self.__dict__.update(
            declared=MappingProxyType(dict(parameters)),
            forbid=clauses,
            require=relations,
            parameters=flat.parameters,
            fidelity=find_fidelity(flat, clauses),
            _flat=flat,
        )
        check_mixtures(self[name] for each in require if isinstance(each, Mixture) for name in each.names)
        if not (clauses or relations) or self._some_legal():
            return
        if relations:
            raise SpaceError(why_empty(self.rules, relations))
        if is_empty(self.rules):
            raise SpaceError(f"forbid excludes every configuration: {', '.join(map(repr, clauses)):.200}")

    def _some_legal(self) -> bool:
        """Whether a few random points contain a legal one: quicker than a proof that there is one."""
        rows = np.random.default_rng(0).random((LEGAL_PROBES, len(self.parameters)))
        return any(self.legal(self.scatter(part)).any() for part in np.split(rows, [LEGAL_PROBES // 20]))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Space cannot be changed (setting {name!r})")

    def __reduce__(
        self,
    ) -> tuple[type[Space], tuple[Mapping[str, Declared], tuple[str, ...], tuple[str, ...]]]:
        return Space, (dict(self.declared), self.forbid, self.require)

    # ---- parameters and groups ----------------------------------------------------------------

    @cached_property
    def rules(self) -> Rules:
        """Everything that decides activity and legality."""
        flat, groups = self._flat, make_groups(self._flat)
        holder = {column: group.index for group in groups for column in group.columns}
        group = np.array([holder[column] for column in range(len(self))], dtype=np.intp)
        domains = tuple(parameter.domain for parameter in flat.parameters)
        return Rules(domains, groups, flat.clauses, group, flat.constraints)

    @cached_property
    def layout(self) -> Layout:
        """The meaning of the columns of encoded points."""
        domains = self.rules.domains
        switch = np.zeros(len(self), dtype=bool)
        switch[list(self.tree.switches)] = True
        return Layout(
            kinds=tuple(domain.kind for domain in domains),
            levels=np.array([domain.levels for domain in domains], dtype=np.intp),
            group=self.rules.group,
            switch=switch,
            groups=len(self.rules.groups),
        )

    @cached_property
    def tree(self) -> Tree:
        """The groups of parameters and the paths through them."""
        return Tree(self._flat, self.rules)

    @cached_property
    def size(self) -> int | float:
        """How many distinct configurations there are; see ``bough.space.size``."""
        return size(self.rules)

    @cached_property
    def default(self) -> Config | None:
        """The config of defaults, where any parameter has one; others take their middle or first value."""
        domains = self.rules.domains
        if all(_default(domain) is None for domain in domains if not getattr(domain, "fidelity", False)):
            return None
        x = np.empty((1, len(domains)))
        given = np.array([_default(domain) is not None for domain in domains])
        for column, domain in enumerate(domains):
            default = _default(domain)
            middle = 0.0 if domain.kind == "nominal" else 0.5
            x[0, column] = middle if default is None else encoding.units(self.rules, column, default)[0]
        point = self._legal_default(x, given)
        config = self.decode(point)[0]
        for parameter, active in zip(self.parameters, self.layout.active(point.on)[0]):
            default = _default(parameter.domain)
            if active and default is not None:
                config[parameter.name] = default[0]
        return config

    def _legal_default(self, x: FloatArray, given: BoolArray) -> Points:
        """``x`` (1, columns), or, if that is forbidden, with other values for columns without a default."""
        point = self.rules.snap(x)
        if self.legal(point)[0]:
            return point
        drawn = np.random.default_rng(0).random((1000, len(self)))
        points = self.rules.snap(np.where(given, x, drawn))
        if self.require:
            points = repair(self.rules, points, locked=np.tile(given, (len(points), 1)))
        legal = np.flatnonzero(self.legal(points))
        if not len(legal):
            raise SpaceError(f"the defaults are {self._why_illegal(self.violations(point)[0])}")
        return points.take(legal[:1])

    def __getitem__(self, name: str) -> Parameter:
        """The parameter of that path, or of that name where only one has it."""
        if name in self.by_path:
            return self.by_path[name]
        found = [p for p in self.parameters if p.name == name]
        if len(found) == 1:
            return found[0]
        if not found:
            raise KeyError(f"no parameter {name!r}")
        raise KeyError(f"{name!r} is ambiguous: one of {', '.join(p.path for p in found)}")

    def __contains__(self, name: object) -> bool:
        """Whether a parameter has that name or path; ``contains`` is about configs."""
        if isinstance(name, str):
            return name in self.by_path or any(parameter.name == name for parameter in self.parameters)
        if isinstance(name, Parameter):
            return name in self.parameters
        raise SpaceError(
            f"`in` takes the name of a parameter, not {name!r:.80}; space.contains(config) takes a config"
        )

    @cached_property
    def by_path(self) -> dict[str, Parameter]:
        """The parameters by their paths."""
        return {parameter.path: parameter for parameter in self.parameters}

    def __len__(self) -> int:
        return len(self.parameters)

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self.parameters)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and self._identity == other._identity

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def _identity(self) -> object:
        """Equal for equal spaces: parameters, conditions and clauses, in any order and spelling."""
        flat = self._flat
        parameters = {
            name: (parameter.name, _bare(parameter), identity(bound, flat.unique))
            for name, parameter, bound in zip(flat.unique, flat.parameters, flat.bound)
        }
        clauses = frozenset(identity(clause, flat.unique) for clause in flat.clauses)
        return parameters, clauses, frozenset(each.identity(flat.unique) for each in flat.constraints)

    # ---- configs and points ------------------------------------------------------------------

    def sample(self, n: int, rng: np.random.Generator | int | None = None) -> list[Config]:
        """``n`` random legal configs, uniform: a choice first, then its children. ``rng`` may be a seed."""
        if not isinstance(n, SupportsIndex) or n < 0:
            raise SpaceError(f"sample takes a number of configurations, not {n!r:.80}")
        return self.decode(sampling.sample_points(self, n, np.random.default_rng(rng)))

    def validate(self, config: Mapping[str, Any]) -> Config:
        """``config`` with its values in canonical types, or a ConfigError that names the mistake."""
        if not isinstance(config, Mapping):
            raise ConfigError(f"a config must be a dict of parameter names and values, not {config!r:.80}")
        point, view = encoding.encode_exact(self.rules, self.parameters, [config])
        violated = self.rules.violations(view, point.on)[0]
        if violated.any():
            raise ConfigError(f"config is {self._why_illegal(violated)}")
        active = self.layout.active(point.on)[0]
        return {p.name: p.domain.check(config[p.name]) for p, is_on in zip(self.parameters, active) if is_on}

    def contains(self, config: Mapping[str, Any]) -> bool:
        """Whether ``config`` is a legal config of this space."""
        try:
            self.validate(config)
        except ConfigError:
            return False
        return True

    def _why_illegal(self, violated: BoolArray) -> str:
        """The first clause or relation of ``violations``, in words."""
        first = int(np.flatnonzero(violated)[0])
        if first < len(self.forbid):
            return f"forbidden by {self.forbid[first]!r}"
        return f"outside the limit {self.rules.constraints[first - len(self.forbid)].text!r}"

    def active(self, config: Mapping[str, Any]) -> list[str]:
        """Names of the parameters that are active in a config."""
        on = self.encode([config]).on
        return [p.name for p, is_on in zip(self.parameters, self.layout.active(on)[0]) if is_on]

    def encode(self, configs: Sequence[Mapping[str, Any]], fill: Mapping[str, Any] | None = None) -> Points:
        """Configs as points; each must have exactly its active parameters, except those in ``fill``."""
        return encoding.encode_exact(self.rules, self.parameters, configs, fill)[0]

    def decode(self, points: Points) -> list[Config]:
        """Points as configs."""
        return encoding.decode(self.rules, self.parameters, points)

    def snap(self, x: FloatArray) -> Points:
        """Points at the values nearest to ``x`` (n, columns), with the activity they imply.

        Points that violate a relation of ``require`` move to the nearest ones that meet it, where possible.
        """
        points = self.rules.snap(x)
        return repair(self.rules, points) if self.require else points

    def scatter(self, x: FloatArray) -> Points:
        """Like ``snap``, for draws ``x`` that fill the unit cube: mixtures are spread over their simplex."""
        if self.require:
            return repair(self.rules, drawn_points(self.rules, x))
        return self.rules.snap(x)

    def violations(self, points: Points) -> BoolArray:
        """(n, clauses + relations) which forbidden clauses are true, and which relations do not hold."""
        return self.rules.violations(EncodedView(self.rules, points.x), points.on)

    def legal(self, points: Points) -> BoolArray:
        """(n,) whether no forbidden clause is true and every relation holds."""
        if not (self.forbid or self.require):
            return np.ones(len(points), dtype=bool)
        legal: BoolArray = np.logical_not(np.any(self.violations(points), axis=1))
        return legal

    # ---- text --------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The space as JSON-able data; ``Space.from_json`` reads it back."""
        return serialise.to_dict(self.declared, self.forbid, self.require)

    def to_json(self) -> str:
        """The space as a JSON text."""
        return serialise.to_json(self.declared, self.forbid, self.require)

    @staticmethod
    def from_json(text: str | Mapping[str, Any]) -> Space:
        """The space that a JSON text, or the data in one, describes."""
        return Space(*serialise.from_json(text))

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Space:
        """The space in a file: bough's JSON or YAML, ConfigSpace's JSON, or a solver's .pcs."""
        parts = serialise.load(path)
        try:
            return Space(*parts)
        except SpaceError as error:
            raise type(error)(f"{os.fspath(path)}: {error}") from None

    @staticmethod
    def trace(function: Callable[[AskingTrial], object], *, runs: int = 500) -> Space:
        """The space of a define-by-run function that only asks; it is called with many answers.

        ``function(trial)`` asks ``trial.float``, ``trial.int``, ``trial.categorical`` and ``trial.choice``,
        and may branch on the answers. runs: how many calls explore it, before bisection and checks.
        Raises SpaceError if no comparison of earlier answers tells when a parameter is asked for.
        """
        from bough.space.trace import trace  # it makes a Space

        return trace(function, runs)

    def __str__(self) -> str:
        return render.render(self.declared, self.forbid, self.require)

    def _repr_html_(self) -> str:
        from bough.space.html import space_html  # for notebooks only

        return space_html(self)

    def __repr__(self) -> str:
        forbid = f", forbid={list(self.forbid)!r}" if self.forbid else ""
        require = f", require={list(self.require)!r}" if self.require else ""
        return f"Space({dict(self.declared)!r}{forbid}{require})"


def _default(domain: Domain) -> tuple[Scalar] | None:
    """The default in a tuple, since None may be one."""
    if isinstance(domain, Categorical):
        return None if isinstance(domain.default, Unset) else (domain.default,)
    if domain.fidelity:
        return (domain.high,)
    return None if domain.default is None else (domain.default,)


def _bare(parameter: Parameter) -> Domain:
    return dataclasses.replace(parameter.domain, when=None)
