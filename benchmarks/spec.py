"""The specification of a benchmark, read from a TOML file of ``benchmarks/specs``.

    title    = "One line for the report"
    source   = "Paper, figure"                  # optional
    problems = ["branches", "small*-shifted"]   # names, families, or patterns of names
    methods  = ["auto", "tpe", "optuna", "add-tree(kernel='se')"]
    seeds    = 10
    trials   = 80
    full     = {seeds = 25}                     # what --full changes
    borrow   = ["peers"]                        # take studies that another spec has run from its results

    [[block]]                                   # optional: parts that differ from the above
    problems = ["cash"]
    trials   = 100

It runs all combinations of problems, methods and seeds. ``first_seed`` is the first seed. ``labels`` renames
methods in figures, ``reference`` is the method that the report compares with the others and with the best of
each of ``groups``, ``paper`` has printed numbers for the page that compares ours with them.
"""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import bough
from benchmarks.runner import Record, Task, parse_method, read
from bough.errors import BoughError
from bough.registry import is_registered

FOLDER = Path(__file__).parent / "specs"
RESULTS = Path(__file__).parent / "results"
_LISTS, _COUNTS = ("problems", "methods"), ("seeds", "trials")
_SHAPE = (*_LISTS, *_COUNTS)
_KEYS = {
    *_SHAPE,
    "title",
    "source",
    "full",
    "borrow",
    "block",
    "labels",
    "reference",
    "paper",
    "groups",
    "first_seed",
}


class SpecError(ValueError):
    """A spec that cannot be run; the message names the file and what would be right."""


@dataclass(frozen=True)
class Block:
    """All combinations of problems, methods and seeds, at one budget."""

    problems: tuple[str, ...]
    methods: tuple[str, ...]
    seeds: int
    trials: int


@dataclass(frozen=True)
class Spec:
    """A benchmark: its blocks, and the texts of its report."""

    name: str
    title: str
    source: str
    blocks: tuple[Block, ...]
    folder: Path = RESULTS
    borrow: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    reference: str = "auto"
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    paper: Mapping[str, Any] = field(default_factory=dict)
    first_seed: int = 0

    @property
    def out(self) -> Path:
        return self.folder / f"{self.name}.jsonl"

    def tasks(self) -> list[Task]:
        """Every study once, all methods and problems of a seed before the next seed."""
        return list(dict.fromkeys(sorted(self._tasks(), key=lambda task: task.seed)))

    def _tasks(self) -> Iterator[Task]:
        for block in self.blocks:
            for seed in range(self.first_seed, self.first_seed + block.seeds):
                for problem in block.problems:
                    for method in block.methods:
                        yield Task(problem, method, seed, block.trials)

    def borrowed(self) -> list[Record]:
        return [record for name in self.borrow for record in read(self.folder / f"{name}.jsonl")]

    def records(self) -> list[Record]:
        """The records of this spec so far, in the order of its tasks."""
        found = {record.key: record for record in (*self.borrowed(), *read(self.out))}
        return [found[task.key] for task in self.tasks() if task.key in found]


def load(name: str, *, full: bool = False) -> Spec:
    """A spec by its name, or by the path of a file; results are then kept beside that file.

    ``full`` takes its full budgets.
    """
    path = FOLDER / f"{name}.toml" if "/" not in name and not name.endswith(".toml") else Path(name)
    if not path.exists():
        known = ", ".join(sorted(file.stem for file in FOLDER.glob("*.toml")))
        raise SpecError(f"no benchmark {name!r}; there are {known}, or give the path of a TOML file")
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{path.name}: {error}") from None
    try:
        found = _spec(path.stem, table, full)
        return found if path.parent == FOLDER else replace(found, folder=path.parent)
    except SpecError as error:
        raise SpecError(f"{path.name}: {error}") from None


def _spec(name: str, table: dict[str, Any], full: bool) -> Spec:
    _check_keys(table, _KEYS, "a spec")
    if not isinstance(table.get("title"), str):
        raise SpecError('give it a title, as in title = "Quick profile"')
    top = {key: table[key] for key in _SHAPE if key in table}
    blocks = table.get("block", [{}])
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise SpecError("blocks are written [[block]]")
    for block in blocks:
        _check_keys(block, {*_SHAPE, "full"}, "a block")
    changes = [{**table.get("full", {}), **block.get("full", {})} if full else {} for block in blocks]
    for change in (table.get("full", {}), *(block.get("full", {}) for block in blocks)):
        _check_keys(change, set(_SHAPE), "full")
    return Spec(
        name=name,
        title=table["title"],
        source=table.get("source", ""),
        blocks=tuple(
            _block({**top, **{k: v for k, v in block.items() if k != "full"}, **change})
            for block, change in zip(blocks, changes)
        ),
        borrow=tuple(table.get("borrow", ())),
        labels=table.get("labels", {}),
        reference=table.get("reference", "auto"),
        groups=table.get("groups", {}),
        paper=table.get("paper", {}),
        first_seed=table.get("first_seed", 0),
    )


def _check_keys(table: Any, known: set[str], what: str) -> None:
    if not isinstance(table, dict):
        raise SpecError(f"{what} must be a table, not {table!r}")
    for key in table:
        if key not in known:
            raise SpecError(f"{key!r} is unknown; {what} may have {', '.join(sorted(known))}")


def _block(table: dict[str, Any]) -> Block:
    for key in _SHAPE:
        if key not in table:
            raise SpecError(f"{key} is missing")
    for key in _LISTS:
        if not isinstance(table[key], list) or not all(isinstance(entry, str) for entry in table[key]):
            raise SpecError(f"{key} must be a list of names, not {table[key]!r}")
    for key in _COUNTS:
        if type(table[key]) is not int or table[key] < 1:
            raise SpecError(f"{key} must be a whole number of at least 1, not {table[key]!r}")
    return Block(
        problems=tuple(dict.fromkeys(name for entry in table["problems"] for name in expand(entry))),
        methods=tuple(check_method(entry) for entry in table["methods"]),
        seeds=table["seeds"],
        trials=table["trials"],
    )


def expand(entry: str) -> Sequence[str]:
    """The problems for a name, a family or a pattern."""
    from benchmarks.problems import FAMILIES, PROBLEMS, nearest

    if entry in FAMILIES:
        return FAMILIES[entry]
    if entry.removesuffix("-shifted") in PROBLEMS:
        return (entry,)
    found = fnmatch.filter(PROBLEMS, entry)
    if not found:
        raise SpecError(f"no problem {entry!r}; {nearest(entry)}")
    return found


def check_method(entry: str) -> str:
    """The entry itself if it is one of our methods, with options that exist, or a peer."""
    from benchmarks.peers import PEERS

    if entry in PEERS:
        return entry
    name = entry.partition("(")[0]
    if not is_registered(name):
        raise SpecError(
            f"no method {name!r}; ours are {', '.join(bough.methods())}; peers {', '.join(PEERS)}"
        )
    try:
        parse_method(entry)
    except (BoughError, SyntaxError, ValueError) as error:
        raise SpecError(f"method {entry!r}: {error}") from None
    return entry
