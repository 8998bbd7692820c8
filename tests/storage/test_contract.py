"""What every storage promises, checked on each of them."""

from __future__ import annotations

import contextlib
import math
import struct
import threading
import time
from dataclasses import replace

import pytest
from tests.storage.contract import A_MOMENT, BRIEF, QUEUED, RECORD, RUNNING, done, failed, read, state

from bough.errors import ConflictError, StudyError, TrialError
from bough.storage import Storage
from bough.trial import MAX_ATTEMPTS, Trial

# ---- studies ---------------------------------------------------------------------------------------


def test_a_record_comes_back_as_it_was(storage: Storage) -> None:
    created = storage.create(RECORD)
    assert abs(created.created - time.time()) < 3600
    assert replace(created, id=-1, created=0.0) == RECORD
    assert storage.find("a study") == [created] == storage.find()


def test_names_are_unique_until_deleted(storage: Storage) -> None:
    first = storage.create(RECORD)
    with pytest.raises(StudyError, match="'a study' exists already"):
        storage.create(RECORD)
    storage.delete(first.id)
    storage.delete(first.id)
    assert storage.find() == []
    assert storage.create(RECORD).id != first.id


def test_studies_do_not_mix(storage: Storage) -> None:
    one, two = (storage.create(replace(RECORD, name=name)).id for name in ("one", "two"))
    storage.insert(one, [RUNNING, RUNNING])
    storage.insert(two, [QUEUED])
    with pytest.raises(TrialError):
        storage.finish(two, done(1))
    storage.delete(one)
    assert [trial.state for trial in read(storage, two)] == ["queued"]
    assert [(record.name, record.trials) for record in storage.find()] == [("two", 1)]


def test_a_deleted_study_is_said_to_be_deleted(storage: Storage, study: int) -> None:
    storage.insert(study, [RUNNING])
    storage.delete(study)
    calls = [
        lambda: storage.changes(study, 0),
        lambda: storage.insert(study, [RUNNING]),
        lambda: storage.insert(study, [RUNNING], within=range(1, 2)),
        lambda: storage.take(study, "me"),
        lambda: storage.finish(study, done(0)),
        lambda: storage.renew(study, [replace(RUNNING, number=0)], 1.0),
    ]
    for call in calls:
        with pytest.raises(StudyError, match="deleted"):
            call()


def test_ten_threads_create_one_study(storage: Storage) -> None:
    created: list[int] = []
    barrier = threading.Barrier(10)

    def create() -> None:
        barrier.wait()
        with contextlib.suppress(StudyError):
            created.append(storage.create(RECORD).id)

    threads = [threading.Thread(target=create) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(created) == 1 == len(storage.find())


def test_first_trials_are_stored_as_they_are(storage: Storage) -> None:
    trials = [
        Trial(0, {"x": 1}, "done", 1.5, 0.1, 2.0, None, 2, 10.0, 20.0, "there", None),
        Trial(1, {"x": 2}, "failed", error="why", attempt=1, started=11.0, finished=12.0),
        Trial(2, {"x": 3}, "queued"),
    ]
    assert read(storage, storage.create(RECORD, trials).id) == trials


def test_first_trials_are_read_in_the_order_of_their_results(storage: Storage) -> None:
    """A copied study would propose something else if its history had another order."""
    times = [30.0, 10.0, 20.0, 20.0]
    trials = [Trial(n, {"x": n}, "done", 1.0, attempt=1, finished=time) for n, time in enumerate(times)]
    changes = storage.changes(storage.create(RECORD, trials).id, 0)
    assert [trial.number for trial in changes.trials] == [1, 2, 3, 0]


# ---- values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0.0, -0.0, 5e-324, -1e308, 0.1, 1 / 3, math.pi, 2.0**53 + 2, 1.0])
def test_numbers_are_exact_to_the_bit(storage: Storage, study: int, value: float) -> None:
    storage.insert(study, [replace(RUNNING, config={"x": value})])
    storage.finish(study, done(0, value, noise=abs(value), cost=value))
    trial = state(storage, study, 0)
    for stored, given in zip(
        (trial.config["x"], trial.value, trial.noise, trial.cost), (value, value, abs(value), value)
    ):
        assert type(stored) is float
        assert struct.pack("d", stored) == struct.pack("d", given)


def test_configs_keep_type_and_content(storage: Storage, study: int) -> None:
    config = {
        "int": 2**53 + 1,
        "huge": -(10**30),
        "bool": True,
        "none": None,
        "text": "naïve\0 “quotes” \ud800 🌳 \\ ' \" %(x)s :x {}",
        "long": "x" * 2**20,
        "odd : name": 1.0,
        "": 0,
    }
    storage.insert(study, [replace(QUEUED, config=config)])
    stored = state(storage, study, 0).config
    assert stored == config
    assert list(stored) == list(config)
    assert [type(value) for value in stored.values()] == [type(value) for value in config.values()]


# ---- inserting and reading -------------------------------------------------------------------------


def test_numbers_are_given_in_order(storage: Storage, study: int) -> None:
    storage.insert(study, [QUEUED, RUNNING])
    storage.insert(study, [done(-1)])
    assert [trial.number for trial in read(storage, study)] == [0, 1, 2]
    assert storage.find()[0].trials == 3


def test_insertion_only_within_the_range(storage: Storage, study: int) -> None:
    assert storage.insert(study, [RUNNING], within=range(1, 5)) == []
    assert storage.insert(study, [RUNNING], within=range(1))[0].number == 0
    assert storage.insert(study, [RUNNING], within=range(1)) == []
    assert storage.insert(study, [RUNNING], within=range(2))[0].number == 1
    assert len(read(storage, study)) == 2


def test_inserted_trials_are_stamped(storage: Storage, study: int) -> None:
    leased, plain = (storage.insert(study, [RUNNING], lease=lease)[0] for lease in (60.0, None))
    assert leased.attempt == plain.attempt == 1
    assert leased.worker == "me"
    assert leased.started is not None and abs(leased.started - time.time()) < 60
    assert leased.expires == pytest.approx(leased.started + 60, abs=1e-3)
    assert plain.expires is None
    added, queued = storage.insert(study, [done(-1), QUEUED], lease=60.0)
    assert added.attempt == queued.attempt == 0
    assert added.finished is not None and added.started is None
    assert queued.expires is None
    assert read(storage, study) == [leased, plain, added, queued]


def test_only_changes_are_read(storage: Storage, study: int) -> None:
    empty = storage.changes(study, 0)
    assert empty.trials == []
    storage.insert(study, [RUNNING] * 3)
    first = storage.changes(study, empty.revision)
    assert [trial.number for trial in first.trials] == [0, 1, 2]
    assert storage.changes(study, first.revision).trials == []
    storage.finish(study, done(2))
    storage.finish(study, failed(0))
    second = storage.changes(study, first.revision)
    assert [(trial.number, trial.state) for trial in second.trials] == [(2, "done"), (0, "failed")]
    assert [trial.number for trial in storage.changes(study, 0).trials] == [1, 2, 0]
    assert abs(second.now - time.time()) < 60


# ---- handing out -----------------------------------------------------------------------------------


def test_the_queue_is_handed_out_in_order_and_once(storage: Storage, study: int) -> None:
    storage.insert(study, [QUEUED] * 3)
    taken = [storage.take(study, "me", 60.0) for _ in range(4)]
    assert [trial and trial.number for trial in taken] == [0, 1, 2, None]
    assert taken[0] == state(storage, study, 0)
    assert taken[0] is not None and taken[0].attempt == 1 and taken[0].worker == "me"


def test_without_a_lease_nothing_is_taken_away(storage: Storage, study: int) -> None:
    storage.insert(study, [RUNNING])
    time.sleep(A_MOMENT)
    assert storage.take(study, "you") is None


def test_a_trial_whose_lease_ended_is_handed_out_again(storage: Storage, study: int) -> None:
    storage.insert(study, [RUNNING], lease=BRIEF)
    storage.insert(study, [RUNNING], lease=600.0)
    time.sleep(A_MOMENT)
    again = storage.take(study, "you", 600.0)
    assert again is not None
    assert (again.number, again.attempt, again.worker, again.state) == (0, 2, "you", "running")
    assert storage.take(study, "you") is None


def test_attempts_are_bounded(storage: Storage, study: int) -> None:
    storage.insert(study, [RUNNING], lease=BRIEF)
    for attempt in range(2, MAX_ATTEMPTS + 1):
        time.sleep(A_MOMENT)
        trial = storage.take(study, "you", BRIEF)
        assert trial is not None and trial.attempt == attempt
    storage.insert(study, [QUEUED])
    time.sleep(A_MOMENT)
    after = storage.take(study, "you", BRIEF)
    assert after is not None and after.number == 1, "the hopeless one is failed and the next handed out"
    lost = state(storage, study, 0)
    assert lost.state == "failed" and lost.expires is None and lost.finished is not None
    assert lost.error is not None and "lost" in lost.error


def test_renewal_keeps_a_trial_and_release_queues_it(storage: Storage, study: int) -> None:
    held = storage.insert(study, [RUNNING], lease=BRIEF)
    storage.renew(study, held, 600.0)
    time.sleep(A_MOMENT)
    assert storage.take(study, "you") is None
    storage.renew(study, held, None)
    assert state(storage, study, 0).state == "queued"
    again = storage.take(study, "you", 600.0)
    assert again is not None and again.attempt == 2


def test_only_the_holder_renews(storage: Storage, study: int) -> None:
    held = storage.insert(study, [RUNNING], lease=BRIEF)
    time.sleep(A_MOMENT)
    again = storage.take(study, "you", 600.0)
    for lease in (10_000.0, None):
        storage.renew(study, held, lease)
        assert state(storage, study, 0) == again
    storage.finish(study, done(0))
    storage.renew(study, [again] if again else [], None)
    assert state(storage, study, 0).state == "done"


def test_release_does_not_use_up_attempts(storage: Storage, study: int) -> None:
    trial = storage.insert(study, [RUNNING], lease=600.0)[0]
    for _ in range(3 * MAX_ATTEMPTS):
        storage.renew(study, [trial], None)
        taken = storage.take(study, "you", 600.0)
        assert taken is not None
        trial = taken
    assert trial.attempt == 1 + 3 * MAX_ATTEMPTS


# ---- results ---------------------------------------------------------------------------------------


def test_a_result_ends_a_trial(storage: Storage, study: int) -> None:
    trial = storage.insert(study, [RUNNING], lease=60.0)[0]
    told = storage.finish(study, done(0, 2.5, noise=0.1, cost=3.0))
    assert told == state(storage, study, 0)
    assert told == replace(
        trial, state="done", value=2.5, noise=0.1, cost=3.0, finished=told.finished, expires=None
    )
    assert told.finished is not None and trial.started is not None and told.finished >= trial.started


def test_the_same_result_again_changes_nothing(storage: Storage, study: int) -> None:
    storage.insert(study, [RUNNING, RUNNING])
    first = storage.finish(study, done(0, noise=0.5))
    assert storage.finish(study, done(0, noise=0.5)) == first
    failure = storage.finish(study, failed(1))
    assert storage.finish(study, replace(failed(1), error="other words")) == failure
    assert read(storage, study) == [first, failure]


@pytest.mark.parametrize(
    "other",
    [done(0, 2.0), done(0, noise=0.1), done(0, cost=1.0), failed(0)],
    ids=lambda trial: repr(trial.state),
)
def test_another_result_is_a_conflict(storage: Storage, study: int, other: Trial) -> None:
    storage.insert(study, [RUNNING])
    first = storage.finish(study, done(0))
    with pytest.raises(ConflictError, match=r"trial 0 is already finished \(value=1\.0\)"):
        storage.finish(study, other)
    assert read(storage, study) == [first]


def test_a_value_after_a_failure_is_a_conflict(storage: Storage, study: int) -> None:
    storage.insert(study, [RUNNING])
    storage.finish(study, failed(0))
    with pytest.raises(ConflictError, match=r"already finished \(failed: no luck\)"):
        storage.finish(study, done(0))


@pytest.mark.parametrize("number", [-1, 1, 10**9])
def test_unknown_trials_change_nothing(storage: Storage, study: int, number: int) -> None:
    before = storage.insert(study, [RUNNING])
    with pytest.raises(TrialError, match=f"no trial {number}"):
        storage.finish(study, done(number))
    assert read(storage, study) == before


def test_a_late_value_counts_and_a_late_failure_does_not(storage: Storage, study: int) -> None:
    storage.insert(study, [RUNNING, RUNNING], lease=BRIEF)
    time.sleep(A_MOMENT)
    again = [storage.take(study, "you", 600.0), storage.take(study, "you", 600.0)]
    assert storage.finish(study, done(0, attempt=1)).state == "done"
    with pytest.raises(ConflictError):
        storage.finish(study, done(0, 2.0, attempt=2))
    with pytest.raises(TrialError, match="attempt 2 decides"):
        storage.finish(study, failed(1, attempt=1))
    assert state(storage, study, 1) == again[1]
    assert storage.finish(study, failed(1, attempt=2)).state == "failed"


def test_a_queued_trial_may_be_told(storage: Storage, study: int) -> None:
    storage.insert(study, [QUEUED])
    assert storage.finish(study, done(0)).state == "done"
    assert storage.take(study, "me") is None


# ---- marks of requests -----------------------------------------------------------------------------


def test_a_request_that_others_worked_on_inserts_nothing(storage: Storage, study: int) -> None:
    rows = [replace(QUEUED, request="mark"), replace(QUEUED, config={"x": 0.75}, request="mark")]
    first = storage.insert(study, rows)
    assert storage.insert(study, rows, seen=10**6) == first == storage.insert(study, rows)
    assert [trial.number for trial in storage.insert(study, [replace(QUEUED, request="other")])] == [2]
    storage.take(study, "me")
    assert storage.insert(study, rows)[0].worker == "me"
    assert len(read(storage, study)) == 3


def test_a_mark_gets_one_trial_while_it_runs(storage: Storage, study: int) -> None:
    asked = replace(RUNNING, holder="mark")
    first = storage.insert(study, [asked], lease=60.0, within=range(1))
    assert storage.insert(study, [asked], lease=60.0, within=range(1)) == first
    storage.insert(study, [QUEUED])
    assert storage.take(study, "me", holder="mark") == first[0]
    assert storage.take(study, "me", holder="other").number == 1  # type: ignore[union-attr]
    storage.finish(study, done(0))
    assert storage.insert(study, [asked])[0].number == 2
