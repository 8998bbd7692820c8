"""Searches the hyperparameters of a scikit-learn estimator, like ``RandomizedSearchCV`` in a branching space.

    search = BoughSearchCV(pipeline, space, choices={"clf": {"svc": SVC(), "forest": RandomForest()}})
    search.fit(X, y)

All candidates are scored on the same folds, so scores have no noise: trying a candidate again gives the same
score. With ``race=True`` folds are the instances of a race; see ``sklearn_race``.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import rankdata

from bough.errors import ExhaustedError, MissingExtraError, StudyError
from bough.study import Study
from bough.study.other_names import hinting
from bough.study.stopping.race_values import instances_of
from bough.study.stopping.races import race_order
from bough.trial import Trial

try:
    from joblib import effective_n_jobs
    from sklearn.base import is_classifier
    from sklearn.exceptions import FitFailedWarning
    from sklearn.model_selection._search import BaseSearchCV
    from sklearn.utils import check_random_state

    from bough.integrations.sklearn_race import (
        Candidate,
        Folds,
        FoldScore,
        last_line,
        race_over_folds,
        results_table,
        with_metrics,
    )
    from bough.integrations.sklearn_scoring import check_scoring, scoring_text
    from bough.integrations.sklearn_space import ToParams, check_parameters, readable_space
except ModuleNotFoundError:
    raise MissingExtraError(
        "bough.integrations.sklearn needs scikit-learn: pip install 'bough-opt[sklearn]'"
    ) from None

__all__ = ["BoughSearchCV"]

STUDY_ARGUMENTS = frozenset({"storage", "name", "seed", "stopping", "learn_from"})

REFIT_NAMES_NO_METRIC = "with several metrics, refit must name the one to maximise"


class BoughSearchCV(BaseSearchCV):  # type: ignore[misc]
    """Search over a branching space with cross-validation and scikit-learn's search interface.

    estimator: the estimator, often a pipeline, whose parameters are set.
    space: a ``bough.Space``, a dict of lists and SciPy distributions, or a list of such dicts.
    trials: how many candidates are tried.
    choices: estimators by label, for steps that are chosen: ``{"clf": {"svc": SVC()}}`` lets ``clf`` be
        ``"svc"``. Parameters that the space declares below such an option get the prefix ``clf__``.
    method: any method of bough, by name or as ``bough.method(...)``.
    study: where to keep the study: a dict with ``storage``, ``name``, optionally ``seed`` and ``learn_from``,
        as in ``bough.Study``.
    race: score candidates fold by fold, and drop one once it loses against the best candidate so far by a
        paired test. In ``cv_results_``, ``n_folds`` is the number of folds on which each candidate ran. A
        dropped one has NaN for the other folds, means over its own folds, and ranks after complete ones.

    The other arguments are those of ``RandomizedSearchCV``. With several metrics ``refit`` names the one to
    maximise, and trials of the study have the mean of each as a measure. After ``fit``, ``study_`` is the
    study, for figures and explanations. A candidate whose fits all fail is a failed trial of the study, with
    a warning; its scores in ``cv_results_`` are ``error_score``. Each ``fit`` tries ``trials`` candidates,
    also where a stored study has earlier ones. A pickled search contains its study, unless that is stored:
    reopen it with ``bough.open_study``.
    """

    _required_parameters = ("estimator", "space")
    cv: Any

    @hinting
    def __init__(
        self,
        estimator: Any,
        space: Any,
        *,
        trials: int = 50,
        choices: Mapping[str, Mapping[str, Any]] | None = None,
        method: Any = "auto",
        study: Mapping[str, Any] | None = None,
        race: bool = False,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
    ) -> None:
        self.space = space
        self.trials = trials
        self.choices = choices
        self.method = method
        self.study = study
        self.race = race
        self.random_state = random_state
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )

    def __getstate__(self) -> dict[str, Any]:
        """A search is pickled with its study, unless the study is in a database."""
        state: dict[str, Any] = super().__getstate__()
        if "storage" in (self.study or {}):
            state.pop("study_", None)
        return state

    def fit(self, X: Any, y: Any = None, **params: Any) -> BoughSearchCV:
        """Search, then fit the best candidate on all data unless ``refit`` is false; see ``GridSearchCV``."""
        if not self.race:
            return super().fit(X, y, **params)  # type: ignore[no-any-return]
        given, folds = self.cv, Folds(self.cv, is_classifier(self.estimator))
        self.cv = folds
        try:
            super().fit(X, y, **params)
            self.n_splits_ = len(folds.all)
        finally:
            self.cv = given
            self.__dict__.pop("_checked_cv_orig", None)  # scikit-learn stores the splitter of the fit here
        return self

    def _run_search(self, evaluate_candidates: Evaluate) -> None:
        if not isinstance(self.trials, (int, np.integer)) or self.trials < 1:
            raise ValueError(f"trials must be a whole number of at least 1, not {self.trials!r}")
        named = self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring)
        if not named and not isinstance(self.refit, str):  # a function may turn out to measure several, too
            raise ValueError(REFIT_NAMES_NO_METRIC)
        space, to_params = readable_space(self.space, self.choices or {})
        check_parameters(self.estimator, space, to_params)
        given = self._study_arguments()
        if self.random_state is not None or "storage" not in given:  # a stored study has its seed
            given.setdefault("seed", int(check_random_state(self.random_state).randint(2**31 - 1)))
        study = Study(space, method=self.method, direction="maximize", **given)
        scoring = scoring_text(self.scoring, self.refit)
        check_scoring(study, scoring)
        self.study_ = study
        known, stop_requests = len(study.trials), study.status().stop_requests
        asked, used_up = 0, None

        def ask(n: int) -> list[Trial]:
            """Up to ``n`` further trials; an empty list if the search should end."""
            nonlocal asked, used_up
            n = min(n, self.trials - asked)
            if n == 0 or study.status().stop_requests > stop_requests:
                return []
            try:
                batch = study.ask(n)
            except ExhaustedError as error:
                used_up = error
                return []
            asked += len(batch)
            return batch

        if self.race:
            self._race(study, ask, to_params, evaluate_candidates, scoring)
        else:
            self._score_all_folds(study, ask, to_params, evaluate_candidates, scoring)
        if not asked:
            raise ValueError(f"study {study.name!r} has tried all of its {known} configurations")
        if used_up is not None:
            warnings.warn(f"the search ends before trials={self.trials}: {used_up}", stacklevel=5)

    def _study_arguments(self) -> dict[str, Any]:
        given = {} if self.study is None else self.study
        if not isinstance(given, Mapping) or not set(given) <= STUDY_ARGUMENTS:
            raise StudyError(
                f"study must be a dict with some of {', '.join(sorted(STUDY_ARGUMENTS))}, not {given!r:.80}"
            )
        return dict(given)

    def _score_all_folds(
        self, study: Study, ask: Ask, to_params: ToParams, evaluate: Evaluate, scoring: str
    ) -> None:
        if instances_of(study.amendments):
            raise StudyError(f"study {study.name!r} races over folds: open it with race=True")
        scored, failed, lost = 0, None, []
        results: dict[str, Any] = {}
        tried: list[Candidate] = []
        while batch := ask(max(1, effective_n_jobs(self.n_jobs))):
            try:
                params = [to_params(trial.config) for trial in batch]
                results = evaluate(params)
                found = results.pop("fold_scores")[scored:]
                errors = [[fold.get("fit_error") for fold in of_folds] for of_folds in found]
                scores = np.asarray(results[self._score_name(results)])[scored:]
            except BaseException as error:
                failed = _if_all_failed(error, callers=2)
                if failed is None:
                    study.renew(batch, None)  # tried first if the search continues in the same storage
                    raise
                no_scores = {fold: {"fit_error": str(error)} for fold in range(self.n_splits_)}
                for trial, given in zip(batch, params, strict=True):
                    tried.append(Candidate(study.fail(trial, last_line(error)), given, no_scores))
                continue
            for trial, given, of_folds in zip(batch, params, found, strict=True):
                tried.append(Candidate(trial, given, dict(enumerate(of_folds))))
            for trial, score, of_folds, at in zip(batch, scores.tolist(), errors, found, strict=True):
                if np.isfinite(score) and None in of_folds:
                    study.tell(trial, with_metrics(score, at), notes={"scoring": scoring})
                else:
                    fold = next((fold for fold, error in enumerate(of_folds) if error), None)
                    why = f"the score is {score}" if fold is None else last_line(of_folds[fold])
                    lost.append(study.fail(trial, why if fold is None else f"on fold {fold}: {why}"))
            scored += len(batch)
        if failed is not None and scored:  # ``fit`` takes the dict of the last evaluation as its results
            table = results_table(tried, self.n_splits_, float(self.error_score), self._table)
            results.clear()
            results.update((name, column) for name, column in table.items() if name != "n_folds")
        if study.goals.fidelity is not None and scored:
            _rank_full_first(results, *study.goals.fidelity)
        if lost:
            message = f"{len(lost)} of {scored} candidates have no score; the last one: {lost[-1].error}"
            warnings.warn(message, stacklevel=5)
        if failed is not None and not scored:
            raise failed

    def _score_name(self, results: Mapping[str, Any]) -> str:
        if "mean_test_score" in results:
            return "mean_test_score"
        name = f"mean_test_{self.refit}"
        if name not in results:
            raise ValueError(REFIT_NAMES_NO_METRIC)
        return name

    def _race(self, study: Study, ask: Ask, to_params: ToParams, evaluate: Evaluate, scoring: str) -> None:
        folds = self.cv
        order = race_order(study, range(len(folds.all)))
        error_score = np.nan if isinstance(self.error_score, str) else float(self.error_score)
        latest: dict[str, Any] = {}
        failed: ValueError | None = None

        def candidates(n: int) -> list[Candidate]:
            return [Candidate(trial, to_params(trial.config)) for trial in ask(n)]

        def score(group: Sequence[Candidate], fold: int) -> Sequence[FoldScore]:
            nonlocal latest, failed
            folds.current = fold
            if self.verbose > 0:
                print(f"Fold {fold + 1} of {len(order)}:", end=" ")
            try:
                latest = evaluate([each.params for each in group])
            except ValueError as error:
                failed = _if_all_failed(error, callers=4)
                if failed is None:
                    raise
                return [{"fit_error": str(error)}] * len(group)
            found: Sequence[FoldScore] = latest["fold_scores"][-len(group) :]
            return found

        def value_of(found: FoldScore) -> float:
            scores = found.get("test_scores", error_score)
            if not isinstance(scores, dict):
                return float(scores)
            if self.refit not in scores:
                raise ValueError(REFIT_NAMES_NO_METRIC)
            return float(scores[self.refit])

        raced = race_over_folds(
            study, order, candidates, score, value_of, max(1, effective_n_jobs(self.n_jobs)), scoring
        )
        if raced and not any(each.trial.state == "done" for each in raced):
            with contextlib.suppress(StudyError):  # no trial has a result
                # all lost against the best trial of earlier fits in the same storage
                best = Candidate(study.best, to_params(study.best.config))
                raced.append(replace(best, scores={fold: score([best], fold)[0] for fold in order}))
        listed = [each for each in raced if each.has_score]
        if failed is not None and not listed:
            raise failed
        if listed:
            # ``fit`` takes the dict of the last evaluation as its results
            table = results_table(listed, len(order), error_score, super()._format_results)
            latest.clear()
            latest.update(table)

    def _format_results(
        self, candidate_params: list[Any], n_splits: int, out: list[FoldScore], more_results: Any = None
    ) -> dict[str, Any]:
        if isinstance(self.cv, Folds):  # a race makes its table once, at the end
            return {"fold_scores": out}
        table = self._table(candidate_params, n_splits, out, more_results)
        starts = range(0, len(out), n_splits)
        table["fold_scores"] = [out[start : start + n_splits] for start in starts]  # for the study
        return table

    def _table(
        self, candidate_params: list[Any], n_splits: int, out: list[FoldScore], more_results: Any = None
    ) -> dict[str, Any]:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "One or more of the")  # warn at the end, not after each batch
            table: dict[str, Any] = super()._format_results(candidate_params, n_splits, out, more_results)
        return table

    @staticmethod
    def _select_best_index(refit: Any, refit_metric: str, results: Mapping[str, Any]) -> int:
        index = int(BaseSearchCV._select_best_index(refit, refit_metric, results))
        ran = results.get("n_folds")
        if ran is not None and ran[index] < max(ran):
            warnings.warn(
                f"refit chose candidate {index}, which the race dropped after {ran[index]} of {max(ran)} "
                "folds: choose among those with the highest cv_results_['n_folds']",
                stacklevel=2,
            )
        return index


Ask = Callable[[int], list[Trial]]
Evaluate = Callable[[list[Any]], dict[str, Any]]


def _rank_full_first(results: dict[str, Any], fidelity: str, full: Any) -> None:
    """Rank candidates below the highest fidelity behind all others: their scores are not comparable."""
    partial = np.array([params[fidelity] != full for params in results["params"]])
    for name in results:
        if name.startswith("rank_test_"):
            ranks = results[name] + len(partial) * partial
            results[name] = rankdata(ranks, method="min").astype(results[name].dtype)


def _if_all_failed(error: BaseException, callers: int) -> ValueError | None:
    """The error, after a warning, if it says that all fits failed; None otherwise.

    scikit-learn ends a search whose fits all fail; here that may be one candidate of many.
    callers: the number of functions of this package between here and ``fit``, where the warning belongs.
    """
    if not isinstance(error, ValueError) or not str(error).strip().startswith("All the"):
        return None
    warnings.warn(str(error).strip(), FitFailedWarning, stacklevel=callers + 2)
    return error
