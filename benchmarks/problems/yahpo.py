"""Surrogates of real tuning problems: YAHPO Gym (Pfisterer et al. 2022, arXiv 2109.03670).

A neural network, fitted to millions of training runs, predicts every measure of a configuration in about a
millisecond. ``yahpo-xgboost-3`` is the set ``rbv2_xgboost`` on task 3. The search minimises 1 - balanced
accuracy at the full training set (or all epochs); ``measures`` gives the other outputs too.

Tasks are split in two: ``DEVELOPMENT`` for choices and tuning, ``PUBLISHED`` only for published results.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import bough
from benchmarks.problems.base import Config, Problem

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "yahpo"
SETS = {"xgboost": "rbv2_xgboost", "rpart": "rbv2_rpart", "lcbench": "lcbench"}
ACCURACY = {"xgboost": "bac", "rpart": "bac", "lcbench": "val_balanced_accuracy"}

_RBV2_DEVELOPMENT = (
    3, 12, 16, 23, 29, 44, 54, 181, 300, 334, 458, 554, 1050, 1063, 1111, 1468, 1478, 1485, 1497, 1515, 4135,
    4538, 23381, 40496, 40536, 40685, 40923, 40975, 40984, 41027, 41143, 41156, 41161, 41164, 41168,
)  # fmt: skip
_RBV2_PUBLISHED = (
    6, 14, 18, 24, 31, 38, 46, 182, 307, 375, 469, 1040, 1053, 1220, 1462, 1475, 1479, 1486, 1493, 1501, 1590,
    4154, 4541, 23512, 40498, 40668, 40701, 40927, 40978, 40982, 40994, 41138, 41146, 41157, 41162, 41165,
    41169,
)  # fmt: skip
_LCBENCH_DEVELOPMENT = (
    3945, 126025, 146212, 167152, 167181, 167190, 168329, 168335, 168910, 189865, 189905, 189909,
)  # fmt: skip
_LCBENCH_PUBLISHED = (
    7593, 126026, 167104, 167161, 167184, 167200, 168330, 168868, 189354, 189866, 189906,
)  # fmt: skip


def _names(rbv2: Sequence[int], lcbench: Sequence[int]) -> tuple[str, ...]:
    tasks = {"xgboost": rbv2, "rpart": rbv2, "lcbench": lcbench}
    return tuple(f"yahpo-{kind}-{task}" for kind, numbers in tasks.items() for task in numbers)


DEVELOPMENT = _names(_RBV2_DEVELOPMENT, _LCBENCH_DEVELOPMENT)
PUBLISHED = _names(_RBV2_PUBLISHED, _LCBENCH_PUBLISHED)


@dataclass(frozen=True, eq=False)
class Surrogate:
    """One set: the network, the encoding of configs for it, and the name of its fidelity."""

    session: Any
    codes: Mapping[str, Mapping[str, int]]
    categorical: tuple[str, ...]
    numeric: tuple[str, ...]
    outputs: tuple[str, ...]
    instance: str
    full: Mapping[str, float]

    def measures(self, task: str, config: Config, fidelity: Mapping[str, float]) -> dict[str, float]:
        """Every output for a config on a task; a missing category has a code, a missing number is 0."""
        return self.at_levels(task, config, [fidelity])[0]

    def at_levels(
        self, task: str, config: Config, fidelities: Sequence[Mapping[str, float]]
    ) -> list[dict[str, float]]:
        """Every output at each of several fidelities, predicted in one call."""
        rows = [{**config, self.instance: task, **fidelity} for fidelity in fidelities]
        codes = [[self.codes[name][str(row.get(name, "#na#"))] for name in self.categorical] for row in rows]
        numbers = [[float(row.get(name, 0.0)) for name in self.numeric] for row in rows]
        inputs = {"x_cat": np.array(codes, np.int32), "x_cont": np.array(numbers, np.float32)}
        predicted = self.session.run(None, inputs)[0]
        return [dict(zip(self.outputs, map(float, row), strict=True)) for row in predicted]


@functools.cache
def surrogate(kind: str) -> Surrogate:
    """The surrogate of one set, read once per process and run on one thread."""
    import onnxruntime

    folder = DATA / SETS[kind]
    io = json.loads((folder / "io.json").read_text())
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options)
    return Surrogate(
        session=session,
        codes=json.loads((folder / "encoding.json").read_text()),
        categorical=tuple(io["x_cat"]),
        numeric=tuple(io["x_cont"]),
        outputs=tuple(io["outputs"]),
        instance=io["instance"],
        full=io["full"],
    )


def space(kind: str) -> bough.Space:
    """The search space of a set, without its task and its fidelity."""
    model = surrogate(kind)
    table = json.loads((DATA / SETS[kind] / "config_space.json").read_text())
    when = {condition["child"]: _condition(condition) for condition in table["conditions"]}
    fixed = {model.instance, *model.full}
    return bough.Space(
        {
            entry["name"]: _parameter(entry, when.get(entry["name"]))
            for entry in table["hyperparameters"]
            if entry["name"] not in fixed
        }
    )


def _condition(entry: Mapping[str, Any]) -> str:
    values = entry["values"] if entry["type"] == "IN" else [entry["value"]]
    return f"`{entry['parent']}` in ({', '.join(map(repr, values))},)"


def _parameter(entry: Mapping[str, Any], when: str | None) -> Any:
    if entry["type"] == "categorical":
        return bough.Categorical(entry["choices"], when=when)
    kind = {"uniform_float": bough.Float, "uniform_int": bough.Int}[entry["type"]]
    return kind(entry["lower"], entry["upper"], log=entry["log"], when=when)


def measures(
    name: str, *, fidelity: Mapping[str, float] | None = None
) -> Callable[[Config], dict[str, float]]:
    """All measures of a problem by its name, at the full fidelity unless given."""
    kind, task = name.removeprefix("yahpo-").split("-")
    model = surrogate(kind)
    level = {**model.full, **(fidelity or {})}
    return lambda config: model.measures(task, config, level)


def yahpo(name: str) -> Problem:
    """Minimise 1 - balanced accuracy of ``yahpo-SET-TASK``."""
    kind, _ = name.removeprefix("yahpo-").split("-")
    everything = measures(name)

    def error(config: Config) -> float:
        return 1.0 - everything(config)[ACCURACY[kind]]

    def branch(config: Config) -> str:
        return str(config.get("booster", ""))

    return Problem(name, space(kind), error, None, branch)
