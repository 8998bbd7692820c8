"""After a change of the space: what is handed out, best and on the front belongs to the current space."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import bough
from bough import Choice, Float, Space
from bough.errors import ConflictError, StudyError
from bough.plot import StudySnapshot
from bough.storage import Amendment, open_storage
from bough.trial import Trial

BEFORE = Space({"model": Choice({"svm": {"C": Float(0, 1)}, "forest": {}}), "rate": Float(0, 1)})
NO_SVM = Space({"model": Choice({"forest": {}}), "rate": Float(0, 1)})
DROPOUT = Space(
    {
        "model": Choice({"svm": {"C": Float(0, 1), "drop": Float(0, 1)}, "forest": {}}),
        "rate": Float(0, 1),
        "momentum": Float(0, 1),
    }
)
SVM = {"model": "svm", "C": 0.5, "rate": 0.25}
FOREST = {"model": "forest", "rate": 0.75}


def new_study(storage: Any = None, **more: Any) -> bough.Study:
    return bough.Study(BEFORE, name="s", storage=storage, method=more.pop("method", "random"), seed=0, **more)


def test_a_trial_that_left_the_space_is_not_handed_out_again(storage_url: str | None) -> None:
    study = new_study(storage_url)
    study.enqueue(SVM)
    study.enqueue(FOREST)
    lost, kept = study.ask(2, lease=600.0)
    study.change(NO_SVM)
    study.renew([lost, kept], 0.001)
    time.sleep(0.02)
    again = study.ask()
    assert (again.number, again.attempt) == (kept.number, 2)
    gone = study.trial(lost.number)
    assert (gone.state, gone.learn) == ("failed", False)
    assert gone.error == "its configuration left the space, which changed at trial 2"
    assert study.ask().config["model"] == "forest"
    with pytest.raises(ConflictError, match="left the space"):
        study.tell(lost, 1.0)


def test_a_change_by_another_process_counts_from_the_first_answer_on() -> None:
    study = new_study()
    study.add(SVM, 1.0)
    study.add(FOREST, 2.0)
    others = [bough.Study.of_record(study.record, study._storage) for _ in range(2)]
    assert [len(other.trials) for other in others] == [2, 2]
    study.change(NO_SVM)
    assert [trial.config for trial in others[0].front] == [FOREST]
    assert others[1].recommend().trial.config == FOREST


def test_a_trial_that_still_runs_may_be_told_after_the_change() -> None:
    study = new_study()
    study.enqueue(SVM)
    running = study.ask(lease=600.0)
    study.change(NO_SVM)
    study.ask()
    assert study.tell(running, 1.0).state == "done"


def test_a_trial_given_back_after_the_change_is_not_handed_out() -> None:
    study = new_study()
    study.enqueue(SVM)
    running = study.ask(lease=600.0)
    study.change(NO_SVM)
    study.renew([running], None)
    assert study.ask().config["model"] == "forest"
    assert study.trial(0).state == "failed"


def test_a_config_enqueued_at_the_moment_of_the_change() -> None:
    storage = open_storage(None)
    study = new_study(storage)
    amend = storage.amend

    def amend_late(number: int, amendment: Amendment, **more: Any) -> Amendment:
        storage.insert(number, [Trial(-1, SVM, "queued")])
        return amend(number, amendment, **more)

    storage.amend = amend_late  # type: ignore[method-assign]
    study.change(NO_SVM)
    assert study.ask().config["model"] == "forest"
    assert "left the space" in str(study.trial(0).error)


def test_best_is_a_trial_of_the_current_space() -> None:
    study = new_study()
    study.add(SVM, -50.0)
    study.add(FOREST, 2.0)
    study.add({**FOREST, "rate": 0.5}, 1.0)
    other = bough.Study.of_record(study.record, study._storage)
    study.change(NO_SVM)
    for each in (study, other):
        assert (each.best.number, each.status().best) == (2, each.best)
    other.after_fork(child=True)
    assert other.best.number == 2
    study.add({**FOREST, "rate": 0.1}, 0.5)
    assert study.best.number == 3
    study.change(BEFORE)
    assert study.best.number == 0


def test_best_after_a_change_that_no_result_survives() -> None:
    study = new_study(direction="maximize")
    study.add(SVM, 0.25)
    study.add({**SVM, "C": 0.75}, 0.5)
    study.change(NO_SVM)
    with pytest.raises(
        StudyError,
        match=r"study 's' has no result in its current space, which holds from trial 2 on; "
        r"the best result before was 0\.5 in trial 1",
    ):
        _ = study.best
    assert study.status().best is None


def test_backfilled_trials_belong_to_the_current_space() -> None:
    study = new_study()
    study.add(SVM, 0.5)
    study.add(FOREST, 1.0)
    study.change(DROPOUT, backfill={"drop": 0.25, "momentum": 0.5})
    best = study.best
    assert best.config == {**SVM, "drop": 0.25, "momentum": 0.5}
    assert DROPOUT.validate(best.config) == best.config
    assert [trial.config for trial in study.current_trials] == [best.config, {**FOREST, "momentum": 0.5}]
    assert study.recommend().trial == best
    assert StudySnapshot.of(study).best == best
    assert study.trial(0).config == SVM, "what was tried stays"


def test_without_backfill_trials_lack_the_new_parameter() -> None:
    study = new_study()
    study.add(FOREST, 1.0)
    study.change(DROPOUT)
    assert study.current_trials == []


def test_the_front_is_of_the_current_space() -> None:
    study = new_study(objectives=["a", "b"], reference={"a": 5.0, "b": 5.0})
    study.add(SVM, {"a": 0.0, "b": 0.0})
    study.add(FOREST, {"a": 1.0, "b": 2.0})
    study.change(NO_SVM)
    assert [trial.number for trial in study.front] == [1]
    assert study.hypervolume() == 4.0 * 3.0


@pytest.mark.parametrize("goals", [{"objectives": ["a", "b"]}, {"constraints": ["memory <= 10"]}])
def test_a_front_that_is_gone_need_not_be_beaten(goals: dict[str, Any]) -> None:
    study = new_study(method="auto", **goals)
    measures = {"objectives": {"a": 1.0, "b": 1.0}, "constraints": {"value": 1.0, "memory": 5.0}}
    given = measures[next(iter(goals))]
    for number, config in enumerate(BEFORE.sample(8, 1)):
        scale = 0.01 if config["model"] == "svm" else 1.0 + number / 10
        study.add(config, {name: scale * value for name, value in given.items()})
    study.change(NO_SVM)
    with study._current() as view:
        model, strategy = study._in_use(view)
        history = study._history(view)
    models = strategy._models(model.space, history, np.ones(2))  # type: ignore[attr-defined]
    forests = [trial.config["model"] == "forest" for trial in study.trials]
    assert 0 < sum(forests) < len(forests)
    assert models.feasible.tolist() == forests
