"""A study: a space, a method, and the trials so far, behind ``ask`` and ``tell``."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bough.errors import MethodError, StudyError, TrialError
from bough.registry import Method, build, describe
from bough.space import Space
from bough.storage import Storage, is_absent, open_storage
from bough.strategies.base import Strategy
from bough.study.amendable_study import AmendableStudy
from bough.study.goals import Goals, parse_goals
from bough.study.handles import checked_lease, number_and_attempt
from bough.study.other_names import hinting
from bough.study.records import check_same, new_record
from bough.study.results import completed, known_results
from bough.study.sources import check_sources, source_amendments
from bough.study.stopping.race_values import instances_of
from bough.study.stopping.reporting import checked_report
from bough.study.trial_index import TrialIndex, own_copy
from bough.trial import Config, Trial

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from bough.study.running.objective import OnError
    from bough.study.running.progress import ProgressOption

__all__ = ["Study"]


class Study(AmendableStudy):
    """Ask for trials, tell their results.

    Opens the study called ``name`` in ``storage`` if there is one, and creates it otherwise. An existing
    study must have the same space and goals; its method and seed are those it was created with, also if
    ``method`` is "auto".
    Threads may share a study, and processes may open the same one.

    direction:   "minimize" or "maximize", for one objective called value.
    objectives:  several, or one with another name: {"error": "minimize", "accuracy": "maximize"}, or a list
                 of names to minimise. Then results are dicts of these names.
    constraints: limits on measures, such as ["memory <= 512", "accuracy >= 0.9"].
    reference:   the worst acceptable values, {"error": 0.5}; hypervolumes are measured from there.
    stopping:    which trials that report their progress are stopped: "median" (the default) those in the
                 worse half, "asha" all but the best third at each rung, "none" no trial.
    learn_from:  earlier studies: open ones, exported files, or names of studies in the same storage. Their
                 results are stored with a new study.
    """

    @hinting
    def __init__(
        self,
        space: Space,
        *,
        name: str | None = None,
        storage: str | Storage | None = None,
        method: str | Method | Strategy = "auto",
        seed: int | None = None,
        direction: str = "minimize",
        objectives: Mapping[str, str] | Sequence[str] | None = None,
        constraints: Sequence[str] = (),
        reference: Mapping[str, float] | None = None,
        stopping: str | None = None,
        learn_from: Sequence[Any] = (),
    ) -> None:
        if storage is None and name is None:
            name = "study"
        goals = parse_goals(objectives, constraints, reference, direction)
        wanted = new_record(space, name, goals, method, seed, stopping)
        absent = is_absent(storage)
        opened = open_storage(None if absent else storage)
        existing = found = opened.find(wanted.name)
        if not found:
            _check_reference(goals)
            # Before anything is stored, because an optional package may be missing.
            strategy = build(method, space, several=not goals.is_single)
            sources = source_amendments(learn_from, space, opened)
            if sources and not getattr(strategy, "can_learn", False):
                named = "a study with several objectives or constraints"
                given = describe(method)
                options = ", ".join(f"{name}={value!r}" for name, value in given.options.items())
                described = f"method {given.name!r}" + (f" with {options}" if options else "")
                who = described if goals.is_single else named
                raise MethodError(f"{who} cannot learn from earlier studies")
            defaults = [] if space.default is None else [Trial(0, space.validate(space.default), "queued")]
            opened = open_storage(storage) if absent else opened  # only now, so a mistake creates no file
            with contextlib.suppress(StudyError):  # another process may create it at this very moment
                found = [opened.create(wanted, defaults, sources)]
        record = (found or opened.find(wanted.name))[0]
        check_same(record, wanted, method, seed, stopping, lambda: opened.changes(record.id, 0).amendments)
        # Use the stored space: an equal space may list its parameters in another order.
        self._open(record, opened, space if record.space == wanted.space else Space.from_json(record.space))
        if existing:
            check_sources(learn_from, self.amendments, self.name)
        if not isinstance(method, (str, Method)):
            self._method_object = method

    def report(self, trial: Trial | int, value: float | Mapping[str, float], step: int) -> bool:
        """Report how a running trial is doing at a step of its evaluation; returns whether it should stop.

        value: what the objective would return if it ended now; a dict of all objectives and limited measures
        where there are several. step: an integer such as the epoch; steps must increase. If it returns True,
        the trial is stored as stopped and needs no ``tell``; see ``stopping`` of the study. The same report
        may be sent again; a different value at the same step is a ConflictError.
        """
        current = self._store_report(trial, value, step)
        if current.is_finished:  # the same report was sent before
            return current.state == "stopped"
        with self._current() as view:
            why = self._reason_to_stop(view, current.number)
        if why is None:
            return False
        result = Trial(current.number, {}, "stopped", attempt=current.attempt, notes={"stopped": why})
        with contextlib.suppress(TrialError):  # it may be told or handed out again at this moment
            self.record_result(result)
        return True

    def _reason_to_stop(self, view: TrialIndex, number: int) -> str | None:
        if instances_of(view.amendments):
            from bough.study.stopping.races import reason_to_drop

            return None if self.stopping == "none" else reason_to_drop(view, number, self.goals.sign)
        self._model_space(view)
        return self._stopping.reason(view, number)

    def keep_report(self, trial: Trial | int, value: Any, step: int) -> bool:
        """Like ``report``, but never stops the trial: for an evaluation that has ended and will be told."""
        return self._store_report(trial, value, step).state == "stopped"

    def _store_report(self, trial: Trial | int, value: Any, step: int) -> Trial:
        number, attempt = number_and_attempt(trial)
        report = checked_report(number, attempt, value, step, self.goals, self.name)
        return self._storage.report(self.record.id, report)

    def add_many(
        self,
        results: Iterable[tuple[Config, Any] | tuple[Config, Any, float | None]],
        *,
        request: str | None = None,
    ) -> list[Trial]:
        """Add known results, each (config, value) or (config, value, noise), in one transaction.

        request: mark of a request that may be sent again; the same one has no second effect.
        """
        return self.insert(known_results(results, self.goals), request)

    def enqueue(self, config: Config, *, request: str | None = None) -> Trial:
        """Have a configuration tried next, before the method proposes anything.

        request: as in ``add_many``.
        """
        return self.insert([(config, Trial(-1, {}, "queued"))], request)[0]

    def insert(self, given: list[tuple[Config, Trial]], request: str | None = None) -> list[Trial]:
        """Insert trials with configs of the current space; retry if the space changed in the meantime."""
        while True:
            with self._current() as view:
                seen = view.revision
                sent_before = [] if request is None else view.inserted_by(request)
                if sent_before:
                    return [own_copy(view.trials[number]) for number in sent_before]
            rows = [
                replace(trial, config=self._validated(config), request=request) for config, trial in given
            ]
            inserted = self._storage.insert(self.record.id, rows, seen=seen)
            if len(inserted) == len(rows):
                return [own_copy(self.goals.judged(row)) for row in inserted]

    @hinting
    def run(
        self,
        objective: Callable[..., Any],
        trials: int | None = None,
        *,
        workers: int | None = None,
        executor: Executor | None = None,
        timeout: float | None = None,
        trial_timeout: float | None = None,
        callbacks: Sequence[Callable[[Study, Trial], Any]] = (),
        progress: ProgressOption = None,
        on_error: OnError = "record",
        budget: float | None = None,
        until: str | None = None,
        instances: Iterable[Any] | None = None,
    ) -> Study:
        """Evaluate ``objective(config)`` until the study has ``trials`` finished trials; returns the study.

        objective:     may have a second parameter, ``objective(config, run)``: ``run.report(value, step)``
                       reports an intermediate value, and ``run.stop`` says whether to stop.
        trials:        done, failed and stopped ones count, added ones do not, so running again continues;
                       None runs until the timeout, a callback that returns true, or the end of the space.
        workers:       evaluate that many at a time in separate processes; the objective may be a lambda.
        executor:      evaluate in any concurrent.futures.Executor instead (``workers`` at a time).
        timeout:       seconds after which no new trial is started.
        trial_timeout: seconds after which a trial is stopped and failed; not with ``executor``.
        callbacks:     called as callback(study, trial) after each trial; a true answer ends the run.
        progress:      "bar", "log" (a line per trial, logger "bough"), False for neither, or a callable that
                       gets each Event; None and True choose a bar in terminals and notebooks, else the log.
        on_error:      if the objective raises, "record" stores a failed trial and continues; "raise" stores
                       it, ends the run and raises the exception (a TrialError from a worker).
        budget:        the total cost of the trials, in units of the "cost" that results report, or in seconds
                       if none reports one; no trial starts once it is spent.
        until:         "settled" ends the run when the model sees no further gain five results in a row.
        instances:     evaluate ``objective(config, instance)`` on each of these, such as files or folds; the
                       value is the mean. A trial that loses against the best one by a paired test is stopped.

        A trial also fails if the objective returns anything but a finite number. If it raises
        ``bough.Transient``, the trial is tried again, three times at most. Ctrl-C ends the run: all results
        are kept, then KeyboardInterrupt is raised.
        """
        from bough.study.running.loop import (
            run_objective,  # executors and signals, which ask and tell do not need
        )
        from bough.study.stopping.races import begin_race, check_no_race

        if instances is not None:
            objective = begin_race(self, objective, instances)
        else:
            check_no_race(self)
        return run_objective(
            self,
            objective,
            trials,
            workers=workers,
            executor=executor,
            timeout=timeout,
            trial_timeout=trial_timeout,
            callbacks=callbacks,
            progress=progress,
            on_error=on_error,
            budget=budget,
            until=until,
        )

    def renew(self, trials: Sequence[Trial], lease: float | None) -> None:
        """Let the leases of running trials end ``lease`` seconds from now; None puts them into the queue."""
        self._storage.renew(self.record.id, trials, None if lease is None else checked_lease(lease))

    def record_result(self, result: Trial) -> Trial:
        """Store a result; see ``Storage.finish``."""
        if result.state == "done" and (not self._view.has_begun(result.number) or self._view.is_race):
            with self._current() as view:
                if view.is_race:
                    from bough.study.stopping.races import with_standard_error

                    result = with_standard_error(result, view, self.goals.sign)
        stored = self._storage.finish(self.record.id, completed(result, self.goals))
        if self._fidelity is None and not self._view.curves.count:
            return own_copy(self.goals.judged(stored))
        with self._current() as view:  # for its curve, and the trial that it resumes
            return own_copy(view.resuming(view.curves.shown(self.goals.judged(stored))))


def _check_reference(goals: Goals) -> None:
    """StudyError if there is a reference for one objective, where it would guide nothing.

    Earlier versions stored such goals, so only new studies are checked.
    """
    if goals.reference and len(goals.names) == 1:
        name, value = goals.reference[0]
        sign = "<=" if goals.direction == "minimize" else ">="
        raise StudyError(
            f"reference is for several objectives, and {name!r} is the only one: to limit it, write "
            f"constraints=['{name} {sign} {value:g}']"
        )
