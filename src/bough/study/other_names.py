"""Names from other packages: if a user tries one of them, the error says what bough calls it."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

__all__ = ["OPTION_NAMES", "RUN_NAMES", "STUDY_NAMES", "hinting", "no_attribute", "unexpected"]

P = ParamSpec("P")
R = TypeVar("R")

STUDY_NAMES = {
    "add_trial": "study.add(config, value)",
    "best_params": "study.best.config",
    "best_trial": "study.best",
    "best_trials": "study.front",
    "best_value": "study.best.value",
    "enqueue_trial": "study.enqueue(config)",
    "optimize": "study.run(objective, trials=50)",
    "study_name": "study.name",
    "trials_dataframe": "study.frame()",
}
"""Attributes of Optuna's study, and their counterparts here."""

RUN_NAMES = {
    "params": "run.trial.config",
    "should_prune": "run.stop, which is also the answer of run.report(value, step)",
}
"""Attributes of Optuna's trial, and their counterparts here."""

OPTION_NAMES = {
    "directions": "objectives",
    "max_evals": "trials",
    "n_iter": "trials",
    "n_jobs": "workers",
    "n_trials": "trials",
    "pruner": "stopping",
    "sampler": "method",
    "study_name": "name",
}
"""Options of other packages, and their names here."""


OPTIONS_OF_A_RUN = ("trials", "workers")
"""The options among these that ``run`` has; ``Study`` has the others."""


def unexpected(name: str, known: Sequence[str]) -> TypeError:
    """The error for an unknown option: the one that was meant, the function that has it, or all options."""
    here = OPTION_NAMES.get(name)
    if here is not None and here not in known:
        owner = "run and minimize" if here in OPTIONS_OF_A_RUN else "Study"
        return TypeError(
            f"unexpected keyword argument {name!r}: bough calls it {here!r}, an option of {owner}"
        )
    meant = here or next(iter(difflib.get_close_matches(name, known, n=1)), None)
    hint = f"did you mean {meant!r}?" if meant else f"the options are {', '.join(known)}"
    return TypeError(f"unexpected keyword argument {name!r}: {hint}")


def hinting(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function name the option that was meant, and the arguments that need no name."""
    parameters = inspect.signature(function).parameters
    known = [name for name in parameters if name != "self"]
    first = [name for name, each in parameters.items() if each.kind is each.POSITIONAL_OR_KEYWORD]
    takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters.values())

    @functools.wraps(function)
    def called(*args: P.args, **options: P.kwargs) -> R:
        for name in sorted(options.keys() - known):
            if not takes_any or name in OPTION_NAMES:
                raise unexpected(name, known)
        if len(args) > len(first):
            named = " and ".join(repr(name) for name in first if name != "self")
            raise TypeError(f"too many arguments: only {named} may be given without a name")
        return function(*args, **options)

    return called


def no_attribute(owner: object, name: str, names: dict[str, str]) -> Any:
    """Raise AttributeError, with the counterpart of ``name`` if there is one."""
    if name not in names:
        return object.__getattribute__(owner, name)  # raises the error of a property that failed
    kind = type(owner).__name__
    raise AttributeError(
        f"{kind!r} object has no attribute {name!r}: write {names[name]}", name=name, obj=owner
    )
