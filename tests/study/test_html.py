"""What notebooks show of spaces, studies and trials: well-formed, small, without any markup of a user."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

import bough

EVIL = "<script>alert('x')</script>&\"'"


def parsed(html: str) -> ET.Element:
    """The HTML as XML, which is stricter: an unescaped text of a user would not parse, or add elements."""
    root = ET.fromstring(html)
    tags = {element.tag for element in root.iter()}
    assert tags <= {"div", "span", "b", "ul", "li", "code", "table", "tr", "th", "td", "svg", "title", "rect",
                    "circle", "path"}, tags  # fmt: skip
    return root


def text(html: str) -> str:
    return "".join(parsed(html).itertext())


def evil_space() -> bough.Space:
    return bough.Space(
        {
            EVIL: bough.Choice({EVIL: {"x": bough.Float(0, 1)}, "b": {"n": bough.Int(1, 9)}}),
            "c": bough.Categorical([EVIL, None]),
        },
        forbid=[f"`{EVIL}` == 'b' and c == None"],
    )


def test_a_space_shows_its_tree() -> None:
    shown = text(evil_space()._repr_html_())
    for part in (EVIL, "4 parameters", "float 0 to 1", "int 1 to 9", "forbidden"):
        assert part in shown


def test_a_study_shows_best_branches_and_history() -> None:
    study = bough.Study(evil_space(), name=EVIL, method="random", seed=0, direction="maximize")
    assert "no trials yet" in text(study._repr_html_())
    for number in range(12):
        trial = study.ask()
        if number % 4 == 3:
            study.fail(trial, EVIL)
        else:
            study.tell(trial, float(number))
    html = study._repr_html_()
    shown = text(html)
    for part in (EVIL, "9 done, 3 failed", "best10 (trial 10)", "branch", "the best so far"):
        assert part in shown, part
    assert sum(element.tag == "circle" for element in parsed(html).iter()) == 9
    assert EVIL in text(study.trials[3]._repr_html_())
    assert "Trial 10 done, value 10" in text(study.trials[10]._repr_html_())


def test_several_objectives_show_the_front() -> None:
    space = bough.Space({"x": bough.Float(0, 1)})
    study = bough.Study(space, objectives=[EVIL, "b"], seed=0, method="random")
    for value in (0.0, 0.5, 1.0):
        study.tell(study.ask(), {EVIL: value, "b": 1 - value})
    study.tell(study.ask(), {EVIL: 2, "b": 2})
    html = study._repr_html_()
    assert "3 done" not in text(html) and "front" in text(html)
    filled = [c for c in parsed(html).iter() if c.tag == "circle" and c.get("fill") != "none"]
    assert len(filled) == 3


@pytest.mark.parametrize("values", [[1.0], [2.0, 2.0], [1e300, -1e300, 0.0], [0.0] * 3 + [1e9]])
def test_values_at_the_ends_of_what_floats_hold(values: list[float]) -> None:
    study = bough.Study(bough.Space({"x": bough.Float(0, 1)}), method="random", seed=0)
    for value in values:
        study.tell(study.ask(), value)
    html = study._repr_html_()
    assert "nan" not in html and "inf" not in html
    parsed(html)


def test_large_things_stay_small() -> None:
    space = bough.Space({f"p{i}": bough.Categorical(list(range(50))) for i in range(1000)})
    assert "850 more parameters" in text(space._repr_html_())
    study = bough.Study(bough.Space({"x": bough.Float(0, 1)}), method="random", seed=0)
    study.add_many([({"x": i / 5000}, float(i % 97)) for i in range(5000)])
    assert len(study._repr_html_()) < 60_000
    assert len(space._repr_html_()) < 60_000


def test_a_study_of_limits_alone_is_shown_and_explained() -> None:
    space = bough.Space({"m": bough.Choice({"a": {"x": bough.Float(0, 1)}, "b": {}})})
    study = bough.Study(space, seed=0, method="random", objectives={}, constraints=["z <= 1"])
    study.add_many([({"m": "a", "x": 0.5}, {"z": 2}), ({"m": "b"}, {"z": 0})])
    assert "violated constraints" in study._repr_html_()
    assert [each["best"] for each in study.explain()["branches"]] == [1.0, 0.0]
