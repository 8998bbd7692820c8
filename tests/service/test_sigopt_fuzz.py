"""SigOpt's routes with bodies that are almost right: refused with a message, or accepted, but never a 500."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.service.running import Service, service

EXPERIMENT = {
    "name": "e",
    "type": "random",
    "observation_budget": 3,
    "parallel_bandwidth": 1,
    "metadata": {"a": 1},
    "metrics": [{"name": "m", "objective": "minimize", "strategy": "optimize"}],
    "conditionals": [{"name": "x", "values": ["1", "2"]}],
    "parameters": [
        {"name": "a", "type": "int", "bounds": {"min": 1, "max": 9}, "default_value": 3},
        {
            "name": "b",
            "type": "double",
            "bounds": {"min": 0.1, "max": 1},
            "transformation": "log",
            "conditions": {"x": ["1"]},
        },
        {"name": "c", "type": "categorical", "categorical_values": ["u", {"name": "v"}]},
        {"name": "d", "type": "int", "grid": [1, 2, 3]},
    ],
}
OBSERVATION = {
    "assignments": {"x": "1", "a": 1, "b": 0.5, "c": "u", "d": 1},
    "values": [{"name": "m", "value": 1.0, "value_stddev": 0.1}],
    "metadata": {"k": "v"},
}
RUN = {
    "name": "r",
    "values": {"m": {"value": 1.0}},
    "metadata": {},
    "state": "completed",
    "model": {"type": "t"},
}

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.sampled_from(["1", "a", "x", "`", "minimize", "offline", "grid", "failed"]),
)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)
queries = st.dictionaries(st.sampled_from(["limit", "before", "after", "filters"]), st.text(max_size=6))


@st.composite
def almost(draw: Any, right: Any) -> Any:
    """The body with one or two of its parts replaced by something else, or left out."""
    body = copy.deepcopy(right)
    for _ in range(draw(st.integers(1, 2))):
        place, key = _places(body)[draw(st.integers(0, len(_places(body)) - 1))]
        if draw(st.integers(0, 4)) == 0:
            del place[key]
        else:
            place[key] = draw(anything)
        if not _places(body):
            break
    return body


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Where something of the body can be replaced: (what holds it, its key there)."""
    if not isinstance(value, (dict, list)):
        return []
    children = value.items() if isinstance(value, dict) else enumerate(value)
    return [place for key, child in children for place in [(value, key), *_places(child)]]


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with service() as served, _v1(served) as opened:
        opened.post("/clients/1/projects", json={"id": "p"})
        yield opened


def _v1(served: Service) -> httpx.Client:
    opened = served.client(served.write)
    opened.base_url = f"{served.url}/v1"
    return opened


few = settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def check(reply: httpx.Response) -> None:
    assert reply.status_code in (200, 204, 400, 404, 409), reply.text
    if reply.status_code >= 400:
        assert reply.json()["message"] and reply.json()["status"] == reply.status_code


@few
@given(body=almost(EXPERIMENT))
def test_experiments(client: httpx.Client, body: dict) -> None:
    reply = client.post("/experiments", json=body)
    check(reply)
    if reply.status_code == 200:  # then it must work
        path = f"/experiments/{reply.json()['id']}"
        check(client.post(f"{path}/suggestions", json={}))
        check(client.get(path))
        check(client.get(f"{path}/suggestions"))


@few
@given(body=almost(OBSERVATION), update=almost({"name": "n", "metadata": {}, "budget": 3, "state": "active"}))
def test_observations_and_updates(client: httpx.Client, body: dict, update: dict) -> None:
    path = f"/experiments/{client.post('/experiments', json=EXPERIMENT).json()['id']}"
    check(client.post(f"{path}/observations", json=body))
    check(client.post(f"{path}/observations/batch", json={"observations": [OBSERVATION, body]}))
    check(client.post(f"{path}/queued_suggestions", json={"assignments": body.get("assignments")}))
    check(client.put(path, json=update))
    check(client.get(f"{path}/observations"))
    check(client.get(path))


@few
@given(
    body=almost(RUN),
    query=st.dictionaries(st.sampled_from(["limit", "before", "after", "filters"]), st.text(max_size=6)),
)
def test_runs(client: httpx.Client, body: dict, query: dict) -> None:
    made = client.post("/clients/1/projects/p/aiexperiments", json={**EXPERIMENT, "type": "offline"}).json()
    run = client.post(f"/aiexperiments/{made['id']}/training_runs", json={"name": "r"}).json()
    check(client.request("MERGE", f"/training_runs/{run['id']}", json=body))
    check(client.put(f"/training_runs/{run['id']}", json=body))
    check(client.post("/clients/1/projects/p/training_runs", json=body))
    check(client.post(f"/training_runs/{run['id']}/checkpoints", json={"values": body.get("values")}))
    check(client.get(f"/training_runs/{run['id']}"))
    check(client.get("/clients/1/projects/p/training_runs", params=query))
    check(client.get(f"/aiexperiments/{made['id']}"))
