"""Beliefs on parameters: what may be said, how it is written, and that it changes nothing else."""

from __future__ import annotations

import json
import pickle

import pytest

from bough.errors import SpaceError
from bough.space import Categorical, Choice, Float, Int, Space
from bough.space.beliefs import Belief, beliefs_of

BELIEVED = Space(
    {
        "model": Choice(
            {"svm": {"C": Float(1e-5, 1e5, log=True, likely=(0.1, 10))}, "bayes": {}}, likely={"svm": 3}
        ),
        "mixed": Categorical([1, True, "1", None], likely=[[None, 2], [1, 1]]),
        "scale": Categorical(["none", "standard", "maxabs"], likely=["none", "standard"]),
        "trees": Int(1, 30, likely=(10, 20)),
    }
)
PLAIN = Space(
    {
        "model": Choice({"svm": {"C": Float(1e-5, 1e5, log=True)}, "bayes": {}}),
        "mixed": Categorical([1, True, "1", None]),
        "scale": Categorical(["none", "standard", "maxabs"]),
        "trees": Int(1, 30),
    }
)


def test_every_text_form_keeps_beliefs(tmp_path):
    names = {"Space": Space, "Float": Float, "Int": Int, "Categorical": Categorical, "Choice": Choice}
    file = tmp_path / "space.yaml"
    file.write_text(BELIEVED.to_json())  # JSON is YAML
    for again in (
        Space.from_json(BELIEVED.to_json()),
        Space.load(file),
        eval(repr(BELIEVED), names),  # noqa: S307
        pickle.loads(pickle.dumps(BELIEVED)),  # noqa: S301
    ):
        assert again.to_json() == BELIEVED.to_json()
        assert beliefs_of(again) == beliefs_of(BELIEVED)


def test_a_space_without_beliefs_is_written_as_ever():
    assert "likely" not in PLAIN.to_json()
    assert "likely" not in str(PLAIN) + repr(PLAIN)


def test_beliefs_are_no_part_of_what_a_space_is():
    assert BELIEVED == PLAIN
    assert Float(0, 1, likely=(0, 0.5)) == Float(0, 1)
    assert hash(Categorical(["a", "b"], likely=["a"])) == hash(Categorical(["a", "b"]))


def test_beliefs_by_column():
    assert beliefs_of(PLAIN) == ()
    assert beliefs_of(BELIEVED) == (
        Belief(0, "model", (("svm", 3.0),)),
        Belief(1, "model=svm/C", (0.1, 10)),
        Belief(2, "mixed", ((None, 2.0), (1, 1.0))),
        Belief(3, "scale", (("none", 1.0), ("standard", 1.0))),
        Belief(4, "trees", (10, 20)),
    )


def test_what_is_told_stands_in_for_what_is_declared():
    told = {"trees": ((1, 5), 7), "model": (None, 7)}
    found = {belief.path: belief for belief in beliefs_of(BELIEVED, told)}
    assert found["trees"] == Belief(4, "trees", (1, 5), since=7)
    assert "model" not in found
    assert found["scale"].since == 0


def test_the_drawing_names_them():
    assert "trees: int 1 to 30, likely (10, 20)" in str(BELIEVED)
    assert "model: choice, likely {'svm': 3}" in str(BELIEVED)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Float(0, 1, likely=(0.5, 2)), r"likely=\(0.5, 2\) must be a range inside \[0.0, 1.0\]"),
        (lambda: Float(0, 1, likely=(0.5, 0.2)), "the lower end first"),
        (lambda: Float(0, 1, likely=(0.5, 0.5)), "some width"),
        (lambda: Float(0, 1, likely=(float("nan"), 1)), "must be a range inside"),
        (lambda: Float(0, 1, likely=3), r"must be a range \(low, high\), not 3"),
        (lambda: Int(0, 9, likely="19"), r"must be a range \(low, high\)"),
        (lambda: Int(0, 9, likely=(1, 2, 3)), r"must be a range \(low, high\)"),
        (lambda: Categorical(["a", "b"], likely="a"), "{option: weight} or a list of options"),
        (lambda: Categorical(["a", "b"], likely=[]), "{option: weight} or a list of options"),
        (lambda: Categorical(["a", "b"], likely=["c"]), "must be one of 'a', 'b', not 'c'"),
        (
            lambda: Categorical(["a", "b"], likely={"a": -1}),
            "the weight of 'a' must be a number >= 0, not -1",
        ),
        (lambda: Categorical(["a", "b"], likely={"a": 0}), "at least one weight must be above 0"),
        (lambda: Categorical(["a", "b"], likely=["a", "a"]), "'a' is given twice"),
        (lambda: Choice({"a": {}, "b": {}}, likely={"c": 1}), "must be one of 'a', 'b', not 'c'"),
        (
            lambda: Space.from_json(
                json.dumps({"x": {"type": "int", "low": 0, "high": 1, "likely": [0, 5]}})
            ),
            "parameter 'x': Int likely",
        ),
    ],
)
def test_bad_beliefs_are_one_line(make, message):
    with pytest.raises(SpaceError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_an_integer_may_be_believed_exactly():
    assert Int(0, 9, likely=(3, 3)).likely == (3, 3)
