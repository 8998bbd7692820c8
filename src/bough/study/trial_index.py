"""A study's trials as this process last saw them, updated by reading only what changed."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace

from bough.storage.base import Amendment, Changes
from bough.study.goals import Goals
from bough.study.revising.corrections import KINDS, STOP, amended
from bough.study.revising.current_trials import CurrentSpace
from bough.study.revising.revisions import SPACE_KINDS
from bough.study.running.spending import Costs
from bough.study.stopping.curves import CurveIndex
from bough.study.stopping.fidelities import config_key, resumed_by
from bough.study.stopping.race_values import instances_of
from bough.trial import Trial, available

__all__ = ["Status", "TrialIndex", "own_copy"]


@dataclass(frozen=True)
class Status:
    """The progress of a study.

    finished: trials that are done, failed or stopped, without those that were added by hand.
    failed, stopped, retracted: how many of these. done: trials with a value, added ones too.
    leased:   trials with a lease that has not ended. spent: cost of finished trials (``running.spending``).
    amendments, reports: their numbers in the study. stop_requests: how many amendments ask runs to stop.
    changed:  the storage's revision at the last change; a renewed lease is none.
    """

    finished: int
    failed: int
    done: int
    leased: int
    best: Trial | None
    trials: int
    stopped: int = 0
    retracted: int = 0
    spent: float = 0.0
    amendments: int = 0
    reports: int = 0
    stop_requests: int = 0
    changed: int = 0


class TrialIndex:
    """The trials by number, and counts, so that no step needs to visit all trials.

    best: the best feasible trial of the current space; None for several objectives.
    over: numbers of finished trials in the order of their results; open: the other trials, by number.
    amendments: all of the study. ``trials`` has retractions and corrections applied; ``stored`` has those
    trials as they were told, and ``corrections`` counts them. space_changes: how often the space changed.
    changed: the revision at the last change; a renewed lease is none.
    curves: the reports of trials. They are not in ``trials``, so a report copies no curve; see ``shown``.
    """

    def __init__(self, goals: Goals) -> None:
        self._goals, self._sign = goals, goals.sign
        self._is_judged = bool(goals.limits) or goals.fidelity is not None
        self.revision = 0
        self.changed = 0
        self.now = 0.0
        self.trials: list[Trial] = []
        self.over: list[int] = []
        self.open: dict[int, Trial] = {}
        self.done = 0
        self.added = 0
        self.stopped = 0
        self.retracted = 0
        self.amendments: list[Amendment] = []
        self.stored: dict[int, Trial] = {}
        self.corrections = 0
        self.space_changes = 0
        self.stop_requests = 0
        self._about: dict[int, list[Amendment]] = {}
        self.curves = CurveIndex()
        self._costs, self._costed = self._no_costs(), 0
        self.best: Trial | None = None
        self.last_failure: Trial | None = None
        self._of_request: dict[str, list[int]] = {}
        self._space: CurrentSpace | None = None  # None while the space was never changed
        self._of_config: dict[str, list[int]] = {}

    def update(self, changes: Changes) -> None:
        """Apply the result of ``storage.changes(study, self.revision)``."""
        as_stored = not (self._about or self._is_judged)
        for trial in changes.trials if as_stored else map(self._shown, changes.trials):
            while len(self.trials) <= trial.number:
                self.trials.append(trial)  # numbers have no gaps: those in between follow in these changes
            known, self.trials[trial.number] = self.trials[trial.number], trial
            is_new = known is trial or known.number != trial.number
            if is_new or replace(known, expires=trial.expires) != trial:
                self.changed = changes.revision
            if is_new and trial.request is not None:
                self._of_request.setdefault(trial.request, []).append(trial.number)
            if is_new and self._goals.fidelity is not None:
                self._of_config.setdefault(self._config_key(trial), []).append(trial.number)
            if known.is_finished and not is_new:
                continue  # a finished trial may be read again, but counts once
            if trial.is_finished:
                self.open.pop(trial.number, None)
                self._count(trial)
            else:
                self.open[trial.number] = trial
        if changes.amendments:
            self._amend(changes.amendments)
        if changes.reports:
            self.curves.update(changes.reports)
        if changes.amendments or changes.reports:
            self.changed = changes.revision
        self.revision, self.now = changes.revision, changes.now

    def _shown(self, trial: Trial) -> Trial:
        """A stored trial with its amendments applied and its limits checked."""
        if trial.number in self._about:
            self.stored[trial.number] = trial
            trial = amended(trial, self._about[trial.number])
        return self._goals.judged(trial)

    def _amend(self, amendments: list[Amendment]) -> None:
        self.amendments += amendments
        self.space_changes += sum(each.kind in SPACE_KINDS and "space" in each.body for each in amendments)
        self.stop_requests += sum(each.kind == STOP for each in amendments)
        about = [each for each in amendments if each.kind in KINDS]
        for each in about:
            if each.trial is not None:
                self._about.setdefault(each.trial, []).append(each)
                self.trials[each.trial] = self._shown(self.stored.get(each.trial, self.trials[each.trial]))
        if about:
            self._count_again(len(about))

    def change_space(self, space: CurrentSpace) -> None:
        """Choose ``best`` among the trials of this space from now on."""
        self._space, self.best = space, None
        for number in self.over:
            self._compare(self.trials[number])
        if self._goals.fidelity is not None:
            self._of_config = {}
            for trial in self.trials:
                self._of_config.setdefault(self._config_key(trial), []).append(trial.number)

    def _no_costs(self) -> Costs:
        return Costs(None if self._goals.fidelity is None else self._goals.fidelity[0])

    def _count_again(self, corrections: int) -> None:
        over, self.over = self.over, []
        self.done = self.added = self.stopped = self.retracted = 0
        self._costs, self._costed = self._no_costs(), 0
        self.best = self.last_failure = None
        for number in over:
            self._count(self.trials[number])
        self.corrections += corrections

    def shown(self, number: int) -> Trial:
        """The trial with its curve, and the number of the trial that it resumes."""
        return self.resuming(self.curves.shown(self.trials[number]))

    def resuming(self, trial: Trial) -> Trial:
        """The trial with the number of the trial that it resumes, if the study has a fidelity."""
        if self._goals.fidelity is None:
            return trial
        same = [self.trials[number] for number in self._of_config.get(self._config_key(trial), [])]
        return replace(trial, resumes=resumed_by(trial, self._goals.fidelity[0], same))

    def handed_out(self, trial: Trial) -> Trial:
        """A trial that was handed out, as the asker sees it."""
        return own_copy(self.resuming(self._goals.judged(trial)) if self._is_judged else trial)

    def _config_key(self, trial: Trial) -> str:
        """Equal for trials whose configs, completed for the current space, differ only in their fidelity."""
        assert self._goals.fidelity is not None
        current = self._space.find(trial) if self._space else None
        return config_key((current or trial).config, self._goals.fidelity[0])

    def by_config(self) -> list[list[Trial]]:
        """The trials of each configuration at all fidelities; sorted by number, so the order is stable."""
        numbers = sorted(sorted(same) for same in self._of_config.values())
        return [[self.trials[number] for number in same] for same in numbers]

    def _count(self, trial: Trial) -> None:
        self.over.append(trial.number)
        self.added += trial.attempt == 0  # it was never handed out
        if trial.retracted is not None:
            self.retracted += 1
            return
        self.stopped += trial.state == "stopped"
        if trial.state == "failed":
            self.last_failure = trial
        if trial.value is None:
            return
        self.done += 1
        self._compare(trial)

    def _compare(self, trial: Trial) -> None:
        """Update the best trial."""
        if trial.value is None or not trial.feasible or len(self._goals.objectives) > 1:
            return
        if self.best is None or self.best.value is None or self._sign * (trial.value - self.best.value) < 0:
            self.best = (self._space.find(trial) if self._space else trial) or self.best

    def before(self, number: int) -> TrialIndex:
        """The view as it was when trial ``number`` was started, judged by the stored times."""
        started = self.trials[number].started
        over, running = [], []
        for other in [*self.over, *self.open]:
            trial = self.stored.get(other, self.trials[other])
            if other >= number:
                continue
            if trial.finished is not None and (started is None or trial.finished <= started):
                over.append(trial)
            else:
                running.append(replace(trial, state="running", value=None))
        past = TrialIndex(self._goals)
        reports = self.curves.reports(over)
        past.update(Changes([*over, *running], self.revision, self.now, reports=reports))
        past.update(
            Changes([], self.revision, self.now, [each for each in self.amendments if each.since <= number])
        )
        return past

    def status(self) -> Status:
        failed = len(self.over) - self.done - self.stopped - self.retracted
        return Status(
            self.finished,
            failed,
            self.done,
            self.leased,
            self.best,
            len(self.trials),
            self.stopped,
            self.retracted,
            self.spent,
            len(self.amendments),
            self.curves.count,
            self.stop_requests,
            self.changed,
        )

    @property
    def spent(self) -> float:
        """The cost of the finished trials, summed on demand."""
        for number in self.over[self._costed :]:
            trial = self.trials[number]
            self._costs.count(trial, self.curves.of(trial).length)
        self._costed = len(self.over)
        return self._costs.spent

    def has_begun(self, number: int) -> bool:
        """Whether the view has the trial as handed out; it then also has the instances of a race."""
        return 0 <= number < len(self.trials) and self.trials[number].attempt > 0

    @property
    def is_race(self) -> bool:
        """Whether each trial is evaluated on several instances."""
        return bool(instances_of(self.amendments))

    def inserted_by(self, request: str) -> list[int]:
        """The numbers of the trials that a request inserted, ascending."""
        return sorted(self._of_request.get(request, []))

    def held_by(self, holder: str) -> Trial | None:
        """The running trial that was handed out to this holder; None if there is none."""
        running = (trial for trial in self.open.values() if trial.state == "running")
        return next((trial for trial in running if trial.holder == holder), None)

    @property
    def finished(self) -> int:
        """How many trials are done, failed or stopped, without those that were added by hand."""
        return len(self.over) - self.added

    @property
    def leased(self) -> int:
        """How many trials run under a lease that has not ended."""
        return sum(
            trial.expires is not None and not available(trial, self.now) for trial in self.open.values()
        )


def own_copy(trial: Trial) -> Trial:
    """A copy of the trial whose dicts the user may change."""
    return replace(
        trial,
        config=dict(trial.config),
        measures=dict(trial.measures),
        noises=dict(trial.noises),
        notes=deepcopy(trial.notes),
    )
