"""Search the hyperparameters of a scikit-learn estimator: ``RandomizedSearchCV``, with branches and a model.

    search = BoughSearchCV(pipeline, space, choices={"clf": {"svc": SVC(), "forest": RandomForest()}})
    search.fit(X, y)

All candidates are scored on the same folds, so a score is told without noise: trying a candidate again gives
the same score.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bough.errors import ExhaustedError, MissingExtraError, SpaceError
from bough.space import Categorical, Choice, Float, Int, Space
from bough.study import Study

try:
    from joblib import effective_n_jobs
    from sklearn.base import clone
    from sklearn.exceptions import FitFailedWarning
    from sklearn.model_selection._search import BaseSearchCV
    from sklearn.utils import check_random_state
except ModuleNotFoundError:
    raise MissingExtraError(
        "bough.integrations.sklearn needs scikit-learn: pip install 'bough-opt[sklearn]'"
    ) from None

__all__ = ["BoughSearchCV"]

DICT = "dict"
"""The switch between the dicts of a list of spaces."""


class BoughSearchCV(BaseSearchCV):  # type: ignore[misc]
    """Search over a branching space with cross-validation, behind scikit-learn's interface for searches.

    estimator: the estimator, often a pipeline, whose parameters are set.
    space: a ``bough.Space``, a dict of lists and SciPy distributions, or a list of such dicts.
    trials: how many candidates are tried.
    choices: estimators by label, for steps that are chosen: ``{"clf": {"svc": SVC()}}`` lets ``clf`` be
        ``"svc"``. Parameters that the space declares below such an option get the prefix ``clf__``.
    method: any method of bough, by name or as ``bough.method(...)``.
    study: where to keep the study: a dict of arguments of ``bough.Study`` such as ``storage`` and ``name``.

    The other arguments are those of ``RandomizedSearchCV``. With several metrics ``refit`` names the one to
    maximise. After ``fit``, ``study_`` is the study, for figures and explanations. A candidate whose fits all
    fail is a failed trial of the study, with a warning; ``cv_results_`` lists the others.
    """

    _required_parameters = ("estimator", "space")

    def __init__(
        self,
        estimator: Any,
        space: Any,
        *,
        trials: int = 50,
        choices: Mapping[str, Mapping[str, Any]] | None = None,
        method: Any = "auto",
        study: Mapping[str, Any] | None = None,
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
        """A search is pickled with its study, unless that lives in a database."""
        state: dict[str, Any] = super().__getstate__()
        if "storage" in (self.study or {}):
            state.pop("study_", None)
        return state

    def _run_search(self, evaluate_candidates: Callable[[list[dict[str, Any]]], Mapping[str, Any]]) -> None:
        if not isinstance(self.trials, (int, np.integer)) or self.trials < 1:
            raise ValueError(f"trials must be a whole number of at least 1, not {self.trials!r}")
        space, to_params = _readable(self.space, self.choices or {})
        given = dict(self.study or {})
        if self.random_state is not None or "storage" not in given:  # a stored study has its seed
            given.setdefault("seed", int(check_random_state(self.random_state).randint(2**31 - 1)))
        study = Study(space, method=self.method, direction="maximize", **given)
        self.study_ = study
        known, stop_requests = len(study.trials), study.status().stop_requests
        at_once = max(1, effective_n_jobs(self.n_jobs))
        scored = finished = 0
        while finished < self.trials and study.status().stop_requests == stop_requests:
            try:
                batch = study.ask(min(at_once, self.trials - finished))
            except ExhaustedError:
                break
            finished += len(batch)
            try:
                results = evaluate_candidates([to_params(trial.config) for trial in batch])
            except ValueError as error:
                # scikit-learn ends a search whose fits all fail; here that may be one candidate of many
                if not str(error).strip().startswith("All the") or (finished >= self.trials and not scored):
                    raise
                warnings.warn(str(error).strip(), FitFailedWarning, stacklevel=2)
                for trial in batch:
                    study.fail(trial, str(error).strip().splitlines()[-1])
                continue
            except BaseException:
                study.renew(batch, None)  # tried first when the search goes on in the same storage
                raise
            scores = np.asarray(results[self._score_name(results)])[scored:]
            for trial, score in zip(batch, scores, strict=True):
                study.tell(trial, float(score))
            scored += len(batch)
        if not finished:
            raise ValueError(f"study {study.name!r} has tried all of its {known} configurations")

    def _score_name(self, results: Mapping[str, Any]) -> str:
        if "mean_test_score" in results:
            return "mean_test_score"
        name = f"mean_test_{self.refit}"
        if name not in results:
            raise ValueError("with several metrics, refit must name the one to maximise")
        return name


ToParams = Callable[[Mapping[str, Any]], dict[str, Any]]


def _readable(space: Any, choices: Mapping[str, Mapping[str, Any]]) -> tuple[Space, ToParams]:
    """The space to search, and how a config becomes parameters of the estimator."""
    if isinstance(space, Space):
        return space, _from_space(space, choices)
    tables = [space] if isinstance(space, Mapping) else space
    if (
        not isinstance(tables, Sequence)
        or not tables
        or not all(isinstance(table, Mapping) for table in tables)
    ):
        raise SpaceError(
            f"space must be a bough.Space, a dict or a list of dicts, not {type(space).__name__}"
        )
    columns = [{name: _column(name, given) for name, given in table.items()} for table in tables]
    options = {
        f"{i}": {name: column.domain for name, column in table.items()} for i, table in enumerate(columns)
    }
    found = Space({DICT: Choice(options)}) if len(tables) > 1 else Space(options["0"])

    def to_params(config: Mapping[str, Any]) -> dict[str, Any]:
        table = columns[int(config.get(DICT, 0))]
        return {name: table[name].value(config[name]) for name in table}

    return found, to_params


def _from_space(space: Space, choices: Mapping[str, Mapping[str, Any]]) -> ToParams:
    for name, labels in choices.items():
        domains = [parameter.domain for parameter in space if parameter.name == name]
        choosing = [domain for domain in domains if isinstance(domain, Categorical)]
        if not domains or len(choosing) < len(domains):
            raise SpaceError(f"choices names {name!r}, which is not a choice of the space")
        missing = [label for domain in choosing for label in domain.options if label not in labels]
        if missing:
            raise SpaceError(f"choices[{name!r}] has no estimator for option {missing[0]!r}")

    def to_params(config: Mapping[str, Any]) -> dict[str, Any]:
        active = space.layout.active(space.encode([config]).on)[0]
        params: dict[str, Any] = {}
        for parameter, here in zip(space, active, strict=True):
            value: Any = config.get(parameter.name)
            if here and parameter.name in choices:
                params[parameter.name] = clone(choices[parameter.name][value], safe=False)
            elif here:
                params[_prefixed(parameter.path, parameter.name, choices)] = value
        return params

    return to_params


def _prefixed(path: str, name: str, choices: Mapping[str, Any]) -> str:
    """``clf__C`` for a parameter ``C`` below an option of the choice ``clf``."""
    for step in reversed(path.split("/")[:-1]):
        switch = step.partition("=")[0]
        if switch in choices and not name.startswith(f"{switch}__"):
            return f"{switch}__{name}"
    return name


@dataclass(frozen=True)
class _Column:
    """One parameter of a dict: its domain, and the values that its options stand for (None: itself)."""

    domain: Any
    options: Sequence[Any] | None = None

    def value(self, chosen: Any) -> Any:
        return chosen if self.options is None else self.options[chosen]


def _column(name: str, given: Any) -> _Column:
    if hasattr(given, "rvs"):
        return _Column(_distribution(name, given))
    if isinstance(given, (str, bytes)) or not hasattr(given, "__len__"):
        raise SpaceError(
            f"parameter {name!r} must be a list of values or a SciPy distribution, not {given!r}"
        )
    values = list(given)
    if not values:
        raise SpaceError(f"parameter {name!r} has no values")
    return _Column(Categorical(list(range(len(values)))), values)


def _distribution(name: str, given: Any) -> Float | Int:
    """A frozen SciPy distribution as a range."""
    kind = getattr(getattr(given, "dist", None), "name", type(given).__name__)
    low, high = (float(end) for end in given.support())
    if kind in ("loguniform", "reciprocal"):
        return Float(low, high, log=True)
    if kind == "uniform":
        return Float(low, high)
    if kind == "randint":
        return Int(int(low), int(high))
    raise SpaceError(
        f"parameter {name!r} has a {kind} distribution: use uniform, loguniform or randint, or a bough.Float"
    )
