"""Which parameters may share a name: those that are never active together."""

from __future__ import annotations

import contextlib
import random
from itertools import combinations

import pytest

from bough.errors import SpaceError
from bough.space import Choice, Float, Space
from bough.space.choice import Declared
from bough.space.desugar import _check_names, _entries, _exclusive


def declared(rng: random.Random, depth: int = 0) -> dict[str, Declared]:
    found: dict[str, Declared] = {}
    for name in rng.sample("abcdefgh", rng.randint(1, 2)):
        if depth < 3 and rng.random() < 0.5:
            found[name] = Choice({label: declared(rng, depth + 1) for label in ("p", "q")})
        else:
            found[name] = Float(0, 1)
    return found


def test_the_check_of_names_agrees_with_comparing_all_pairs() -> None:
    rng, refused = random.Random(0), 0
    for _ in range(300):
        entries = list(_entries(declared(rng), (), ""))
        pairs = [(a, b) for a, b in combinations(entries, 2) if a.name == b.name]
        wrong = not all(_exclusive(a.scope, b.scope) for a, b in pairs)
        refused += wrong
        with pytest.raises(SpaceError, match="is used twice") if wrong else contextlib.nullcontext():
            _check_names(entries)
    assert 50 < refused < 250


def test_names_in_a_choice_of_thousands_of_options_are_not_compared_in_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bough.space.desugar._exclusive", lambda *_: pytest.fail("a pair was compared"))
    assert len(Space({"m": Choice({f"o{i}": {"x": Float(0, 1)} for i in range(300)})})) == 301


def test_a_choice_of_plain_options_is_a_categorical() -> None:
    with pytest.raises(
        SpaceError, match=r"Choice needs options: .*; options without parameters are a Categorical"
    ):
        Choice(["svm", "forest"])  # type: ignore[arg-type]
