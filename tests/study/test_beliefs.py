"""Beliefs of a study: those of its space, and those told later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bough
from bough.errors import MethodError, StudyError
from bough.storage import MemoryStorage
from bough.study.catalogue import export_study, import_study


def space(likely: Any = None) -> bough.Space:
    return bough.Space(
        {
            "model": bough.Choice({"svm": {"C": bough.Float(0, 1, likely=likely)}, "bayes": {}}),
            "w": bough.Float(0, 1),
        }
    )


@pytest.mark.parametrize("again", [None, (0.1, 0.2)])
def test_an_existing_study_is_reopened_with_its_beliefs_or_without(again: Any) -> None:
    storage = MemoryStorage()
    bough.Study(space((0.1, 0.2)), name="s", storage=storage)
    reopened = bough.Study(space(again), name="s", storage=storage)
    assert reopened.space["C"].domain.likely == (0.1, 0.2)


def test_other_beliefs_are_refused_with_the_difference() -> None:
    storage = MemoryStorage()
    bough.Study(space((0.1, 0.2)), name="s", storage=storage)
    with pytest.raises(
        StudyError, match=r"likely values of its 'model=svm/C' are \(0.1, 0.2\), not \(0.3, 0.4\)"
    ):
        bough.Study(space((0.3, 0.4)), name="s", storage=storage)


def likely_now(study: bough.Study) -> dict[str, Any]:
    with study._current() as view:
        return {belief.path: belief.likely for belief in study._history(view).beliefs}


def test_the_latest_statement_counts_and_can_be_withdrawn() -> None:
    study = bough.Study(space((0.1, 0.2)), seed=0)
    assert likely_now(study) == {"model=svm/C": (0.1, 0.2)}
    study.believe({"C": (0.3, 0.4), "model": ["svm"]})
    assert likely_now(study) == {"model": (("svm", 1.0),), "model=svm/C": (0.3, 0.4)}
    study.believe({"w": (0.8, 0.9)})
    study.believe({"model=svm/C": None})
    assert likely_now(study) == {"model": (("svm", 1.0),), "w": (0.8, 0.9)}
    study.believe({})
    assert likely_now(study) == {}
    study.believe({"w": (0.1, 0.3)})
    assert likely_now(study) == {"w": (0.1, 0.3)}
    study.believe(None)
    assert likely_now(study) == {}


def test_told_beliefs_lead_the_next_proposals_and_not_the_earlier_explanations() -> None:
    study = bough.Study(space(), seed=0)
    study.run(lambda c: 1.0 * (c["model"] == "bayes"), trials=5, progress=False)
    study.believe({"w": (0.85, 0.95)})
    assert study.ask().config["w"] > 0.75
    assert "beliefs" not in study.explain(4)
    assert study.explain(5)["beliefs"] == {"w": "likely (0.85, 0.95), counts with exponent 3"}


def test_beliefs_are_stored_and_travel_in_files(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/s.db"
    study = bough.Study(space(), name="s", storage=storage, seed=0)
    study.believe({"C": (0.3, 0.4), "model": {"svm": 2}})
    expected = study.ask().config
    study.fail(0, "only asked")
    again = bough.open_study("s", storage)
    assert likely_now(again) == likely_now(study)
    export_study(again, tmp_path / "s.jsonl")
    read = import_study(tmp_path / "s.jsonl", f"sqlite:///{tmp_path}/t.db")
    assert likely_now(read) == likely_now(study)
    fresh = bough.Study(space(), seed=0)
    fresh.believe({"C": (0.3, 0.4), "model": {"svm": 2}})
    assert fresh.ask().config == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"modle": ["svm"]}, "the space has no parameter 'modle'; did you mean 'model'?"),
        ({"w": (0, 9)}, r"parameter 'w': likely=\(0, 9\) must be a range inside \[0.0, 1.0\]"),
        (
            {"model": {"tree": 1}},
            "parameter 'model': likely: an option must be one of 'svm', 'bayes', not 'tree'",
        ),
        (["w"], "beliefs are a dict"),
    ],
)
def test_a_bad_belief_changes_nothing(given: Any, message: str) -> None:
    study = bough.Study(space((0.1, 0.2)))
    with pytest.raises(StudyError, match=message):
        study.believe(given)
    assert study.amendments == []
    assert likely_now(study) == {"model=svm/C": (0.1, 0.2)}


def test_an_ambiguous_name_lists_the_paths() -> None:
    twice = bough.Space({"m": bough.Choice({label: {"C": bough.Float(0, 1)} for label in "ab"})})
    with pytest.raises(StudyError, match="ambiguous: name one of 'm=a/C', 'm=b/C'"):
        bough.Study(twice).believe({"C": (0, 0.5)})


@pytest.mark.parametrize("method", ["random", "sobol", "tpe"])
def test_methods_without_a_model_say_that_they_cannot(method: str) -> None:
    with pytest.raises(MethodError, match=f"method '{method}' cannot use beliefs"):
        bough.Study(space(), method=method).believe({"w": (0, 0.5)})
