"""The loop of ``run``: a free worker gets its next trial at once, and each result is recorded on arrival."""

from __future__ import annotations

import contextlib
import logging
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial
from typing import Any, Literal, TypeVar, Unpack

from bough.errors import BoughError, ExhaustedError, StudyError, TrialError
from bough.study.results import failure
from bough.study.running.executors import Pool, WorkerLost, open_pool
from bough.study.running.leases import LEASE, Leases
from bough.study.running.objective import (
    Evaluate,
    ObjectiveRaised,
    check_objective,
    conditions_of,
    evaluate_objective,
)
from bough.study.running.progress import Event, reporter
from bough.study.running.repeated_failures import RepeatedFailures
from bough.study.running.report_channel import reporting
from bough.study.running.run_options import RunOptions, RunPlan, check_run, listing_options, warn_at_start
from bough.study.running.runnable import RunnableStudy
from bough.study.running.settling import Settling
from bough.study.running.signals import Interruption
from bough.trial import MAX_ATTEMPTS, Trial, result_text

__all__ = ["run_objective", "run_trials"]

S = TypeVar("S", bound=RunnableStudy)

_MAX_FAILURES = 10
"""Finished trials after which a run ends with an error if all of them failed."""

_POLL_SECONDS = 0.25
"""Seconds between checks of the storage while other workers evaluate the last trials."""

_WAIT_SECONDS = 5.0
"""Seconds that a run waits for the last trials of other runs before it says so."""

_log = logging.getLogger("bough")


def run_objective(
    study: S, objective: Callable[..., Any], trials: int | None, **options: Unpack[RunOptions]
) -> S:
    """Run a study with ``objective(config)`` or ``objective(config, run)``; see ``Study.run`` for options."""
    check_objective(objective)
    on_error = options.get("on_error", "record")
    needs = conditions_of(study.space)
    with reporting(objective, study.report, options) as report:
        evaluate = partial(
            evaluate_objective, objective, on_error, goals=study.goals, report=report, needs=needs
        )
        return run_trials(study, evaluate, trials, **options)


@listing_options(RunPlan, RunOptions)
def run_trials(study: S, evaluate: Evaluate, trials: int | None = None, **options: Unpack[RunOptions]) -> S:
    """Run a study with ``evaluate(trial)``, which returns the result; otherwise like ``Study.run``."""
    plan = check_run(study, trials, **options)
    warn_at_start(study, plan)
    with Interruption() as interruption:
        pool = open_pool(evaluate, plan.workers, plan.executor, plan.trial_timeout, interruption.allowed)
        # Exits in reverse order: the pool ends all evaluations, then their trials go back to the queue.
        with Leases(study.renew) as leases, contextlib.closing(pool):
            if plan.budget is not None:
                study.set_budget(plan.budget)
            this = _Run(study, plan, pool, leases, interruption)
            this.report("start")
            try:
                this.until_done()
            except KeyboardInterrupt:
                interruption.signal = interruption.signal or signal.SIGINT  # the objective may raise it too
                this.keep_values()
            except BaseException:
                this.keep_values_quietly()
                raise
            finally:
                this.report("end")
            if interruption.signal is not None:
                _log.warning(
                    "interrupted: all results are kept, trials that were running go back to the queue"
                )
    if interruption.signal == signal.SIGINT:
        raise KeyboardInterrupt
    if interruption.signal is not None:
        raise SystemExit(128 + interruption.signal)
    return study


class _Run:
    """One call of ``run``: its running evaluations, each with its trial and its deadline."""

    def __init__(
        self,
        study: RunnableStudy,
        plan: RunPlan,
        pool: Pool,
        leases: Leases,
        interruption: Interruption,
    ) -> None:
        self._study, self._plan = study, plan
        self._pool, self._leases, self._interruption = pool, leases, interruption
        self._report = reporter(plan.progress)
        self._settling = None if plan.until is None else Settling(study)
        self._failures = RepeatedFailures(study)
        self._began = time.monotonic()
        self._limit = math.inf if plan.trials is None else plan.trials
        self._stopped = False
        self._active, self._said_waiting = self._began, False
        self._status = study.status()
        self._requests_before = self._status.stop_requests
        self._finished_before = self._status.finished
        self._running: dict[Future[Trial], tuple[Trial, float]] = {}
        self._exhausted: ExhaustedError | None = None

    def until_done(self) -> None:
        while True:
            more = self._start_trials()
            if not self._running and not more:
                self._say_why_early()
                return
            self._say_waiting()
            self._wait(more)
            self._record_results()
            self._stop_overdue()

    def _start_trials(self) -> bool:
        """Start trials on all free workers; returns whether there is, or may later be, one more to start."""
        while not self._over():
            if not self._pool.ready():
                return True
            try:
                trial = self._study.ask_within(self._plan.trials, LEASE)
            except ExhaustedError as error:
                self._exhausted = error
                self._status = self._study.status()
                return self._status.leased > 0  # trials that other runs lose become available here
            if trial is None:  # the last trials of the limit are finished, or leased by others
                self._status = self._study.status()
                return self._status.finished < self._limit
            self._leases.hold(trial)
            deadline = time.monotonic() + (self._plan.trial_timeout or math.inf)
            self._running[self._pool.submit(trial)] = trial, deadline
        return False

    def _say_why_early(self) -> None:
        """Say what ended the run before ``trials``; without them, why it ran nothing at all."""
        finished = self._status.finished
        if self._stopped or self._interruption.signal is not None or finished >= self._limit:
            return
        if self._exhausted is not None and self._limit < math.inf:
            _log.warning("the run ends early: %s", self._exhausted)
        elif self._limit < math.inf or finished == self._finished_before:
            if self._spent:
                _log.warning(
                    "the run ends early: the budget of %g is spent (%g); a larger one continues the study",
                    self._plan.budget, self._status.spent,
                )  # fmt: skip
            elif self._late:
                _log.warning("the run ends early: its timeout of %g s is over", self._plan.timeout)

    @property
    def _late(self) -> bool:
        return time.monotonic() - self._began > (self._plan.timeout or math.inf)

    @property
    def _spent(self) -> bool:
        budget = self._plan.budget
        return budget is not None and self._status.spent >= budget  # both may be infinite

    def _over(self) -> bool:
        """Whether no new trial may start."""
        if not self._stopped and self._settling is not None:
            self._stopped = self._settling.settled(self._status.finished)
        if not self._stopped and self._status.stop_requests > self._requests_before:
            _log.warning("the run was asked to stop: it starts no further trial")
            self._stopped = True
        return self._stopped or self._late or self._spent or self._interruption.signal is not None

    def _say_waiting(self) -> None:
        """Say once that other runs hold the last trials: after a crash, these may be runs that are gone."""
        now = time.monotonic()
        if self._running or not self._pool.ready():
            self._active = now
        elif not self._said_waiting and now - self._active >= _WAIT_SECONDS:
            self._said_waiting = True
            _log.warning(
                "waiting for %d trials that other runs hold; those of a run that is gone are tried again "
                "when their lease of %g s ends", self._status.leased, LEASE,
            )  # fmt: skip

    def _wait(self, more: bool) -> None:
        """Wait until an evaluation ends or is overdue, or it is time to check for trials that others lost."""
        deadline = min((deadline for _, deadline in self._running.values()), default=math.inf)
        futures = [*self._running, *self._pool.starting]
        seconds = max(0.0, deadline - time.monotonic())
        if more and self._pool.ready():
            seconds = min(seconds, _POLL_SECONDS)
        with self._interruption.allowed():
            if futures:
                wait(futures, None if seconds > threading.TIMEOUT_MAX else seconds, FIRST_COMPLETED)
            else:
                time.sleep(seconds)

    def _record_results(self) -> None:
        for future in [future for future in self._running if future.done()]:
            trial, _ = self._running.pop(future)
            raised = None
            try:
                result = self._pool.collect(future, trial)
            except ObjectiveRaised as error:
                result, raised = error.result, error.error
            except WorkerLost as lost:
                if trial.attempt < MAX_ATTEMPTS:
                    _log.warning(
                        "trial %d goes back to the queue, its worker was lost: %s", trial.number, lost
                    )
                    self._leases.release(trial)
                    continue
                why = f"the worker was lost in each of {trial.attempt} attempts, last: {lost}"
                result = failure(trial.number, why, trial.attempt)
            if not result.learn and trial.attempt < MAX_ATTEMPTS:
                _log.warning("trial %d goes back to the queue: %s", trial.number, result.error)
                self._leases.release(trial)
                continue
            self._record(trial, result, raised)

    def keep_values(self) -> None:
        """After an interruption: record the values of evaluations that ended but were not recorded."""
        try:
            for trial, result in self._values():
                self._record(trial, result)
        except BaseException:  # of the storage, a callback, or a second Ctrl-C
            self.keep_values_quietly()
            raise

    def keep_values_quietly(self) -> None:
        """The same after an error, which stays the one that ends the run.

        Callbacks are not called, because one of them may have raised it. Nothing more is stored once the
        storage fails: each attempt may take as long as a served study is patient.
        """
        fails = False
        for trial, result in self._values():
            if fails:
                self._log_unstored(result)
                continue
            try:
                self._store(trial, result)
            except (BoughError, KeyboardInterrupt) as error:
                why = str(error) or "interrupted"
                _log.error("storing results failed after the error that ended the run: %s", why)
                fails = True

    def _values(self) -> Iterator[tuple[Trial, Trial]]:
        """The trials whose evaluation gave a value that was not recorded yet, each with its result.

        A failure may be an effect of the interruption, so its trial goes back to the queue instead.
        """
        for future, (trial, _) in list(self._running.items()):
            if future.done() and not future.cancelled() and future.exception() is None:
                del self._running[future]
                if (result := future.result()).state != "failed":
                    yield trial, result

    def _stop_overdue(self) -> None:
        now = time.monotonic()
        for future, (trial, deadline) in list(self._running.items()):
            if deadline < now and not future.done():
                del self._running[future]
                self._pool.stop(future)
                why = f"stopped after {self._plan.trial_timeout:g} s (trial_timeout)"
                self._record(trial, failure(trial.number, why, trial.attempt))

    def _store(self, trial: Trial, result: Trial) -> Trial | None:
        """The trial as stored; None if another worker finished it first."""
        try:
            recorded = self._study.record_result(result)
        except TrialError as error:
            # The lease expired and another worker finished first: its result counts.
            _log.warning("a late result was not recorded: %s", error)
            self._leases.drop(trial)
            return None
        except (BoughError, KeyboardInterrupt):  # of a user who does not wait for a storage that is down
            self._log_unstored(result)
            raise
        self._leases.drop(trial)
        self._status = self._study.status()
        return recorded

    def _log_unstored(self, result: Trial) -> None:
        _log.error("the result of trial %d could not be stored: %s", result.number, result_text(result))

    def _record(self, trial: Trial, result: Trial, raised: BaseException | None = None) -> None:
        recorded = self._store(trial, result)
        if recorded is None:
            return
        if recorded.state == "failed":
            whole = (
                f"\n{recorded.traceback}" if recorded.traceback and self._failures.is_new(recorded) else ""
            )
            _log.warning("trial %d failed: %s%s", recorded.number, recorded.error, whole.rstrip())
        if warning := self._failures.warning(recorded):
            _log.error("%s", warning)
        self.report("trial", recorded)
        for callback in self._plan.callbacks:
            self._stopped |= bool(callback(self._study, recorded))
        if recorded.state == "failed" and self._plan.on_error == "raise":
            raise raised or TrialError(f"trial {recorded.number} failed: {recorded.error}")
        if recorded.state == "failed" and self._status.done == 0 and self._status.finished >= _MAX_FAILURES:
            raise StudyError(
                f"all {self._status.finished} trials of study {self._study.name!r} failed, "
                f"the last one: {recorded.error}"
            )

    def report(self, kind: Literal["start", "trial", "end"], trial: Trial | None = None) -> None:
        self._report(
            Event(
                kind=kind,
                study=self._study.name,
                direction=self._study.direction,
                trial=trial,
                finished=self._status.finished,
                failed=self._status.failed,
                stopped=self._status.stopped,
                limit=self._plan.trials,
                running=len(self._running),
                best=self._status.best,
                elapsed=time.monotonic() - self._began,
                objectives=self._study.goals.names,
            )
        )
