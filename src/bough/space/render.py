"""Draw a space as a tree of text, one line per parameter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from bough.space.beliefs import likely_text
from bough.space.choice import Choice, Declared
from bough.space.parameters import Categorical, Float, Int, Unset
from bough.space.scalars import Scalar

__all__ = ["render"]

MAX_OPTIONS = 12
PLAIN = re.compile(r"[^\W\d][^,|<]*")
WORDS = {"True", "False", "None"}


def render(declared: Mapping[str, Declared], forbid: Sequence[str], require: Sequence[str] = ()) -> str:
    """The whole space: choices as branches, then the forbidden clauses and the required relations."""
    limits = [*(f"forbidden: {clause}" for clause in forbid), *(f"required: {each}" for each in require)]
    return "\n".join(["Space", *_branch(declared), *limits])


def _branch(parameters: Mapping[str, Declared]) -> Iterator[str]:
    last = len(parameters) - 1
    for i, (name, parameter) in enumerate(parameters.items()):
        elbow, indent = ("└── ", "    ") if i == last else ("├── ", "│   ")
        yield f"{elbow}{name}: {describe(parameter)}"
        if isinstance(parameter, Choice):
            for line in _options(parameter):
                yield indent + line


def _options(choice: Choice) -> Iterator[str]:
    last = len(choice.options) - 1
    for i, (label, children) in enumerate(choice.options.items()):
        elbow, indent = ("└── ", "    ") if i == last else ("├── ", "│   ")
        yield f"{elbow}{label}"
        for line in _branch(children):
            yield indent + line


def describe(parameter: Declared) -> str:
    """Domain, default and condition of one parameter, in words."""
    match parameter:
        case Float() | Int():
            text = f"{type(parameter).__name__.lower()} {_short(parameter.low)} to {_short(parameter.high)}"
            text += ", log" if parameter.log else ""
            text += f", step {_short(parameter.step)}" if parameter.step is not None else ""
            text += ", fidelity" if parameter.fidelity else ""
        case Categorical():
            shown = [_shown(option) for option in parameter.options[:MAX_OPTIONS]]
            shown += ["..."] if parameter.levels > MAX_OPTIONS else []
            text = (" < " if parameter.ordered else " | ").join(shown)
        case Choice():
            text = "choice"
    if isinstance(parameter, Categorical):
        text += "" if isinstance(parameter.default, Unset) else f", default {_shown(parameter.default)}"
    elif parameter.default is not None:
        text += f", default {_shown(parameter.default)}"
    text += f", likely {likely_text(parameter.likely)}" if parameter.likely is not None else ""
    return text + (f", when {parameter.when}" if parameter.when else "")


def _short(number: float) -> str:
    text = f"{number:g}"
    return text if float(text) == number else repr(number)


def _shown(value: Scalar) -> str:
    """A value without quotes, unless it is a string that reads like something else."""
    if value is None or isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        return _short(value)
    return value if value.isprintable() and PLAIN.fullmatch(value) and value not in WORDS else repr(value)
