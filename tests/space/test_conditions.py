"""The expression language: what it means, how it is printed, what it refuses."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bough.errors import ConditionError
from bough.space import Categorical, Choice, Float, Int, Space
from bough.space.conditions import canonical, parse


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("a==1", "a == 1"),
        ("( ( a  == 1 ) )", "a == 1"),
        ("1 < a", "a > 1"),
        ("1 < a <= 5", "a > 1 and a <= 5"),
        ("a < b", "a < b"),
        ('a == "x"', "a == 'x'"),
        ("a == 'it\\'s'", 'a == "it\'s"'),
        ("a in ['x', \"y\", 'x']", "a in ('x', 'y')"),
        ("a in ('x')", "a in ('x',)"),
        ("a not in (1, 1.5, True, None, -2)", "a not in (1, 1.5, True, None, -2)"),
        ("a==1 and (b==2 and c==3)", "a == 1 and b == 2 and c == 3"),
        ("a==1 and (b==2 or c==3)", "a == 1 and (b == 2 or c == 3)"),
        ("a==1 and b==2 or c==3", "a == 1 and b == 2 or c == 3"),
        ("a==1 or a==1", "a == 1"),
        ("not a == 1", "not (a == 1)"),
        ("not not a == 1", "a == 1"),
        ("not (a == 1 and b == 2)", "not (a == 1 and b == 2)"),
        ("`svm.kernel` == 'rbf'", "`svm.kernel` == 'rbf'"),
        ("`plain` == 1", "plain == 1"),
        ("`not` == 1", "`not` == 1"),
        ("a == 1e-5", "a == 1e-05"),
        ("größe >= .5", "größe >= 0.5"),
    ],
)
def test_canonical_form(written, printed):
    assert canonical(written) == printed
    assert canonical(printed) == printed
    assert parse(printed) == parse(written)


WORDS = [
    *"ab()[],-+.=`'x",
    "1",
    "2.5e3",
    "==",
    "!=",
    "<",
    ">=",
    "in",
    "not",
    "and",
    "or",
    "True",
    "None",
    "'s'",
    "`q r`",
    "is",
]


@given(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join) | st.text(max_size=20))
@settings(max_examples=500, deadline=None)
def test_any_text_is_a_condition_or_one_clear_line(text):
    try:
        printed = canonical(text)
    except ConditionError as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert canonical(printed) == printed
        assert parse(printed) == parse(text)


def test_one_true_and_quoted_one_are_different_conditions():
    texts = ["a == 1", "a == True", "a == '1'", "a == None", "a == 'None'"]
    for left, right in itertools.combinations(texts, 2):
        assert parse(left) != parse(right)


def activity(text):
    """Activity of x under ``text`` for every combination of a in 0..3, b in 0..2 (b needs a >= 1)."""
    space = Space({"a": Int(0, 3), "b": Int(0, 2, when="a >= 1"), "x": Float(0, 1, when=text)})
    result = {}
    for a in range(4):
        for b in range(3) if a >= 1 else [None]:
            x = [0.5, 0.5, 0.5]
            x[0] = (a + 0.5) / 4
            x[1] = 0.5 if b is None else (b + 0.5) / 3
            config = space.decode(space.snap(np.array([x])))[0]
            assert (config["a"], config.get("b")) == (a, b)
            assert space.validate(config) == config
            result[a, b] = "x" in config
    return result


@pytest.mark.parametrize(
    ("text", "expected"),
    [  # b is None where it is inactive: then every comparison with it is false
        ("b == 1", lambda a, b: b is not None and b == 1),
        ("b != 1", lambda a, b: b is not None and b != 1),
        ("not (b == 1)", lambda a, b: not (b is not None and b == 1)),
        ("not (b != 1)", lambda a, b: not (b is not None and b != 1)),
        ("b in (0, 2)", lambda a, b: b is not None and b in (0, 2)),
        ("b not in (0, 2)", lambda a, b: b is not None and b not in (0, 2)),
        ("b < 1 or a == 0", lambda a, b: (b is not None and b < 1) or a == 0),
        ("b >= 1 and a <= 2", lambda a, b: b is not None and b >= 1 and a <= 2),
        ("a < b", lambda a, b: b is not None and a < b),
        ("not (a < b)", lambda a, b: not (b is not None and a < b)),
        ("b != a", lambda a, b: b is not None and b != a),
        ("0 < a < 3", lambda a, b: 0 < a < 3),
        ("a > 0.5 and not a >= 2.5", lambda a, b: a > 0.5 and not a >= 2.5),
        ("a == 1 or a == 3 or b == 0", lambda a, b: a in (1, 3) or b == 0),
        ("a != 1 and a != 3", lambda a, b: a not in (1, 3)),
        ("a == 1 and a == 2", lambda a, b: False),
    ],
)
def test_meaning(text, expected):
    assert activity(text) == {case: expected(*case) for case in activity(text)}


def test_ordered_options_compare_by_position():
    space = Space({"size": Categorical(["s", "m", "l"], ordered=True), "x": Int(0, 1, when="size >= 'm'")})
    assert [space.encode([c]).on[0, -1] for c in ({"size": "s"}, {"size": "m", "x": 0})] == [False, True]


def test_relations_between_categoricals_compare_values():
    space = Space(
        {
            "a": Categorical(["x", "y", "z"]),
            "b": Categorical(["z", "y"]),
            "c": Categorical([1, 10, 2], ordered=True),
            "n": Int(0, 20),
            "same": Int(0, 1, when="a == b"),
            "more": Int(0, 1, when="c > n"),
        }
    )
    for config in space.sample(300, np.random.default_rng(0)):
        assert ("same" in config) == (config["a"] == config["b"])
        assert ("more" in config) == (config["c"] > config["n"])


def test_names_resolve_from_the_inside_out():
    space = Space(
        {
            "model": Choice(
                {
                    "svm": {
                        "kernel": Categorical(["rbf", "poly"]),
                        "degree": Int(1, 5, when="kernel == 'poly'"),
                    },
                    "gp": {
                        "kernel": Categorical(["rbf", "matern"]),
                        "nu": Float(0, 1, when="kernel == 'matern'"),
                    },
                }
            ),
            "extra": Float(0, 1, when="`model=gp/kernel` == 'rbf'"),
            "nus": Float(0, 1, when="nu > 0.5"),  # one parameter only has that name
        }
    )
    assert str(space["degree"].condition) == "`model=svm/kernel` == 'poly'"
    assert str(space["nu"].condition) == "`model=gp/kernel` == 'matern'"
    assert space.active({"model": "gp", "kernel": "rbf", "extra": 0.1}) == ["model", "kernel", "extra"]
    assert space.active({"model": "svm", "kernel": "rbf"}) == ["model", "kernel"]
    with pytest.raises(ConditionError, match=r"ambiguous.*model=svm/kernel.*model=gp/kernel"):
        Space({**space.declared, "y": Int(0, 1, when="kernel == 'rbf'")})


def test_implied_outer_conditions_are_dropped():
    space = Space(
        {
            "a": Categorical(["x", "y", "z"]),
            "b": Categorical(["u", "v"], when="a == 'x'"),
            "c": Int(0, 1, when="b == 'u' and a == 'x'"),
            "d": Int(0, 1, when="a != 'y' and a != 'z' and b == 'u'"),
            "e": Int(0, 1, when="not (b == 'u') and a == 'x'"),
        }
    )
    assert str(space["c"].condition) == "b == 'u'"
    groups = [group.columns for group in space.tree.groups if group.columns]
    assert groups == [(0,), (1,), (2, 3), (4,)]


def test_huge_flat_conditions_are_fast_enough():
    text = " or ".join(f"a == {i}" for i in range(2000))
    space = Space({"a": Int(0, 9999), "b": Int(0, 1, when=text), "c": Int(0, 1, when="a < 2000")})
    assert len(space.tree.groups) == 2  # they mean the same
    text = " and ".join(f"a != {i}" for i in range(2000))
    assert Space(
        {"a": Int(0, 9999), "b": Int(0, 1, when=text), "c": Int(0, 1, when="a >= 2000")}
    ).tree.groups[1].columns == (1, 2)
