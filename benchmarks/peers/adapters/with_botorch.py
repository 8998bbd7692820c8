"""BoTorch: ``HierarchicalConditionalKernelGP`` with its defaults, and LogEI maximised in every branch.

BoTorch has no optimisation loop; this one is as simple as its tutorials: first scrambled Sobol points; then
fit (starting from the last fit, as tutorials do), maximise LogEI from several starts in each branch, and take
the best point after rounding. Branches are the combinations of values on which other parameters depend; if
there are very many, only those of a random sample and of the best trials are searched.

The model supports only trees: a parameter that several values share, or with a more complex condition,
becomes a root; it is always modelled, and left out of the config if inactive. Failures are not supported:
they count as the worst value so far. Forbidden points and repetitions are skipped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models.hierarchical import HierarchicalConditionalKernelGP as Model
from botorch.optim import optimize_acqf
from ConfigSpace import ConfigurationSpace
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch.quasirandom import SobolEngine

from .columns import Columns
from .space import Config, Optimiser, is_legal, levels, only_active, tree

INITIAL = 10
RESTARTS = 4
"""Starting points of the search in each branch."""
RAW_SAMPLES = 64
"""Random points from which the starting points are chosen."""
MAX_SEARCHED = 32
"""The most branches that are searched."""
MAX_DRAWS = 1000
"""Points that are drawn to find a legal and new one; if none is found, the space counts as exhausted."""

Branch = dict[str, Any]
"""The value of every active parameter on which others depend."""


def conditional(space: ConfigurationSpace, seed: int, trials: int) -> Optimiser:
    """Bayesian optimisation with the conditional kernel."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    below = tree(space)
    columns = Columns(space, below)
    sobol = SobolEngine(columns.width, scramble=True, seed=seed)
    tried: set[str] = set()
    rows: list[list[float]] = []
    values: list[float | None] = []
    model: Model | None = None

    def fresh(row: list[float]) -> bool:
        config = only_active(space, columns.decode(row))
        return json.dumps(config) not in tried and is_legal(space, config)

    for _ in range(trials):
        drawn = (sobol.draw(1, dtype=torch.double)[0].tolist() for _ in range(MAX_DRAWS))
        known = [value for value in values if value is not None]
        ordered: Iterator[list[float]] = iter(())
        if len(rows) >= INITIAL and known:
            x = torch.tensor(rows, dtype=torch.double)
            y = torch.tensor([[max(known) if v is None else v] for v in values], dtype=torch.double)
            model = _fitted(x, y, _dependencies(columns, below), model)
            ordered = _ranked(model, columns, below, x, y)
        row = next(filter(fresh, ordered), None) or next(filter(fresh, drawn), None)
        if row is None:
            return
        point = columns.decode(row)
        config = only_active(space, point)
        tried.add(json.dumps(config))
        rows.append(columns.row(point))
        values.append((yield config))


def _fitted(x: torch.Tensor, y: torch.Tensor, tree_: dict[int, Any], last: Model | None) -> Model:
    """The model of rows ``x`` (n, width) and values ``y`` (n, 1); the fit starts where the last one ended."""
    model = Model(x, y, hierarchical_dependencies=tree_)
    if last is not None:
        for part in ("mean_module", "covar_module", "likelihood"):
            getattr(model, part).load_state_dict(getattr(last, part).state_dict())
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def _ranked(
    model: Model, columns: Columns, below: dict[str, Any], x: torch.Tensor, y: torch.Tensor
) -> Iterator[list[float]]:
    """Points with a high LogEI, the best first: some for every branch."""
    gain = LogExpectedImprovement(model, best_f=y.min(), maximize=False)
    bounds = torch.tensor([[0.0] * columns.width, [1.0] * columns.width], dtype=torch.double)
    found: list[list[float]] = []
    for branch in _searched(columns, below, x, y):
        fixed = _fixed(columns, below, branch)
        if len(fixed) == columns.width:
            found.append([fixed[column] for column in range(columns.width)])
            continue
        best, _ = optimize_acqf(
            gain,
            bounds,
            q=1,
            num_restarts=RESTARTS,
            raw_samples=RAW_SAMPLES,
            fixed_features=fixed,
            return_best_only=False,
        )
        found += best[:, 0].tolist()
    rounded = [columns.row(columns.decode(row)) for row in found]
    with torch.no_grad():
        scores = gain(torch.tensor(rounded, dtype=torch.double).unsqueeze(1))
    return (rounded[at] for at in scores.argsort(descending=True).tolist())


def _dependencies(columns: Columns, below: dict[str, Any]) -> dict[int, dict[int | float, list[int]]]:
    """The tree as the model needs it: columns and their entries."""
    return {
        columns.of[parent][0]: {
            columns.encode(parent, value)[0]: [column for child in children for column in columns.of[child]]
            for value, children in options.items()
        }
        for parent, options in below.items()
    }


def _searched(columns: Columns, below: dict[str, Any], x: torch.Tensor, y: torch.Tensor) -> list[Branch]:
    """All branches, or if there are too many those of the best trials and of random points."""
    every = list(islice(_branches(columns.space, below), MAX_SEARCHED + 1))
    if len(every) <= MAX_SEARCHED:
        return every
    best = x[y[:, 0].argsort()[: MAX_SEARCHED // 4]]
    points = torch.cat([best, torch.rand(MAX_SEARCHED, columns.width, dtype=torch.double)])
    some = [_branch_of(below, columns.decode(row)) for row in points.tolist()]
    distinct = {json.dumps(branch): branch for branch in some}
    return list(distinct.values())[:MAX_SEARCHED]


def _branches(space: ConfigurationSpace, below: dict[str, Any]) -> Iterator[Branch]:
    def expand(open_: list[str], branch: Branch) -> Iterator[Branch]:
        if not open_:
            yield branch
            return
        name, *rest = open_
        for value in levels(space[name]) or []:
            opened = [child for child in below[name].get(value, []) if child in below]
            yield from expand(rest + opened, {**branch, name: value})

    return expand(_roots(below), {})


def _branch_of(below: dict[str, Any], values: Config) -> Branch:
    open_, branch = _roots(below), {}
    while open_:
        name = open_.pop()
        branch[name] = values[name]
        open_ += [child for child in below[name].get(values[name], []) if child in below]
    return dict(sorted(branch.items()))


def _roots(below: dict[str, Any]) -> list[str]:
    hanging = {child for options in below.values() for children in options.values() for child in children}
    return [name for name in below if name not in hanging]


def _fixed(columns: Columns, below: dict[str, Any], branch: Branch) -> dict[int, float]:
    """Entries that a branch fixes: its values, and zeros for all inactive parameters."""
    fixed: dict[int, float] = {}
    for parent, options in below.items():
        for value, children in options.items():
            if branch.get(parent, _NOTHING) != value:
                fixed |= {column: 0.0 for child in children for column in columns.of[child]}
    return fixed | {columns.of[name][0]: columns.encode(name, value)[0] for name, value in branch.items()}


_NOTHING = object()
