"""PCS files of solvers as spaces: old and new syntax, conditions, forbidden clauses, mistakes by line."""

from __future__ import annotations

from pathlib import Path

import pytest

import bough
from bough.errors import SpaceError

OLD = """
# a solver of 2009
sp-learned {0, 1} [1]
sp-restart-inc [1.1, 1.9] [1.5]l    # log scale
sp-phase {0,1,2} [2]
sp-decay [1,100] [20]il
sp-max-res [-3, 7] [4]i

Conditionals:
sp-restart-inc | sp-learned in {1}
sp-decay | sp-phase in {0, 2}
sp-decay | sp-learned in {1}

Forbidden:
{sp-phase=0, sp-max-res=7}
"""

NEW = """
algorithm categorical {sgd, adam} [adam]
size ordinal {small, medium, large} [medium]
layers integer [1, 8] [2]
rate real [1e-4, 1] [0.01] log
momentum real [0, 1] [0.9]
momentum | algorithm == sgd && layers > 3 || size != small
rate | size in {medium, large}
{algorithm=adam, layers=8}
"""


def load(text: str, folder: Path) -> bough.Space:
    path = folder / "space.pcs"
    path.write_text(text)
    return bough.Space.load(path)


def test_old_syntax(tmp_path: Path) -> None:
    assert load(OLD, tmp_path) == bough.Space(
        {
            "sp-learned": bough.Categorical(["0", "1"], default="1"),
            "sp-restart-inc": bough.Float(1.1, 1.9, log=True, default=1.5, when="`sp-learned` == '1'"),
            "sp-phase": bough.Categorical(["0", "1", "2"], default="2"),
            "sp-decay": bough.Int(
                1, 100, log=True, default=20, when="`sp-phase` in ('0', '2') and `sp-learned` == '1'"
            ),
            "sp-max-res": bough.Int(-3, 7, default=4),
        },
        forbid=["`sp-phase` == '0' and `sp-max-res` == 7"],
    )


def test_new_syntax(tmp_path: Path) -> None:
    space = load(NEW, tmp_path)
    assert space == bough.Space(
        {
            "algorithm": bough.Categorical(["sgd", "adam"], default="adam"),
            "size": bough.Categorical(["small", "medium", "large"], ordered=True, default="medium"),
            "layers": bough.Int(1, 8, default=2),
            "rate": bough.Float(1e-4, 1, log=True, default=0.01, when="size in ('medium', 'large')"),
            "momentum": bough.Float(
                0, 1, default=0.9, when="algorithm == 'sgd' and layers > 3 or size != 'small'"
            ),
        },
        forbid=["algorithm == 'adam' and layers == 8"],
    )
    assert space.default == {
        "algorithm": "adam", "size": "medium", "layers": 2, "rate": 0.01, "momentum": 0.9
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a {x, y} [z]", "line 1: parameter 'a': Categorical"),
        ("\na [1, x] [1]", "line 2: 'x' must be a number"),
        ("a integer [1, 5] [2.5]", "line 1: '2.5' must be an integer"),
        ("a {x} [x]\na {y} [y]", "line 2: parameter 'a' is declared twice"),
        ("a {x, y} [x]\nb | a in {x}", "line 2: the conditional parameter 'b' is not declared"),
        ("a {x, y} [x]\nb {u} [u]\nb | c in {x}", "line 3: the condition reads 'c'"),
        ("a {x, y} [x]\nb {u} [u]\nb | a ~ x", "line 3: the condition 'a ~ x' cannot be read"),
        ("a real [0, 1] [0]\n{a + a > 1}", "line 2: a forbidden clause has pairs 'name = value'"),
        ("what is this", "line 1: 'what is this' is none of"),
        ("", "at least one parameter"),
    ],
)
def test_mistakes_name_their_line(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(SpaceError, match=says.replace("+", r"\+").replace("[", r"\[")) as caught:
        load(text, tmp_path)
    assert "\n" not in str(caught.value)
