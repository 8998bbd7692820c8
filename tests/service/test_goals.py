"""Objectives and constraints through REST and ``connect``: the same as in a local study."""

from __future__ import annotations

import json
import math
from typing import Any

import httpx
import pytest
from tests.service.running import SPACE, Service

import bough
from bough.errors import ConfigError, StudyError, TrialError
from bough.service.models import study_json
from bough.storage import StudyRecord

space = bough.Space.from_json(SPACE)
GOALS: dict[str, Any] = {
    "objectives": {"error": "minimize", "speed": "maximize"},
    "constraints": ["memory <= 512"],
    "reference": {"error": 2.0},
}


def measure(config: dict[str, Any]) -> dict[str, float]:
    size = {"svm": 1.0, "forest": 3.0, "bayes": 0.5}[config["model"]] + config.get("depth", 0) / 10
    return {"error": 2 - 0.5 * size, "speed": 10 / size, "memory": 160 * size, "epochs": 7.0}


@pytest.fixture
def rest(served: Service) -> Any:
    with served.client(served.write) as client:
        client.base_url = f"{served.url}/api/v1"
        made = {"name": "several", "space": SPACE, "method": "random", "seed": 0, **GOALS}
        reply = client.post("/studies", json=made)
        assert reply.status_code == 201
        assert {name: reply.json()[name] for name in GOALS} == GOALS
        yield client


def ask(rest: httpx.Client) -> dict[str, Any]:
    trial: dict[str, Any] = rest.post("/studies/several/ask", json={}).json()["trials"][0]
    return trial


def tell(rest: httpx.Client, body: dict[str, Any]) -> httpx.Response:
    return rest.post(f"/studies/several/trials/{ask(rest)['number']}/tell", json=body)


def test_results_are_told_by_name(rest: httpx.Client) -> None:
    measures = {"error": 1.0, "speed": 3.0, "memory": 600.0, "epochs": 7.0}
    first = tell(rest, {"measures": measures, "noise": {"speed": 0.1}, "notes": {"host": "a"}}).json()
    assert first["measures"] == measures and first["value"] == 1.0
    assert first["feasible"] is False and first["violated"] == ["memory <= 512"]
    assert first["noises"] == {"speed": 0.1} and first["notes"] == {"host": "a"}
    second = tell(rest, {"value": 1.5, "measures": {"speed": 2.0, "memory": 1.0}}).json()
    assert second["measures"]["error"] == 1.5 and second["feasible"] is True
    third = tell(rest, {"measures": {"error": 1.0, "memory": 1.0}}).json()
    assert third["state"] == "failed" and "the measure 'speed' is missing" in third["error"]
    listed = rest.get("/studies/several/trials").json()["trials"]
    assert [trial["feasible"] for trial in listed] == [False, True, False]
    assert [trial["number"] for trial in rest.get("/studies/several/front").json()["trials"]] == [1]
    again = rest.post("/studies/several/trials/1/tell", json={"value": 9.0, "measures": {"speed": 2.0}})
    assert again.status_code == 409


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"value": 1.0, "measures": {"error": 2.0, "speed": 1.0, "memory": 1.0}}, 400, "they are the same"),
        ({"measures": {"error": 1.0, "noise": 2.0}}, 400, "no measure can be called 'noise'"),
        ({"measures": {"error": 1.0, "speed": 1.0, "memory": 1.0}, "noise": 0.1}, 400, "must be a dict by"),
        ({"measures": {"error": "low"}}, 422, "measures.error"),
    ],
)
def test_a_wrong_result_is_refused_and_nothing_changes(
    rest: httpx.Client, body: dict[str, Any], status: int, message: str
) -> None:
    reply = tell(rest, body)
    assert reply.status_code == status and message in reply.json()["error"]["message"]
    assert rest.get("/studies/several/trials/0").json()["state"] == "running"


@pytest.mark.parametrize(
    ("goals", "message"),
    [
        ({"objectives": {"error": "down"}}, "the direction of 'error' must be 'minimize' or 'maximize'"),
        ({"constraints": ["memory"]}, "cannot be read: write 'name <= number'"),
        ({"constraints": ["a <= 1", "a >= 2"]}, "contradict each other"),
        ({"objectives": ["error"], "reference": {"errors": 1}}, "which is not an objective: they are error"),
        ({"objectives": []}, "at least one objective, unless there are constraints"),
        ({"objectives": ["a", "b"], "method": "forest"}, "takes one objective without constraints; auto"),
    ],
)
def test_wrong_goals_are_refused_and_no_study_is_made(
    api: httpx.Client, goals: dict[str, Any], message: str
) -> None:
    reply = api.post("/studies", json={"name": "wrong", "space": SPACE, **goals})
    assert reply.status_code == 400 and message in reply.json()["error"]["message"]
    assert api.get("/studies/wrong").status_code == 404


def test_a_study_without_objectives(api: httpx.Client) -> None:
    made = {"name": "c", "space": SPACE, "method": "random", "objectives": [], "constraints": ["a <= 1"]}
    assert api.post("/studies", json=made).json()["objectives"] == {}
    number = api.post("/studies/c/ask", json={}).json()["trials"][0]["number"]
    assert api.post(f"/studies/c/trials/{number}/tell", json={"value": 0.0}).status_code == 400
    assert api.post(f"/studies/c/trials/{number}/tell", json={"measures": {"a": 3.0}}).json()["value"] == 1.0
    assert api.get("/studies/c/hypervolume").status_code == 409


def test_a_hypervolume_that_no_number_holds(served: Service) -> None:
    study = bough.connect(served.url, served.write, "h", space=space, method="random", objectives=["p", "q"])
    for p in (-1e300, 1e300):
        study.add({"model": "bayes", "scale": "none"}, {"p": p, "q": -p})
    assert study.hypervolume() == math.inf
    with served.client(served.read) as client:
        assert client.get("/api/v1/studies/h/hypervolume").json()["hypervolume"] is None
    study.add({"model": "bayes", "scale": "none"}, {"p": 1.7e308, "q": -1.7e308})
    assert math.isnan(study.reference()["p"])


def test_connect_gives_the_same_results_as_a_local_study(served: Service) -> None:
    served_study = bough.connect(served.url, served.write, "s", space=space, method="random", seed=3, **GOALS)
    local = bough.Study(space, method="random", seed=3, **GOALS)
    for study in (served_study, local):
        study.run(measure, 15, progress=False)  # type: ignore[attr-defined]
        study.add({"model": "bayes", "scale": "none"}, {**measure({"model": "svm"}), "noise": {"speed": 0.5}})  # type: ignore[attr-defined]
    assert [t.config for t in served_study.front] == [t.config for t in local.front]
    assert [(t.measures, t.noises, t.violated) for t in served_study.trials] == [
        (t.measures, t.noises, t.violated) for t in local.trials
    ]
    assert served_study.hypervolume() == local.hypervolume()
    point = {"error": 5.0, "speed": 0.0}
    assert served_study.hypervolume(point) == local.hypervolume(point) > local.hypervolume()
    assert served_study.goals == local.goals and repr(served_study).startswith(
        "RemoteStudy('s', minimize error"
    )
    again = bough.connect(served.url, served.write, "s")
    assert again.goals == local.goals and again.record.goals == local.record.goals
    assert "feasible" in again.frame().columns and "epochs" in again.frame().columns
    with pytest.raises(StudyError, match="has 2 objectives, so no single best trial"):
        _ = again.best
    with pytest.raises(StudyError, match="reference names 'errors', which is not an objective"):
        again.hypervolume({"errors": 1.0})
    with pytest.raises(StudyError, match=r"its goal is to minimize error, maximize speed with memory <= 512"):
        bough.connect(served.url, served.write, "s", space=space)


def test_connect_tells_dicts_and_says_what_is_missing(served: Service) -> None:
    study = bough.connect(served.url, served.write, "s", space=space, method="random", **GOALS)
    trial = study.ask()
    with pytest.raises(TrialError, match=r"tell a dict with 'error', 'speed', 'memory', not 0.5"):
        study.tell(trial, 0.5)
    told = study.tell(trial, {"error": 1, "speed": 2, "memory": 600}, noise={"error": 0.1}, notes={"a": [1]})
    assert told.violated == ("memory <= 512",) and not told.feasible
    assert (told.noise, told.noises, told.notes) == (0.1, {"error": 0.1}, {"a": [1]})
    assert study.tell(study.ask(), {"error": float("nan"), "speed": 1, "memory": 1}).error == (
        "the measure 'error' is nan"
    )
    assert study.front == []


def test_explanations_and_predictions_are_served(served: Service) -> None:
    study = bough.connect(served.url, served.write, "s", space=space, seed=0, **GOALS)
    study.run(measure, 9, progress=False)
    told = study.explain(8)
    assert set(told["objectives"]) == {"error", "speed"} and 0 <= told["constraints"]["memory <= 512"] <= 1
    mean, _ = study.predict([{"model": "svm", "scale": "none", "C": 1.0}])
    assert 0 < mean[0] < 3
    trial = study.trials[0]
    mean, _ = study.predict([trial.config], measure="speed")
    assert abs(mean[0] - trial.measures["speed"]) < 0.1
    with pytest.raises(StudyError, match=r"predicts its objectives .*not 'memory'"):
        study.predict([trial.config], measure="memory")


def test_a_wrong_reference_is_refused(rest: httpx.Client) -> None:
    for given in ("[1]", "{", '{"error": "x"}'):
        assert rest.get("/studies/several/hypervolume", params={"reference": given}).status_code in (400, 409)
    assert rest.get("/studies/several/hypervolume").json() == {
        "hypervolume": 0.0,
        "reference": {"error": 2.0},
    }


def test_errors_of_the_reference_name_the_query(served: Service) -> None:
    study = bough.connect(served.url, served.write, "s", space=space, method="random", **GOALS)
    with pytest.raises(ConfigError, match="reference must be a JSON object"):
        study._get("hypervolume?reference=3")


def test_a_stored_option_that_json_cannot_hold() -> None:
    """Earlier versions stored infinite options of one's own methods."""
    stored = '{"name": "Mine", "options": {"bound": Infinity}}'
    shown = study_json(StudyRecord("s", '{"x": {"type": "int", "low": 1, "high": 2}}', "minimize", stored, 0))
    assert json.dumps(shown["method"], allow_nan=False) == '{"name": "Mine", "options": {"bound": null}}'
