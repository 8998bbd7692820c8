"""SigOpt's protocol without its client: refused requests change nothing, and the study's space counts."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from tests.service.running import Service

LOSS = {"name": "loss", "objective": "minimize", "strategy": "optimize"}
MEMORY = {"name": "memory", "objective": "minimize", "strategy": "constraint", "threshold": 0.7}
X = {"name": "x", "type": "double", "bounds": {"min": 0, "max": 1}}
PROJECT = "/v1/clients/1/projects/p"


@pytest.fixture
def client(served: Service) -> Any:
    with served.client(served.write) as client:
        client.post("/v1/clients/1/projects", json={"id": "p", "name": "p"})
        yield client


def made(client: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    reply = client.post(path, json=body)
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


def test_a_refused_update_of_a_run_keeps_what_it_has(client: httpx.Client) -> None:
    run = f"/v1/training_runs/{made(client, f'{PROJECT}/training_runs', {'name': 'r'})['id']}"
    first = {"values": {"loss": {"value": 0.9}}, "metadata": {"k": "important"}}
    assert client.request("MERGE", run, json=first).status_code == 200
    for wrong in ({"values": 5, "metadata": {"n": 1}}, {"values": {}, "nosuch": 1}):
        assert client.put(run, json=wrong).status_code == 400
        found = client.get(run).json()
        assert found["values"]["loss"]["value"] == 0.9 and found["metadata"] == {"k": "important"}
    replaced = client.put(run, json={"metadata": {"n": 1}}).json()
    assert replaced["metadata"] == {"n": 1} and replaced["values"]["loss"]["value"] == 0.9


def test_an_update_that_ends_a_run_tells_the_metrics_that_it_keeps(client: httpx.Client) -> None:
    """A metric that the update replaces away is missing, although the run had it before."""
    body = {"name": "ai", "type": "random", "metrics": [LOSS, MEMORY], "parameters": [X]}
    experiment = f"/v1/aiexperiments/{made(client, f'{PROJECT}/aiexperiments', body)['id']}"
    states = []
    for last in ({"loss": {"value": 0.1}}, {"loss": {"value": 0.1}, "memory": {"value": 0.2}}):
        run = f"/v1/training_runs/{made(client, f'{experiment}/training_runs', {'name': 'r'})['id']}"
        early = {"values": {"memory": {"value": 0.5}}}
        assert client.request("MERGE", run, json=early).status_code == 200
        assert (
            client.put(run, json={"values": last, "state": "completed"}).json()["values"].keys()
            == last.keys()
        )
        name = client.get("/api/v1/studies").json()["studies"][-1]["name"]
        trial = client.get(f"/api/v1/studies/{name}/trials").json()["trials"][-1]
        states.append((trial["state"], trial["measures"]))
    assert states == [("failed", {}), ("done", {"loss": 0.1, "memory": 0.2})]


def test_a_refused_checkpoint_is_not_counted(client: httpx.Client) -> None:
    body = {"name": "ai", "type": "random", "metrics": [LOSS], "parameters": [X]}
    experiment = f"/v1/aiexperiments/{made(client, f'{PROJECT}/aiexperiments', body)['id']}"
    run = f"/v1/training_runs/{made(client, f'{experiment}/training_runs', {'name': 'r'})['id']}"
    checkpoint = {"values": [{"name": "loss", "value": 0.5}]}
    for _ in range(2):
        made(client, f"{run}/checkpoints", checkpoint)
    done = {"values": {"loss": {"value": 0.1}}, "state": "completed"}
    assert client.request("MERGE", run, json=done).status_code == 200
    assert client.post(f"{run}/checkpoints", json=checkpoint).status_code == 400
    assert client.get(run).json()["checkpoint_count"] == 2
    assert client.get(f"{run}/checkpoints").json()["count"] == 2
    study = client.get("/api/v1/studies").json()["studies"][-1]["name"]
    trial = client.get(f"/api/v1/studies/{study}/trials", params={"curves": True}).json()["trials"][0]
    assert trial["curve"] == [[1, 0.5], [2, 0.5]]


def test_a_refused_batch_stores_no_observation(client: httpx.Client) -> None:
    body = {"name": "own", "type": "random", "metrics": [LOSS], "parameters": [X]}
    experiment = f"/v1/experiments/{made(client, '/v1/experiments', body)['id']}"
    first, second = (made(client, f"{experiment}/suggestions", {})["id"] for _ in range(2))

    def told(suggestion: str, value: float) -> dict[str, Any]:
        return {"suggestion": suggestion, "values": [{"name": "loss", "value": value}]}

    def refused(*rows: dict[str, Any]) -> str:
        reply = client.post(f"{experiment}/observations/batch", json={"observations": rows})
        assert reply.status_code == 400
        message: str = reply.json()["message"]
        return message

    assert refused(told(first, 1.0), told(first, 2.0)) == f"Suggestion {first} is given twice"
    assert client.get(f"{experiment}/observations").json()["count"] == 0
    made(client, f"{experiment}/observations", told(second, 1.0))
    assert "another observation already" in refused(told(first, 1.0), told(second, 2.0))
    assert client.get(f"{experiment}/observations").json()["count"] == 1
    study = client.get("/api/v1/studies").json()["studies"][-1]["name"]
    corrected = {"value": 3.0, "reason": "units"}
    assert client.post(f"/api/v1/studies/{study}/trials/{second}/correct", json=corrected).status_code == 200
    again = {"observations": [told(first, 1.0), told(second, 1.0)]}  # the same as before its correction
    assert made(client, f"{experiment}/observations/batch", again)["count"] == 2


def test_own_assignments_must_be_in_the_present_space_of_the_study(client: httpx.Client) -> None:
    body = {"name": "own", "type": "random", "metrics": [LOSS], "parameters": [X]}
    experiment = f"/v1/experiments/{made(client, '/v1/experiments', body)['id']}"
    study = f"/api/v1/studies/{client.get('/api/v1/studies').json()['studies'][-1]['name']}"
    narrower = {"space": {"x": {"type": "float", "low": 0, "high": 0.5}}}
    assert client.post(f"{study}/change", json=narrower).status_code == 200

    def told(x: float) -> dict[str, Any]:
        return {"assignments": {"x": x}, "values": [{"name": "loss", "value": 1.0}]}

    for path, given in (
        ("observations", told(0.9)),
        ("observations", {"assignments": {"x": 0.9}, "failed": True}),
        ("observations/batch", {"observations": [told(0.1), told(0.9)]}),
        ("suggestions", {"assignments": {"x": 0.9}}),
        ("queued_suggestions", {"assignments": {"x": 0.9}}),
    ):
        refused = client.post(f"{experiment}/{path}", json=given)
        assert refused.status_code == 400, path
        assert (
            refused.json()["message"]
            == "Invalid value: parameter 'x' must be a number in [0.0, 0.5], not 0.9"
        )
    assert client.get(f"{study}/trials").json()["total"] == 0
    assert made(client, f"{experiment}/observations", told(0.4))["assignments"] == {"x": 0.4}
    assert made(client, f"{experiment}/suggestions", {"assignments": {"x": 0.3}})["state"] == "open"
    assert client.get(f"{study}/best").json()["config"] == {"x": 0.4}
    assert client.post(f"{study}/ask").status_code == 200


def test_own_assignments_name_the_parameters_of_the_present_space(client: httpx.Client) -> None:
    model = {"name": "model", "values": ["svm", "forest"]}
    depth = {**X, "name": "depth", "conditions": {"model": ["forest"]}}
    body = {"name": "own", "type": "random", "metrics": [LOSS], "parameters": [X, depth]}
    body["conditionals"] = [model]
    experiment = f"/v1/experiments/{made(client, '/v1/experiments', body)['id']}"
    study = f"/api/v1/studies/{client.get('/api/v1/studies').json()['studies'][-1]['name']}"

    def told(assignments: dict[str, Any]) -> Any:
        result = {"assignments": assignments, "values": [{"name": "loss", "value": 1.0}]}
        reply = client.post(f"{experiment}/observations", json=result).json()
        return reply.get("assignments") or reply["message"]

    first = {"model": "svm", "x": 0.5}
    assert told(first) == first
    line = {"type": "float", "low": 0, "high": 1}
    models = {"type": "categorical", "options": ["svm", "forest", "bayes"]}
    added = {"model": models, "x": line, "y": line, "depth": {**line, "when": "model == 'forest'"}}
    backfill = {"space": added, "backfill": {"y": 0.5}}
    assert client.post(f"{study}/change", json=backfill).status_code == 200
    assert told(first) == "Invalid value: parameter 'y' is missing"
    assert told({**first, "y": 1}) == {**first, "y": 1.0}
    assert told({**first, "model": "bayes", "y": 0.5})["model"] == "bayes"
    removed = {"space": {"x": line, "y": line}, "fix": {"model": "svm", "depth": 0.5}}
    assert client.post(f"{study}/change", json=removed).status_code == 200
    assert told({**first, "y": 0.5}) == "Invalid value: unknown parameter 'model'"
    assert told({"x": 0.5, "y": 0.5}) == {"x": 0.5, "y": 0.5}
