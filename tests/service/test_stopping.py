"""Reports over REST, by ``connect`` and as SigOpt's checkpoints."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from tests.service.running import SPACE, Service

import bough
from bough.errors import ConflictError, StudyError, TrialError

space = bough.Space.from_json(SPACE)
CONFIG = {"model": "bayes", "scale": "none"}


def fill(study: Any, levels: tuple[float, ...] = (0.4, 0.3, 0.2, 0.1)) -> None:
    """Finished trials of one branch whose curves fall to these levels in ten steps."""
    for level in levels:
        study.enqueue(CONFIG)
        trial = study.ask()
        for step in range(1, 11):
            assert study.report(trial, level + 1 - step / 10, step) is False
        study.tell(trial, level)


def test_a_served_study_takes_reports_and_stops(served: Service) -> None:
    options: dict[str, Any] = {"space": space, "method": "random", "seed": 3}
    study = bough.connect(served.url, served.write, "demo", stopping="asha", **options)
    fill(study)
    study.enqueue(CONFIG)
    trial = study.ask()
    assert study.report(trial, 9.0, 2) and study.report(trial.number, 9.0, 2), "the same report again"
    found = study.trial(trial.number)
    assert (found.state, found.curve, found.value) == ("stopped", ((2, 9.0),), None)
    assert [len(each.curve) for each in study.trials] == [10, 10, 10, 10, 1]
    status = study.status()
    assert (status.finished, status.stopped, status.failed) == (5, 1, 0)
    assert study.stopping == "asha" == bough.connect(served.url, served.write, "demo").stopping


def test_a_lost_attempt_cannot_report_to_a_served_study(served: Service) -> None:
    study = bough.connect(served.url, served.write, "demo", space=space, method="random", seed=3)
    first = study.ask(lease=60.0)
    assert not study.report(first, 0.5, 8)
    study.renew([first], None)
    second = study.ask()
    with pytest.raises(TrialError, match="attempt 2 decides"):
        study.report(first, 0.4, 9)
    assert not study.report(second, 0.9, 1)
    assert study.trial(0).curve == ((1, 0.9),)


def test_a_served_study_chooses_the_fidelity(served: Service) -> None:
    epochs = bough.Int(3, 27, fidelity=True)
    fine = bough.Space({"x": bough.Float(0, 1), "epochs": epochs})
    study = bough.connect(served.url, served.write, "fine", space=fine, method="random", seed=3)
    for _ in range(4):
        trial = study.ask()
        study.tell(trial, 1 / trial.config["epochs"])
    assert [trial.resumes for trial in study.trials] == [None, 0, 1, None]
    assert [trial.partial for trial in study.trials] == [True, True, False, True]
    assert study.best.config["epochs"] == 27 and study.best.resumes == 1


def test_a_served_study_takes_reports_of_several_measures(served: Service) -> None:
    goals = {"objectives": ["error", "size"]}
    study = bough.connect(served.url, served.write, "two", space=space, method="random", seed=3, **goals)
    trial = study.ask()
    assert not study.report(trial, {"error": 0.5, "size": 2.0}, 1)
    assert study.trial(trial.number).curves == {"error": ((1, 0.5),), "size": ((1, 2.0),)}
    with pytest.raises(TrialError, match="report a dict of error, size"):
        study.report(trial, 0.5, 2)


def test_a_served_study_races_over_instances(served: Service) -> None:
    flat = bough.Space({"x": bough.Float(0, 1)})
    instances = ["a", "b", "c", "d", "e", "f"]
    study = bough.connect(served.url, served.write, "race", space=flat, method="random", seed=3)
    tried: list[str] = []

    def value(config: dict[str, Any], instance: str) -> float:
        tried.append(instance)
        return config["x"] + 0.01 * instances.index(instance)

    study.run(value, 6, instances=instances, progress=False)
    assert sorted(tried[:6]) == instances and tried[:6] != instances  # the first trial has no rival
    assert study.status().stopped >= 1 and len(tried) < 36
    local = bough.Study(flat, method="random", seed=3)
    local.run(value, 6, instances=instances, progress=False)
    assert [trial.state for trial in local.trials] == [trial.state for trial in study.trials]
    with pytest.raises(StudyError, match="races over 6 instances: give them again"):
        study.run(lambda config: 0.0, 7)
    with pytest.raises(StudyError, match="they changed"):
        study.run(value, 7, instances=["a", "z"])
    with pytest.raises(StudyError, match="must be a list"):
        study.run(value, 7, instances="abc")


def test_errors_are_those_of_a_local_study(served: Service) -> None:
    study = bough.connect(served.url, served.write, "demo", space=space, method="random", seed=3)
    trial = study.ask()
    study.report(trial, 0.5, 5)
    for call, error, words in (
        (lambda: study.report(trial, 0.5, 4), TrialError, "step 4 is too late: steps must grow"),
        (lambda: study.report(trial, 0.6, 5), ConflictError, "reported 0.5 at step 5 already"),
        (lambda: study.report(trial, float("nan"), 6), TrialError, "is nan: it must be finite"),
        (lambda: study.report(trial, 0.5, "6"), TrialError, "a step must be an integer from 0 on, not '6'"),
        (lambda: study.report(7, 0.5, 1), TrialError, "no trial 7"),
    ):
        with pytest.raises(error, match=words):
            call()
    assert study.trial(0).curve == ((5, 0.5),)


def test_an_objective_reports_to_a_served_study(served: Service) -> None:
    study = bough.connect(served.url, served.write, "demo", space=space, method="random", seed=3)
    fill(study)
    for _ in range(2):
        study.enqueue(CONFIG)

    def objective(config: Any, run: Any) -> float:
        for step in range(1, 11):
            if run.report(2.0 - step / 10, step):
                break
        return 1.0

    study.run(objective, trials=6, workers=2, progress=False)
    assert [trial.state for trial in study.trials] == ["done"] * 4 + ["stopped"] * 2


def test_the_route(api: httpx.Client) -> None:
    api.post("/studies/demo/ask", json={})
    assert api.post("/studies/demo/trials/0/report", json={"value": 1, "step": 3}).json() == {"stop": False}
    for path, body, status in (
        ("0", {"value": 1, "step": -1}, 422),
        ("0", {"value": 1, "step": 1.5}, 422),
        ("0", {"value": 1, "step": True}, 422),
        ("0", {"value": "1", "step": 4}, 422),
        ("0", {"step": 4}, 422),
        ("0", {"value": 2, "step": 3}, 409),
        ("0", {"value": 1, "step": 2}, 409),
        ("9", {"value": 1, "step": 1}, 404),
    ):
        reply = api.post(f"/studies/demo/trials/{path}/report", json=body)
        assert reply.status_code == status and "message" in reply.json()["error"], reply.text
    assert api.get("/studies/demo/trials/0").json()["curve"] == [[3, 1.0]]
    assert "curve" not in api.get("/studies/demo/trials").json()["trials"][0]
    assert api.get("/studies/demo/trials?curves=true").json()["trials"][0]["curve"] == [[3, 1.0]]
    assert api.get("/studies/demo/trials?state=stopped").json()["total"] == 0


@pytest.mark.parametrize("several", [False, True])
def test_checkpoints_of_sigopt(served: Service, several: bool) -> None:
    with served.client(served.write) as client:
        client.base_url = f"{served.url}/v1"

        def call(path: str, **body: Any) -> Any:
            reply = client.post(path, json=body)
            assert reply.status_code < 300, reply.text
            return reply.json()

        project = "several" if several else "one"
        call("/clients/1/projects", id=project, name=project)
        metrics: list[dict[str, Any]] = [{"name": "loss", "objective": "minimize", "strategy": "optimize"}]
        if several:
            size = {"name": "size", "objective": "minimize", "strategy": "constraint", "threshold": 5}
            metrics += [{"name": "speed", "objective": "maximize", "strategy": "optimize"}, size]
        made = call(
            f"/clients/1/projects/{project}/aiexperiments",
            name="runs",
            budget=20,
            metrics=metrics,
            parameters=[{"name": "x", "type": "double", "bounds": {"min": 0, "max": 1}}],
        )

        def measured(loss: float) -> dict[str, float]:
            return {"loss": loss, "speed": -loss, "size": 3.0} if several else {"loss": loss}

        def checkpoint(run: str, **given: float) -> bool:
            values = [{"name": name, "value": value} for name, value in {**given, "other": 3.0}.items()]
            made = call(f"/training_runs/{run}/checkpoints", values=values)
            assert made["stopping_reasons"] == ({"bough": True} if made["should_stop"] else {})
            return bool(made["should_stop"])

        for level in (0.4, 0.3, 0.2, 0.1):
            run = call(f"/aiexperiments/{made['id']}/training_runs")["id"]
            assert not any(checkpoint(run, **measured(level + 1 - step / 10)) for step in range(1, 11))
            values = {name: {"value": value} for name, value in measured(level).items()}
            client.request("MERGE", f"/training_runs/{run}", json={"state": "completed", "values": values})
        run = call(f"/aiexperiments/{made['id']}/training_runs")["id"]
        stops = [checkpoint(run, **measured(9.0)) for _ in range(3)]
        assert stops == [False, True, True]
        studies = client.get(f"{served.url}/api/v1/studies").json()["studies"]
        (name,) = [each["name"] for each in studies if "runs" in each["name"]]
        trials = bough.connect(served.url, served.write, name).trials
        assert [[step for step, _ in trial.curve] for trial in trials] == [[*range(1, 11)]] * 4 + [[1, 2]]
        assert checkpoint(run)  # whatever it says, the run should stop
        ended = client.put(f"/training_runs/{run}", json={"state": "completed"})
        assert ended.status_code == 200, ended.text
        other = call(f"/aiexperiments/{made['id']}/training_runs")["id"]
        assert not checkpoint(other) and not checkpoint(other, **measured(0.2))


def test_pages_show_curves_and_why_a_trial_was_stopped(served: Service) -> None:
    study = bough.connect(served.url, served.write, "demo", space=space, method="random", seed=3)
    with served.client(served.read) as browser:
        assert 'data-figure="curves"' not in browser.get("/studies/demo").text
        fill(study)
        study.enqueue(CONFIG)
        trial = study.ask()
        assert study.report(trial, 9.0, 2)
        page = browser.get("/studies/demo").text
        assert 'data-figure="curves"' in page and "stopped early" in page
        assert (
            "at step 2, 4 of 4 trials of its branch were ahead" in browser.get("/studies/demo/trials/4").text
        )
    with served.client(served.read) as client:
        drawn = client.get("/api/v1/studies/demo/figures/curves").json()
        assert "1 of 5 trials stopped" in json.dumps(drawn["layout"]["title"])
