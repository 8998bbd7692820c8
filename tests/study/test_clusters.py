"""Real clusters on this machine: Dask and Ray, four workers each, one of them killed on the way."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from pathlib import Path

import pytest

from bough.space import Float, Space
from bough.study import Study

LINE = Space({"x": Float(0, 1)})
WORKERS = 4

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def dask_executor() -> Iterator[Executor]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client.get_executor()


@pytest.fixture(scope="module")
def ray_executor() -> Iterator[Executor]:
    import ray

    from bough.integrations.ray import RayExecutor

    ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False)
    yield RayExecutor()
    ray.shutdown()


@pytest.fixture(params=["dask", "ray"])
def executor(request: pytest.FixtureRequest) -> Executor:
    return request.getfixturevalue(f"{request.param}_executor")


def deadly_once(mark: str) -> Callable[[dict[str, float]], float]:
    """An objective that kills the worker that evaluates it, the first time it sees a certain config."""

    def objective(config: dict[str, float]) -> float:
        if config["x"] == 0.125 and not os.path.exists(mark):
            open(mark, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.01)
        return config["x"]

    return objective


def test_a_hundred_trials_and_a_killed_worker(executor: Executor, tmp_path: Path) -> None:
    study = Study(LINE, method="random", seed=0)
    study.run(deadly_once(str(tmp_path / "killed")), 20, executor=executor, workers=WORKERS, progress=False)
    study.enqueue({"x": 0.125})
    study.run(deadly_once(str(tmp_path / "killed")), 100, executor=executor, workers=WORKERS, progress=False)
    assert (tmp_path / "killed").exists()
    assert len(study.trials) == 100
    assert [trial.value for trial in study.trials] == [trial.config["x"] for trial in study.trials]


def test_all_workers_evaluate_at_once_and_a_slow_trial_holds_up_no_other(
    executor: Executor, tmp_path: Path
) -> None:
    folder = str(tmp_path)

    def wait_for(count: int) -> None:
        deadline = time.monotonic() + 120
        while len(os.listdir(folder)) < count:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{len(os.listdir(folder))} trials were started, not {count}")
            time.sleep(0.01)

    def meet(config: dict[str, float]) -> float:
        open(os.path.join(folder, str(config["x"])), "w").close()
        wait_for(6 * WORKERS if config["x"] == 0.125 else WORKERS)
        return config["x"]

    study = Study(LINE, method="random", seed=0)
    study.enqueue({"x": 0.125})
    study.run(meet, 6 * WORKERS, executor=executor, workers=WORKERS, progress=False)
    assert [trial.error for trial in study.trials] == [None] * (6 * WORKERS)
