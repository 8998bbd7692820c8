"""Processes that are killed or stopped at the worst moments: nothing that was acknowledged is lost."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from tests.storage.failpoints import dying_write
from tests.storage.invariants import sound_trials

from bough.errors import ConflictError, TrialError
from bough.space import Float, Space
from bough.storage import Storage, StudyRecord, open_storage
from bough.storage.database import Database
from bough.study import Study, open_study
from bough.study.running import loop as study_loop
from bough.study.running.leases import Leases
from bough.trial import MAX_ATTEMPTS, Trial

FORK = multiprocessing.get_context("fork")
SPACE = Space({"x": Float(0, 1)})
RECORD = StudyRecord("s", SPACE.to_json(), "minimize", '{"name": "random", "options": {}}', 0)
RUNNING = Trial(-1, {"x": 0.5}, "running", worker="victim")
QUEUED = Trial(-1, {"x": 0.25}, "queued")


@contextlib.contextmanager
def process(work: Callable[[], object]) -> Iterator[BaseProcess]:
    child = FORK.Process(target=work)
    child.start()
    try:
        yield child
    finally:
        child.kill()
        child.join()


def dies(work: Callable[[], object], failpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run ``work`` in a process that kills itself at the failpoint."""
    monkeypatch.setattr(Database, "write", dying_write(failpoint))
    with process(work) as child:
        child.join(60)
        assert child.exitcode == -signal.SIGKILL
    monkeypatch.undo()


@pytest.fixture(params=["before-commit", "after-commit"])
def moment(request: pytest.FixtureRequest) -> str:
    return request.param


def opened(url: str) -> tuple[Storage, int]:
    storage = open_storage(url)
    return storage, storage.find("s")[0].id


# ---- killed at a commit ----------------------------------------------------------------------------


def test_killed_while_the_tables_are_made(
    shared_url: str, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dies(lambda: open_storage(shared_url), f"migrate:{moment}", monkeypatch)
    open_storage(shared_url).create(RECORD)
    assert sound_trials(shared_url, "s") == []


def test_killed_while_creating(shared_url: str, moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    open_storage(shared_url)
    work = lambda: open_storage(shared_url).create(RECORD, [replace(QUEUED, number=0)])  # noqa: E731
    dies(work, f"create:{moment}", monkeypatch)
    assert len(open_storage(shared_url).find()) == (moment == "after-commit")
    study = Study(SPACE, name="s", storage=shared_url, method="random", seed=0)
    assert study.ask(lease=60.0).number == 0
    sound_trials(shared_url, "s")


def test_killed_while_asking(shared_url: str, moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Study(SPACE, name="s", storage=shared_url, method="random", seed=0)
    dies(lambda: open_study("s", shared_url).ask(lease=0.05), f"insert:{moment}", monkeypatch)
    committed = moment == "after-commit"
    assert len(sound_trials(shared_url, "s")) == committed
    time.sleep(0.1)
    trial = open_study("s", shared_url).ask(lease=60.0)
    assert (trial.number, trial.attempt) == (0, 1 + committed), "what the dead asker took is handed out again"
    sound_trials(shared_url, "s")


def test_killed_while_taking_and_reaping(
    shared_url: str, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reaper fails a hopeless trial and hands out the next: both or neither."""
    storage = open_storage(shared_url)
    study = storage.create(RECORD).id
    storage.insert(study, [RUNNING], lease=-1.0)
    for _ in range(MAX_ATTEMPTS - 1):
        assert storage.take(study, "victim", -1.0) is not None
    storage.insert(study, [QUEUED])
    dies(lambda: opened(shared_url)[0].take(study, "victim", -1.0), f"take:{moment}", monkeypatch)
    states = [trial.state for trial in sound_trials(shared_url, "s")]
    assert states == (["running", "queued"] if moment == "before-commit" else ["failed", "running"])
    again = opened(shared_url)[0].take(study, "survivor", 60.0)
    assert again is not None
    assert (again.number, again.attempt) == (1, 1 if moment == "before-commit" else 2)
    assert [trial.state for trial in sound_trials(shared_url, "s")] == ["failed", "running"]


def test_killed_while_telling(shared_url: str, moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = open_storage(shared_url)
    study = storage.create(RECORD).id
    storage.insert(study, [RUNNING], lease=60.0)
    dies(lambda: open_study("s", shared_url).tell(0, 1.5), f"finish:{moment}", monkeypatch)
    assert sound_trials(shared_url, "s")[0].state == ("running" if moment == "before-commit" else "done")
    assert open_study("s", shared_url).tell(0, 1.5).value == 1.5, "the same result may be told again"
    sound_trials(shared_url, "s")


def test_killed_while_reporting(shared_url: str, moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = open_storage(shared_url)
    study = storage.create(RECORD).id
    storage.insert(study, [RUNNING], lease=60.0)
    dies(lambda: open_study("s", shared_url).report(0, 1.5, 3), f"report:{moment}", monkeypatch)
    assert len(storage.changes(study, 0).reports) == (moment == "after-commit")
    again = open_study("s", shared_url)
    assert not again.report(0, 1.5, 3), "the same report may be sent again"
    assert again.trial(0).curve == ((3, 1.5),)
    sound_trials(shared_url, "s")


@pytest.mark.parametrize("lease", [60.0, None])
def test_killed_while_renewing(
    shared_url: str, moment: str, lease: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = open_storage(shared_url)
    study = storage.create(RECORD).id
    held = storage.insert(study, [RUNNING, RUNNING], lease=-1.0)
    dies(lambda: opened(shared_url)[0].renew(study, held, lease), f"renew:{moment}", monkeypatch)
    trials = sound_trials(shared_url, "s")
    if moment == "before-commit":
        assert trials == held
    elif lease is None:
        assert [trial.state for trial in trials] == ["queued", "queued"]
    else:
        assert all(trial.expires and trial.expires > time.time() for trial in trials)


def test_killed_while_deleting(shared_url: str, moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = open_storage(shared_url)
    study = storage.create(RECORD).id
    storage.insert(study, [RUNNING, RUNNING], lease=60.0)
    dies(lambda: opened(shared_url)[0].delete(study), f"delete:{moment}", monkeypatch)
    if moment == "before-commit":
        assert len(sound_trials(shared_url, "s")) == 2
    else:
        assert storage.find() == []


# ---- killed at any moment --------------------------------------------------------------------------


def ask_and_tell(url: str, log: Path, lease: float) -> None:
    """A worker that notes each result once it is acknowledged."""
    study = open_study("s", url)
    with open(log, "a", buffering=1) as acknowledged:
        while True:
            trial = study.ask(lease=lease)
            time.sleep(random.uniform(0, 0.03))
            value = random.random()
            with contextlib.suppress(ConflictError):  # it was slower than its lease
                study.tell(trial, value)
                acknowledged.write(f"{trial.number} {value!r}\n")


def killing_loop(url: str, tmp_path: Path, kills: int) -> None:
    lease = 1.0
    study = Study(SPACE, name="s", storage=url, method="random", seed=0)
    logs = [tmp_path / f"worker {number}" for number in range(3)]
    start = lambda log: FORK.Process(target=ask_and_tell, args=(url, log, lease))  # noqa: E731
    workers = [start(log) for log in logs]
    for worker in workers:
        worker.start()
    rng = random.Random(0)
    try:
        for _ in range(kills):
            time.sleep(rng.uniform(0.05, 0.3))
            victim = rng.randrange(len(workers))
            workers[victim].kill()
            workers[victim].join()
            workers[victim] = start(logs[victim])
            workers[victim].start()
    finally:
        for worker in workers:
            worker.kill()
            worker.join()
    time.sleep(lease + 0.1)
    left = [trial for trial in sound_trials(url, "s") if not trial.is_finished]
    hopeless = {trial.number for trial in left if trial.attempt >= MAX_ATTEMPTS}  # each of its workers died
    hopeful = {trial.number for trial in left} - hopeless
    for _ in range(len(hopeful)):  # whatever else the dead held is handed out again, and nothing else
        trial = study.ask(lease=60.0)
        assert trial.number in hopeful
        study.tell(trial, -1.0)
    trials = sound_trials(url, "s")
    assert all(trial.is_finished or trial.number in hopeless for trial in trials)
    told = [line.split() for log in logs for line in log.read_text().splitlines() if line.count(" ") == 1]
    assert len(told) >= kills / 4, "the workers did work"
    for number, value in told:
        assert trials[int(number)].value == float(value), "an acknowledged result was lost"


def test_workers_killed_at_any_moment(shared_url: str, tmp_path: Path) -> None:
    killing_loop(shared_url, tmp_path, kills=10)


@pytest.mark.slow
def test_workers_killed_at_any_moment_for_long(shared_url: str, tmp_path: Path) -> None:
    killing_loop(shared_url, tmp_path, kills=150)


def ask_and_report(url: str, log: Path, lease: float) -> None:
    """A worker that notes each report once it is acknowledged."""
    study = open_study("s", url)
    with open(log, "a", buffering=1) as acknowledged:
        while True:
            trial = study.ask(lease=lease)
            for step in range(1, 8):
                value = random.random()
                try:
                    stop = study.report(trial, value, step)
                except TrialError:  # it was slower than its lease
                    break
                acknowledged.write(f"{trial.number} {trial.attempt} {step} {value!r}\n")
                if stop:
                    break
                time.sleep(random.uniform(0, 0.02))
            else:
                with contextlib.suppress(ConflictError):
                    study.tell(trial, value)


@pytest.mark.slow
def test_reporting_workers_killed_at_any_moment(shared_url: str, tmp_path: Path) -> None:
    """No acknowledged report is lost, and no attempt mixes its curve with that of an earlier one."""
    Study(SPACE, name="s", storage=shared_url, method="random", seed=0)
    logs = [tmp_path / f"worker {number}" for number in range(3)]
    start = lambda log: FORK.Process(target=ask_and_report, args=(shared_url, log, 0.3))  # noqa: E731
    workers = [start(log) for log in logs]
    for worker in workers:
        worker.start()
    rng = random.Random(0)
    try:
        for _ in range(40):
            time.sleep(rng.uniform(0.05, 0.25))
            victim = rng.randrange(len(workers))
            workers[victim].kill()
            workers[victim].join()
            workers[victim] = start(logs[victim])
            workers[victim].start()
    finally:
        for worker in workers:
            worker.kill()
            worker.join()
    storage, study = opened(shared_url)
    stored = {(r.number, r.attempt, r.step): r.value for r in storage.changes(study, 0).reports}
    lines = [line.split() for log in logs for line in log.read_text().splitlines()]
    told = [line for line in lines if len(line) == 4]
    assert len(told) > 40 and max(int(attempt) for _, attempt, _, _ in told) > 1, "attempts were resumed"
    for number, attempt, step, value in told:
        assert stored[int(number), int(attempt), int(step)] == float(value), "an acknowledged report was lost"
    for trial in open_study("s", shared_url).trials:
        mine = [(s, v) for (n, a, s), v in stored.items() if (n, a) == (trial.number, trial.attempt)]
        assert trial.curve == tuple(sorted(mine))
        assert [step for step, _ in trial.curve] == list(range(1, len(trial.curve) + 1))
    sound_trials(shared_url, "s")


# ---- stopped beyond the lease ----------------------------------------------------------------------


@pytest.mark.parametrize("other_is_faster", [True, False])
def test_a_worker_stopped_beyond_its_lease(
    shared_url: str, other_is_faster: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGSTOP, the trial goes to another worker, SIGCONT: one result stands, and the stopped run goes on."""
    lease = 1.0
    monkeypatch.setattr(study_loop, "LEASE", lease)
    monkeypatch.setattr(study_loop, "Leases", lambda renew: Leases(renew, lease))
    study = Study(SPACE, name="s", storage=shared_url, method="random", seed=0)
    go_on = tmp_path / "go on"

    def objective(config: dict[str, float]) -> float:
        while not go_on.exists():
            time.sleep(0.01)
        return 1.0

    def wait_for(condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 180
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.02)

    with process(lambda: open_study("s", shared_url).run(objective, 3, progress=False)) as child:
        wait_for(lambda: len(study.trials) == 1)
        assert child.pid is not None
        os.kill(child.pid, signal.SIGSTOP)
        wait_for(lambda: study.status().leased == 0)
        again = study.ask(lease=60.0)
        assert (again.number, again.attempt) == (0, 2)
        if other_is_faster:
            study.tell(again, 2.0)
        go_on.touch()
        os.kill(child.pid, signal.SIGCONT)
        child.join(60)
        assert child.exitcode == 0
    if not other_is_faster:
        with pytest.raises(ConflictError, match=r"already finished \(value=1\.0\)"):
            study.tell(again, 2.0)
    assert [trial.value for trial in sound_trials(shared_url, "s")] == [
        2.0 if other_is_faster else 1.0,
        1.0,
        1.0,
    ]
