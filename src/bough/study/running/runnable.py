"""What local and served studies have in common: calls that come down to a few others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from bough.study.analysis.recommend import Recommendation, recommend
from bough.study.formats.table_export import table
from bough.study.handles import checked_count, number_and_attempt
from bough.study.other_names import STUDY_NAMES, no_attribute
from bough.study.results import failure, told
from bough.study.running.spending import budget_of
from bough.trial import Config, Trial

if TYPE_CHECKING:
    from bough.points import FloatArray
    from bough.space import Space
    from bough.storage import Amendment, StudyRecord
    from bough.study.goals import Goals
    from bough.study.trial_index import Status

__all__ = ["RunnableStudy"]


class RunnableStudy:
    """A study that can be run: a local ``Study``, or a served one (``client.RemoteStudy``)."""

    goals: Goals

    if TYPE_CHECKING:  # the parts that differ between the two

        @property
        def record(self) -> StudyRecord: ...
        @property
        def name(self) -> str: ...
        @property
        def direction(self) -> str: ...
        @property
        def space(self) -> Space: ...
        @property
        def trials(self) -> list[Trial]: ...
        @property
        def current_trials(self) -> list[Trial]: ...
        @property
        def amendments(self) -> list[Amendment]: ...
        @property
        def has_model(self) -> bool: ...

        def snapshot(self) -> tuple[StudyRecord, list[Trial], list[Amendment]]: ...
        def status(self) -> Status: ...
        def predict(self, configs: Sequence[Config]) -> tuple[FloatArray, FloatArray]: ...
        def add_many(self, results: Any) -> list[Trial]: ...
        def report(self, trial: Trial | int, value: Any, step: int) -> bool: ...
        def set_budget(self, budget: float | None) -> None: ...

        def ask_up_to(
            self, n: int, *, limit: int | None = None, lease: float | None = None, worker: str | None = None
        ) -> list[Trial]:
            """Up to ``n`` trials: fewer if the space is exhausted, or as for ``ask_within(limit)``."""

        def ask_within(
            self, limit: int | None, lease: float | None, *, worker: str | None = None
        ) -> Trial | None:
            """The next trial; None if the finished and the leased trials together already reach ``limit``."""

        def record_result(self, result: Trial) -> Trial:
            """Store a result; returns the trial as stored."""

        def renew(self, trials: Sequence[Trial], lease: float | None) -> None:
            """Let the leases end ``lease`` seconds from now; None puts the trials into the queue."""

    else:  # type checkers should report names that do not exist

        def __getattr__(self, name: str) -> Any:
            return no_attribute(self, name, STUDY_NAMES)

    @overload
    def ask(self, n: None = None, *, lease: float | None = None, worker: str | None = None) -> Trial: ...
    @overload
    def ask(self, n: int, *, lease: float | None = None, worker: str | None = None) -> list[Trial]: ...
    def ask(
        self, n: int | None = None, *, lease: float | None = None, worker: str | None = None
    ) -> Trial | list[Trial]:
        """The next trial to evaluate, or the next ``n`` as a list.

        Queued trials, and trials whose lease has ended, come first. Otherwise the method proposes one and
        takes all running trials into account. ``lease``: seconds after which the trial is handed out again
        unless it has a result; without a lease it stays yours. ``worker``: the name of the worker, by default
        host and process. Raises ExhaustedError if every configuration of a finite space was tried.
        """
        trials = self.ask_up_to(1 if n is None else checked_count(n), lease=lease, worker=worker)
        return trials[0] if n is None else trials

    def tell(
        self,
        trial: Trial | int,
        value: Any,
        *,
        noise: float | Mapping[str, float] | None = None,
        cost: float | None = None,
        notes: Mapping[str, Any] | None = None,
    ) -> Trial:
        """Give a trial its result and return it as stored.

        value: a number, or a dict such as an objective returns: {"value": 0.1, "noise": 0.01, "memory": 512}.
        Numbers under other names are kept as ``trial.measures``. Objectives and constraints with names need a
        dict with all of them; if one is missing or not finite, the trial fails. noise: standard deviation of
        the value, or a dict of them by measure; cost: what the evaluation cost, in any unit; notes: JSON data
        to keep with the trial. The trial fails if the value is NaN or infinite. The same result may be told
        again; a different one is a ConflictError.
        """
        number, attempt = number_and_attempt(trial)
        return self.record_result(told(number, value, noise, cost, attempt, notes, self.goals))

    def fail(self, trial: Trial | int, reason: str, learn: bool = True) -> Trial:
        """Say that a trial has no result, and why; methods learn to avoid regions where trials fail.

        learn: False if the config is not at fault (a full disk, a lost network). No method then learns from
        the failure, and the same config may be proposed once more.
        """
        number, attempt = number_and_attempt(trial)
        return self.record_result(failure(number, str(reason), attempt, learn))

    def add(self, config: Config, value: Any, noise: float | None = None) -> Trial:
        """Add a known result; the method learns from it, but ``run`` does not count it."""
        return self.add_many([(config, value, noise)])[0]

    def recommend(self) -> Recommendation:
        """The tried configuration with the best predicted value, and its 95 % interval."""
        return recommend(self)

    def frame(self) -> Any:
        """A pandas DataFrame with one row per trial and a column per parameter and measure; needs pandas."""
        return table(self.trials, feasible=bool(self.goals.limits))

    @property
    def spent(self) -> float:
        """The cost of the finished trials: reported costs, or seconds if none was reported."""
        return self.status().spent

    @property
    def budget(self) -> float | None:
        """The total cost that the trials may have, as last set by ``run(budget=)``."""
        return budget_of(self.amendments)
