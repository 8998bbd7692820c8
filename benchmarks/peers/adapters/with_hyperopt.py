"""Hyperopt: nested ``hp.choice``, in which a parameter is a node below every option that makes it active.

A node may be below several options, so OR conditions and shared parameters are represented exactly. Integers
and ordinals are quantised ranges, but an integer on which others depend is a choice of its values. If nesting
cannot express a condition (on two parents at once, or on a range), the parameter is always sampled, and left
out of the config if inactive. Hyperopt has no forbidden clauses; a forbidden suggestion is reported as
failed, and Hyperopt is asked again.

Hyperopt has no ask and tell, so the loop is the loop of ``fmin``; failures are STATUS_FAIL.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np
from ConfigSpace import (
    CategoricalHyperparameter,
    ConfigurationSpace,
    Constant,
    OrdinalHyperparameter,
    UniformIntegerHyperparameter,
)
from hyperopt import JOB_STATE_DONE, STATUS_FAIL, STATUS_OK, Trials, hp, space_eval
from hyperopt import tpe as library
from hyperopt.base import Domain, spec_from_misc
from hyperopt.pyll import as_apply, scope

from .space import (
    MAX_REDRAWS,
    Config,
    Optimiser,
    is_legal,
    levels,
    only_active,
    places,
    plain,
    random_config,
)

HERE = ""
"""The key of a choice's value among the parameters below it: no parameter has an empty name."""


def tpe(space: ConfigurationSpace, seed: int, trials: int) -> Optimiser:
    """``tpe.suggest`` with its default settings."""
    nested = nest(space)
    domain = Domain(lambda values: 0.0, nested)
    history = Trials()
    rng = np.random.default_rng(seed)
    space.seed(seed)
    for _ in range(trials):
        for _ in range(MAX_REDRAWS):
            ids = history.new_trial_ids(1)
            history.refresh()
            history.insert_trial_docs(
                library.suggest(ids, domain, history, rng.integers(2**31 - 1), verbose=False)
            )
            history.refresh()
            document = history.trials[-1]
            config = only_active(space, unnest(space_eval(nested, spec_from_misc(document["misc"]))))
            if is_legal(space, config):
                _tell(history, document, (yield config))
                break
            _tell(history, document, None)
        else:
            yield random_config(space)  # not one of its trials, so it is not told the value


def nest(space: ConfigurationSpace) -> dict[str, Any]:
    """The space for Hyperopt: a dict of nodes; choices contain the parameters below their options."""
    hangs = places(space)
    below: dict[tuple[str, Any], list[str]] = defaultdict(list)
    for name, found in hangs.items():
        for place in found:
            below[place].append(name)
    parents = {parent for parent, _ in below}
    nodes: dict[str, Any] = {}
    for name in reversed(list(space)):  # children first, so their nodes exist and can be shared
        if name in parents:
            options = levels(space[name]) or []
            nodes[name] = hp.choice(
                name,
                [{HERE: value, **{child: nodes[child] for child in below[name, value]}} for value in options],
            )
        else:
            nodes[name] = _node(name, space[name])
    return {name: nodes[name] for name in space if not hangs.get(name)}


def unnest(nested: dict[str, Any]) -> Config:
    """The values in a nested point, each under its name."""
    values: Config = {}
    for name, entry in nested.items():
        if isinstance(entry, dict):
            values |= {name: entry[HERE]} | unnest({k: v for k, v in entry.items() if k != HERE})
        else:
            values[name] = entry
    return values


def _node(name: str, parameter: Any) -> Any:
    match parameter:
        case CategoricalHyperparameter() | Constant():
            return hp.choice(name, levels(parameter))
        case OrdinalHyperparameter():
            sequence = [plain(value) for value in parameter.sequence]
            return as_apply(sequence)[_integer(name, 0, len(sequence) - 1, log=False)]
        case UniformIntegerHyperparameter():
            return _integer(name, int(parameter.lower), int(parameter.upper), log=parameter.log)
    low, high = float(parameter.lower), float(parameter.upper)
    return (
        hp.loguniform(name, math.log(low), math.log(high)) if parameter.log else hp.uniform(name, low, high)
    )


def _integer(name: str, low: int, high: int, *, log: bool) -> Any:
    """A range whose ends are half a step further out, so the first and last value get their full share."""
    ends = low - 0.5, high + 0.5
    node = hp.qloguniform(name, *map(math.log, ends), 1) if log else hp.quniform(name, *ends, 1)
    return scope.min(scope.max(scope.int(node), low), high)


def _tell(history: Trials, document: dict[str, Any], value: float | None) -> None:
    failed = value is None
    document["result"] = {"status": STATUS_FAIL} if failed else {"status": STATUS_OK, "loss": value}
    document["state"] = JOB_STATE_DONE
    history.refresh()
