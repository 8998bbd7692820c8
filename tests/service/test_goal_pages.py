"""The pages of a study with several objectives and constraints, and the form that makes one."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from tests.service.running import SPACE, Service

import bough
from bough.errors import StudyError
from bough.service.dashboard.actions import goals_of_form

GOALS: dict[str, Any] = {"objectives": ["error", "speed"], "constraints": ["memory <= 5"]}


@pytest.fixture
def page(served: Service) -> Any:
    space = bough.Space.from_json(SPACE)
    study = bough.connect(served.url, served.write, "s", space=space, method="random", seed=0, **GOALS)
    for memory in (1.0, 9.0):
        study.tell(study.ask(), {"error": 0.25, "speed": 7.5, "memory": memory, "epochs": 31.0})
    origin = {"Origin": served.url}
    with served.client(headers=origin) as client:
        reply = client.post("/sign-in", data={"token": served.write})
        client.cookies.update(reply.cookies)
        yield client


def test_the_page_of_a_study_shows_goals_measures_and_the_front(page: httpx.Client) -> None:
    text = page.get("/studies/s").text
    assert "minimize error" in text and "memory &lt;= 5" in text
    assert "trials on the front" in text
    for name in ("speed", "memory", "epochs"):
        assert f'data-measure="{name}"' in text
    assert "first objective</option>" in text and "second objective</option>" in text
    assert 'data-figure="front"' in text and 'data-figure="hypervolume"' in text
    assert "violates memory &lt;= 5" in text and "not feasible" in text
    assert page.get("/api/v1/studies/s/status").json()["front"] == 1
    assert '"measures"' in text.replace("&#34;", '"')
    trial = page.get("/studies/s/trials/1").text
    assert "violates memory &lt;= 5" in trial and ">31<" in trial
    home = page.get("/").text
    assert all(f">{tag}<" in home for tag in ("minimize error", "minimize speed", "memory &lt;= 5"))
    figure = page.get("/api/v1/studies/s/figures/front").json()
    assert any(trace.get("name") == "front" for trace in figure["data"])


def test_figures_and_branches_show_the_measure_that_is_asked_for(page: httpx.Client) -> None:
    text = page.get("/studies/s").text
    choice = re.search(r'<select id="measure">(.*?)</select>', text)
    assert choice is not None
    assert re.findall(r"<option[^>]*>(.*?)</option>", choice[1]) == [
        "error",
        "speed",
        "memory",
        "epochs",
        "cost",
    ]
    unmeasured = re.findall(r'data-figure="(\w+)"[^>]*data-unmeasured', text)
    assert sorted(unmeasured) == ["front", "hypervolume", "timeline"]
    history = page.get("/api/v1/studies/s/figures/history", params={"measure": "memory"}).json()
    assert history["layout"]["yaxis"]["title"]["text"] == "memory"
    best = [
        page.get("/api/v1/studies/s/branches", params=wanted).json()[0]["best"]
        for wanted in ({}, {"measure": "speed"}, {"measure": "epochs"})
    ]
    assert best == [0.25, 7.5, 31.0]
    for path in ("figures/history", "branches"):
        refused = page.get(f"/api/v1/studies/s/{path}", params={"measure": "sped"})
        assert refused.status_code == 400 and "did you mean 'speed'" in refused.text
    refused = page.get("/api/v1/studies/s/figures/front", params={"measure": "speed"})
    assert refused.status_code == 400 and "takes no measure" in refused.text


def test_a_study_with_one_objective_has_no_front_on_its_page(api: httpx.Client, served: Service) -> None:
    with served.client(headers={"Origin": served.url}) as client:
        client.cookies.update(client.post("/sign-in", data={"token": served.write}).cookies)
        text = client.get("/studies/demo").text
    assert 'data-figure="front"' not in text and "best value" in text and "data-measure" not in text


def test_the_form_makes_a_study_with_goals(page: httpx.Client) -> None:
    form = {
        "name": "made", "direction": "minimize", "method": "random", "seed": "",
        "space": "x: {type: float, low: 0, high: 1}",
        "objectives": "error, speed:maximize", "constraints": "memory <= 512", "reference": "error=0.5",
    }  # fmt: skip
    assert page.post("/new", data=form).status_code == 303
    made = page.get("/api/v1/studies/made").json()
    assert made["objectives"] == {"error": "minimize", "speed": "maximize"}
    assert made["constraints"] == ["memory <= 512"] and made["reference"] == {"error": 0.5}
    wrong = page.post("/new", data={**form, "name": "wrong", "objectives": "error:down"})
    assert wrong.status_code == 400 and "the direction of &#39;error&#39; must be" in wrong.text
    assert 'value="error:down"' in wrong.text


def test_a_reference_that_cannot_be_read() -> None:
    empty = dict.fromkeys(("objectives", "constraints", "direction"), "")
    with pytest.raises(StudyError, match="the reference 'error' cannot be read: write NAME=NUMBER"):
        goals_of_form({**empty, "reference": "error"})


def test_a_retracted_trial_is_not_counted_as_open(page: httpx.Client, served: Service) -> None:
    bough.connect(served.url, served.write, "s").retract(0, "a slip")
    for path in ("/studies/s", "/"):
        text = page.get(path).text
        found = re.search(r"<dt>(running or queued|open)</dt><dd[^>]*>(\d+)</dd>", text)
        assert found is not None and found[2] == "0"
