"""Every mistake is one clear line of a typed error that names the culprit."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bough.errors import BoughError, ConditionError, ConfigError, SpaceError
from bough.space import Categorical, Choice, Float, Int, Mixture, Space

A = {"a": Categorical(["x", "y"]), "n": Int(1, 9), "f": Float(0, 1)}


def when(text):
    return lambda: Space({**A, "child": Int(0, 1, when=text)})


def nested(depth):
    parameter = Int(0, 1)
    for level in range(depth):
        parameter = Choice({"a": {f"p{level}": parameter}, "b": {}})
    return Space({"top": parameter})


def nested_json(depth):
    text = '{"type": "int", "low": 0, "high": 1}'
    for level in range(depth):
        text = f'{{"type": "choice", "options": {{"a": {{"p{level}": {text}}}}}}}'
    return Space.from_json(f'{{"top": {text}}}')


BAD_SPACES = [
    (when("other == 1"), ConditionError, ["'child'", "unknown name 'other'"]),
    (when("nn == 1"), ConditionError, ["unknown name 'nn'", "did you mean 'n'"]),
    (when("a == x"), ConditionError, ["unknown name 'x'", "quotes"]),
    (when("a == true"), ConditionError, ["unknown name 'true'", "True"]),
    (when("a == 'z'"), ConditionError, ["'child'", "'z'", "'a'", "'x', 'y'"]),
    (when("a in ('x', 'z')"), ConditionError, ["'z'", "'a'"]),
    (when("a == 1"), ConditionError, ["1 is not a value of 'a'"]),
    (when("n == 10"), ConditionError, ["10 is not a value of 'n'", "1 to 9"]),
    (when("n == 1.5"), ConditionError, ["1.5 is not a value of 'n'"]),
    (when("n == True"), ConditionError, ["True is not a value of 'n'"]),
    (when("n < 99"), ConditionError, ["99 is not a value of 'n'"]),
    (when("f > 'x'"), ConditionError, ["'x' is not a value of 'f'"]),
    (when("a < 'x'"), ConditionError, ["'a' is not ordered", "<"]),
    (when("a < n"), ConditionError, ["'a' < 'n'", "compare"]),
    (when("n == n"), ConditionError, ["'n'", "itself"]),
    (when("a.b == 1"), ConditionError, ["attribute access", "backticks"]),
    (when("len(a) == 1"), ConditionError, ["calls", "'len'"]),
    (when("a[0] == 1"), ConditionError, ["indexing", "'a'"]),
    (when("a = 'x'"), ConditionError, ["=="]),
    (when("n + f > 1"), ConditionError, ["at character 3: expected", "found '+'; arithmetic", "require=['"]),
    (when("n > 2 * f"), ConditionError, ["at character 7: unexpected '*'; arithmetic", "require=['"]),
    (when("a"), ConditionError, ["expected a comparison"]),
    (when("True"), ConditionError, ["expected a comparison"]),
    (when("1 == 1"), ConditionError, ["parameter on one side"]),
    (when("a == 'x' and"), ConditionError, ["found the end"]),
    (when("a == 'x' b == 1"), ConditionError, ["found 'b'"]),
    (when("(a == 'x'"), ConditionError, ["')'"]),
    (when("a == 'x"), ConditionError, ["never closed"]),
    (when("a in ()"), ConditionError, ["empty list"]),
    (when("a in 'x'"), ConditionError, ["parentheses"]),
    (when("a == lambda: 1"), ConditionError, ["':'"]),
    (when("n == 1e999"), ConditionError, ["1e999"]),
    (when("n == " + "9" * 5000), ConditionError, ["digits"]),
    (when(""), ConditionError, ["found the end"]),
    (when(7), ConditionError, ["string", "7"]),
    (when("(" * 1000 + "n == 1" + ")" * 1000), ConditionError, ["deeper than 100"]),
    (when("not " * 1000 + "n == 1"), ConditionError, ["deeper than 100"]),
    (when("n == 1 or " * 20000 + "n == 1"), ConditionError, ["longer than"]),
    (
        lambda: Space({"a": Int(0, 1, when="b == 1"), "b": Int(0, 1, when="a == 1")}),
        SpaceError,
        ["cycle", "'a' -> 'b' -> 'a'"],
    ),
    (when("child == 1"), SpaceError, ["cycle", "'child' -> 'child'"]),
    (
        lambda: Space({"m": Choice({"u": {"x": Int(0, 1)}, "v": {}}, when="x == 1")}),
        SpaceError,
        ["cycle", "'m=u/x'"],
    ),
    (
        lambda: Space({"x": Int(0, 1), "m": Choice({"u": {"x": Int(0, 1)}})}),
        SpaceError,
        ["'x'", "twice", "'m=u/x'"],
    ),
    (lambda: Space({"m": Choice({"u": {"m": Int(0, 1)}})}), SpaceError, ["'m'", "twice"]),
    (
        lambda: Space({"m": Choice({"u": {"x": Int(0, 1)}}), "k": Choice({"v": {"x": Int(0, 1)}})}),
        SpaceError,
        ["'m=u/x'", "'k=v/x'"],
    ),
    (lambda: Float(1, 0), SpaceError, ["Float(1, 0): low=1 must be below high=0"]),
    (lambda: Float(0, 1, log=True), SpaceError, ["Float(0, 1, log=True): log=True needs low above 0"]),
    (when("a == 'x' && b == 1"), ConditionError, ["'&&' is not an operator, write 'and' instead"]),
    (when("a == 'x' | b == 1"), ConditionError, ["'|' is not an operator, write 'or' instead"]),
    (when("!(a == 'x')"), ConditionError, ["'!' is not an operator, write 'not' instead"]),
    (lambda: Float(0, 1, when=lambda c: True), ConditionError, ["a string such as", "not a function"]),
    (lambda: Float(1, 1), SpaceError, ["below"]),
    (lambda: Int(3, 3), SpaceError, ["low=3"]),
    (lambda: Float(0, 1, log=True), SpaceError, ["log=True", "low=0"]),
    (lambda: Int(0, 1, log=True), SpaceError, ["log=True", "low=0"]),
    (lambda: Float(math.nan, 1), SpaceError, ["low", "nan"]),
    (lambda: Float(0, math.inf), SpaceError, ["high", "inf"]),
    (lambda: Float(0, 10**400), SpaceError, ["high"]),
    (lambda: Float(-1e308, 1e308), SpaceError, ["too wide"]),
    (lambda: Float(1e10, math.nextafter(1e10, 2e10), log=True), SpaceError, ["narrow"]),
    (lambda: Float("0", 1), SpaceError, ["low", "'0'"]),
    (lambda: Float(False, 1), SpaceError, ["low", "False"]),
    (lambda: Int(0.5, 3), SpaceError, ["whole", "0.5"]),
    (lambda: Int(0, 2**60), SpaceError, [str(2**60)]),
    (lambda: Float(0, 1, step=0), SpaceError, ["step=0"]),
    (lambda: Float(0, 1, step=2), SpaceError, ["step=2"]),
    (lambda: Float(1, 2, step=0.1, log=True), SpaceError, ["log", "step"]),
    (lambda: Int(1, 9, step=1.5), SpaceError, ["step=1.5"]),
    (lambda: Float(0, 1, log=1), SpaceError, ["log must be"]),
    (lambda: Categorical([]), SpaceError, ["at least one option"]),
    (lambda: Categorical("ab" + "a"), SpaceError, ["list of values"]),
    (lambda: Categorical(["a", "b", "a"]), SpaceError, ["'a'", "twice"]),
    (lambda: Categorical([1, 1.0]), SpaceError, ["1.0", "twice"]),
    (lambda: Categorical([math.nan]), SpaceError, ["nan"]),
    (lambda: Categorical([("a",)]), SpaceError, ["('a',)"]),
    (lambda: Categorical(["\ud800"]), SpaceError, ["ud800"]),
    (lambda: Choice({}), SpaceError, ["options"]),
    (lambda: Choice({1: {}}), SpaceError, ["1", "string"]),
    (lambda: Choice({"a": Float(0, 1)}), SpaceError, ["'a'", "dict"]),
    (lambda: Space({}), SpaceError, ["at least one"]),
    (lambda: Space({"a": 3}), SpaceError, ["'a'", "Float, Int, Categorical or Choice", "3"]),
    (lambda: Space({"a`b": Int(0, 1)}), SpaceError, ["a`b", "backticks"]),
    (lambda: Space({"": Int(0, 1)}), SpaceError, ["''"]),
    (lambda: Space({3: Int(0, 1)}), SpaceError, ["3"]),
    (lambda: Space(A, forbid="a == 'x'"), SpaceError, ["forbid must be a list of conditions"]),
    (lambda: Space(A, forbid=None), SpaceError, ["forbid must be a list of conditions", "None"]),
    (lambda: Space(A, require=None), SpaceError, ["require must be a list of relations", "None"]),
    (lambda: Space(A, require=Mixture(["n", "f"])), SpaceError, ["require must be a list of relations"]),
    (lambda: Space(A).sample(-1), SpaceError, ["sample takes a number", "-1"]),
    (lambda: Space(A).sample(2.5), SpaceError, ["sample takes a number", "2.5"]),
    (lambda: Space.load(5), SpaceError, ["path", "5"]),
    (lambda: Space.load("a\0b"), SpaceError, ["path", "a\\x00b"]),
    (lambda: Choice({"a": {}}, default=["a"]), SpaceError, ["default", "['a']"]),
    (lambda: Categorical(["a"], likely={"a": 10**400}), SpaceError, ["weight of 'a'", "1000"]),
    (lambda: Categorical(["a"], likely={"a": 10**5000}), SpaceError, ["weight of 'a'", "very large"]),
    (lambda: Categorical(["a", "b"], ordered="no"), SpaceError, ["ordered", "'no'"]),
    (lambda: Categorical([10**5000]), SpaceError, ["very large"]),
    (lambda: Float(0, 1, likely=(0, 10**5000)), SpaceError, ["likely=(0, a very large number)"]),
    (lambda: Int(0, 3, default=10**5000), SpaceError, ["0 to 3", "very large"]),
    (lambda: Space(A, forbid=["a == 'q'"]), ConditionError, ["forbid", "'q'"]),
    (lambda: nested(1000), SpaceError, ["deeper than 100"]),
    (lambda: nested_json(150), SpaceError, ["nested 400 levels deep at most"]),
    (lambda: nested_json(2000), SpaceError, ["deep"]),
    (lambda: Space.from_json('{"a": '), SpaceError, ["not valid JSON", "line 1"]),
    (lambda: Space.from_json("[]"), SpaceError, ["object"]),
    (lambda: Space.from_json('{"a": ' + "9" * 5000 + "}"), SpaceError, ["the number 999", "is too large"]),
    (lambda: Space.from_json('{"a": {"type": "int", "low": 0, "high": NaN}}'), SpaceError, ["NaN"]),
    (
        lambda: Space.from_json('{"a": {"type": "int", "low": 0, "low": 1, "high": 3}}'),
        SpaceError,
        ["'low'", "twice"],
    ),
    (lambda: Space.from_json('{"a": {"type": "int", "low": 0}}'), SpaceError, ["'a'", "'high'"]),
    (lambda: Space.from_json('{"a": {"type": "int", "low": 5, "high": 1}}'), SpaceError, ["'a'", "low=5"]),
    (lambda: Space.from_json('{"a": {"type": "real"}}'), SpaceError, ["'a'", "'real'", "float"]),
    (
        lambda: Space.from_json('{"a": {"type": "int", "low": 0, "high": 3, "hihg": 1}}'),
        SpaceError,
        ["'hihg'"],
    ),
    (lambda: Space.from_json('{"a": 3}'), SpaceError, ["'a'", "type"]),
    (lambda: Space.from_json('{"a": {"type": "choice", "options": [1]}}'), SpaceError, ["'a'", "options"]),
    (lambda: Space.from_json('{"a": {"type": "choice", "options": {"b": 1}}}'), SpaceError, ["'a'", "'b'"]),
    (lambda: Space.from_json('{"a": {"type": "categorical", "options": 1}}'), SpaceError, ["'a'", "list"]),
    (lambda: Space.from_json('{"parameters": {}, "forbid": []}'), SpaceError, ["at least one"]),
    (lambda: Space.from_json({"parameters": {"a": {}}, "forbidden": []}), SpaceError, ["'forbidden'"]),
    (
        lambda: Space.from_json({"parameters": {"a": {"type": "int", "low": 0, "high": 1}}, "forbid": "a"}),
        SpaceError,
        ["forbid"],
    ),
    (
        lambda: Space.from_json({"a": {"type": "int", "low": 0, "high": 1}, "forbid": ["a == 1"]}),
        SpaceError,
        ["'forbid' goes beside 'parameters'", "put the parameters below that key"],
    ),
]


@pytest.mark.parametrize(("make", "kind", "fragments"), BAD_SPACES, ids=range(len(BAD_SPACES)))
def test_bad_space(make, kind, fragments):
    with pytest.raises(kind) as caught:
        make()
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 600
    for fragment in fragments:
        assert fragment in message


SPACE = Space(
    {
        "m": Choice({"u": {"x": Float(0, 1), "n": Int(2, 10, step=2)}, "v": {}}),
        "flag": Categorical([True, 1, "1"]),
    },
    forbid=["m == 'v' and flag == '1'"],
)
GOOD = {"m": "u", "x": 0.5, "n": 4, "flag": 1}


@pytest.mark.parametrize(
    ("config", "fragments"),
    [
        ({"m": "v", "x": 0.5, "flag": 1}, ["'x'", "inactive", "m == 'u'"]),
        ({"m": "u", "n": 2, "flag": 1}, ["'x' is missing", "m == 'u'"]),
        ({"x": 0.5, "n": 4, "flag": 1}, ["'m' is missing"]),
        (GOOD | {"x": 1.5}, ["'x'", "[0.0, 1.0]", "1.5"]),
        (GOOD | {"x": math.nan}, ["'x'", "nan"]),
        (GOOD | {"x": "0.5"}, ["'x'", "'0.5'"]),
        (GOOD | {"x": True}, ["'x'", "True"]),
        (GOOD | {"x": None}, ["'x'", "None"]),
        (GOOD | {"n": 3}, ["'n'", "multiple of 2", "3"]),
        (GOOD | {"n": 4.5}, ["'n'", "whole number", "4.5"]),
        (GOOD | {"n": 12}, ["'n'", "2 to 10"]),
        (GOOD | {"n": 10**400}, ["'n'"]),
        (GOOD | {"n": 10**5000}, ["'n'", "very large"]),
        (GOOD | {"x": 10**5000}, ["'x'", "very large"]),
        (GOOD | {"flag": 10**5000}, ["'flag'", "very large"]),
        (GOOD | {"m": "w" * 10_000}, ["'m'", "www"]),
        (GOOD | {"m": "w"}, ["'m'", "'u', 'v'", "'w'"]),
        (GOOD | {"flag": "True"}, ["'flag'", "'True'"]),
        (GOOD | {"flag": [1]}, ["'flag'", "[1]"]),
        (GOOD | {"zzz": 1}, ["unknown parameter 'zzz'"]),
        ({"m": "v", "flag": "1"}, ["forbidden", "m == 'v' and flag == '1'"]),
        ([("m", "v")], ["dict"]),
        (None, ["dict"]),
    ],
)
def test_bad_config(config, fragments):
    with pytest.raises(ConfigError) as caught:
        SPACE.validate(config)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_a_step_below_all_normal_floats():
    space = Space({"x": Float(0, 1e-310, step=1e-311)})
    assert {config["x"] for config in space.sample(50, 0)} <= {i * 1e-311 for i in range(11)}


def test_options_of_308_digits_are_read_back():
    space = Space({"x": Categorical([-8 * 10**307, 8 * 10**307])})
    assert Space.from_json(space.to_json()) == space


def test_good_config_is_normalised():
    config = SPACE.validate({"flag": 1.0, "x": 1, "n": 4.0, "m": "u"})
    assert config == {"m": "u", "x": 1.0, "n": 4, "flag": 1}
    assert [type(value) for value in config.values()] == [str, float, int, int]


def test_bad_files(tmp_path):
    big = tmp_path / "big.json"
    with big.open("w") as file:
        file.write(json.dumps({"a": "x" * 50_000_000}))
    cases = {
        big: "bytes",
        tmp_path / "absent.json": "cannot be read",
        tmp_path: "cannot be read",
    }
    contents = {
        "broken.json": ('{"a"', "not valid JSON"),
        "binary.json": (b"\xff\xfe\x00", "UTF-8"),
        "broken.yaml": ("a: [1,", "not valid YAML"),
        "twice.yaml": (
            "a: {type: int, low: 0, high: 1}\na: {type: int, low: 0, high: 2}",
            "'a' is given twice",
        ),
        "object.yaml": ("a: !!python/object/apply:os.system ['true']", "not valid YAML"),
        "empty.yaml": ("", "at least one"),
        "bomb.yaml": (_bomb(), "at most"),
    }
    for name, (content, fragment) in contents.items():
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        cases[file] = fragment
    for file, fragment in cases.items():
        with pytest.raises(SpaceError) as caught:
            Space.load(file)
        assert str(file) in str(caught.value)
        assert fragment in str(caught.value)
        assert "\n" not in str(caught.value)


def _bomb():
    """Aliases that would multiply to 10^9 parameters."""
    lines = ["p0: &p0 {type: choice, options: {a: {}}}"]
    for level in range(1, 10):
        children = ", ".join(f"c{i}: *p{level - 1}" for i in range(10))
        lines.append(f"p{level}: &p{level} {{type: choice, options: {{a: {{{children}}}}}}}")
    return "\n".join(lines)


KEYS = [
    "type",
    "options",
    "low",
    "high",
    "log",
    "step",
    "default",
    "when",
    "ordered",
    "parameters",
    "forbid",
    "hyperparameters",
]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats()
    | st.sampled_from(["int", "choice", "float", "categorical", "x"])
)
DATA = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=15,
)


@given(DATA)
@settings(max_examples=300, deadline=None)
def test_any_data_is_a_space_or_one_clear_line(data):
    try:
        space = Space.from_json(data)
    except SpaceError as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert Space.from_json(space.to_json()) == space


def test_all_errors_are_bough_errors_and_value_errors():
    for kind in (SpaceError, ConditionError, ConfigError):
        assert issubclass(kind, BoughError)
        assert issubclass(kind, ValueError)


def test_a_space_cannot_be_changed():
    with pytest.raises(AttributeError, match="cannot be changed"):
        SPACE.forbid = ()
    with pytest.raises(TypeError):
        SPACE.declared["new"] = Int(0, 1)
