"""Results that are more than one number, and requests that are sent again."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from bough import minimize
from bough.errors import ConflictError, TrialError
from bough.space import Float, Space
from bough.study import Study, open_study

SPACE = Space({"x": Float(0, 1)})


def new_study(url: str | None = None) -> Study:
    return Study(SPACE, name="s", storage=url, method="random", seed=0)


def test_other_names_of_a_result_are_kept(storage_url: str | None) -> None:
    study = new_study(storage_url)
    returned = {"value": 0.5, "noise": 0.1, "cost": 3, "memory": np.float32(512), "fast": True, "epochs": 7}
    study.run(lambda config: returned, trials=1)
    trial = study.best
    assert (trial.value, trial.noise, trial.cost) == (0.5, 0.1, 3.0)
    assert trial.measures == {"memory": 512.0, "fast": 1.0, "epochs": 7.0}
    assert trial.notes == {}
    if storage_url is not None:
        assert open_study("s", storage_url).best == trial


@pytest.mark.parametrize(
    ("given", "noted"),
    [
        ("ok", "ok"),
        (None, None),
        (math.nan, "nan"),
        (math.inf, "inf"),
        ([1, {"a": "\0"}], [1, {"a": "\\x00"}]),
        ({1, 2}, "{1, 2}"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_is_no_number_is_a_note(storage_url: str | None, given: Any, noted: Any) -> None:
    study = new_study(storage_url)
    told = study.tell(study.ask(), {"value": 1.0, "status": given})
    assert (told.measures, told.notes) == ({}, {"status": noted})
    assert study.trials == [told]


def test_a_name_that_is_no_text_is_written_out() -> None:
    study = minimize(lambda config: {"value": 1.0, 3: 2.0}, SPACE, trials=1, method="random")
    assert study.best.measures == {"3": 2.0}


def test_a_failed_trial_keeps_what_was_measured() -> None:
    study = new_study()
    told = study.tell(study.ask(), {"value": math.nan, "memory": 512})
    assert (told.state, told.measures) == ("failed", {"memory": 512.0})


def test_notes(storage_url: str | None) -> None:
    study = new_study(storage_url)
    trial = study.ask()
    for wrong in ({1: 2}, {"x": {1}}, {"x": math.nan}, "text", ["a"]):
        with pytest.raises(TrialError, match="notes must be"):
            study.tell(trial, 1.0, notes=wrong)  # type: ignore[arg-type]
    assert study.trials == [trial]
    told = study.tell(trial, 1.0, notes={"seeds": [1, 2], "who": "ada"})
    assert study.tell(trial, 1.0, notes={"seeds": [1, 2], "who": "ada"}) == told
    assert study.trials[0].notes == {"seeds": [1, 2], "who": "ada"}


def test_another_measure_is_another_result(storage_url: str | None) -> None:
    study = new_study(storage_url)
    trial = study.ask()
    study.tell(trial, {"value": 1.0, "memory": 512})
    with pytest.raises(ConflictError, match=r"finished \(value=1\.0, memory=512\.0\).*memory=256\.0"):
        study.tell(trial, {"value": 1.0, "memory": 256})


@pytest.mark.parametrize("wrong", [{"loss": 1.0}, {}, {"value": "1"}, {"value": None}])
def test_a_dict_needs_a_value(wrong: dict[str, Any]) -> None:
    study = new_study()
    trial = study.ask()
    with pytest.raises(TrialError, match="value"):
        study.tell(trial, wrong)
    assert study.trials == [trial]


def test_noise_given_twice() -> None:
    study = new_study()
    with pytest.raises(TrialError, match="noise is given twice"):
        study.tell(study.ask(), {"value": 1.0, "noise": 0.1}, noise=0.2)


# ---- requests that are sent again -------------------------------------------------------------------


def test_an_enqueue_sent_again_after_a_worker_took_the_trial(storage_url: str | None) -> None:
    study = new_study(storage_url)
    first = study.enqueue({"x": 0.25}, request="r1")
    assert study.ask(worker="someone").number == first.number
    assert study.enqueue({"x": 0.25}, request="r1").number == first.number
    study.tell(first.number, 1.0)
    assert study.enqueue({"x": 0.25}, request="r1").number == first.number
    assert study.enqueue({"x": 0.25}, request="r2").number == 1
    assert [trial.worker for trial in study.trials] == ["someone", None]


def test_requests_are_found_by_whoever_reads_the_trials_in_another_order(storage_url: str | None) -> None:
    study = new_study(storage_url)
    for i in range(3):
        study.enqueue({"x": 0.25 * i}, request=f"r{i}")
    for number in (0, 1):
        study.tell(study.ask().number, float(number))
    restarted = Study.of_record(study.record, study._storage)
    for i in range(3):
        assert restarted.enqueue({"x": 0.25 * i}, request=f"r{i}").number == i
    assert len(restarted.trials) == 3


def test_added_results_sent_again(storage_url: str | None) -> None:
    study = new_study(storage_url)
    rows = [({"x": 0.25}, 1.0), ({"x": 0.5}, 2.0)]
    assert study.add_many(rows, request="r") == study.add_many(rows, request="r")
    assert len(study.trials) == 2


def test_an_ask_sent_again(storage_url: str | None) -> None:
    study = new_study(storage_url)
    study.enqueue({"x": 0.25})
    numbers = [trial.number for trial in study.ask_up_to(2, request="r", worker="w")]
    assert numbers == [0, 1]
    assert [trial.number for trial in study.ask_up_to(2, request="r")] == numbers
    assert [trial.number for trial in study.ask_up_to(1, request="other")] == [2]
    assert {trial.worker for trial in study.trials[:2]} == {"w"}


@pytest.mark.parametrize("lease", [0, -5, math.nan, math.inf, "60", True, 10**400])
def test_odd_leases(lease: Any) -> None:
    study = new_study()
    with pytest.raises(TrialError, match="lease must be a positive number of seconds"):
        study.ask(lease=lease)
    assert study.trials == []
    trial = study.ask(lease=60)
    with pytest.raises(TrialError, match="lease must be a positive number of seconds"):
        study.renew([trial], lease)
    assert study.trials == [trial]
