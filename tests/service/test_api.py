"""REST: studies, ask and tell, events, and what a retry may not do."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from tests.service.running import SPACE, Service, service

import bough

KEY = "Idempotency-Key"


def ask(api: httpx.Client, key: str | None = None, **body: object) -> list[dict]:
    reply = api.post("/studies/demo/ask", json=body, headers={KEY: key} if key else {})
    assert reply.status_code == 200, reply.text
    return reply.json()["trials"]


def test_a_study_from_creation_to_deletion(api: httpx.Client) -> None:
    assert [each["name"] for each in api.get("/studies").json()["studies"]] == ["demo"]
    found = api.get("/studies/demo").json()
    assert (found["direction"], found["method"]["name"], found["seed"]) == ("minimize", "random", 0)
    assert bough.Space.from_json(found["space"]) == bough.Space.from_json(SPACE)
    for value in (3.0, 1.0, 2.0):
        trial = ask(api)[0]
        told = api.post(f"/studies/demo/trials/{trial['number']}/tell", json={"value": value, "noise": 0.1})
        assert told.json()["state"] == "done"
    assert api.get("/studies/demo/best").json()["value"] == 1.0
    assert api.get("/studies/demo/status").json()["finished"] == 3
    assert api.delete("/studies/demo").status_code == 204
    assert api.get("/studies/demo").status_code == 404


def test_creating_again_opens_what_agrees_and_refuses_what_differs(api: httpx.Client) -> None:
    same = {"name": "demo", "space": SPACE}
    assert api.post("/studies", json=same).status_code == 200
    refused = api.post("/studies", json={**same, "direction": "maximize"})
    assert refused.status_code == 409
    assert "direction is minimize" in refused.json()["error"]["message"]


def test_a_space_of_configspace_is_accepted(api: httpx.Client) -> None:
    pytest.importorskip("ConfigSpace")
    from bough.integrations.configspace import to_configspace_dict

    space = bough.Space.from_json(SPACE)
    made = api.post("/studies", json={"name": "theirs", "space": to_configspace_dict(space)})
    assert made.status_code == 201
    assert bough.Space.from_json(made.json()["space"]) == space


@pytest.mark.parametrize("name", ["a/b", "100%", "<b>&'\"", "ünï code", "a..b", "a?b#c", "%2F"])
def test_any_name_of_a_study_works_in_a_path(served: Service, name: str) -> None:
    from urllib.parse import quote

    with served.client(served.write) as client:
        made = client.post("/api/v1/studies", json={"name": name, "space": SPACE, "method": "random"})
        assert made.status_code == 201
        path = f"/api/v1/studies/{quote(name, safe='').replace('.', '%2E')}"
        request = client.build_request("GET", "/")  # whose path httpx does not tidy up
        request.url = httpx.URL(served.url).copy_with(raw_path=path.encode())
        assert client.send(request).json()["name"] == name


@pytest.mark.parametrize("name", [".", ".."])
def test_a_name_that_no_path_can_hold_is_refused(api: httpx.Client, name: str) -> None:
    refused = api.post("/studies", json={"name": name, "space": SPACE})
    assert refused.status_code == 400 and "cannot be named" in refused.json()["error"]["message"]


def test_asking_needs_no_body(api: httpx.Client) -> None:
    assert len(api.post("/studies/demo/ask").json()["trials"]) == 1


def test_a_retried_ask_gives_the_same_trial(api: httpx.Client) -> None:
    first, again, other = ask(api, "k1"), ask(api, "k1"), ask(api, "k2")
    assert first == again
    assert other[0]["number"] == 1
    assert [each["number"] for each in ask(api, "k3", n=3)] == [2, 3, 4]
    assert [each["number"] for each in ask(api, "k3", n=3)] == [2, 3, 4]


def test_retries_at_the_same_time_give_one_trial(api: httpx.Client) -> None:
    with ThreadPoolExecutor(8) as pool:
        numbers = {trials[0]["number"] for trials in pool.map(lambda _: ask(api, "same"), range(8))}
    assert numbers == {0}
    assert api.get("/studies/demo/trials").json()["total"] == 1


def test_a_key_of_another_token_is_another_request(served: Service, api: httpx.Client) -> None:
    from bough.service.auth import create_token

    other = create_token(served.records, "other", "write")
    with httpx.Client(base_url=f"{served.url}/api/v1", headers={"Authorization": f"Bearer {other}"}) as them:
        assert ask(api, "k")[0]["number"] != ask(them, "k")[0]["number"]


def test_retried_enqueue_and_add_have_one_effect_each_also_with_one_key(api: httpx.Client) -> None:
    config = {"model": "svm", "C": 1.0, "scale": "none"}
    for _ in range(2):
        assert (
            api.post("/studies/demo/enqueue", json={"config": config}, headers={KEY: "e"}).status_code == 201
        )
        added = api.post(
            "/studies/demo/add", json={"results": [{"config": config, "value": 2}]}, headers={KEY: "e"}
        )
        assert added.status_code == 201
    assert [each["state"] for each in api.get("/studies/demo/trials").json()["trials"]] == ["queued", "done"]


def test_a_key_that_is_used_for_another_content_loses_nothing(api: httpx.Client) -> None:
    for scale in ("none", "standard", "none"):
        config = {"model": "bayes", "scale": scale}
        for path, body in {
            "enqueue": {"config": config},
            "add": {"results": [{"config": config, "value": 1}]},
            "notes": {"text": scale},
        }.items():
            assert api.post(f"/studies/demo/{path}", json=body, headers={KEY: "k"}).status_code == 201
    trials = api.get("/studies/demo/trials").json()["trials"]
    assert sorted((trial["state"], trial["config"]["scale"]) for trial in trials) == [
        ("done", "none"),
        ("done", "standard"),
        ("queued", "none"),
        ("queued", "standard"),
    ]
    assert len(api.get("/studies/demo/amendments").json()["amendments"]) == 2


def test_an_empty_key_is_refused(api: httpx.Client) -> None:
    reply = api.post("/studies/demo/ask", headers={KEY: ""})
    assert reply.status_code == 422 and KEY in reply.json()["error"]["message"]
    assert api.get("/studies/demo/status").json()["trials"] == 0


def test_health_may_be_asked_by_head(served: Service) -> None:
    with served.client() as stranger:
        assert stranger.head("/api/v1/health").status_code == 200


def test_an_enqueue_that_is_sent_again_after_a_worker_took_its_trial_has_no_second_effect(api) -> None:
    body = {"config": {"model": "bayes", "scale": "none"}}

    def enqueue() -> list[int]:
        reply = api.post("/studies/demo/enqueue", json=body, headers={KEY: "k"})
        return [trial["number"] for trial in reply.json()["trials"]]

    assert enqueue() == [0]
    assert ask(api, "other", worker="another")[0]["number"] == 0
    assert enqueue() == [0]
    api.post("/studies/demo/trials/0/tell", json={"value": 1})
    assert enqueue() == [0]
    assert api.get("/studies/demo/status").json()["trials"] == 1


def test_results_carry_measures_notes_and_tracebacks(api: httpx.Client) -> None:
    ask(api, n=2)
    extra = {"measures": {"memory": 512.0}, "notes": {"host": "a"}}
    told = api.post("/studies/demo/trials/0/tell", json={"value": 1, **extra}).json()
    failed = api.post(
        "/studies/demo/trials/1/fail", json={"reason": "bug", "traceback": "Traceback ...", **extra}
    ).json()
    assert failed["learn"] is True
    known = {"config": {"model": "bayes", "scale": "none"}, "value": 2, "cost": 3, **extra}
    [added] = api.post("/studies/demo/add", json={"results": [known]}).json()["trials"]
    for trial in (told, failed, added):
        assert {name: trial[name] for name in extra} == extra
    assert failed["traceback"] == "Traceback ..." and added["cost"] == 3


def test_a_failure_need_not_be_learned_from(api: httpx.Client) -> None:
    ask(api, n=2)
    body = {"reason": "no network", "learn": False}
    assert api.post("/studies/demo/trials/0/fail", json=body).json()["learn"] is False
    assert api.get("/studies/demo/trials/0").json()["learn"] is False
    refused = api.post("/studies/demo/trials/1/fail", json={**body, "learn": "perhaps"})
    assert refused.status_code == 422 and "learn" in refused.text


def test_the_same_result_may_be_told_again_and_another_may_not(api: httpx.Client) -> None:
    ask(api)
    for _ in range(2):
        assert api.post("/studies/demo/trials/0/tell", json={"value": 1.5}).status_code == 200
    refused = api.post("/studies/demo/trials/0/tell", json={"value": 2})
    assert refused.status_code == 409
    assert refused.json()["error"]["type"] == "ConflictError"


def test_a_lease_that_ended_is_handed_out_again_and_fences_the_old_failure(api: httpx.Client) -> None:
    ask(api, lease=0.05)
    time.sleep(0.2)
    again = ask(api, lease=60)[0]
    assert (again["number"], again["attempt"]) == (0, 2)
    late = api.post("/studies/demo/trials/0/fail", json={"reason": "lost", "attempt": 1})
    assert late.status_code == 409
    assert api.post("/studies/demo/trials/0/fail", json={"reason": "lost", "attempt": 2}).status_code == 200


def test_renewing_keeps_a_lease_and_giving_back_queues_the_trial(api: httpx.Client) -> None:
    trial = ask(api, lease=30)[0]
    held = [{"number": 0, "attempt": trial["attempt"]}]
    assert api.post("/studies/demo/renew", json={"trials": held, "lease": 600}).status_code == 204
    assert api.get("/studies/demo/trials/0").json()["expires"] > trial["expires"] + 300
    assert api.post("/studies/demo/renew", json={"trials": held, "lease": None}).status_code == 204
    assert api.get("/studies/demo/trials/0").json()["state"] == "queued"
    unknown = [{"number": 99, "attempt": 1}]
    assert api.post("/studies/demo/renew", json={"trials": unknown, "lease": 5}).status_code == 204


def test_limit_counts_finished_and_leased_trials(api: httpx.Client) -> None:
    assert len(ask(api, limit=2, lease=60)) == 1
    assert len(ask(api, limit=2, lease=60)) == 1
    assert ask(api, limit=2, lease=60) == []


def test_a_finite_space_ends(api: httpx.Client) -> None:
    space = {"x": {"type": "categorical", "options": ["a", "b"]}}
    api.post("/studies", json={"name": "tiny", "space": space, "method": "random"})
    assert len(api.post("/studies/tiny/ask", json={"n": 5}).json()["trials"]) == 2
    ended = api.post("/studies/tiny/ask", json={})
    assert (ended.status_code, ended.json()["error"]["type"]) == (409, "ExhaustedError")


def test_events_tell_what_is_new(api: httpx.Client) -> None:
    seen: list[dict] = []

    def watch() -> None:
        with api.stream("GET", "/studies/demo/events") as stream:
            for line in stream.iter_lines():
                if line.startswith("data: "):
                    seen.append(json.loads(line.removeprefix("data: ")))
                if len(seen) == 3:
                    return

    watcher = threading.Thread(target=watch)
    watcher.start()
    while not seen:
        time.sleep(0.02)
    ask(api)
    while len(seen) < 2:
        time.sleep(0.02)
    api.post("/studies/demo/trials/0/tell", json={"value": 1})
    watcher.join(20)
    assert [(each["trials"], each["done"]) for each in seen] == [(0, 0), (1, 0), (1, 1)]


def test_a_slow_proposal_holds_up_no_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tell and a read are answered while an ask of the same study is still computed."""
    from bough.study import Study

    begun, go_on = threading.Event(), threading.Event()
    quick = Study.ask_within

    def slow(self, limit, lease, **who):
        if len(self.trials) >= 1:
            begun.set()
            assert go_on.wait(30)
        return quick(self, limit, lease, **who)

    monkeypatch.setattr(Study, "ask_within", slow)
    with service() as served, served.client(served.write) as client, ThreadPoolExecutor(60) as pool:
        client.base_url = f"{served.url}/api/v1"
        client.post("/studies", json={"name": "demo", "space": SPACE, "method": "random"})
        ask(client)
        waiting = [pool.submit(ask, client) for _ in range(50)]  # more than a web server has threads
        assert begun.wait(30)
        assert client.post("/studies/demo/trials/0/tell", json={"value": 1}).status_code == 200
        assert client.get("/studies/demo/best").json()["value"] == 1
        assert not any(each.done() for each in waiting)
        go_on.set()
        assert len({each.result()[0]["number"] for each in waiting}) == 50
