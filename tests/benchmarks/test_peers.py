"""The peers of the benchmarks are given legal spaces, and only ever evaluate legal configs.

What needs the peers' own environment is slow, and skips where `make bench-peers` has not been run. The pieces
that all adapters share, and the adapter of Optuna (which the development tools bring along), need no such
environment.
"""

from __future__ import annotations

import ast
import math
import sys
from pathlib import Path

import numpy as np
import pytest

import bough
from benchmarks.peers import PEERS, client, run_peer
from benchmarks.peers.adapters import registry
from benchmarks.peers.adapters import space as shared
from benchmarks.peers.adapters.columns import Columns
from benchmarks.problems.base import Config, Problem
from bough.errors import ConfigError
from bough.integrations.configspace_export import to_configspace_dict

ADAPTERS = Path(shared.__file__).parent


def nested() -> bough.Space:
    """Choices in choices, a name that two branches have each for themselves."""
    return bough.Space(
        {
            "model": bough.Choice(
                {
                    "tree": {"depth": bough.Int(1, 9), "size": bough.Float(0.1, 1.0)},
                    "net": {
                        "size": bough.Float(1e-4, 1.0, log=True),
                        "solver": bough.Choice({"sgd": {"momentum": bough.Float(0, 1)}, "adam": {}}),
                    },
                    "none": {},
                }
            ),
            "scale": bough.Categorical(["none", "unit", "rank"]),
        }
    )


def tangled() -> bough.Space:
    """OR, AND, ranges, steps, constants and forbidden combinations."""
    return bough.Space(
        {
            "layers": bough.Int(1, 4),
            "flag": bough.Categorical([True, False, None]),
            "kind": bough.Choice(
                {
                    "a": {"sub": bough.Choice({"u": {"x": bough.Float(0, 1)}, "v": {}})},
                    "b": {"step": bough.Int(0, 10, step=2), "fixed": bough.Categorical(["only"])},
                }
            ),
            "units": bough.Int(8, 256, log=True, when="layers >= 2"),
            "rate": bough.Float(1e-3, 1, log=True, when="kind == 'b' or sub == 'u'"),
            "both": bough.Float(0, 1, when="layers > 2 and sub == 'v'"),
            "deep": bough.Float(0, 1, when="x > 0.5"),
        },
        forbid=["layers == 4 and kind == 'b'", "layers == 1 and flag == None"],
    )


def finite() -> bough.Space:
    """Five configs in all."""
    return bough.Space(
        {"a": bough.Choice({"p": {"m": bough.Int(0, 2)}, "q": {"c": bough.Categorical(["x", "y"])}})}
    )


SPACES = {"nested": nested, "tangled": tangled, "finite": finite}


def problem(name: str) -> Problem:
    """A function of all active values. Some configs fail: by raising, or by NaN."""
    space = SPACES[name]()

    def function(config: Config) -> float:
        (x,) = space.encode([config]).x
        if name == "tangled" and config["layers"] == 3:
            raise RuntimeError("three layers do not work")
        if name == "nested" and config["scale"] == "rank":
            return math.nan
        return float(np.sum((x - 0.3) ** 2)) - 1.0

    return Problem(name, space, function, None, lambda config: next(iter(config.values())))


def read(space: bough.Space) -> shared.ConfigurationSpace:
    return shared.read_space(to_configspace_dict(space))


def written(space: bough.Space, config: Config) -> Config:
    """A config under the names that the exported space has."""
    names = [item["name"] for item in to_configspace_dict(space)["hyperparameters"]]
    columns = np.flatnonzero(space.layout.active(space.encode([config]).on)[0])
    return {names[column]: config[space.parameters[column].name] for column in columns}


def any_values(space: shared.ConfigurationSpace, draw: np.random.RandomState) -> Config:
    """A value for every parameter, active or not."""
    return {name: shared.plain(parameter.sample_value(seed=draw)) for name, parameter in space.items()}


# ---- what all adapters share ---------------------------------------------------------------------


@pytest.mark.parametrize("name", SPACES)
def test_of_all_values_the_active_ones_remain(name: str) -> None:
    ours = SPACES[name]()
    theirs = read(ours)
    draw = np.random.RandomState(1)  # ConfigSpace takes no Generator
    for config in ours.sample(100, np.random.default_rng(1)):
        known = written(ours, config)
        assert shared.only_active(theirs, any_values(theirs, draw) | known) == known


def test_forbidden_configs_are_seen() -> None:
    ours = tangled()
    theirs = read(ours)
    legal = written(ours, ours.sample(1, np.random.default_rng(2))[0])
    assert shared.is_legal(theirs, legal)
    assert not shared.is_legal(
        theirs, {"layers": 4, "flag": True, "kind": "b", "step": 2, "fixed": "only", "units": 9, "rate": 0.1}
    )
    assert not shared.is_legal(theirs, {"layers": 1, "flag": None, "kind": "a", "sub": "v"})


@pytest.mark.parametrize("name", SPACES)
def test_places_say_when_a_parameter_is_active(name: str) -> None:
    ours = SPACES[name]()
    places = shared.places(read(ours))
    for config in ours.sample(200, np.random.default_rng(3)):
        known = written(ours, config)
        for parameter, found in places.items():
            reached = any(known.get(parent) == value for parent, value in found if parent in known)
            assert (parameter in known) == (reached or not found)


def test_places_of_a_condition_that_is_no_list_are_not_given() -> None:
    theirs = read(tangled())
    assert set(theirs) - set(shared.places(theirs)) == {"both", "deep"}
    assert shared.places(theirs)["rate"] == [("kind", "b"), ("sub", "u")]
    assert shared.places(theirs)["units"] == [("layers", 2), ("layers", 3), ("layers", 4)]


def test_a_tree_has_every_parameter_once() -> None:
    assert shared.tree(read(tangled())) == {
        "kind": {"a": ["sub"], "b": ["fixed", "step"]},
        "sub": {"u": ["x"]},
    }
    assert shared.tree(read(nested()))["model"]["net"] == ["model=net/size", "solver"]


@pytest.mark.parametrize("name", SPACES)
def test_columns_hold_every_value(name: str) -> None:
    theirs = read(SPACES[name]())
    columns = Columns(theirs, shared.tree(theirs))
    draw = np.random.RandomState(4)
    for _ in range(50):
        values = any_values(theirs, draw)
        row = columns.row(values)
        assert len(row) == columns.width
        assert all(0 <= entry <= 1 for entry in row)
        back = columns.decode(row)
        assert set(back) == set(values)
        for key, value in values.items():
            assert back[key] == (pytest.approx(value) if isinstance(value, float) else value)


def test_adapters_import_neither_bough_nor_the_benchmarks() -> None:
    for path in ADAPTERS.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not {name.partition(".")[0] for name in names} & {"bough", "benchmarks"}, path


# ---- the pipe, with the peer that the development tools bring along --------------------------------


@pytest.mark.parametrize("peer", ["optuna", "optuna-group"])
@pytest.mark.parametrize("name", SPACES)
def test_optuna_suggests_legal_configs(peer: str, name: str) -> None:
    wanted = problem(name)
    run = registry.adapter(peer)(read(wanted.space), 0, 40)
    value: float | None = None
    failed = 0
    for _ in range(40):
        config = client.read_config(wanted, run.send(value))
        value = client.evaluate(wanted, config)
        failed += value is None
    assert failed < 40
    assert (failed > 0) == (name != "finite")


@pytest.mark.slow
def test_a_study_over_the_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "peer_python", lambda peer: Path(sys.executable))
    record = run_peer(problem("tangled"), "optuna", 0, 30)
    assert len(record.values) == len(record.branches) == len(record.ask_ms) == 30
    assert any(math.isnan(value) for value in record.values)
    assert -1 <= record.best(30) < 2
    again = run_peer(problem("tangled"), "optuna", 0, 30)
    np.testing.assert_array_equal(record.values, again.values)


def test_a_peer_that_breaks_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "peer_python", lambda peer: Path(sys.executable))
    with pytest.raises(RuntimeError, match="no-such-peer stopped"):
        run_peer(problem("finite"), "no-such-peer", 0, 3)


def test_a_peer_may_end_early_and_is_told_of_failures(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "peer"
    script.write_text(
        "#!/bin/sh\nread task\n"
        """echo '{"config": {"a": "q", "c": "x"}, "ms": 7.5}'; read told; echo "$told" >> "$0.told"\n"""
        """echo '{"config": {"a": "p", "m": 2}, "ms": 2.5}'; read told; echo "$told" >> "$0.told"\n"""
        """echo '{"config": null}'\n"""
    )
    script.chmod(0o755)
    monkeypatch.setattr(client, "peer_python", lambda peer: script)
    wanted = Problem("finite", finite(), lambda c: math.nan if "c" in c else 0.5, None, lambda c: c["a"])
    record = run_peer(wanted, "optuna", 0, 9)
    assert (tmp_path / "peer.told").read_text().split() == ["null", "0.5"]
    assert math.isnan(record.values[0])
    assert record.values[1:] == [0.5]
    assert (record.branches, record.ask_ms) == (["q", "p"], [7.5, 2.5])
    assert record.best(9) == 0.5


@pytest.mark.parametrize(
    "answer",
    [
        {"a": "p"},  # lacks an active parameter
        {"a": "p", "m": 1, "c": "x"},  # has an inactive one
        {"a": "p", "m": 3},  # outside its range
    ],
)
def test_what_a_peer_answers_is_checked(answer: Config) -> None:
    with pytest.raises(ConfigError):
        client.read_config(problem("finite"), answer)


def test_forbidden_answers_are_refused() -> None:
    with pytest.raises(ConfigError, match="forbidden"):
        client.read_config(problem("tangled"), {"layers": 1, "flag": None, "kind": "a", "sub": "v"})


# ---- every peer, in its own environment --------------------------------------------------------------

TRIALS = {"optuna": 14, "optuna-group": 14, "hyperopt": 24, "ax": 6, "smac-gp": 6}
"""More than its trials at random, so that its model is asked too; 11 for those that are not named."""
CASES = [
    *((peer, "tangled") for peer in PEERS),
    *((peer, "nested") for peer in ("optuna", "hyperopt", "ax", "botorch")),  # SMAC reads spaces as they are
    *((peer, "finite") for peer in ("smac", "botorch")),  # which end when they have tried everything
]


@pytest.mark.slow
@pytest.mark.parametrize(("peer", "name"), CASES)
def test_every_peer_evaluates_legal_configs_only(peer: str, name: str) -> None:
    if not (client.ROOT / ".venv-peers" / ".created").exists():
        pytest.skip("the peers are not installed: make bench-peers sets them up")
    seen: list[Config] = []
    wanted = problem(name)

    def function(config: Config) -> float:
        seen.append(config)
        return wanted.function(config)

    trials = TRIALS.get(peer, 11)
    record = run_peer(Problem(name, wanted.space, function, None, wanted.branch), peer, 1, trials)
    assert len(record.values) == len(seen)
    assert len(seen) == (5 if name == "finite" else trials)
    assert all(wanted.space.validate(config) == config for config in seen)
    assert math.isfinite(record.best(trials))
