"""Random chains of changes: each earlier config encodes, proposals are of the current space, undo returns."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import bough
from bough import Categorical, Float, Int, Space
from bough.errors import BoughError, ExhaustedError, StudyError
from bough.storage import Amendment

START = Space(
    {
        "kind": Categorical(["a", "b", "c"]),
        "x": Float(0.1, 10.0, log=True),
        "n": Int(1, 9, when="kind != 'c'"),
        "y": Float(0, 1, when="kind == 'b' and n > 3"),
    }
)
NUMBERS = {
    "x": [Float(0.1, 10.0, log=True), Float(0.01, 1.0, log=True), Float(-1, 20), Float(2, 3), Int(1, 5)],
    "n": [Int(1, 9), Int(4, 20), Int(1, 9, log=True), Int(2, 5), Categorical([1, 4, 9]), Int(1, 9, step=2)],
    "y": [Float(0, 1), Float(0, 1, step=0.25), Float(0.4, 0.6), Float(0, 2, step=0.5)],
    "z": [Float(0, 1), Float(0.5, 3), Categorical([True, False, None])],
}
OPTIONS = [["a", "b", "c"], ["b", "a"], ["a", "b", "c", "d"], ["c", "d"], ["d"]]
CONDITIONS: list[str | None] = [None, "kind == 'b'", "kind != 'a'", "kind in ('b', 'd')", "n > 3", "x < 2.5"]
CLAUSES = ["kind == 'b' and x > 5", "n == 4", "x > 2.9", "kind == 'd' and z == 0.5"]


@st.composite
def spaces(draw: st.DrawFn) -> Space:
    """A space near the first one; not every draw is valid, so a few are made."""
    for _ in range(20):
        declared: dict[str, Any] = {
            "kind": Categorical(draw(st.sampled_from(OPTIONS)), ordered=draw(st.integers(0, 9)) == 0)
        }
        for name, domains in NUMBERS.items():
            if draw(st.integers(0, 4)):
                domain = draw(st.sampled_from(domains))
                when = draw(st.sampled_from(CONDITIONS))
                declared[name] = replace(domain, when=when)
        try:
            return Space(declared, forbid=draw(st.lists(st.sampled_from(CLAUSES), max_size=1)))
        except BoughError:
            continue
    return START


def change(study: bough.Study, space: Space, data: st.DataObject) -> None:
    """Change the space, at times with backfill or fix, unless a name looks misspelt."""
    old, new = ({p.path: p.domain for p in each.parameters} for each in (study.space, space))
    rng = np.random.default_rng(0)
    values = {
        what: {
            path: Space({path: domain}).sample(1, rng)[0][path]
            for path, domain in one.items()
            if path not in other and data.draw(st.booleans())
        }
        for what, one, other in (("backfill", bare(new), old), ("fix", bare(old), new))
    }
    try:
        study.change(space, **values)
    except StudyError as error:
        if "misspelt" not in str(error):
            raise


def bare(domains: dict[str, Any]) -> dict[str, Any]:
    return {path: replace(domain, when=None) for path, domain in domains.items()}


def check(study: bough.Study, method_asks: bool) -> None:
    space, trials = study.space, study.trials
    with study._current() as view:
        model, _ = study._in_use(view)
    points = model.encode(trials)
    assert len(points) == len(trials)
    assert np.isfinite(points.x).all()
    kept = [row for row in range(len(trials)) if trials[row].number >= study._revisions[-1].since]
    assert model.space.legal(points.take(kept)).all(), "trials of the current space are legal"
    back = model.decode(points.take(kept))
    for row, config in zip(kept, back):
        assert config.keys() == trials[row].config.keys()
    if method_asks:
        try:
            trial = study.ask()
        except ExhaustedError:
            return
        assert space.validate(trial.config) == trial.config
        study.tell(trial, float(len(trial.config)))


def chain(data: st.DataObject, method: str, edits: int) -> None:
    study = bough.Study(START, seed=1, method=method)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    study.add_many((config, float(rng.random())) for config in START.sample(4, rng))
    for _ in range(edits):
        change(study, data.draw(spaces()), data)
        study.add_many((config, float(rng.random())) for config in study.space.sample(2, rng))
        check(study, method_asks=True)
    changes = [amendment for amendment in study.amendments if amendment.kind == "space"]
    assert len(changes) == len(study._revisions) - 1
    again = bough.Study.of_record(study.record, study._storage)
    assert again.trials == study.trials
    with again._current() as view:
        model, _ = again._in_use(view)
    assert np.array_equal(model.encode(study.trials).x, study._model.encode(study.trials).x)  # type: ignore[union-attr]


NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)  # it takes minutes


@settings(max_examples=2, deadline=None, derandomize=True, phases=NO_SHRINKING)
@given(data=st.data())
def test_ten_changes_deep(data: st.DataObject) -> None:
    chain(data, "random", edits=10)


@pytest.mark.slow
@settings(max_examples=12, deadline=None, derandomize=True, phases=NO_SHRINKING)
@given(data=st.data())
def test_ten_changes_deep_many(data: st.DataObject) -> None:
    chain(data, "random", edits=10)


@pytest.mark.slow
@settings(max_examples=5, deadline=None, derandomize=True, phases=NO_SHRINKING)
@given(data=st.data(), method=st.sampled_from(["auto", "tpe", "add-tree", "forest", "cma"]))
def test_methods_follow(data: st.DataObject, method: str) -> None:
    chain(data, method, edits=4)


@settings(max_examples=4, deadline=None, derandomize=True, phases=NO_SHRINKING)
@given(data=st.data())
def test_undo_returns_from_anywhere(data: st.DataObject) -> None:
    study, untouched = (bough.Study(START, seed=2, method="tpe") for _ in range(2))
    for each in (study, untouched):
        each.add_many((config, float(config["x"])) for config in START.sample(6, 7))
    for _ in range(data.draw(st.integers(1, 4))):
        change(study, data.draw(spaces()), data)
    # Straight back; a name that looks misspelt cannot stand in the way of the storage's own record.
    try:
        study.change(START)
    except StudyError:
        body = {"before": study.space.to_dict(), "space": START.to_dict(), "backfill": {}, "fix": {}}
        study.amend(lambda _: Amendment("space", body), START)
    assert study.ask().config == untouched.ask().config


@settings(max_examples=3, deadline=None, derandomize=True, phases=NO_SHRINKING)
@given(data=st.data())
def test_ten_widenings_equal_a_new_study_with_the_results(data: st.DataObject) -> None:
    low, high, top, options = 0.4, 0.6, 3, ["a"]

    def space() -> Space:
        return Space(
            {
                "kind": Categorical(options),
                "x": Float(low, high),
                "n": Int(1, top, when="kind == 'a'"),
            }
        )

    study = bough.Study(space(), seed=5, method="tpe")
    study.add_many((config, float(config["x"])) for config in study.space.sample(8, 3))
    for _ in range(10):
        match data.draw(st.integers(0, 3)):
            case 0:
                low -= data.draw(st.floats(0.01, 0.5))
            case 1:
                high += data.draw(st.floats(0.01, 0.5))
            case 2:
                top += data.draw(st.integers(1, 3))
            case _:
                options = [*options, f"b{len(options)}"]
        study.change(space())
    fresh = bough.Study(space(), seed=5, method="tpe")
    fresh.add_many((trial.config, trial.value) for trial in study.trials)
    assert len(study._revisions) == 11
    for _ in range(2):
        one, other = study.ask(), fresh.ask()
        assert one.config == other.config
        study.tell(one, 0.5)
        fresh.tell(other, 0.5)


@settings(max_examples=3, deadline=None, derandomize=True, phases=NO_SHRINKING)
@given(data=st.data())
def test_identity_changes_nothing_wherever_it_comes(data: st.DataObject) -> None:
    """Two studies go through the same changes; one of them is also changed to the space that it has."""
    study, twin = (bough.Study(START, seed=4, method="tpe") for _ in range(2))
    for each in (study, twin):
        each.add_many((config, float(config["x"])) for config in START.sample(6, 7))
    for _ in range(3):
        wanted = data.draw(spaces())
        for each in (study, twin):
            with contextlib.suppress(StudyError):  # a name that looks misspelt
                each.change(wanted)
        assert study.change(Space.from_json(study.space.to_json())) == []
        configs = study.space.sample(2, 9)
        for each in (study, twin):
            each.add_many((config, float(len(config))) for config in configs)
    assert [a.body for a in study.amendments] == [a.body for a in twin.amendments]
    assert study.ask().config == twin.ask().config
