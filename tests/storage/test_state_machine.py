"""Random sequences of operations on a study, against a model that is a plain dictionary."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from bough.errors import ConflictError, TrialError
from bough.space import Float, Space
from bough.storage import Storage, open_storage
from bough.study import Study, open_study
from bough.trial import MAX_ATTEMPTS, Trial

SPACE = Space({"x": Float(0, 1)})
VALUES = st.floats(allow_nan=False, allow_infinity=False)
NAMES = (f"study {number}" for number in itertools.count())


@dataclass
class Expected:
    """What the model knows of a trial."""

    state: str
    attempt: int
    leased: bool = False
    ended: bool = False  # its lease
    value: float | None = None


class StudyMachine(RuleBasedStateMachine):
    """Two users of one study; each operation is done by either, and the model says what must come of it."""

    def __init__(self, reopen: Callable[[], Storage]) -> None:
        super().__init__()
        self.reopen = reopen
        self.name = next(NAMES)
        self.users = [
            Study(SPACE, name=self.name, storage=reopen(), method="random", seed=0, stopping="none")
            for _ in range(2)
        ]
        self.model: dict[int, Expected] = {}
        self.curves: dict[tuple[int, int], dict[int, float]] = {}  # by number and attempt

    @rule(user=st.integers(0, 1), leased=st.booleans())
    def ask(self, user: int, leased: bool) -> None:
        expected = len(self.model)
        for number, trial in self.model.items():
            if trial.state == "queued" or (trial.state == "running" and trial.ended):
                if trial.state == "running" and trial.attempt >= MAX_ATTEMPTS:
                    self.model[number] = Expected("failed", trial.attempt)
                    continue
                expected = number
                break
        attempt = self.model[expected].attempt + 1 if expected in self.model else 1
        trial = self.users[user].ask(lease=1000.0 if leased else None)
        assert (trial.number, trial.attempt, trial.state) == (expected, attempt, "running")
        assert (trial.expires is not None) == leased
        self.model[expected] = Expected("running", attempt, leased)

    @precondition(lambda self: self.model)
    @rule(user=st.integers(0, 1), data=st.data(), value=VALUES | st.just(0.0))
    def tell(self, user: int, data: st.DataObject, value: float) -> None:
        number = data.draw(st.sampled_from(sorted(self.model)))
        trial = self.model[number]
        if trial.state in ("queued", "running") or (trial.state, trial.value) == ("done", value):
            assert self.users[user].tell(number, value).value == value
            self.model[number] = Expected("done", trial.attempt, value=value)
        else:
            with pytest.raises(ConflictError):
                self.users[user].tell(number, value)

    @precondition(lambda self: self.model)
    @rule(user=st.integers(0, 1), data=st.data(), attempt=st.integers(0, 3))
    def fail(self, user: int, data: st.DataObject, attempt: int) -> None:
        number = data.draw(st.sampled_from(sorted(self.model)))
        trial = self.model[number]
        who = Trial(number, {}, "running", attempt=attempt) if attempt else number
        if trial.state == "done":
            with pytest.raises(ConflictError):
                self.users[user].fail(who, "why")
        elif trial.state != "failed" and attempt not in (0, trial.attempt):
            with pytest.raises(TrialError):
                self.users[user].fail(who, "why")
        else:
            self.users[user].fail(who, "why")
            self.model[number] = Expected("failed", trial.attempt)

    @precondition(lambda self: self.model)
    @rule(
        user=st.integers(0, 1),
        data=st.data(),
        step=st.integers(0, 4),
        value=st.sampled_from([0.5, -0.0, 2.5]),
        stale=st.booleans(),
    )
    def report(self, user: int, data: st.DataObject, step: int, value: float, stale: bool) -> None:
        """By the current attempt, or by one that lost the trial."""
        number = data.draw(st.sampled_from(sorted(self.model)))
        trial = self.model[number]
        attempt = max(trial.attempt - stale, 0)
        curve = self.curves.setdefault((number, attempt), {})
        who = Trial(number, {}, "running", attempt=attempt) if attempt else number
        if attempt == 0:  # stands for the current one
            attempt, curve = trial.attempt, self.curves.setdefault((number, trial.attempt), {})
        if curve.get(step) == value:
            assert not self.users[user].report(who, value, step)
        elif trial.state != "running" or attempt != trial.attempt or step < max(curve, default=0):
            with pytest.raises(TrialError):
                self.users[user].report(who, value, step)
        elif step in curve:
            with pytest.raises(ConflictError):
                self.users[user].report(who, value, step)
        else:
            assert not self.users[user].report(who, value, step)
            curve[step] = value

    @rule(user=st.integers(0, 1), x=st.floats(0, 1))
    def enqueue(self, user: int, x: float) -> None:
        assert self.users[user].enqueue({"x": x}).number == len(self.model)
        self.model[len(self.model)] = Expected("queued", 0)

    @rule(user=st.integers(0, 1), value=VALUES)
    def add(self, user: int, value: float) -> None:
        self.users[user].add({"x": 0.5}, value)
        self.model[len(self.model)] = Expected("done", 0, value=value)

    @precondition(lambda self: any(trial.leased for trial in self.model.values()))
    @rule(
        user=st.integers(0, 1),
        data=st.data(),
        stale=st.booleans(),
        lease=st.sampled_from([-1.0, 1000.0, None]),
    )
    def renew(self, user: int, data: st.DataObject, stale: bool, lease: float | None) -> None:
        """A lease ends, is renewed, or given up; by its holder, or by one who lost it."""
        number = data.draw(st.sampled_from([n for n, trial in self.model.items() if trial.leased]))
        trial = self.model[number]
        held = Trial(number, {}, "running", attempt=trial.attempt - stale)
        study = self.users[user]
        study._storage.renew(study.record.id, [held], lease)  # a study takes no lease that has ended
        if not stale:
            if lease is None:
                self.model[number] = Expected("queued", trial.attempt)
            else:
                trial.ended = lease < 0

    @rule(user=st.integers(0, 1))
    def open_again(self, user: int) -> None:
        self.users[user] = open_study(self.name, self.reopen())

    @invariant()
    def both_see_the_same(self) -> None:
        expected = [(n, trial.state, trial.attempt, trial.value) for n, trial in sorted(self.model.items())]
        curves = [self.curves.get((n, trial.attempt), {}) for n, trial in sorted(self.model.items())]
        for study in self.users:
            assert [(t.number, t.state, t.attempt, t.value) for t in study.trials] == expected
            assert [dict(t.curve) for t in study.trials] == curves
        values = [trial.value for trial in self.model.values() if trial.value is not None]
        if values:
            assert {study.best.value for study in self.users} == {min(values)}


def test_random_operations(storage_url: str | None) -> None:
    memory = open_storage(None)

    def reopen() -> Storage:
        return memory if storage_url is None else open_storage(storage_url)

    examples = {None: 60}.get(storage_url, 12)
    few = settings(max_examples=examples, stateful_step_count=25, deadline=None, derandomize=True)
    run_state_machine_as_test(lambda: StudyMachine(reopen), settings=few)
