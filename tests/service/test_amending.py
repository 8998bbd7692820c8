"""Retract, correct, note and change over REST and by the client; who may, and who did."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from tests.service.running import SPACE, Service

import bough
from bough.errors import BoughError, ConflictError, ServiceError, StudyError
from bough.service.dashboard.filters import statement

MORE = json.loads(json.dumps(SPACE))
MORE["dropout"] = {"type": "float", "low": 0.0, "high": 0.5}


@pytest.fixture
def remote(served: Service, api: httpx.Client) -> bough.client.RemoteStudy:
    study = bough.connect(served.url, served.write, "demo")
    for value in (1.0, 2.0, 3.0):
        study.tell(study.ask(), value)
    return study


def test_a_served_study_is_corrected(remote: bough.client.RemoteStudy, api: httpx.Client) -> None:
    assert remote.best.number == 0
    assert remote.trials[0].retracted is None
    assert remote.retract(0, "the disk was full").retracted == "the disk was full"
    assert remote.best.number == 1
    corrected = remote.correct(2, 0.5, "units")
    assert (corrected.value, corrected.value_before) == (0.5, 3.0)
    assert [trial.retracted for trial in remote.trials] == ["the disk was full", None, None]
    assert remote.trials[2].value == 0.5
    assert remote.note("hm", 1).body["text"] == "hm"
    assert [trial.value for trial in remote.told_trials()] == [1.0, 2.0, 3.0]
    assert [each.kind for each in remote.amendments] == ["retract", "correct", "note"]
    kinds = [
        (each["kind"], each["trial"]) for each in api.get("/studies/demo/amendments").json()["amendments"]
    ]
    assert kinds == [("retract", 0), ("correct", 2), ("note", 1)]
    assert all(each["body"]["by"] for each in api.get("/studies/demo/amendments").json()["amendments"])


@pytest.mark.parametrize("reads", ["told_trials", "snapshot"])
def test_trials_told_meanwhile_are_not_among_the_amended(
    remote: bough.client.RemoteStudy, api: httpx.Client, reads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote.retract(0, "the disk was full")
    running, read = remote.ask(), getattr(bough.Study, reads)

    def telling(study: bough.Study) -> Any:
        study.tell(running, 4.0)
        return read(study)

    monkeypatch.setattr(bough.Study, reads, telling)
    told = api.get("/studies/demo/amendments").json()["told"]
    assert [(trial["number"], trial["retracted"]) for trial in told] == [(0, None)]


def test_reading_a_study_that_others_amend_all_the_time_ends(
    remote: bough.client.RemoteStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, notes = remote._get, []

    def noting(path: str = "") -> Any:
        notes.append(remote.note(f"reading {path}"))
        assert len(notes) < 200
        return read(path)

    monkeypatch.setattr(remote, "_get", noting)
    with pytest.raises(ConflictError, match="others keep amending study 'demo': try again later"):
        remote.snapshot()
    assert [trial.value for trial in remote.trials] == [1.0, 2.0, 3.0], "one page is of one moment"
    monkeypatch.setattr("bough.client._PAGE", 1)
    with pytest.raises(ConflictError, match="others keep amending study 'demo': try again later"):
        _ = remote.trials


def test_a_correction_is_seen_although_reading_it_failed_at_first(
    remote: bough.client.RemoteStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bough.client._PAGE", 2)
    assert [trial.retracted for trial in remote.trials] == [None] * 3
    remote.retract(0, "off")
    read, replies = remote._get, iter([True, False])

    def failing(path: str = "") -> Any:
        if not next(replies):
            raise ServiceError("cannot be reached")
        return read(path)

    with monkeypatch.context() as patched:
        patched.setattr(remote, "_get", failing)
        with pytest.raises(ServiceError):
            _ = remote.trials
    assert [trial.retracted for trial in remote.trials] == ["off", None, None]


@pytest.mark.parametrize("value", [True, "0.5"])
def test_a_correction_is_a_number_as_a_result_is(
    remote: bough.client.RemoteStudy, api: httpx.Client, value: Any
) -> None:
    reply = api.post("/studies/demo/trials/0/correct", json={"value": value, "reason": "units"})
    assert reply.status_code == 422 and "value must be a valid number" in reply.json()["error"]["message"]
    assert remote.trials[0].value == 1.0


def test_a_served_study_goes_on_in_another_space(remote: bough.client.RemoteStudy, api: httpx.Client) -> None:
    shown = api.post("/studies/demo/change", json={"space": MORE, "preview": True}).json()
    assert shown == {"differences": ["+ dropout: Float(0.0, 0.5)"], "since": None}
    assert api.get("/studies/demo").json()["space"] == SPACE
    assert remote.change(bough.Space.from_json(MORE), preview=True) == shown["differences"]
    assert remote.amendments == []
    running = remote.ask()
    assert remote.change(bough.Space.from_json(MORE)) == shown["differences"]
    wider = bough.Space.from_json({**MORE, "dropout": {"type": "float", "low": 0, "high": 1}})
    with pytest.raises(ConflictError, match="another change of the space came first"):
        remote.change(wider, seen=bough.Space.from_json(SPACE))
    with pytest.raises(StudyError, match=r"seen must be a bough.Space, not dict"):
        remote.change(wider, seen=MORE)
    assert "dropout" in remote.ask().config
    assert remote.tell(running, 4.0).value == 4.0
    refused = api.post("/studies/demo/enqueue", json={"config": running.config})
    assert refused.status_code in (400, 422)
    assert "the space was changed at trial 4" in refused.json()["error"]["message"]
    assert remote.record.space == bough.Space.from_json(MORE).to_json()
    for path in ("branches", "figures/history", "figures/tree", "figures/importance", "status", "export"):
        assert api.get(f"/studies/demo/{path}").status_code == 200, path


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("trials/99/retract", {"reason": "x"}, 404, "no trial 99"),
        ("trials/3/retract", {"reason": "x"}, 409, "only a finished trial"),
        ("trials/0/retract", {"reason": ""}, 400, "reason must say why"),
        ("trials/0/retract", {}, 422, "reason"),
        ("trials/0/correct", {"value": "x", "reason": "y"}, 422, "value"),
        ("change", {"space": {"x": {"type": "float", "low": 2, "high": 1}}}, 400, "low"),
        ("change", {"space": MORE, "backfill": {"drop": 1}}, 400, "backfill names 'drop'"),
        ("change", {"space": MORE, "backfill": {"drop": 1}, "preview": True}, 400, "backfill names 'drop'"),
        (
            "change",
            {
                "space": {**MORE, "epochs": {"type": "int", "low": 1, "high": 9, "fidelity": True}},
                "preview": True,
            },
            409,
            "the fidelity of a study cannot change",
        ),
        ("notes", {"text": "x", "trial": 77}, 404, "no trial 77"),
        ("notes", {"text": " "}, 400, "a note needs a text"),
        ("instances", {"instances": ["a", "a"]}, 400, "the instance 'a' is given twice"),
        ("trials/0/correct", {"value": {"valeu": 1}, "reason": "y"}, 400, "did you mean 'value'?"),
        ("stop", {"why": "x"}, 422, "why"),
    ],
)
def test_mistakes(
    remote: bough.client.RemoteStudy, api: httpx.Client, path: str, body: Any, status: int, message: str
) -> None:
    remote.ask()
    reply = api.post(f"/studies/demo/{path}", json=body)
    assert message in reply.json()["error"]["message"]
    assert reply.status_code == status, reply.text
    assert api.get("/studies/demo/amendments").json() == {"amendments": [], "told": []}


def test_reading_does_not_allow_it(served: Service, remote: bough.client.RemoteStudy) -> None:
    reader = bough.connect(served.url, served.read, "demo")
    changed = bough.Space.from_json(MORE)
    for call in (lambda: reader.retract(0, "x"), lambda: reader.change(changed), reader.stop_runs):
        with pytest.raises(BoughError, match="may only read"):
            call()


def test_a_served_run_is_stopped(remote: bough.client.RemoteStudy, api: httpx.Client) -> None:
    def objective(config: dict[str, Any]) -> float:
        api.post("/studies/demo/stop", json={"reason": "enough"})
        return 1.0

    remote.run(objective, trials=50, progress=False)
    assert [trial.state for trial in remote.trials] == ["done"] * 4
    (request,) = remote.amendments
    assert (request.kind, request.body["reason"]) == ("stop", "enough")
    assert request.body["by"]


def test_a_served_study_tells_what_a_local_one_does(remote: bough.client.RemoteStudy) -> None:
    remote.retract(0, "off")
    assert (remote.status().retracted, remote.status().done) == (1, 2)
    assert remote.budget is None
    remote.set_budget(12.0)
    assert remote.budget == 12.0
    assert set(remote.reference()) == {"value"}
    with pytest.raises(BoughError, match="cannot say what is left to gain"):
        remote.remaining_gain()


def test_the_record_says_what_was_said_and_by_whom(served: Service) -> None:
    modelled = bough.connect(served.url, served.write, "m", space=bough.Space.from_json(SPACE))
    modelled.add({"model": "bayes", "scale": "none"}, 1.0)
    modelled.believe({"scale": ["none"], "C": [1, 10]})
    modelled.believe({})
    modelled.correct(0, 2.5, "in percent")
    modelled.change(bough.Space.from_json(MORE))
    told, withdrawn, corrected, changed = modelled.amendments
    assert {each.body["by"] for each in (told, withdrawn, corrected, changed)} == {"writer"}
    assert [statement(each) for each in (told, withdrawn, corrected, changed)] == [
        'scale {"none": 1.0}; model=svm/C [1, 10]',
        "all beliefs are withdrawn",
        "2.5: in percent",
        "from trial 1 on: + dropout: Float(0.0, 0.5)",
    ]


def test_the_record_says_which_measures_were_corrected_and_what_was_withdrawn() -> None:
    study = bough.Study(bough.Space.from_json(SPACE), objectives={"error": "minimize", "speed": "maximize"})
    study.add({"model": "bayes", "scale": "none"}, {"error": 0.5, "speed": 3})
    study.correct(0, {"speed": 4}, "per second")
    study.believe({"scale": None})
    study.set_budget(30)
    assert list(map(statement, study.amendments)) == [
        "0.5 (error 0.5, speed 4): per second",
        "scale withdrawn",
        "30",
    ]


def test_figures_show_a_correction_at_once(remote: bough.client.RemoteStudy, api: httpx.Client) -> None:
    def drawn() -> str:
        return api.get("/studies/demo/figures/history").text

    before = drawn()
    assert drawn() == before
    remote.correct(2, 17.25, "units")
    assert "17.25" not in before
    assert "17.25" in drawn()


def test_a_note_sent_again_is_written_once(api: httpx.Client) -> None:
    sent = [
        api.post("/studies/demo/notes", json={"text": "hm"}, headers={"Idempotency-Key": key}).json()
        for key in ("a", "a", "b")
    ]
    assert sent[0] == sent[1] != sent[2]
    assert [each["body"] for each in api.get("/studies/demo/amendments").json()["amendments"]] == [
        {"text": "hm", "by": "writer"}
    ] * 2


def test_a_change_by_somebody_else_is_seen(remote: bough.client.RemoteStudy, served: Service) -> None:
    space = remote.space
    assert remote.space is space
    other = bough.connect(served.url, served.write, "demo")
    other.change(bough.Space.from_json(MORE), backfill={"dropout": 0.25})
    assert remote.space == bough.Space.from_json(MORE)
    best = remote.best
    assert (best.number, best.config["dropout"]) == (0, 0.25)
    assert [trial.config["dropout"] for trial in remote.current_trials] == [0.25] * 3
    other.change(bough.Space.from_json({**MORE, "epochs": {"type": "int", "low": 1, "high": 9}}))
    with pytest.raises(BoughError, match="no result in its current space"):
        _ = remote.best
    assert remote.status().best is None
