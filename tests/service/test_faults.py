"""Many clients at once, and a server that is killed between its commit and its reply."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.service.running import SPACE, Process, service

import bough

pytestmark = pytest.mark.slow

space = bough.Space.from_json(SPACE)


@pytest.mark.parametrize("failpoint", ["insert:after-commit", "finish:after-commit", "insert:before-commit"])
def test_a_server_killed_before_its_reply_loses_and_doubles_nothing(process: Process, failpoint: str) -> None:
    process.start()
    study = bough.connect(process.url, process.token, "demo", space=space, method="random", seed=0)
    study.tell(study.ask(), 0.0)
    process.kill()

    process.start(failpoint)
    numbers = []

    def work() -> None:
        for value in range(1, 4):
            trial = study.ask()
            numbers.append(trial.number)
            study.tell(trial, float(value))

    worker = threading.Thread(target=work)
    worker.start()
    assert process.wait(60) < 0  # killed by itself, at the failpoint
    process.start()
    worker.join(90)
    assert not worker.is_alive()
    assert numbers == [1, 2, 3]
    found = study.trials
    assert [(trial.number, trial.value) for trial in found] == [(n, float(n)) for n in range(4)]
    assert {trial.attempt for trial in found} == {1}


def test_100_clients_at_once_get_5_trials_each(sqlite_url: str) -> None:
    with service(sqlite_url) as served:
        first = bough.connect(served.url, served.write, "demo", space=space, method="random", seed=0)

        def work(client: int) -> list[int]:
            study = bough.connect(served.url, served.write, "demo")
            mine = []
            for _ in range(5):
                trial = study.ask()
                study.tell(trial, float(trial.number))
                mine.append(trial.number)
            return mine

        with ThreadPoolExecutor(100) as pool:
            numbers = [number for mine in pool.map(work, range(100)) for number in mine]
        assert sorted(numbers) == list(range(500))
        found = first.trials
        assert [(trial.number, trial.value) for trial in found] == [(n, float(n)) for n in range(500)]
        assert Counter(trial.state for trial in found) == {"done": 500}
