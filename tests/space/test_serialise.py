"""Spaces as text: JSON, YAML, repr and the drawing."""

from __future__ import annotations

import json

import pytest

from bough.errors import SpaceError
from bough.space import Categorical, Choice, Float, Int, Space
from bough.space.scalars import UNSET

SPACE = Space(
    {
        "model": Choice(
            {
                "svm": {
                    "C": Float(1e-5, 1e5, log=True),
                    "kernel": Choice({"rbf": {"g": Float(0, 1)}, "linear": {}}),
                },
                "ridge": {"C": Float(0, 1, default=0.5)},
                "bayes": {},
            },
            default="ridge",
        ),
        "mixed": Categorical([1, True, "1", None, 2.5], default=None),
        "size": Categorical(["s", "m"], ordered=True),
        "steps": Float(0, 1, step=0.25, when="size == 'm'"),
        "odd": Int(1, 9, step=2, default=3),
        "with space": Int(1, 512, log=True, when="`model=svm/C` > 1 or not (odd == 3)"),
    },
    forbid=["odd == 9 and size == 's'"],
)


def test_json_round_trip():
    again = Space.from_json(SPACE.to_json())
    assert again == SPACE
    assert again.to_json() == SPACE.to_json()
    assert again.default == SPACE.default
    assert again["mixed"].domain.default is None
    assert again["size"].domain.default is UNSET
    assert [type(option) for option in again["mixed"].domain.options] == [int, bool, str, type(None), float]
    assert Space.from_json(SPACE.to_dict()) == SPACE


def test_repr_round_trip():
    names = {"Space": Space, "Float": Float, "Int": Int, "Categorical": Categorical, "Choice": Choice}
    assert eval(repr(SPACE), names) == SPACE  # noqa: S307


def test_the_documented_format():
    text = """{"model": {"type": "choice", "options": {
        "svm":   {"C": {"type": "float", "low": 1e-5, "high": 1e5, "log": true}},
        "bayes": {}}},
     "scale": {"type": "categorical", "options": ["none", "standard", "maxabs"]},
     "shrink": {"type": "float", "low": 0, "high": 1, "when": "model == 'svm'"}}"""
    expected = Space(
        {
            "model": Choice({"svm": {"C": Float(1e-5, 1e5, log=True)}, "bayes": {}}),
            "scale": Categorical(["none", "standard", "maxabs"]),
            "shrink": Float(0, 1, when="model == 'svm'"),
        }
    )
    assert Space.from_json(text) == expected
    wrapped = {"parameters": json.loads(text), "forbid": ["scale == 'none'"]}
    assert Space.from_json(wrapped) == Space(expected.declared, forbid=["scale == 'none'"])
    assert json.loads(expected.to_json()) == json.loads(text)


@pytest.mark.parametrize("name", ["parameters", "forbid", "hyperparameters", "type"])
def test_parameters_may_have_the_names_of_keys(name):
    space = Space({name: Int(0, 1), "m": Choice({"a": {"low": Int(0, 1), "options": Int(0, 1)}, "b": {}})})
    assert Space.from_json(space.to_json()) == space


def test_files(tmp_path):
    file = tmp_path / "space.json"
    file.write_text(SPACE.to_json(), encoding="utf-8")
    assert Space.load(file) == SPACE
    assert Space.load(str(file)) == SPACE


YAML = """
model:
  type: choice
  options:
    svm: {C: {type: float, low: 1e-5, high: 1e5, log: true}}
    off: {}
switch: {type: categorical, options: [on, off, no, true, 1, "1", null, 1e3, -2, .5, 0x10]}
shrink:
  type: float
  low: 0
  high: 1
  when: model == 'svm'
"""


def test_yaml_without_its_surprises(tmp_path):
    file = tmp_path / "space.yaml"
    file.write_text(YAML)
    assert Space.load(file) == Space(
        {
            "model": Choice({"svm": {"C": Float(1e-5, 1e5, log=True)}, "off": {}}),
            "switch": Categorical(["on", "off", "no", True, 1, "1", None, 1000.0, -2, 0.5, 16]),
            "shrink": Float(0, 1, when="model == 'svm'"),
        }
    )


def test_yaml_has_no_numbers_of_base_60_or_8(tmp_path):
    file = tmp_path / "space.yaml"
    file.write_text("a: {type: categorical, options: [16:9, 1:30:00, 010, 0, -7, 1_000, 0x10, 0b11]}\n")
    assert Space.load(file)["a"].domain.options == ("16:9", "1:30:00", "010", 0, -7, 1000, 16, 3)


def test_yaml_anchors_are_fine(tmp_path):
    file = tmp_path / "space.yml"
    file.write_text("a: &rate {type: float, low: 0, high: 1}\nb: *rate\nc: {<<: *rate, high: 2}\n")
    assert Space.load(file) == Space({"a": Float(0, 1), "b": Float(0, 1), "c": Float(0, 2)})


def test_drawing():
    assert (
        str(SPACE)
        == """\
Space
├── model: choice, default ridge
│   ├── svm
│   │   ├── C: float 1e-05 to 100000, log
│   │   └── kernel: choice
│   │       ├── rbf
│   │       │   └── g: float 0 to 1
│   │       └── linear
│   ├── ridge
│   │   └── C: float 0 to 1, default 0.5
│   └── bayes
├── mixed: 1 | True | '1' | None | 2.5, default None
├── size: s < m
├── steps: float 0 to 1, step 0.25, when size == 'm'
├── odd: int 1 to 9, step 2, default 3
└── with space: int 1 to 512, log, when `model=svm/C` > 1 or not (odd == 3)
forbidden: odd == 9 and size == 's'"""
    )


def test_deep_but_allowed_nesting_works():
    parameter = Int(0, 1)
    for level in range(100):
        parameter = Choice({"a": {f"p{level}": parameter}, "b": {}})
    space = Space({"top": parameter})
    assert Space.from_json(space.to_json()) == space
    assert space.size == 102
    assert len(space.tree.paths(1000)) == 101
    assert str(space).count("\n") == 301
    assert "Choice" in repr(space)


def test_errors_of_a_file_name_the_file_and_the_parameter(tmp_path):
    file = tmp_path / "space.json"
    file.write_text(
        '{"m": {"type": "choice", "options": {"a": {"x": {"type": "int", "low": 3, "high": 1}}}}}'
    )
    with pytest.raises(
        SpaceError, match=r"space\.json: parameter 'm=a/x': Int\(3, 1\): low=3 must be below high=1"
    ):
        Space.load(file)
