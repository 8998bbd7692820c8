"""A study in its storage: the trials as last read, the method in use, and how trials are handed out."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np

from bough.errors import BoughError, ExhaustedError, MethodError, SpaceError, StorageError, TrialError
from bough.history import History
from bough.registry import BUILT_IN, build, is_registered, stored_method
from bough.space import Space
from bough.storage import MemoryStorage, Storage, StudyRecord, forks
from bough.strategies.base import Predicts, Strategy, check_proposal
from bough.study.blas_threads import one_blas_thread
from bough.study.encoded import EncodedTrials, ModelSpace
from bough.study.goals import goals_of
from bough.study.handles import checked_lease
from bough.study.records import STOPPING_RULES
from bough.study.results import failure
from bough.study.revising.current_trials import CurrentSpace
from bough.study.revising.model_space import model_space
from bough.study.revising.revisions import Revision, names_asked, revisions_of
from bough.study.running.runnable import RunnableStudy
from bough.study.stopping.fidelities import Fidelity, Halving, can_weigh
from bough.study.stopping.reporting import StoppingDecision
from bough.study.trial_index import TrialIndex
from bough.trial import Config, Trial, available, storable

__all__ = ["StoredStudy"]

NO_LIMIT = 2**48
"""A limit on the number of trials that is never reached, and fits the integers of every database."""

MAX_RACES_LOST = 3
"""Proposals that may lose their trial number to another asker before a random point is used."""


class StoredStudy(RunnableStudy):
    """The core of a ``Study``: its record, its trials as last read, its method, and ``ask``."""

    record: StudyRecord
    """The stored description of the study, without its trials."""
    space: Space
    _model: ModelSpace | None  # both are built on first use, and again when the space changes
    _made_strategy: Strategy | None
    _blas_threads: contextlib.AbstractContextManager[None]  # made with the strategy

    @classmethod
    def of_record(cls, record: StudyRecord, storage: Storage, method: Any = None) -> Self:
        """The study of a record that was found in the storage; method: its method, if that is an object."""
        study = cls.__new__(cls)
        try:
            space = Space.from_json(record.space)
        except SpaceError as error:
            raise StorageError(f"the row of study {record.name!r} is damaged: its space is {error}") from None
        study._open(record, storage, space)
        study._method_object = method
        return study

    def __reduce__(self) -> tuple[Any, ...]:
        """A study in memory is pickled with its trials; one in a database is opened by name instead."""
        if not isinstance(self._storage, MemoryStorage):
            raise TypeError(f"study {self.name!r} is in a database: open it there with bough.open_study")
        return type(self).of_record, (self.record, self._storage, self._method_object)

    def _open(self, record: StudyRecord, storage: Storage, space: Space) -> None:
        self.record, self._storage = record, storage
        self.space, self._revisions = space, [Revision(space)]
        self._now = CurrentSpace(self._revisions)
        self._method_object: Any = None
        self.method = stored_method(record.method)
        self.goals, self._fidelity = goals_of(record.goals, record.direction), Fidelity.of(space)
        if self._fidelity is not None:
            self.goals = replace(self.goals, fidelity=(self._fidelity.name, self._fidelity.full))
        self._forget()
        forks.register(self)

    def _built(self, space: Space) -> Strategy:
        """The study's method on a space. It is built on first use, since reading results does not need it."""
        several = not self.goals.is_single
        if self._method_object is not None:
            return build(self._method_object, space, several=several)
        if not is_registered(self.method.name):
            raise MethodError(
                f"study {self.name!r} uses the method {self.method.name!r}, which is not registered here: "
                f"open it with Study(..., method={self.method.name}(...)), or install the package that has it"
            )
        return build(self.method, space, several=several)

    def _adopt(self, view: TrialIndex) -> None:
        """Switch to the newest revision of the space; what depends on it is rebuilt when needed."""
        self._revisions = revisions_of(self._revisions[0].space, view.amendments)
        self._adopted = view.space_changes
        self.space = self._revisions[-1].space
        self.record = replace(self.record, space=self.space.to_json())
        self._model = self._made_strategy = None
        self._now = CurrentSpace(self._revisions)
        view.change_space(self._now)

    def _model_space(self, view: TrialIndex) -> ModelSpace:
        """The space that the method works in. Call it within ``_current``."""
        if self._model is None:
            self._model = model_space(self._revisions, view.trials)
            self._encoded = EncodedTrials(self._model, self.seed, self.goals)
            self._stopping = StoppingDecision(self.stopping, self.goals, self._encoded.branches)
        return self._model

    def _in_use(self, view: TrialIndex) -> tuple[ModelSpace, Strategy]:
        """The space that the method works in, and the method. Call it within ``_current``."""
        model = self._model or self._model_space(view)
        if self._made_strategy is None:
            self._made_strategy = self._built(model.space)
            with_model = isinstance(self._made_strategy, Predicts)  # other methods need no BLAS
            self._blas_threads = one_blas_thread if with_model else contextlib.nullcontext()
        return model, self._made_strategy

    def _history(self, view: TrialIndex) -> History:
        """The history that the method sees. Call it within ``_current``."""
        model = self._model or self._model_space(view)
        history = self._encoded.history(view)
        if self._fidelity is None:
            return history
        strategy = self._in_use(view)[1]
        with self._blas_threads:
            return self._fidelity.history(model.space, history, strategy)

    def _halving(self, view: TrialIndex, fidelity: Fidelity) -> Halving:
        """The configurations to promote to a higher fidelity. Call it within ``_current``."""
        self._model_space(view)
        configs = [found for same in view.by_config() if (found := self._now.trials(same))]
        branches = self._encoded.branches
        return Halving(fidelity, configs, lambda t: branches.of(view.trials[t.number]), self.goals)

    @property
    def _strategy(self) -> Strategy:
        with self._current() as view:
            return self._in_use(view)[1]

    def _forget(self) -> None:
        """Reset to a state in which nothing was read, with new locks."""
        import socket  # slow to import, and only a study needs it

        self._asking = threading.Lock()  # threads ask one at a time, so each sees the others' trials
        self._reading = threading.Lock()  # guards the view and its encoding
        self._this_process = f"{socket.gethostname()}:{os.getpid()}"
        self._read_again()

    def _read_again(self) -> None:
        """Drop everything that was read or made from it; the next use reads the storage from the start."""
        self._view, self._adopted = TrialIndex(self.goals), 0
        self._model = self._made_strategy = None

    def before_fork(self) -> None:
        """Takes no lock: a proposal may take long, and the child does not need an unfinished one."""

    def after_fork(self, child: bool) -> None:
        """Reset the child: threads that do not exist there may hold locks or have half updated the view."""
        if child:
            self._forget()

    @property
    def name(self) -> str:
        return self.record.name

    @property
    def seed(self) -> int:
        return self.record.seed

    @property
    def stopping(self) -> str:
        """The rule that stops trials early; "none" in a study with a fidelity."""
        if self._fidelity is not None:
            return "none"
        return self.record.stopping or STOPPING_RULES[0]

    @property
    def direction(self) -> str:
        """The direction of the objective, or of the first of several."""
        return self.record.direction

    def ask_up_to(
        self,
        n: int,
        *,
        limit: int | None = None,
        lease: float | None = None,
        worker: str | None = None,
        request: str | None = None,
    ) -> list[Trial]:
        """Up to ``n`` trials: fewer if a finite space is exhausted, or if ``ask_within(limit)`` returns None.

        request: id of a request that may be sent again; its running trials are then returned again.
        """
        trials: list[Trial] = []
        while len(trials) < n:
            mark = f"{request}:{len(trials)}" if request is not None and trials else request
            try:
                trial = self.ask_within(limit, lease, worker=worker, holder=mark)
            except ExhaustedError:
                if not trials:
                    raise
                break
            if trial is None:
                break
            trials.append(trial)
        return trials

    def ask_within(
        self,
        limit: int | None,
        lease: float | None,
        *,
        worker: str | None = None,
        holder: str | None = None,
    ) -> Trial | None:
        """Like ``ask``, but None if the finished and the leased trials together already reach ``limit``.

        holder: id of the asker. The same holder gets the same trial while it runs.

        A proposal is made without locking the storage, and inserted only under the number it was made for. If
        another asker took that number, a new proposal takes the other trial into account. After
        ``MAX_RACES_LOST`` attempts the proposal is a random point, which may have any number.
        """
        if lease is not None:
            lease = checked_lease(lease)
        worker = storable(str(worker)) if worker else self._this_process
        with self._asking:
            races_lost = 0
            while True:
                with self._current() as view:
                    if holder is not None and (held := view.held_by(holder)):
                        return view.handed_out(held)
                    room = NO_LIMIT if limit is None else limit - view.finished - view.leased
                    number, seen = len(view.trials), view.revision
                    waiting = any(available(trial, view.now) for trial in view.open.values())
                    if not waiting:
                        (model, strategy), history = self._in_use(view), self._history(view)
                        halving = None if self._fidelity is None else self._halving(view, self._fidelity)
                if room <= 0:
                    return None
                if waiting:
                    taken = self._storage.take(self.record.id, worker, lease, holder)
                    if taken is None or not self._keeps(taken):
                        continue
                    found = [taken]
                else:
                    room = room if races_lost >= MAX_RACES_LOST else 0
                    with self._blas_threads:
                        config, within = self._propose(model, strategy, history, halving, number, room)
                    trial = Trial(-1, config, "running", worker=worker, holder=holder)
                    found = self._storage.insert(
                        self.record.id, [trial], within=within, lease=lease, seen=seen
                    )
                if found:
                    with self._reading:
                        return self._view.handed_out(found[0])
                races_lost += 1

    def _propose(
        self,
        model: ModelSpace,
        strategy: Strategy,
        history: History,
        halving: Halving | None,
        number: int,
        room: int,
    ) -> tuple[Config, range]:
        """A config to try, and the numbers under which it may be inserted.

        number: of the next trial. room: 0 for a proposal of the method; otherwise a config is drawn at random
        and may have any of the next ``room`` numbers.
        """
        space, numbers = model.space, range(number, number + 1)
        weighs = halving is not None and can_weigh(strategy, history)
        if halving is not None and (due := halving.due(of_new_branches=weighs)) is not None:
            return due, numbers
        if room:
            import secrets

            from bough.strategies.designs import RandomSearch  # rarely needed

            seed = [history.seed, number, secrets.randbits(63)]  # differs from what other askers draw
            point = RandomSearch().propose(space, history, np.random.default_rng(seed))
            numbers = range(number, number + room)
        else:
            try:
                point = strategy.propose(space, history, np.random.default_rng([history.seed, number]))
            except ExhaustedError:
                if halving is None or (left := halving.left()) is None:
                    raise
                return left, numbers
        if self.method.name not in BUILT_IN:
            check_proposal(space, point, self.method.name)
        config = model.decode(point)[0]
        if halving is None:
            return config, numbers
        if weighs and not room:
            return halving.most_gain(model, strategy, history, config, point), numbers
        return halving.begin(config), numbers

    def _keeps(self, taken: Trial) -> bool:
        """Whether a trial that was handed out again is still in the current space; if not, it is failed."""
        with self._current():
            if self._now.find(taken) is not None:
                return True
        why = f"its configuration left the space, which changed at trial {self._now.since}"
        result = failure(taken.number, why, taken.attempt, learn=False)
        with contextlib.suppress(TrialError):  # it may be told or handed out again at this moment
            self._storage.finish(self.record.id, result)
        return False

    @contextlib.contextmanager
    def _current(self) -> Iterator[TrialIndex]:
        """The view, up to date, and locked for this thread until the block ends."""
        with self._reading:
            try:
                self._view.update(self._storage.changes(self.record.id, self._view.revision))
                if self._view.space_changes != self._adopted:
                    if names_asked(self._view.amendments):  # configs that were read before have changed too
                        self._view = TrialIndex(self.goals)
                        self._view.update(self._storage.changes(self.record.id, 0))
                    self._adopt(self._view)
                yield self._view
            except BoughError:
                raise
            except BaseException:  # Ctrl-C, perhaps halfway through an update of the view or its encoding
                self._read_again()
                raise
