"""Many processes on one study: no number twice, no gap, nobody starves, the queue is handed out once."""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from tests.storage.invariants import sound_trials

from bough.space import Float, Space
from bough.study import Study, open_study

FORK = multiprocessing.get_context("fork")
SPACE = Space({"x": Float(0, 1)})


def together(count: int, work: Callable[[int], Any]) -> list[Any]:
    """What ``work(0), work(1), ...`` return, each in a process of its own, all begun at once."""
    barrier, results = FORK.Barrier(count), FORK.SimpleQueue()

    def one(number: int) -> None:
        barrier.wait()
        results.put((number, work(number)))

    processes = [FORK.Process(target=one, args=(number,)) for number in range(count)]
    for process in processes:
        process.start()
    returned = dict(results.get() for _ in processes)
    for process in processes:
        process.join()
    return [returned[number] for number in range(count)]


def share_trials(url: str, askers: int, total: int) -> None:
    study = Study(SPACE, name="s", storage=url, method="random", seed=0)
    ready = FORK.Barrier(askers)

    def ask_and_tell(number: int) -> int:
        mine, told = open_study("s", url), 0
        ready.wait()  # on a busy machine, one that starts last would find the work done
        while mine.status().finished < total:
            trial = mine.ask_within(total, 600.0)
            if trial is None:  # the others are about to finish the last ones
                time.sleep(0.01)
                continue
            mine.tell(trial, float(number))
            told += 1
        return told

    shares = together(askers, ask_and_tell)
    trials = sound_trials(url, "s")
    assert len(trials) == total == sum(shares)
    assert Counter(trial.value for trial in trials) == Counter(dict(enumerate(shares)))
    assert all(trial.attempt == 1 for trial in trials)
    assert len({trial.config["x"] for trial in trials}) == total, "two askers drew the same point"
    assert min(shares) > 0, shares  # how even they are is up to the scheduler of a busy machine
    assert study.best.value == 0.0


def test_askers_share_the_trials(shared_url: str) -> None:
    share_trials(shared_url, askers=6, total=120)


@pytest.mark.slow
def test_32_askers_share_the_trials(shared_url: str) -> None:
    share_trials(shared_url, askers=32, total=32 * 50)


@pytest.mark.parametrize("processes", [8])
def test_queued_configs_are_handed_out_once(shared_url: str, processes: int) -> None:
    study = Study(SPACE, name="s", storage=shared_url, method="random", seed=0)
    for number in range(60):
        study.enqueue({"x": number / 100})

    def take(_: int) -> list[float]:
        mine, configs = open_study("s", shared_url), []
        while mine.status().finished < 60:
            trial = mine.ask_within(60, 600.0)
            if trial is not None:
                configs.append(trial.config["x"])
                mine.tell(trial, 0.0)
        return configs

    handed_out = Counter(x for configs in together(processes, take) for x in configs)
    trials = sound_trials(shared_url, "s")
    assert handed_out == Counter(number / 100 for number in range(60))
    assert len(trials) == 60


def test_processes_create_one_study(shared_url: str) -> None:
    """All of them open the storage, make its tables and create the study at the same moment."""

    def create(_: int) -> int:
        return Study(SPACE, name="s", storage=shared_url, method="random", seed=0).record.id

    assert len(set(together(6, create))) == 1


def test_a_storage_opened_before_a_fork_works_on_both_sides(shared_url: str) -> None:
    study = Study(SPACE, name="s", storage=shared_url, method="random", seed=0)
    study.tell(study.ask(lease=600.0), 0.0)

    def ask_and_tell(number: int) -> None:
        for _ in range(5):
            study.tell(study.ask(lease=600.0), float(number))

    together(3, ask_and_tell)
    ask_and_tell(-1)
    assert len(sound_trials(shared_url, "s")) == 21
    assert study.best.value == -1.0


def test_one_request_at_several_services_has_one_effect(shared_url: str) -> None:
    study = Study(SPACE, name="s", storage=shared_url, method="random", seed=0)
    for round in range(5):
        queued = len(study.trials)

        def ask(_: int, round: int = round) -> list[list[int]]:
            mine = open_study("s", shared_url)
            inserted = [mine.enqueue({"x": 0.5}, request=f"enqueue {round}")]
            asked = mine.ask_up_to(3, request=f"ask {round}", lease=600.0)
            return [[trial.number for trial in trials] for trials in (inserted, asked)]

        answers = together(4, ask)
        assert answers == [[[queued], [queued, queued + 1, queued + 2]]] * 4
        assert len(study.trials) == queued + 3
        for trial in study.trials[queued:]:
            study.tell(trial, 0.0)
