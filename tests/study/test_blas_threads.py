"""Proposals are computed with one BLAS thread, and everybody else gets their threads back."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  loads the BLAS of SciPy
from threadpoolctl import OpenBLASController, threadpool_info, threadpool_limits

import bough
from bough.history import History
from bough.points import Points
from bough.strategies.designs import RandomSearch

SPACE = bough.Space({"x": bough.Float(0, 1)})


def threads() -> set[int]:
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    """Two threads of BLAS, also on a machine with one core."""
    if not threads():
        pytest.skip("threadpoolctl knows no BLAS library here")
    with threadpool_limits(2, user_api="blas") as limits:
        OpenBLASController.clear_controlling_thread()  # other threads may set limits, too
        yield
        limits.restore_original_limits()


class Spy:
    """Notes the number of threads while it proposes."""

    def __init__(self, error: Exception | None = None) -> None:
        self.seen: list[set[int]] = []
        self.error = error

    def predict(self, history: History, points: Points) -> tuple[np.ndarray, np.ndarray]:
        raise AssertionError("it has a model, but nobody asks it")

    def propose(self, space: bough.Space, history: History, rng: np.random.Generator) -> Points:
        self.seen.append(threads())
        if self.error:
            raise self.error
        return RandomSearch().propose(space, history, rng)


def test_a_proposal_has_one_thread_and_gives_the_others_back() -> None:
    spy = Spy()
    bough.Study(SPACE, method=spy).ask()
    assert spy.seen == [{1}]
    assert threads() == {2}


def test_threads_come_back_after_an_error() -> None:
    study = bough.Study(SPACE, method=Spy(RuntimeError("broken")))
    with pytest.raises(RuntimeError, match="broken"):
        study.ask()
    assert threads() == {2}


class Slow(Spy):
    """Begins to propose, and waits until it may go on."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go_on = threading.Event(), threading.Event()

    def propose(self, space: bough.Space, history: History, rng: np.random.Generator) -> Points:
        self.begun.set()
        assert self.go_on.wait(60)
        return super().propose(space, history, rng)


@pytest.mark.parametrize("first", [0, 1])
def test_threads_come_back_after_proposals_that_overlap(first: int) -> None:
    """first: which of two askers, the earlier or the later one, gets its proposal first."""
    methods = [Slow(), Slow()]
    askers = [threading.Thread(target=bough.Study(SPACE, method=method).ask) for method in methods]
    for asker, method in zip(askers, methods):
        asker.start()
        assert method.begun.wait(60)
    for turn in (first, 1 - first):
        methods[turn].go_on.set()
        askers[turn].join()
    assert methods[0].seen == methods[1].seen == [{1}]
    assert threads() == {2}


def test_methods_without_a_model_do_not_load_scipy() -> None:
    program = "import sys, bough; bough.Study(bough.Space({'x': bough.Float(0, 1)}), method='random').ask(); "
    program += "print('scipy.linalg' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "False\n"


def test_every_thread_that_asks_alone_has_one_thread() -> None:
    """A thread that asked before must not keep others from limiting."""
    first, second = Spy(), Spy()
    for spy in (first, second):
        asker = threading.Thread(target=bough.Study(SPACE, method=spy).ask)
        asker.start()
        asker.join()
    assert first.seen == second.seen == [{1}]


PROGRAM = """
import bough

space = bough.Space({name: bough.Float(0, 1) for name in "abcdef"})
study = bough.Study(space, seed=0)
configs = [{name: (i * k / 101) % 1 for k, name in enumerate("abcdef", 1)} for i in range(1, 301)]
study.add_many((config, sum(value**2 for value in config.values())) for config in configs)
study.predict(configs[:1])
for _ in range(2):
    trial = study.ask()
    study.tell(trial, 1.0)
    print(trial.config)
"""


@pytest.mark.slow
@pytest.mark.parametrize("core", ["numpy", "compiled"])
def test_proposals_do_not_depend_on_the_number_of_threads(core: str) -> None:
    if core == "compiled":
        pytest.importorskip("bough_core")
    shown = set()
    for number in ("1", "2", "4"):
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": number, "MKL_NUM_THREADS": number}
        environment["BOUGH_CORE"] = core
        environment.pop("OMP_NUM_THREADS", None)
        shown.add(subprocess.check_output([sys.executable, "-c", PROGRAM], env=environment, text=True))
    assert len(shown) == 1
