"""Several metrics, thresholds and constraints, through SigOpt's published client."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from tests.service.running import Service, service

from bough.service.sigopt.errors import SigOptError
from bough.service.sigopt.metrics import checked_metrics, goal_arguments

sigopt = pytest.importorskip("sigopt")

LOSS = {"name": "loss", "objective": "minimize", "strategy": "optimize"}
SPEED = {"name": "speed", "objective": "maximize", "strategy": "optimize", "threshold": 0.5}
MEMORY = {"name": "memory", "objective": "minimize", "strategy": "constraint", "threshold": 0.7}
EPOCHS = {"name": "epochs", "strategy": "store"}
X = {"name": "x", "type": "double", "bounds": {"min": 0, "max": 1}}


@pytest.fixture(scope="module")
def running() -> Iterator[Service]:
    with service() as served:
        yield served


@pytest.fixture
def connection(running: Service, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("SIGOPT_API_URL", running.url)
    monkeypatch.setenv("SIGOPT_API_TOKEN", running.write)
    monkeypatch.setattr("sigopt.ratelimit._FailedStatusRateLimit.increment_and_check", lambda self: None)
    warnings.simplefilter("ignore", RuntimeWarning)
    return sigopt.Connection()


def made(connection: Any, *metrics: dict[str, Any]) -> Any:
    return connection.experiments().create(
        name="several", type="random", metrics=list(metrics), parameters=[X]
    )


def told(remote: Any, x: float, *names: str) -> Any:
    measured = {"loss": x, "speed": 2 * x, "memory": x, "epochs": 3.0}
    values = [{"name": name, "value": measured[name]} for name in names]
    values[0]["value_stddev"] = 0.01
    return remote.observations().create(assignments={"x": x}, values=values)


def test_the_best_assignments_of_several_metrics_are_the_front(connection: Any) -> None:
    experiment = made(connection, LOSS, SPEED, MEMORY, EPOCHS)
    assert [(each.name, each.strategy, each.threshold) for each in experiment.metrics] == [
        ("loss", "optimize", None),
        ("speed", "optimize", 0.5),
        ("memory", "constraint", 0.7),
        ("epochs", "store", None),
    ]
    remote = connection.experiments(experiment.id)
    names = ("loss", "speed", "memory", "epochs")
    first = told(remote, 0.3, *names)
    assert {each.name: each.value for each in first.values} == {
        "loss": 0.3,
        "speed": 0.6,
        "memory": 0.3,
        "epochs": 3.0,
    }
    assert first.values[0].value_stddev == 0.01 and first.value is None
    for x in (0.1, 0.6, 0.9):  # the last one violates the constraint
        told(remote, x, *names)
    best = list(remote.best_assignments().fetch().iterate_pages())
    assert [each.assignments["x"] for each in best] == [0.1, 0.3, 0.6]
    suggestion = remote.suggestions().create()
    values = [{"name": name, "value": 1.0} for name in names]
    assert remote.observations().create(suggestion=suggestion.id, values=values).suggestion == suggestion.id
    progress = connection.experiments(experiment.id).fetch().progress
    assert progress.observation_count == 5 and progress.best_observation is None
    with pytest.raises(sigopt.exception.ApiException, match="Missing value for metric epochs"):
        told(remote, 0.5, "loss", "speed", "memory")


def test_one_metric_under_a_constraint(connection: Any) -> None:
    gain = {"name": "loss", "objective": "maximize"}
    remote = connection.experiments(made(connection, gain, MEMORY).id)
    assert remote.best_assignments().fetch().count == 0
    for x in (0.2, 0.65, 0.9):
        told(remote, x, "loss", "memory")
    [best] = remote.best_assignments().fetch().iterate_pages()
    assert best.assignments["x"] == 0.65 and best.value == 0.65
    assert remote.fetch().progress.best_observation.value == 0.65


def test_constraints_alone_give_every_feasible_observation(connection: Any) -> None:
    remote = connection.experiments(made(connection, MEMORY).id)
    for x in (0.2, 0.65, 0.9):
        told(remote, x, "memory")
    assert {each.assignments["x"] for each in remote.best_assignments().fetch().iterate_pages()} == {
        0.2,
        0.65,
    }


def test_runs_of_an_experiment_with_several_metrics(running: Service) -> None:
    with running.client(running.write) as client:
        assert client.post("/v1/clients/1/projects", json={"id": "runs", "name": "runs"}).status_code < 300
        body = {"name": "ai", "budget": 9, "metrics": [LOSS, SPEED, MEMORY], "parameters": [X]}
        path = "/v1/clients/1/projects/runs/aiexperiments"
        ai = client.post(path, json=body).json()["id"]
        runs = [
            client.post(f"/v1/aiexperiments/{ai}/training_runs", json={"name": "r"}).json() for _ in range(2)
        ]
        values = {name: {"value": 0.5} for name in ("loss", "speed", "memory")}
        point = {"values": [{"name": "loss", "value": 1.0}]}
        assert client.post(f"/v1/training_runs/{runs[0]['id']}/checkpoints", json=point).status_code < 300
        for run, given in zip(runs, (values, {"loss": {"value": 0.1}}), strict=True):
            change = {"state": "completed", "values": given}
            reply = client.put(f"/v1/training_runs/{run['id']}", json=change)
            assert reply.status_code == 200, reply.text
        best = client.get(f"/v1/aiexperiments/{ai}/best_training_runs").json()["data"]
        assert [run["id"] for run in best] == [runs[0]["id"]]


def test_metrics_as_goals() -> None:
    found = goal_arguments({"metrics": checked_metrics([LOSS, SPEED, MEMORY, EPOCHS])})
    assert found == {
        "objectives": {"loss": "minimize", "speed": "maximize"},
        "constraints": ["memory <= 0.7"],
        "reference": {"speed": 0.5},
    }
    assert goal_arguments({"metrics": checked_metrics([LOSS, EPOCHS])})["direction"] == "minimize"


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ([EPOCHS], "needs a metric with the strategy 'optimize' or 'constraint'"),
        ([LOSS, {**MEMORY, "threshold": None}], "Metric memory is a constraint, so it needs a threshold"),
        ([LOSS, {**EPOCHS, "threshold": 1}], "Metric epochs is only stored, so it takes no threshold"),
        ([LOSS, {**SPEED, "threshold": "fast"}], "threshold of metric speed"),
        ([LOSS, {**LOSS}], "must be distinct"),
        ([LOSS, {**SPEED, "strategy": "maximise"}], "a metric's strategy"),
        ([LOSS, {**SPEED, "name": "noise"}], "'noise' is reserved"),
        ([LOSS, {**SPEED, "name": "value"}], "with several objectives none can be called 'value'"),
    ],
)
def test_wrong_metrics_are_refused(metrics: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(SigOptError, match=message):
        checked_metrics(metrics)
