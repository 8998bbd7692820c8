"""``BoughSearchCV(race=True)``: candidates are scored fold by fold, and dropped by the study's race.

The folds are the instances of the race (``study.stopping.races``): the score on a fold is a report, and the
study decides which candidate is dropped. This module only assigns folds and writes ``cv_results_``.

scikit-learn scores a list of candidates on all folds of ``cv``. A race needs one fold at a time, so ``cv`` is
a ``Folds`` during the fit, which shows scikit-learn a single fold, the current one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import get_routing_for_object

from bough.study import Study
from bough.study.stopping.race_values import FEWEST_INSTANCES
from bough.trial import Trial

__all__ = ["Candidate", "FoldScore", "Folds", "last_line", "race_over_folds", "results_table", "with_metrics"]

FoldScore = Mapping[str, Any]
"""The results of scikit-learn on one fold: ``test_scores``, times, ``fit_error``.

If all fits of a call failed, scikit-learn raises only the error, so there are no ``test_scores``.
"""

ScoreFold = Callable[[Sequence["Candidate"], int], Sequence[FoldScore]]
"""Scores candidates on a fold."""


class Folds:
    """A splitter of scikit-learn with one split: the fold ``current`` of another splitter.

    The folds are made once, so all candidates see the same ones even if the splitter is random.
    """

    def __init__(self, cv: Any, classifier: bool) -> None:
        self._cv, self._classifier = cv, classifier
        self.all: list[Any] = []
        self.current = 0

    def __repr__(self) -> str:  # in a warning of scikit-learn
        return repr(self._cv)

    def get_n_splits(self, X: Any = None, y: Any = None, **params: Any) -> int:
        if not self.all:
            self.all = list(check_cv(self._cv, y, classifier=self._classifier).split(X, y, **params))
            if len(self.all) <= FEWEST_INSTANCES:
                raise ValueError(
                    f"race=True needs at least {FEWEST_INSTANCES + 1} folds, and cv makes {len(self.all)}: a "
                    f"candidate is dropped after {FEWEST_INSTANCES} folds at the earliest"
                )
        return 1

    def split(self, X: Any = None, y: Any = None, **params: Any) -> list[Any]:
        return [self.all[self.current]]

    def get_metadata_routing(self) -> Any:
        return get_routing_for_object(self._cv)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A trial of the race, with the estimator's parameters and the scores by fold so far."""

    trial: Trial
    params: Mapping[str, Any]
    scores: Mapping[int, FoldScore] = field(default_factory=dict)

    @property
    def has_score(self) -> bool:
        """Whether it has a score on any fold."""
        return any("test_scores" in found for found in self.scores.values())


def race_over_folds(
    study: Study,
    order: Sequence[int],
    ask: Callable[[int], Iterable[Candidate]],
    score: ScoreFold,
    value_of: Callable[[FoldScore], float],
    at_once: int,
    scoring: str,
) -> list[Candidate]:
    """Score candidates on one fold after another until each is done, dropped or failed; returns all of them.

    ``at_once`` candidates run the same fold together. If others were dropped, a candidate waits until more
    candidates reach its fold, so the jobs stay busy; meanwhile new ones start, up to twice ``at_once``.
    scoring: what the scores are, to be noted in each trial.
    """
    waiting: list[Candidate] = []
    ended: list[Candidate] = []
    try:
        while True:
            places = [len(each.scores) for each in waiting]
            full = [place for place in places if places.count(place) >= at_once]
            if not full and len(waiting) < 2 * at_once:
                waiting += ask(at_once)
            if not waiting:
                return sorted(ended, key=lambda each: each.trial.number)
            place = max(full) if full else min(len(each.scores) for each in waiting)
            group = [each for each in waiting if len(each.scores) == place]
            for each, found in zip(group, score(group, order[place]), strict=True):
                scored = replace(each, scores={**each.scores, order[place]: found})
                moved = _told(study, scored, order, value_of, scoring)
                waiting.remove(each)
                (waiting if moved.trial.state == "running" else ended).append(moved)
    except BaseException:
        study.renew([each.trial for each in waiting], None)  # tried first if the search continues
        raise


def _told(
    study: Study,
    scored: Candidate,
    order: Sequence[int],
    value_of: Callable[[FoldScore], float],
    scoring: str,
) -> Candidate:
    """Report the candidate's score on its latest fold to the study, and its mean after the last fold."""
    trial, place = scored.trial, len(scored.scores)
    fold = order[place - 1]
    value, error = value_of(scored.scores[fold]), scored.scores[fold].get("fit_error")
    if not np.isfinite(value) or (place == len(order) and not scored.has_score):
        why = last_line(error) if error else f"the score is {value}"
        return replace(scored, trial=study.fail(trial, f"on fold {fold}: {why}"))
    if study.report(trial, value, place):
        return replace(scored, trial=replace(trial, state="stopped"))
    if place < len(order):
        return scored
    mean = float(np.mean([value_of(scored.scores[each]) for each in range(place)]))
    result = with_metrics(mean, list(scored.scores.values()))
    return replace(scored, trial=study.tell(trial, result, notes={"scoring": scoring}))


def with_metrics(value: float, folds: Sequence[FoldScore]) -> dict[str, float]:
    """The result to tell: the value, and if the search has several metrics, the mean of each over the folds.

    The study keeps the means as the trial's measures. It reads noise and cost from a result, so a metric with
    such a name is left out.
    """
    scores = [fold.get("test_scores") for fold in folds]
    tables = [each for each in scores if isinstance(each, dict)]
    if len(tables) < len(folds):
        return {"value": value}
    means = {name: float(np.mean([each[name] for each in tables])) for name in tables[0]}
    return {name: mean for name, mean in means.items() if name not in ("noise", "cost")} | {"value": value}


def last_line(error: object) -> str:
    """The last line of scikit-learn's traceback."""
    return str(error).strip().splitlines()[-1]


def results_table(
    candidates: Sequence[Candidate],
    folds: int,
    error_score: float,
    as_table: Callable[[list[Any], int, list[FoldScore], dict[str, list[int]]], dict[str, Any]],
) -> dict[str, Any]:
    """``cv_results_``, with NaN for folds that a candidate did not run.

    The means of a dropped candidate are over its folds. It ranks after all complete candidates, because
    scikit-learn ranks a score of NaN last.
    """
    known = next(found for each in candidates for found in each.scores.values() if "test_scores" in found)

    def unless_failed(found: FoldScore) -> FoldScore:
        return found if "test_scores" in found else _constant(known, error_score)

    absent = _constant(known, np.nan)
    rows = [
        unless_failed(each.scores[fold]) if fold in each.scores else absent
        for each in candidates
        for fold in range(folds)
    ]
    ran = {"n_folds": [len(each.scores) for each in candidates]}
    with warnings.catch_warnings():
        if all(each.trial.state != "failed" for each in candidates):
            warnings.filterwarnings("ignore", "One or more of the")  # "scores are non-finite": not run
        table = as_table([each.params for each in candidates], folds, rows, ran)
    for row, each in enumerate(candidates):
        if each.trial.state == "stopped":
            own = [unless_failed(each.scores[fold]) for fold in sorted(each.scores)]
            alone = as_table([each.params], len(own), own, {})
            for name in alone:
                if name.startswith(("mean_", "std_")):
                    table[name][row] = alone[name][0]
    return table


def _constant(known: FoldScore, score: float) -> FoldScore:
    """A fold like a known one, with the same score for every metric and no times."""
    scores = {
        name: dict.fromkeys(known[name], score) if isinstance(known[name], dict) else score
        for name in ("test_scores", "train_scores")
        if name in known
    }
    return {**known, **scores, "fit_time": np.nan, "score_time": np.nan}
