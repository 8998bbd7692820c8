"""Relations between parameters: their language, their meaning on branches, and files."""

from __future__ import annotations

import copy
import itertools

import numpy as np
import pytest

from bough.errors import ConditionError, ConfigError, SpaceError
from bough.integrations.configspace_export import to_configspace_dict
from bough.space import Categorical, Choice, Float, Int, Mixture, Space
from bough.space.relations import parse_relation

NUMBERS = {"a": Float(0, 10), "b": Float(0, 10), "n": Int(0, 9), "kind": Categorical(["x", "y"])}


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("a+2*b<=10", "a + 2 * b <= 10"),
        ("0 < a-(b-n) < 1e-3", "0 < a - (b - n) < 0.001"),
        ("sum( a , 2*b ) == `n`", "sum(a, 2 * b) == n"),
        ("-a <= -3", "-1 * a <= -3"),
        ("(a + b) * 3 / 4 >= n", "(a + b) * 3 / 4 >= n"),
    ],
)
def test_relations_have_one_spelling_that_reads_back(text: str, canonical: str) -> None:
    relation = parse_relation(text)
    assert str(relation) == canonical
    assert parse_relation(canonical) == relation


@pytest.mark.parametrize(
    ("require", "config", "legal"),
    [
        ("a + 2 * b <= 10", {"a": 4.0, "b": 3.0}, True),
        ("a + 2 * b <= 10", {"a": 4.1, "b": 3.0}, False),
        ("a + 2 * b < 10", {"a": 4.0, "b": 3.0}, False),
        ("a - (b - n) >= 1", {"a": 1.0, "b": 2.0, "n": 2}, True),
        ("a - (b - n) >= 1", {"a": 1.0, "b": 3.0, "n": 2}, False),
        ("a * b <= 6", {"a": 2.0, "b": 3.0}, True),
        ("(a + b) / 2 <= 2", {"a": 2.0, "b": 3.0}, False),
        ("1 <= n < a", {"a": 3.5, "n": 3}, True),
        ("1 <= n < a", {"a": 2.5, "n": 3}, False),
        ("1 <= n < a", {"a": 2.5, "n": 0}, False),
        ("a < b", {"a": 1.0, "b": 1.0}, False),
        ("a < b", {"a": 0.0, "b": 0.0}, False),
        ("a < b", {"a": 0.0, "b": 1e-12}, True),
        ("a * b > 0", {"a": 0.0, "b": 1.0}, False),
        ("a + b == 1", {"a": 0.333333, "b": 0.666667}, True),
        ("a + b == 1", {"a": 0.33, "b": 0.66}, False),
    ],
)
def test_arithmetic_means_what_it_says(require: str, config: dict, legal: bool) -> None:
    space = Space(NUMBERS, require=[require])
    whole = {"a": 0.0, "b": 0.0, "n": 0, "kind": "x"} | config
    assert bool(space.legal(space.encode([whole]))[0]) == legal
    if legal:
        assert space.validate(whole) == whole
    else:
        with pytest.raises(ConfigError, match="outside the limit") as error:
            space.validate(whole)
        assert repr(space.require[0]) in str(error.value)


LAYERS = Space(
    {
        "layers": Int(1, 3),
        "u1": Int(1, 9),
        "u2": Int(1, 9, when="layers >= 2"),
        "u3": Int(1, 9, when="layers >= 3"),
    },
    require=["sum(u1, u2, u3) <= 10", "u2 <= u1"],
)


def test_a_sum_counts_active_members_and_other_relations_need_all_of_theirs() -> None:
    def legal(**config: int) -> bool:
        return bool(LAYERS.legal(LAYERS.encode([config]))[0])

    assert legal(layers=1, u1=9)  # u2 is inactive: "u2 <= u1" does not apply
    assert legal(layers=2, u1=5, u2=5)
    assert not legal(layers=2, u1=6, u2=5)
    assert not legal(layers=2, u1=4, u2=5)
    assert not legal(layers=3, u1=5, u2=5, u3=1)


def test_the_size_of_a_finite_space_counts_legal_configurations_only() -> None:
    listed = sum(
        1
        for layers in (1, 2, 3)
        for units in itertools.product(range(1, 10), repeat=layers)
        if sum(units) <= 10 and (layers == 1 or units[1] <= units[0])
    )
    assert LAYERS.size == listed


def test_a_mixture_on_a_branch_leaves_other_branches_alone() -> None:
    space = Space(
        {"m": Choice({"mix": {"a": Float(0, 1), "b": Float(0, 1)}, "none": {}})},
        require=[Mixture(["a", "b"])],
    )
    assert space.validate({"m": "none"}) == {"m": "none"}
    with pytest.raises(ConfigError, match=r"sum\(a, b\) == 1"):
        space.validate({"m": "mix", "a": 0.5, "b": 0.4})


def test_relations_survive_files_copies_and_other_spellings() -> None:
    space = Space(NUMBERS, forbid=["n == 3"], require=["b + a <= 5", Mixture(["a", "b"], total=2)])
    assert space.require == ("b + a <= 5", "sum(a, b) == 2")
    assert Space.from_json(space.to_json()) == space == copy.deepcopy(space)
    assert Space(NUMBERS, forbid=["n == 3"], require=["sum(b, a) == 2", "5 >= a + b"]) == space
    assert Space(NUMBERS, forbid=["n == 3"], require=["a + b <= 5"]) != space
    assert "required: sum(a, b) == 2" in str(space)
    assert "require" in repr(space)
    assert "require" not in Space(NUMBERS, forbid=["n == 3"]).to_dict()
    with pytest.raises(SpaceError, match="ConfigSpace cannot express require"):
        to_configspace_dict(space)


def test_a_space_file_may_be_yaml(tmp_path) -> None:
    file = tmp_path / "space.yaml"
    file.write_text(
        "parameters:\n"
        "  a: {type: float, low: 0, high: 1}\n"
        "  b: {type: float, low: 0, high: 1}\n"
        "require: [a < b]\n"
    )
    assert Space.load(file).require == ("a < b",)


@pytest.mark.parametrize(
    ("require", "kind", "parts"),
    [
        (["a + zz <= 1"], ConditionError, ["require", "unknown name 'zz'"]),
        (["a + kind <= 1"], ConditionError, ["'kind' is a category"]),
        (["a + 1"], ConditionError, ["relation 'a + 1'", "comparison"]),
        (["a / b <= 1"], ConditionError, ["only a number other than 0 may divide"]),
        (["a != b"], ConditionError, ["at character 3: '!=' is not a limit; forbid=['a == b'] excludes"]),
        (["a < b and b < n"], ConditionError, ["its own entry"]),
        (["1 <= 2"], ConditionError, ["parameter on one side"]),
        (["a - a <= 1"], ConditionError, ["cancel"]),
        (["sum() <= 1"], ConditionError, ["member of sum"]),
        (["max(a, b) <= 1"], ConditionError, ["calls", "'max'"]),
        (["a.b <= 1"], ConditionError, ["attribute access"]),
        (["+".join(["a"] * 300) + " <= 1"], ConditionError, ["operators", "sum(...)"]),
        ("a < b", SpaceError, ["list of relations"]),
        ({"a": 1}, SpaceError, ["list of relations"]),
        ([3], ConditionError, ["a relation must be a string"]),
        (["a + b >= 30"], SpaceError, ["'a + b >= 30' cannot be met", "missed by 10"]),
        (["a < b", "b < a"], SpaceError, ["no configuration was found", "a < b", "b < a"]),
        ([Mixture(["a", "n"])], SpaceError, ["Mixture", "'n' is Int"]),
        ([Mixture(["a", "b"], total=99)], SpaceError, ["sum(a, b) == 99"]),
    ],
)
def test_mistakes_are_one_line_that_names_the_relation(require, kind, parts) -> None:
    with pytest.raises(kind) as error:
        Space(NUMBERS, require=require)
    assert "\n" not in str(error.value)
    for part in parts:
        assert part in str(error.value)


@pytest.mark.parametrize(
    "arguments", [("ab",), (["a"],), (["a", "a"],), (["a", 1],), (["a", "b"], "x"), (["a", "b"], np.inf)]
)
def test_a_mixture_needs_names_and_a_total(arguments) -> None:
    with pytest.raises(SpaceError, match="Mixture"):
        Mixture(*arguments)


def test_defaults_outside_a_limit_are_refused_and_others_are_completed() -> None:
    with pytest.raises(SpaceError, match=r"the defaults are outside the limit 'a < b'"):
        Space({"a": Float(0, 1, default=0.9), "b": Float(0, 1, default=0.1)}, require=["a < b"]).default  # noqa: B018
    space = Space({"a": Float(0, 1, default=0.9), "b": Float(0, 1)}, require=["a < b"])
    assert space.default is not None
    assert space.default["a"] == 0.9
    assert space.validate(space.default) == space.default


def test_a_mixture_is_no_parameter() -> None:
    with pytest.raises(SpaceError, match=r"'mix' must be a Float, .* not Mixture.* goes into require"):
        Space({"mix": Mixture(["a", "b"])})  # type: ignore[dict-item]
