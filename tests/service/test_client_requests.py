"""What ``bough.connect`` sends: much in several requests, and no mistakes that a local study would name."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from tests.service.running import SPACE, Service

import bough
from bough.errors import (
    BoughError,
    ConfigError,
    ConflictError,
    ExhaustedError,
    ServiceError,
    StudyError,
    TrialError,
)

space = bough.Space.from_json(SPACE)


@pytest.fixture
def study(served: Service):
    return bough.connect(served.url, served.write, "demo", space=space, method="random", seed=3)


def test_trials_of_the_requests_before_a_fault_are_not_lost(study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bough.client.MOST_ASKED", 2)
    send, asked = study._post, []

    def failing(path: str, *given: Any) -> Any:
        asked.append(path)
        if asked.count("ask") > 1:
            raise ServiceError("the service is gone")
        return send(path, *given)

    monkeypatch.setattr(study, "_post", failing)
    assert [trial.number for trial in study.ask(5)] == [0, 1]
    with pytest.raises(ServiceError, match="is gone"):
        study.ask(5)


def test_many_trials_take_several_requests(study, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [trial.number for trial in study.ask(150)] == list(range(150))
    config = {"model": "bayes", "scale": "none"}
    assert len(study.add_many([(config, 1.0)] * 2600)) == 2600
    assert study.status().trials == 2750
    assert study.add_many([]) == []
    monkeypatch.setattr("bough.client.MOST_ADDED", 2)
    with pytest.raises(ConfigError, match="'scale' is missing"):
        study.add_many([*[(config, 1.0)] * 3, ({"model": "bayes"}, 1.0)])
    assert study.status().trials == 2752


def test_results_of_more_than_the_service_reads_at_once_are_added(study) -> None:
    """It reads 4 MiB."""
    result = {"value": 1.0, "log": "y" * 20_000}
    added = study.add_many([({"model": "bayes", "scale": "none"}, result)] * 300)
    assert [trial.number for trial in added] == list(range(300))


def test_nothing_is_added_if_a_later_result_is_no_json(study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bough.client.MOST_ADDED", 1)
    config = {"model": "bayes", "scale": "none"}
    with pytest.raises(ServiceError, match="cannot be sent as JSON"):
        study.add_many([(config, 1.0), ({**config, "scale": object()}, 1.0)])
    assert study.status().trials == 0


def test_leases_of_more_trials_than_the_service_takes_at_once_are_renewed(study) -> None:
    trials = study.ask(1100, lease=60)
    study.renew(trials, 600)
    assert all(after.expires > before.expires + 60 for before, after in zip(trials, study.trials))
    study.renew(trials, None)
    assert {trial.state for trial in study.trials} == {"queued"}


def test_asking_for_more_trials_than_a_space_has(served: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bough.client.MOST_ASKED", 2)
    few = bough.Space({"x": bough.Int(1, 4)})
    study = bough.connect(served.url, served.write, "few", space=few, method="random")
    assert len(study.ask(9)) == 4
    with pytest.raises(ExhaustedError):
        study.ask(9)


def test_trials_are_read_in_pages(study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bough.client._PAGE", 4)
    study.add_many([({"model": "bayes", "scale": "none"}, n) for n in range(10)])
    running = study.ask()
    study.add({"model": "bayes", "scale": "none"}, 11)
    assert [trial.number for trial in study.trials] == list(range(12))
    study.tell(running, 5)
    assert [trial.value for trial in study.trials] == [*range(10), 5, 11]


def test_errors_are_those_of_a_local_study(served: Service, study) -> None:
    study.tell(study.ask(), 1)
    with pytest.raises(ConflictError, match=r"already finished \(value=1\.0\)"):
        study.tell(0, 2)
    with pytest.raises(TrialError, match="no trial 9"):
        study.tell(9, 1)
    with pytest.raises(ConfigError, match="'scale' is missing"):
        study.enqueue({"model": "bayes"})
    with pytest.raises(TrialError, match="must be a number"):
        study.tell(0, "much")
    with pytest.raises(TrialError, match="at least 1"):
        study.ask(0)
    with pytest.raises(StudyError, match="no study 'other'"):
        bough.connect(served.url, served.write, "other")
    with pytest.raises(StudyError, match="direction is minimize"):
        bough.connect(served.url, served.write, "demo", space=space, direction="maximize")
    tiny = bough.Space({"x": bough.Categorical(["a"])})
    ending = bough.connect(served.url, served.write, "tiny", space=tiny, method="random")
    ending.tell(ending.ask(), 0)
    with pytest.raises(ExhaustedError):
        ending.ask()


@pytest.mark.parametrize(
    "mistake",
    [
        lambda study: study.ask(lease=-1),
        lambda study: study.ask(2, lease="60"),
        lambda study: study.renew(study.trials, -1),
        lambda study: study.renew(study.trials, math.inf),
        lambda study: study.correct(0, math.nan, "a slip"),
        lambda study: study.correct(0, {"value": 1.0, "memory": math.inf}, "a slip"),
        lambda study: study.correct(0, "much", "a slip"),
        lambda study: study.correct(1, 2.0, "a slip"),
        lambda study: study.correct(0, 2.0, ""),
        lambda study: study.explain(branch="svm"),
    ],
)
def test_the_same_mistake_is_the_same_error_as_in_a_local_study(study, mistake: Callable[[Any], Any]) -> None:
    refused = []
    for each in (bough.Study(space, method="random", seed=3), study):
        each.tell(each.ask(), 1.0)
        each.ask()
        with pytest.raises(BoughError) as error:
            mistake(each)
        refused.append((type(error.value), str(error.value)))
    assert refused[0] == refused[1]
