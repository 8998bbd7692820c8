"""What every storage promises about reports, checked on each of them."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import replace

import pytest
from tests.storage.contract import A_MOMENT, BRIEF, QUEUED, RECORD, RUNNING, done, state

from bough.errors import ConflictError, TrialError
from bough.storage import Storage
from bough.trial import Report, Trial


def reports(storage: Storage, study: int, since: int = 0) -> list[Report]:
    return list(storage.changes(study, since).reports)


def test_reports_are_read_once_and_in_order(storage: Storage, study: int) -> None:
    storage.insert(study, [RUNNING, RUNNING])
    assert reports(storage, study) == []
    given = [Report(1, 1, 0.5), Report(0, 3, -0.0), Report(1, 2, 5e-324)]
    for report in given:
        assert storage.report(study, report).number == report.number
    expected = [replace(report, attempt=1) for report in given]
    first = storage.changes(study, 0)
    assert list(first.reports) == expected
    assert math.copysign(1.0, first.reports[1].value) == -1.0
    assert reports(storage, study, first.revision) == []
    storage.report(study, Report(0, 4, 1.0, attempt=1))
    second = storage.changes(study, first.revision)
    assert list(second.reports) == [Report(0, 4, 1.0, 1)] and second.trials == []


def test_the_same_report_again_changes_nothing(storage: Storage, study: int) -> None:
    storage.insert(study, [RUNNING])
    for step in (1, 2):
        storage.report(study, Report(0, step, step / 2))
    before = reports(storage, study)
    for step in (1, 2, 1):
        storage.report(study, Report(0, step, step / 2))
    assert reports(storage, study) == before
    assert storage.finish(study, Trial(0, {}, "stopped", attempt=1)).state == "stopped"
    assert storage.report(study, Report(0, 2, 1.0)).state == "stopped", "a reply may have been lost"


def test_wrong_reports_change_nothing(storage: Storage, study: int) -> None:
    storage.insert(study, [RUNNING, QUEUED, RUNNING])
    storage.finish(study, done(2))
    storage.report(study, Report(0, 5, 1.0))
    for report, error, words in (
        (Report(0, 4, 1.0), TrialError, "reported step 5 already, so step 4 is too late"),
        (Report(0, 5, 2.0), ConflictError, r"reported 1\.0 at step 5 already, so it cannot report 2\.0"),
        (Report(1, 1, 1.0), TrialError, "trial 1 is queued"),
        (Report(2, 1, 1.0), TrialError, "trial 2 is done already"),
        (Report(3, 1, 1.0), TrialError, "no trial 3"),
        (Report(-1, 1, 1.0), TrialError, "no trial -1"),
        (Report(0, 6, 1.0, attempt=2), TrialError, "attempt 1 decides"),
    ):
        with pytest.raises(error, match=words):
            storage.report(study, report)
    assert reports(storage, study) == [Report(0, 5, 1.0, 1)]


def test_attempts_have_curves_of_their_own(storage: Storage, study: int) -> None:
    storage.insert(study, [RUNNING], lease=BRIEF)
    storage.report(study, Report(0, 7, 1.0, attempt=1))
    time.sleep(A_MOMENT)
    storage.take(study, "you", 600.0)
    with pytest.raises(TrialError, match="attempt 2 decides"):
        storage.report(study, Report(0, 8, 1.0, attempt=1))
    storage.report(study, Report(0, 1, 2.0))
    assert reports(storage, study) == [Report(0, 7, 1.0, 1), Report(0, 1, 2.0, 2)]


def test_a_report_leaves_the_lease_alone(storage: Storage, study: int) -> None:
    storage.insert(study, [RUNNING], lease=600.0)
    before = state(storage, study, 0)
    storage.report(study, Report(0, 1, 1.0))
    assert state(storage, study, 0) == before


def test_a_stopped_trial_is_finished(storage: Storage, study: int) -> None:
    storage.insert(study, [RUNNING, RUNNING], lease=BRIEF)
    stopped = storage.finish(study, Trial(0, {}, "stopped", attempt=1))
    assert stopped == state(storage, study, 0)
    assert (stopped.state, stopped.value, stopped.expires, stopped.is_finished) == (
        "stopped",
        None,
        None,
        True,
    )
    assert storage.finish(study, Trial(0, {}, "stopped")) == stopped
    with pytest.raises(ConflictError, match=r"trial 0 is already finished \(stopped\)"):
        storage.finish(study, done(0))
    time.sleep(A_MOMENT)
    storage.take(study, "you", 600.0)
    with pytest.raises(TrialError, match="attempt 1 of trial 1 stopped, but the trial was handed out again"):
        storage.finish(study, Trial(1, {}, "stopped", attempt=1))


def test_first_reports_and_the_rule_are_stored_as_they_are(storage: Storage) -> None:
    trials = [Trial(0, {"x": 1}, "stopped", attempt=2, started=1.0, finished=2.0)]
    given = [Report(0, 1, 0.5, 2), Report(0, 2, 0.25, 2)]
    record = storage.create(replace(RECORD, stopping="asha"), trials, reports=given)
    assert storage.find()[0].stopping == "asha"
    assert reports(storage, record.id) == given
    storage.delete(record.id)
    again = storage.create(RECORD, [replace(RUNNING, number=0)])
    assert reports(storage, again.id) == []


def test_two_reporters_do_not_lose_a_report(storage: Storage, study: int) -> None:
    storage.insert(study, [RUNNING] * 4)

    def work(number: int) -> None:
        for step in range(10):
            storage.report(study, Report(number, step, float(step)))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    seen: list[Report] = []
    revision = 0
    while len(seen) < 40 and any(thread.is_alive() for thread in threads):
        changes = storage.changes(study, revision)
        seen, revision = [*seen, *changes.reports], changes.revision
    for thread in threads:
        thread.join()
    seen += storage.changes(study, revision).reports
    assert len(seen) == 40 == len(set(seen))
    for number in range(4):
        assert [report.step for report in seen if report.number == number] == list(range(10))
