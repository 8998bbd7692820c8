"""A stored search keeps its scoring, as far as its text tells."""

from __future__ import annotations

import functools
import re

import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, fbeta_score, make_scorer

import bough
from bough.errors import StudyError
from bough.integrations.sklearn import BoughSearchCV
from bough.integrations.sklearn_scoring import scoring_text
from bough.integrations.sklearn_space import readable_space

X, Y = load_iris(return_X_y=True)


def times(truth: object, predicted: object, by: float) -> float:
    return by


class Constant:
    def __call__(self, estimator: object, x: object, y: object) -> float:
        return 1.0


@pytest.mark.parametrize(
    ("scoring", "text"),
    [
        (None, "the score of the estimator"),
        ("accuracy", "accuracy"),
        (Constant(), "<Constant>"),
        (lambda estimator, x, y: 1.0, "<lambda>"),
        (functools.partial(times, by=2), "functools.partial(<function times>, by=2)"),
        (
            functools.partial(Constant().__call__),
            "functools.partial(<bound method Constant.__call__ of <Constant>>)",
        ),
    ],
)
def test_the_text_of_a_scoring_is_the_same_in_every_process(scoring: object, text: str) -> None:
    assert scoring_text(scoring, True) == text


def test_scorers_of_functions_with_other_arguments_differ() -> None:
    texts = [scoring_text(make_scorer(functools.partial(times, by=by)), True) for by in (1, 1, 1000)]
    assert texts[0] == texts[1] != texts[2]


def test_the_text_of_a_scoring_is_short() -> None:
    texts = [
        scoring_text(make_scorer(fbeta_score, beta=2, labels=list(range(3000)), zero_division=zero), True)
        for zero in (0, 1)
    ]
    assert all(re.fullmatch(r"make_scorer\(fbeta_score, .*\.\.\. [0-9a-f]{8}", text) for text in texts)
    assert max(map(len, texts)) <= 200 and texts[0] != texts[1]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ({"scoring": "accuracy"}, {"scoring": "f1_macro"}, "its scoring is 'accuracy', not 'f1_macro'"),
        ({}, {"scoring": "accuracy"}, "its scoring is 'the score of the estimator', not 'accuracy'"),
        (
            {"scoring": ["accuracy", "f1_macro"], "refit": "accuracy"},
            {"scoring": ["accuracy", "f1_macro"], "refit": "f1_macro"},
            "its scoring is 'accuracy', not 'f1_macro'",
        ),
        (
            {"scoring": make_scorer(accuracy_score), "race": True, "cv": 4},
            {"scoring": make_scorer(f1_score, average="macro"), "race": True, "cv": 4},
            r"its scoring is \"make_scorer\(accuracy_score.*, not \"make_scorer\(f1_score",
        ),
    ],
)
def test_a_stored_search_keeps_its_scoring(tmp_path, first, second, message: str) -> None:
    stored = {"storage": f"sqlite:///{tmp_path}/s.db", "name": "s"}

    def search(arguments: dict[str, object]) -> BoughSearchCV:
        given = {"trials": 1, "cv": 2, "method": "random", "study": stored, **arguments}
        return BoughSearchCV(LogisticRegression(), {"C": [0.1, 1.0, 10.0]}, **given).fit(X, Y)

    search(first)
    with pytest.raises(StudyError, match=message):
        search(second)
    assert len(search(first).study_.trials) == 2


def test_a_stored_search_of_an_earlier_version_has_no_scoring(tmp_path) -> None:
    stored = {"storage": f"sqlite:///{tmp_path}/s.db", "name": "s"}
    search = BoughSearchCV(
        LogisticRegression(), {"C": [0.1, 1.0]}, trials=1, cv=2, method="random", study=stored
    )
    space, _ = readable_space({"C": [0.1, 1.0]}, {})
    bough.Study(space, method="random", direction="maximize", **stored).add({"C": 1.0}, 0.5)
    assert len(search.fit(X, Y).study_.trials) == 2
