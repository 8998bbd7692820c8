"""Malformed requests: one line that names the field and what would be right."""

from __future__ import annotations

from typing import Any

import pytest
from tests.service.running import SPACE, Service

import bough
from bough.errors import ConfigError, StudyError, TrialError

NEW = {"name": "wrong", "space": SPACE}


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("", {**NEW, "objectives": "error"}, "objectives must be a valid dictionary or a valid list"),
        ("", {**NEW, "objctives": ["a"]}, "unknown field 'objctives'; did you mean 'objectives'?"),
        ("", {**NEW, "stopping": "medain"}, "stopping must be 'median', 'asha' or 'none'"),
        ("", {"name": "wrong"}, "the field 'space' is missing"),
        ("/demo/ask", {"n": "3"}, "n must be a valid integer"),
        ("/demo/ask", {"leases": 3}, "unknown field 'leases'; did you mean 'lease'?"),
        (
            "/demo/enqueue",
            {"config": {"scale": []}},
            "config.scale must be a valid string or a valid integer",
        ),
        ("/demo/trials/0/tell", {}, "the result has no 'value' (there is nothing)"),
        ("/demo/trials/0/tell", {"value": 1, "cost": -1}, "cost must be greater than or equal to 0"),
        ("/demo/trials/0/tell", {"value": 1, "noise": {"a": 1}}, "noise must be a number"),
        ("/demo/trials/0/report", {"value": 1, "measures": {"a": 1}, "step": 1}, "a report has either"),
        ("/demo/add", {"results": [{"config": {}}]}, "the result has no 'value'"),
        ("/demo/predict", {"configs": [], "measure": "a"}, "study 'demo' predicts its objectives ('value')"),
        ("/demo/trials/0/report", {"step": 1}, "a report has either a value or measures"),
    ],
)
def test_a_malformed_request(served: Service, path: str, body: dict[str, Any], message: str) -> None:
    bough.connect(served.url, served.write, "demo", space=bough.Space.from_json(SPACE), method="random")
    with served.client(served.write) as client:
        reply = client.post(f"/api/v1/studies{path}", json=body)
        assert reply.status_code in (400, 422)
        assert reply.json()["error"]["message"].startswith(message)
        assert "wrong" not in client.get("/api/v1/studies").text


def test_a_malformed_request_has_a_type_that_earlier_clients_know(served: Service) -> None:
    with served.client(served.write) as client:
        client.post("/api/v1/studies", json={"name": "demo", "space": SPACE})
        for path, body in {
            "": {**NEW, "name": ".."},
            "/demo/predict": {"configs": [], "measure": "a"},
        }.items():
            reply = client.post(f"/api/v1/studies{path}", json=body)
            assert (reply.status_code, reply.json()["error"]["type"]) == (400, "StudyError")


def test_wrong_arguments_never_reach_the_service(served: Service) -> None:
    study: Any = bough.connect(
        served.url, served.write, "demo", space=bough.Space.from_json(SPACE), method="random"
    )
    for act, kind in (
        (lambda: study.ask("3"), TrialError),
        (lambda: study.tell({"x": 1}, 0.5), TrialError),
        (lambda: study.enqueue(["x"]), ConfigError),
        (lambda: study.believe("x"), ConfigError),
        (lambda: study.retract("0", "a slip"), TrialError),
        (lambda: study.change({"x": bough.Float(0, 1)}), StudyError),
        (lambda: study.change(study.space, fix=["x"]), ConfigError),
    ):
        with pytest.raises(kind):
            act()
    assert study.trials == []


def test_requests_that_miss_the_service(served: Service) -> None:
    with served.client(served.write) as client:
        client.post("/api/v1/studies", json={"name": "demo", "space": SPACE})
        form = client.post(
            "/api/v1/studies",
            content='{"name": "wrong"}',
            headers={"Content-Type": "application/x-www-form-urlencoded"},
        )
        listed = client.post("/api/v1/studies", json=["wrong"])
        nowhere = client.get("/api/v1/nosuch")
        unknown = client.get("/api/v1/studies/demo/figures/nosuch")
        otherwise = client.put("/api/v1/studies/demo")
    with served.client() as client:
        bare = client.get("/api/v1/studies", headers={"Authorization": served.write})
    assert [reply.status_code for reply in (form, listed, nowhere, otherwise, bare)] == [
        422,
        422,
        404,
        405,
        401,
    ]
    assert unknown.status_code == 404
    assert unknown.json()["error"]["message"].startswith("figure must be 'tree', ")
    said = [reply.json()["error"]["message"] for reply in (form, listed, nowhere, otherwise, bare)]
    assert said[0] == "send JSON with the header 'Content-Type: application/json'"
    assert said[1] == "the body must be a JSON object"
    assert said[2] == "there is no GET /api/v1/nosuch: /api/v1/openapi.json lists the routes"
    assert said[3].startswith("there is no PUT /api/v1/studies/demo:")
    assert otherwise.headers["allow"] == "DELETE, GET"
    assert "allow" not in nowhere.headers
    assert said[4].startswith("send a token: 'Authorization: Bearer TOKEN'")
