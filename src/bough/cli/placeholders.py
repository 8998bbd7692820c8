"""The placeholders of a command: fills in the values of a config, and leaves out words.

The rule: if a parameter is inactive, the word with its placeholder is left out, together with a flag of the
same name right before it (``--rate {rate}``). Words between ``[`` and ``]`` are left out together. A flag of
another name before an optional word (``--fast {x}``) is ambiguous, so it is refused.
"""

from __future__ import annotations

import difflib
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bough.errors import ConfigError
from bough.space import Space
from bough.trial import Config

__all__ = ["Unit", "as_text", "check_command", "example_configs", "fill", "units_of"]

PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
BARE_FLAG = re.compile(r"-{1,2}[A-Za-z][^={}]*")
FILES = ("config", "result", "trial")
"""Placeholders that are not parameters."""
RESUMES = "resumes"
"""The placeholder for the number of the trial that is continued at a higher fidelity, if there is one."""
INSTANCE = "instance"
"""The placeholder for an instance; only in a race."""
SAMPLED_CONFIGS = 256
"""The number of random configs that are searched for different branches."""


@dataclass(frozen=True)
class Unit:
    """Words of a command that are kept or left out together.

    flag_before: a flag before them that may or may not belong to them.
    """

    words: tuple[str, ...]
    flag_before: str | None = None

    @property
    def names(self) -> list[str]:
        """The names in the unit's placeholders."""
        return [name for word in self.words for name in _names(word)]


def units_of(words: Sequence[str]) -> list[Unit]:
    """The command as units; ConfigError if brackets do not match."""
    units: list[Unit] = []
    group: list[str] | None = None
    for word in words:
        plain = PLACEHOLDER.sub("", word)
        if plain.count("{") != plain.count("}"):
            there, missing = ("{", "}") if "{" in plain else ("}", "{")
            raise ConfigError(
                f"{word!r:.80} has {there!r} without {missing!r}; write {2 * there!r} for a plain brace"
            )
        if word == "[":
            if group is not None:
                raise ConfigError("the command has '[' inside of '[ ]': groups do not nest")
            group = []
        elif word == "]":
            if group is None:
                raise ConfigError("the command has ']' without '[' before it; write ']]' for a plain bracket")
            units.append(_group(group))
            group = None
        elif group is not None:
            group.append(_bracket(word))
        else:
            units.append(_with_flag(units, _bracket(word)))
    if group is not None:
        raise ConfigError("the command has '[' without ']' after it; write '[[' for a plain bracket")
    return units


def fill(units: Sequence[Unit], config: Config, files: Mapping[str, str]) -> list[str]:
    """The command for a config. ConfigError if it is ambiguous which words an inactive parameter removes."""
    values = {**files, **{name: as_text(value) for name, value in config.items()}}
    filled: list[str] = []
    for unit in units:
        missing = [name for name in unit.names if name not in values]
        if not missing:
            filled += [PLACEHOLDER.sub(lambda found: _value(found, values), word) for word in unit.words]
        elif unit is units[0]:
            raise ConfigError(f"the program's name has {{{missing[0]}}}, which is inactive")
        elif unit.flag_before is not None:
            raise ConfigError(_unclear(unit, missing[0]))
    return filled


def check_command(words: Sequence[str], space: Space, instances: bool = False) -> list[Unit]:
    """The command as units; ConfigError unless the program exists and every placeholder has one meaning.

    instances: whether {instance} stands for an instance of a race.
    """
    if not words:
        raise ConfigError("no command to run: end with -- COMMAND, such as: -- python train.py {config}")
    units = units_of(words)
    known = {parameter.name for parameter in space.parameters}
    names = (*FILES, INSTANCE) if instances else FILES
    names = names if space.fidelity is None else (*names, RESUMES)
    if instances:
        _check_instance(units, known)
    optional = _optional_names(space, {name for unit in units for name in unit.names} & known)
    optional |= {RESUMES} - known
    for position, unit in enumerate(units):
        for name in unit.names:
            if name not in known and name not in names:
                close = difflib.get_close_matches(name, known, n=1)
                others = (
                    f"there are also {', '.join(f'{{{each}}}' for each in names)}, and {{{{ }}}} for braces"
                )
                hint = f"did you mean {{{close[0]}}}?" if close else others
                if name == INSTANCE:
                    hint = "--instances FILE gives it one"
                raise ConfigError(
                    f"the command has {{{name}}}, but the space has no parameter {name!r}; {hint}"
                )
            if name in optional and position == 0:
                raise ConfigError(f"the program's name has {{{name}}}, which is not active in every trial")
            if name in optional and unit.flag_before is not None:
                raise ConfigError(_unclear(unit, name))
    if "{" not in words[0] and shutil.which(words[0]) is None:
        problem = "is not executable" if Path(words[0]).exists() else "cannot be found"
        raise ConfigError(f"the program {words[0]!r} {problem}")
    return units


def _check_instance(units: Sequence[Unit], known: set[str]) -> None:
    if INSTANCE in known:
        raise ConfigError("--instances gives {instance}, but the space has a parameter 'instance': rename it")
    if not any(INSTANCE in unit.names for unit in units):
        raise ConfigError("--instances needs {instance} in the command, such as: -- ./solve {instance}")


def example_configs(space: Space, count: int, seed: int | None) -> list[Config]:
    """Random configs, on different branches if possible."""
    sampled = space.sample(SAMPLED_CONFIGS, 0 if seed is None else seed)
    by_branch = {frozenset(config): config for config in reversed(sampled)}
    chosen = [config for config in sampled if by_branch[frozenset(config)] is config]
    others = [config for config in sampled if not any(config is one for one in chosen)]
    return [*chosen, *others][:count]


def as_text(value: Any) -> str:
    """A value as an argument of a program: text unchanged, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def _names(word: str) -> list[str]:
    return [found.group(1) for found in PLACEHOLDER.finditer(word) if found.group(1) is not None]


def _bracket(word: str) -> str:
    return word[0] if word in ("[[", "]]") else word


def _group(words: list[str]) -> Unit:
    unit = Unit(tuple(words))
    if not unit.names:
        text = " ".join(["[", *words, "]"])
        raise ConfigError(
            f"the group {text} has no placeholder, so it is never left out: remove its brackets"
        )
    return unit


def _with_flag(units: list[Unit], word: str) -> Unit:
    """The unit of a word, including a flag of the same name before it."""
    before = units[-1].words[-1] if len(units) > 1 and len(units[-1].words) == 1 else ""
    if not _names(word) or word.startswith("-") or not BARE_FLAG.fullmatch(before):
        return Unit((word,))
    if any(_letters(name) == _letters(before) for name in _names(word)):
        return Unit((*units.pop().words, word))
    return Unit((word,), flag_before=before)


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def _optional_names(space: Space, names: set[str]) -> set[str]:
    """The names of parameters that are inactive in some configs."""
    always = {parameter.name for parameter in space.parameters if parameter.condition is None}
    uses = [parameter.name for parameter in space.parameters]
    optional = {name for name in names - always if uses.count(name) == 1}
    shared = names - always - optional  # declared on several branches, perhaps on all
    if shared:
        configs = space.sample(SAMPLED_CONFIGS, 0)
        optional |= {name for name in shared if any(name not in config for config in configs)}
    return optional


def _unclear(unit: Unit, name: str) -> str:
    flag, word = unit.flag_before, " ".join(unit.words)
    return (
        f"{flag} {word}: {{{name}}} is not active in every trial, and {flag} may or may not belong to it; "
        f"write [ {flag} {word} ] to leave out both, or {flag} [ {word} ] to keep {flag}"
    )


def _value(found: re.Match[str], values: Mapping[str, str]) -> str:
    name = found.group(1)
    return found.group(0)[0] if name is None else values[name]
