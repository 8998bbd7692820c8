"""Ax: its Client with a hierarchical space, in which choices have dependent parameters.

A parameter may depend on only one value of one choice. If several values share it, or its condition is more
complex, it becomes a root: it is always suggested, and left out of the config if inactive. Options are passed
as strings, ordinals as their positions. Ax imputes inactive parameters (its default), and chooses its models.

A failed evaluation becomes an abandoned trial: in Ax, a failure that would happen again and that it avoids (a
trial marked as failed may be suggested again). Ax has no forbidden clauses, since its constraints are linear
and on ranges; a forbidden suggestion is abandoned too, and Ax is asked again.
"""

from __future__ import annotations

import json
from typing import Any

import torch
from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig
from ax.exceptions.core import SearchSpaceExhausted
from ax.exceptions.generation_strategy import GenerationStrategyRepeatedPoints
from ConfigSpace import (
    CategoricalHyperparameter,
    ConfigurationSpace,
    Constant,
    OrdinalHyperparameter,
    UniformIntegerHyperparameter,
)

from .space import MAX_REDRAWS, Optimiser, is_legal, levels, only_active, random_config, tree


def hierarchical(space: ConfigurationSpace, seed: int, trials: int) -> Optimiser:
    """The generation strategy that Ax chooses by default."""
    torch.set_num_threads(1)
    client = Client(random_seed=seed)
    client.configure_experiment(parameters=parameters(space))
    client.configure_optimization(objective="-value")
    space.seed(seed)
    for _ in range(trials):
        for _ in range(MAX_REDRAWS):
            try:
                ((index, point),) = client.get_next_trials(max_trials=1).items()
            except (SearchSpaceExhausted, GenerationStrategyRepeatedPoints):
                return
            config = only_active(space, {name: _decode(space[name], code) for name, code in point.items()})
            if is_legal(space, config):
                break
            client.mark_trial_abandoned(index)
        else:
            config = random_config(space)
            index = client.attach_trial({name: _encode(space[name], entry) for name, entry in config.items()})
        value = yield config
        if value is None:
            client.mark_trial_abandoned(index)
        else:
            client.complete_trial(index, raw_data={"value": value})


def parameters(space: ConfigurationSpace) -> list[ChoiceParameterConfig | RangeParameterConfig]:
    """The space as parameters of Ax."""
    below = tree(space)
    found: list[ChoiceParameterConfig | RangeParameterConfig] = []
    for name, parameter in space.items():
        match parameter:
            case CategoricalHyperparameter() | Constant() | OrdinalHyperparameter():
                options = levels(parameter)
            case UniformIntegerHyperparameter() if name in below:
                options = levels(parameter)
            case _:
                options = None
        if options is None:
            found.append(
                RangeParameterConfig(
                    name=name,
                    bounds=(parameter.lower, parameter.upper),
                    parameter_type="int" if isinstance(parameter, UniformIntegerHyperparameter) else "float",
                    scaling="log" if parameter.log else "linear",
                )
            )
        else:
            codes = [_encode(parameter, option) for option in options]
            found.append(
                ChoiceParameterConfig(
                    name=name,
                    values=codes,
                    parameter_type="str" if isinstance(codes[0], str) else "int",
                    is_ordered=None if isinstance(codes[0], str) else True,
                    dependent_parameters={
                        _encode(parameter, option): children for option, children in below[name].items()
                    }
                    if name in below
                    else None,
                )
            )
    return found


def _encode(parameter: Any, value: Any) -> Any:
    match parameter:
        case CategoricalHyperparameter() | Constant():
            return json.dumps(value)
        case OrdinalHyperparameter():
            return list(parameter.sequence).index(value)
    return value


def _decode(parameter: Any, code: Any) -> Any:
    match parameter:
        case CategoricalHyperparameter() | Constant():
            return json.loads(code)
        case OrdinalHyperparameter():
            return parameter.sequence[code]
    return code
