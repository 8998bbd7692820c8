"""ConfigSpace both ways: nine published spaces, and small ones for every condition and clause there is."""

from __future__ import annotations

import copy
import itertools
import json
import math
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given

from bough.errors import SpaceError
from bough.integrations.configspace_export import to_configspace_dict
from bough.space import Categorical, Choice, Float, Int, Space

from .strategies import World, worlds
from .test_properties import quick

ConfigSpace = pytest.importorskip("ConfigSpace")

from ConfigSpace import ConfigurationSpace  # noqa: E402

from bough.integrations.configspace import from_configspace, to_configspace  # noqa: E402

FILES = (
    "auto-sklearn_2017_04",
    "auto-sklearn_2017_11",
    "autoweka",
    "deepnet",
    "hpdbnet",
    "hpnnet",
    "mini_autosklearn",
    "yahpo_iaml_super",
    "yahpo_rbv2_super",
)


def theirs_of(data: dict[str, Any]) -> ConfigurationSpace:
    """ConfigSpace's own reading of a document (which it takes apart on the way)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of keys that older formats had
        return ConfigurationSpace.from_serialized_dict(copy.deepcopy(data))


def check_legal(theirs: ConfigurationSpace, config: dict[str, Any]) -> None:
    ConfigSpace.Configuration(theirs, values=config).check_valid_configuration()


def rounded(data: Any) -> Any:
    """Numbers to 13 decimals, as ConfigSpace's objects keep them."""
    if isinstance(data, dict):
        return {key: rounded(value) for key, value in data.items()}
    if isinstance(data, list):
        return [rounded(value) for value in data]
    return float(np.round(data, 13)) if isinstance(data, float) else data


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name == "autoweka" else ()) for name in FILES]
)
def test_published_spaces(name: str, shared_data: Path) -> None:
    path = shared_data / "configspaces" / f"{name}.json"
    space = Space.load(path)
    theirs = theirs_of(json.loads(path.read_text()))
    theirs.seed(0)
    assert len(space) == len(theirs)
    check_legal(theirs, space.default or {})
    assert space.default == dict(theirs.get_default_configuration())
    exported = to_configspace_dict(space)
    assert "bough" not in exported, "ConfigSpace's own words suffice"
    assert Space.from_json(json.loads(json.dumps(exported))) == space
    again = theirs_of(exported) if len(space) < 500 else theirs  # ConfigSpace is slow to build large ones
    few = max(10, 1000 // len(space))
    for config in space.sample(few, np.random.default_rng(0)):
        check_legal(theirs, config)
        check_legal(again, config)
    for configuration in theirs.sample_configuration(few):
        assert space.validate(dict(configuration)).keys() == dict(configuration).keys()
    assert from_configspace(theirs) == Space.from_json(rounded(json.loads(path.read_text())))


# ---- every condition and clause, against ConfigSpace's own evaluation ----------------------------

HYPERPARAMETERS: list[dict[str, Any]] = [
    {"type": "categorical", "name": "kind", "choices": ["a", "b", "c"], "default_value": "b"},
    {"type": "ordinal", "name": "size", "sequence": ["s", "m", "l"], "default_value": "m"},
    {"type": "ordinal", "name": "power", "sequence": [1, 2, 4], "default_value": 2},
    {"type": "uniform_int", "name": "n", "lower": 1, "upper": 4, "default_value": 2, "log": False},
    {"type": "uniform_int", "name": "m", "lower": 1, "upper": 4, "default_value": 3, "log": True},
    {"type": "uniform_float", "name": "x", "lower": 0.0, "upper": 1.0, "default_value": 0.25, "log": False},
    {"type": "uniform_float", "name": "y", "lower": 0.1, "upper": 1.0, "default_value": 0.5, "log": True},
    {"type": "constant", "name": "fixed", "value": 7},
    {"type": "uniform_float", "name": "child", "lower": 0.0, "upper": 1.0, "default_value": 0.5},
    {"type": "uniform_int", "name": "grandchild", "lower": 0, "upper": 1, "default_value": 1, "log": False},
]  # fmt: skip


def document(conditions: list[dict[str, Any]], forbiddens: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "name": None,
        "hyperparameters": [{**item, "meta": None} for item in HYPERPARAMETERS],
        "conditions": conditions,
        "forbiddens": forbiddens,
        "format_version": 0.4,
    }


def when(kind: str, parent: str, value: Any, child: str = "child") -> dict[str, Any]:
    key = "values" if kind == "IN" else "value"
    return {"type": kind, "child": child, "parent": parent, key: value}


def both(kind: str, *conditions: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "child": conditions[0]["child"], "conditions": list(conditions)}


def clause(kind: str, name: str, value: Any) -> dict[str, Any]:
    return {"type": kind, "name": name, "values" if kind == "IN" else "value": value}


def relation(kind: str, left: str, right: str) -> dict[str, Any]:
    return {"type": kind, "left": left, "right": right}


CONDITIONS = {
    "EQ": [when("EQ", "kind", "b")],
    "EQ constant": [when("EQ", "fixed", 7)],
    "NEQ": [when("NEQ", "kind", "a")],
    "NEQ number": [when("NEQ", "n", 3)],
    "IN": [when("IN", "kind", ["a", "b"])],
    "IN number": [when("IN", "n", [2, 4])],
    "LT ordinal": [when("LT", "size", "l")],
    "GT ordinal": [when("GT", "size", "s")],
    "LT int": [when("LT", "n", 3)],
    "GT float": [when("GT", "x", 0.125)],
    "OR": [both("OR", when("EQ", "kind", "b"), when("GT", "n", 3))],
    "AND of OR": [both("AND", when("LT", "x", 0.5), both("OR", when("EQ", "kind", "b"), when("EQ", "n", 1)))],
    "chain": [when("EQ", "kind", "b"), when("LT", "child", 0.75, child="grandchild")],
    "OR over an inactive parent": [
        when("EQ", "kind", "b"),
        both("OR", when("LT", "child", 0.5, child="grandchild"), when("EQ", "n", 2, child="grandchild")),
    ],
    "NEQ on a parent that can be inactive": [
        when("EQ", "kind", "b", child="n"),
        when("NEQ", "n", 3),
    ],
    "NEQ in AND and OR": [
        when("LT", "x", 0.5, child="size"),
        both("OR", both("AND", when("NEQ", "size", "s"), when("NEQ", "kind", "c")), when("GT", "x", 0.875)),
    ],
}
CLAUSES = {
    "EQUALS": [clause("EQUALS", "kind", "a")],
    "IN": [clause("IN", "n", [1, 4])],
    "CLAUSE_LT": [clause("CLAUSE_LT", "x", 0.125)],
    "CLAUSE_LE": [clause("CLAUSE_LE", "n", 1)],
    "CLAUSE_GT": [clause("CLAUSE_GT", "y", 0.75)],
    "CLAUSE_GT ordinal": [clause("CLAUSE_GT", "size", "m")],
    "CLAUSE_GE": [clause("CLAUSE_GE", "m", 4)],
    "AND": [{"type": "AND", "clauses": [clause("EQUALS", "kind", "a"), clause("CLAUSE_GT", "n", 2)]}],
    "OR": [{"type": "OR", "clauses": [clause("EQUALS", "kind", "a"), clause("EQUALS", "size", "s")]}],
    "AND of OR": [
        {"type": "AND", "clauses": [
            clause("CLAUSE_LT", "x", 0.25),
            {"type": "OR", "clauses": [clause("EQUALS", "kind", "a"), relation("RELATION_GT", "n", "m")]},
        ]},
    ],
    **{f"RELATION_{op}": [relation(f"RELATION_{op}", "m", "n")] for op in ("LT", "LE", "EQ")},
    **{f"RELATION_{op}": [relation(f"RELATION_{op}", "x", "y")] for op in ("GT", "GE")},
    "RELATION of an ordinal and an int": [relation("RELATION_LT", "power", "n")],
    "RELATION of words": [relation("RELATION_LT", "size", "kind")],
    "RELATION with lambda": [{**relation("RELATION", "n", "m"), "lambda": "GT"}],
    "of a child": [clause("CLAUSE_LT", "child", 0.25)],
}  # fmt: skip


def check_same_configs(space: Space, theirs: ConfigurationSpace) -> None:
    """What one samples, the other accepts."""
    for config in space.sample(40, np.random.default_rng(1)):
        check_legal(theirs, config)
    theirs.seed(1)
    for configuration in theirs.sample_configuration(40):
        space.validate(dict(configuration))


@pytest.mark.parametrize("case", CONDITIONS)
def test_conditions_mean_the_same(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    data = document(CONDITIONS[case], [])
    space, theirs = Space.from_json(data), theirs_of(data)
    check_same_configs(space, theirs)
    exported = to_configspace_dict(space)
    assert Space.from_json(json.loads(json.dumps(exported))) == space
    check_same_configs(space, theirs_of(exported))
    assert from_configspace(to_configspace(space)) == space
    for x, kind in itertools.product((0.0, 0.125, 0.4, 0.5, 0.9), "abc"):
        values = {"kind": kind, "x": x, "y": 0.5, "n": 3, "m": 1, "size": "l", "power": 1, "fixed": 7}
        assert_same_verdict(space, theirs, values)
        assert_same_verdict(space, theirs, {**values, "child": 0.5})
        assert_same_verdict(space, theirs, {**values, "child": 0.5, "grandchild": 0})


def assert_same_verdict(space: Space, theirs: ConfigurationSpace, config: dict[str, Any]) -> None:
    verdicts = []
    for check in (space.validate, lambda values: check_legal(theirs, values)):
        try:
            check(config)
        except ValueError:
            verdicts.append(False)
        else:
            verdicts.append(True)
    assert verdicts[0] == verdicts[1], config


@pytest.mark.parametrize("case", CLAUSES)
def test_clauses_mean_the_same(case: str) -> None:
    data = document([when("EQ", "kind", "b")], CLAUSES[case])
    space, theirs = Space.from_json(data), theirs_of(data)
    exported = to_configspace_dict(space)
    assert Space.from_json(json.loads(json.dumps(exported))) == space
    check_same_configs(space, theirs_of(exported))
    if case != "CLAUSE_LE":  # of which ConfigSpace 1.2.2 samples the wrong side
        check_same_configs(space, theirs)
    for n, m, power, y in itertools.product((1, 2, 4), (1, 2, 4), (1, 4), (0.11, 0.9)):
        values = {"kind": "a", "x": 0.125, "y": y, "n": n, "m": m, "power": power, "size": "sl"[n % 2]}
        assert_same_verdict(space, theirs, {**values, "fixed": 7, "grandchild": 0})


def test_neq_on_an_inactive_parent_switches_the_child_on() -> None:
    data = document(CONDITIONS["NEQ on a parent that can be inactive"], [])
    space = Space.from_json(data)
    assert str(space["child"].condition) == "not (n == 3)"
    config = {"kind": "a", "m": 1, "x": 0.0, "y": 0.5, "size": "s", "power": 1, "fixed": 7, "grandchild": 0}
    assert "child" in space.active({**config, "child": 0.5})
    assert str(Space.from_json(document(CONDITIONS["NEQ"], []))["child"].condition) == "kind != 'a'"
    assert "NEQ" not in json.dumps(to_configspace_dict(space)), (
        "ConfigSpace's default check disagrees with itself"
    )


def test_what_cannot_be_held_is_named() -> None:
    data = document([], [])
    data["name"] = "mine"
    data["hyperparameters"] = [
        {
            "type": "normal_float",
            "name": "x",
            "mu": 0,
            "sigma": 1,
            "lower": -1,
            "upper": 1,
            "default_value": 0,
        },
        {"type": "beta_int", "name": "n", "alpha": 2, "beta": 2, "lower": 1, "upper": 9, "default_value": 3},
        {
            "type": "categorical",
            "name": "c",
            "choices": ["a", "b"],
            "weights": [0.2, 0.8],
            "default_value": "b",
        },
        {
            "type": "categorical",
            "name": "even",
            "choices": ["a", "b"],
            "weights": [2, 2],
            "default_value": "b",
        },
        {
            "type": "uniform_int",
            "name": "noted",
            "lower": 1,
            "upper": 9,
            "default_value": 3,
            "meta": {"k": 1},
        },
        {"type": "uniform_float", "name": "old", "lower": 0, "upper": 9, "default": 3.0, "q": 1},
    ]
    named = "the name 'mine', meta of 'noted', q of 'old'"
    with pytest.warns(UserWarning, match=f": {named}$"):
        space = Space.from_json(data)
    assert space.default == {"x": 0.0, "n": 3, "c": "b", "even": "b", "noted": 3, "old": 3.0}
    assert [p.name for p in space if p.domain.likely is not None] == ["x", "n", "c"]
    assert space["c"].domain.likely == (("a", 0.2), ("b", 0.8))


@pytest.mark.parametrize(
    "prior",
    [
        {"type": "normal_float", "mu": 0.2, "sigma": 0.4, "lower": -1, "upper": 1},
        {"type": "normal_float", "mu": 0.01, "sigma": 2.0, "lower": 1e-4, "upper": 1, "log": True},
        {"type": "normal_int", "mu": 30, "sigma": 12, "lower": 1, "upper": 1000},
        {"type": "beta_float", "alpha": 2, "beta": 5, "lower": 0, "upper": 4},
        {"type": "beta_float", "alpha": 3, "beta": 2, "lower": 1e-3, "upper": 10, "log": True},
        {"type": "beta_int", "alpha": 2, "beta": 2, "lower": 0, "upper": 5000},
    ],
)
def test_the_likely_range_holds_80_percent_of_configspaces_prior(prior: dict) -> None:
    configspace = pytest.importorskip("ConfigSpace.hyperparameters")
    words = {"float": "Float", "int": "Integer"}
    kind, number = prior["type"].split("_")
    theirs = getattr(configspace, f"{kind.title()}{words[number]}Hyperparameter")(
        "x", **{key: value for key, value in prior.items() if key != "type"}
    )
    default = prior["lower"] if prior.get("log") else 1
    data = {**document([], []), "hyperparameters": [{"name": "x", "default_value": default, **prior}]}
    low, high = Space.from_json(data)["x"].domain.likely
    drawn = np.array(theirs.sample_value(size=4000, seed=np.random.RandomState(0)))
    assert abs(np.mean(drawn < low) - 0.1) < 0.02
    assert abs(np.mean(drawn > high) - 0.1) < 0.02


def test_beliefs_survive_the_way_there_and_back() -> None:
    space = Space({"x": Float(0, 1, likely=(0.2, 0.4)), "c": Categorical(["a", "b"], likely={"b": 3})})
    again = Space.from_json(to_configspace_dict(space))
    assert again.to_json() == space.to_json()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"conditions": [when("EQ", "kind", "b"), when("EQ", "n", 1)]}, "'child' has two conditions"),
        ({"conditions": [when("EQ", "kind", "b", child="nobody")]}, "unknown child 'nobody'"),
        ({"conditions": [when("EQ", "nobody", "b")]}, "nobody"),
        ({"conditions": [when("BETWEEN", "kind", "b")]}, "unknown type 'BETWEEN'"),
        ({"conditions": [{"type": "EQ", "child": "child"}]}, "lacks 'parent'"),
        ({"forbiddens": [clause("NEVER", "kind", "b")]}, "unknown type 'NEVER'"),
        ({"hyperparameters": [{"type": "fancy", "name": "x"}]}, "'x': it has the unknown type 'fancy'"),
        (
            {"hyperparameters": [{"type": "uniform_int", "name": "x", "lower": 0, "upper": 10**17}]},
            "parameter 'x': Int bounds beyond",
        ),
        ({"hyperparameters": [{"type": "uniform_int", "name": "x", "lower": 1}]}, "lacks 'upper'"),
        ({"hyperparameters": 2 * [HYPERPARAMETERS[0]]}, "same name"),
        ({"hyperparameters": ["x"]}, "malformed"),
    ],
)
def test_malformed_documents(change: dict[str, Any], message: str) -> None:
    with pytest.raises(SpaceError, match=re.escape(message)):
        Space.from_json({**document([], []), **change})


# ---- spaces of our own -------------------------------------------------------------------------


def test_reused_names_steps_and_missing_defaults_come_back() -> None:
    space = Space(
        {
            "model": Choice({"svm": {"C": Float(1, 9)}, "linear": {"C": Float(0, 1, step=0.1)}, "none": {}}),
            "depth": Int(2, 10, step=4, when="model != 'none' and not (`model=linear/C` >= 0.5)"),
            "one": Categorical(["only"]),
        },
        forbid=["depth == 2 and `model=svm/C` < 3"],
    )
    theirs = to_configspace(space)
    assert set(theirs) == {"model", "model=svm/C", "model=linear/C", "depth", "one"}
    assert type(theirs["one"]).__name__ == "Constant"
    assert from_configspace(theirs) == space
    assert Space.from_json(json.loads(json.dumps(to_configspace_dict(space)))) == space


def test_a_changed_document_is_read_as_it_stands() -> None:
    document = to_configspace_dict(Space({"x": Float(0, 1), "n": Int(1, 5)}))
    assert "bough" in document
    document["hyperparameters"][0]["upper"] = 2.0
    changed = Space.from_json(document)
    assert changed["x"].domain == Float(0, 2, default=0.5)


def test_defaults_are_made_legal() -> None:
    space = Space({"low": Float(0, 1), "high": Float(0, 1)}, forbid=["low >= high"])
    default = dict(to_configspace(space).get_default_configuration())
    assert default["low"] < default["high"]


def test_what_configspace_cannot_say_is_named() -> None:
    space = Space({"a": Float(0, 1), "b": Float(0, 1), "c": Int(0, 1, when="a < b")})
    with pytest.raises(SpaceError, match="'a' < 'b' in the condition of 'c'"):
        to_configspace(space)
    with pytest.raises(SpaceError, match="options of 'd'"):
        to_configspace(Space({"d": Categorical([1, True])}))


def configs_of(
    space: Space, qualified: dict[str, str], configs: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Configs with the names that ConfigSpace knows."""
    renamed = []
    for config in configs:
        active = space.layout.active(space.encode([config]).on)[0]
        columns = [parameter for parameter, on in zip(space.parameters, active, strict=True) if on]
        renamed.append({qualified[parameter.path]: config[parameter.name] for parameter in columns})
    return renamed


@quick
@given(worlds())
def test_random_spaces_mean_the_same_in_configspace(world: World) -> None:
    space = world.space
    try:
        exported = to_configspace_dict(space)
        configs = space.sample(20, np.random.default_rng(0))
    except SpaceError:
        assume(False)
        raise
    assert Space.from_json(json.loads(json.dumps(exported))) == space
    names = [parameter.name for parameter in space.parameters]
    qualified = {p.path: p.name if names.count(p.name) == 1 else p.path for p in space.parameters}
    theirs = theirs_of({key: value for key, value in exported.items() if key != "bough"})
    plain = {key: value for key, value in exported.items() if key != "bough"}
    again = Space.from_json(plain)
    for config in configs_of(space, qualified, configs):
        again.validate(config)
        if not any(isinstance(value, bool) or value is None for value in config.values()):
            check_legal(theirs, config)
    for config in again.sample(20, np.random.default_rng(1)):
        named = {next(p.name for p in space if qualified[p.path] == name): v for name, v in config.items()}
        assert math.isfinite(len(space.validate(named)))


def test_other_objects_are_refused() -> None:
    for other in (5, {"x": [0, 1]}):
        with pytest.raises(SpaceError, match="from_configspace needs a ConfigurationSpace, not"):
            from_configspace(other)  # type: ignore[arg-type]
        with pytest.raises(SpaceError, match=r"to_configspace needs a bough\.Space, not"):
            to_configspace(other)  # type: ignore[arg-type]
