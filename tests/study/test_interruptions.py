"""Ctrl-C at any moment, in a program or notebook that goes on with the same study."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from bough.space import Choice, Float, Space
from bough.storage import Storage, open_storage
from bough.study import Study, open_study

SPACE = Space({"model": Choice({"a": {"x": Float(0, 1)}, "b": {}}), "y": Float(0, 1)})
PARTS = re.compile("/bough/(study|storage)/|/bough/trial.py")
WIDER = Space({"model": Choice({"a": {"x": Float(0, 2)}, "b": {}}), "y": Float(0, 1)})


def interrupted(work: Callable[[], object], moment: int) -> bool:
    """Run ``work`` and raise KeyboardInterrupt at a moment; returns whether it came so far.

    Python handles signals where a function begins and after a call of a built-in one; moments count those.
    """
    left = moment

    def at(frame: FrameType, event: str, _: Any) -> None:
        nonlocal left
        if event in ("call", "c_return") and PARTS.search(frame.f_code.co_filename):
            left -= 1
            if left == 0:
                raise KeyboardInterrupt

    before = sys.getprofile()
    sys.setprofile(at)
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(before)
    return False


def opened(url: str | None) -> Callable[[], Storage]:
    memory = open_storage(None)
    return lambda: memory if url is None else open_storage(url)


def seen_by(study: Study) -> list[Any]:
    """Everything that a method or a user sees of the study."""
    with study._current() as view:
        history = study._history(view)
    arrays = history.done.x, history.y, history.noise, history.failed.x, history.pending.x
    told = [np.asarray(each).tolist() for each in (*arrays, history.done_numbers, history.pending_numbers)]
    curves = [trial.curve for trial in study.trials]
    status = study.status()
    return [repr(told), study.trials, curves, study.amendments, repr(study.space), status]


def test_a_study_that_was_interrupted_while_reading(storage_url: str | None) -> None:
    storage = opened(storage_url)
    writer = Study(SPACE, name="s", storage=storage(), method="random", seed=0)

    def work() -> None:
        """Someone else works on the study."""
        first, second, third, _ = writer.ask(4)
        writer.tell(first, 1.0)
        writer.report(second, 2.0, 1)
        writer.fail(third, "no memory")
        writer.correct(first, 3.0, "a typo")
        writer.change(SPACE if writer.space == WIDER else WIDER)

    work()
    for moment in itertools.count(1, 13):
        study = open_study("s", storage())
        if moment % 2:
            seen_by(study)  # then it is interrupted while it reads on
        if moment < 40:
            work()
        if not interrupted(lambda study=study: seen_by(study), moment):  # type: ignore[misc]
            break
        assert seen_by(study) == seen_by(open_study("s", storage()))
    assert moment > 100, "there was something to interrupt"


def test_a_result_whose_tell_was_interrupted_can_be_told_again(storage_url: str | None) -> None:
    storage = opened(storage_url)
    study = Study(SPACE, name="s", storage=storage(), method="random", seed=0)
    others = open_study("s", storage())
    for moment in itertools.count(1):
        trial = study.ask()
        came = interrupted(lambda trial=trial: study.tell(trial, 1.0), moment)  # type: ignore[misc]
        others.note("the storage is not locked")
        study.tell(trial, 1.0)
        assert study.trial(trial.number).value == others.trial(trial.number).value == 1.0
        assert study.status().done == moment
        if not came:
            break
    assert moment > 20, "there was something to interrupt"


def test_an_interrupted_ask_blocks_nothing(storage_url: str | None) -> None:
    storage = opened(storage_url)
    study = Study(SPACE, name="s", storage=storage(), method="random", seed=0)
    others = open_study("s", storage())
    came = 0
    for moment in range(1, 121, 3):
        came += interrupted(study.ask, moment)
        others.enqueue({"model": "b", "y": 0.5})
        study.tell(study.ask(), 1.0)
        assert study.trials == others.trials
        assert [trial.number for trial in study.trials] == list(range(len(study.trials)))
    assert came > 20, "there was something to interrupt"


def test_the_next_proposal_is_the_same_after_an_interruption() -> None:
    def proposals(moment: int | None) -> list[dict[str, Any]]:
        study = Study(SPACE, method="auto", seed=1)
        found = []
        for number in range(8):
            if moment is not None and number == 6:
                assert interrupted(lambda: study.predict([{"model": "b", "y": 0.5}]), moment)
            trial = study.ask()
            found.append(trial.config)
            study.tell(trial, trial.config["y"] + (trial.config["model"] == "a"))
        return found

    expected = proposals(None)
    for moment in range(5, 100, 19):
        assert proposals(moment) == expected, moment
