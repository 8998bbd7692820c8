"""Budgets of served studies, and of ``bough run``."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.cli.programs import bough as command
from tests.service.running import SPACE, Service

import bough
from bough.errors import StudyError

space = bough.Space.from_json(SPACE)


def priced(config: dict[str, Any]) -> dict[str, float]:
    return {"value": 1.0, "cost": 10.0}


def test_a_served_run_ends_with_its_budget_which_the_service_keeps(served: Service) -> None:
    study = bough.connect(served.url, served.write, "demo", space=space, method="random", seed=3)
    study.run(priced, budget=35, progress=False)
    assert len(study.trials) == 4
    assert study.spent == 40 == study.status().spent
    with pytest.raises(StudyError, match="budget must be a positive number"):
        study.run(priced, budget=-1, progress=False)
    with pytest.raises(StudyError, match="a served study cannot say"):
        study.run(priced, until="settled", progress=False)
    reply = httpx.post(
        f"{served.url}/api/v1/studies/demo/budget",
        json={"budget": 0},
        headers={"Authorization": f"Bearer {served.write}"},
    )
    assert reply.status_code == 422
    study.set_budget(None)
    assert [each.body["budget"] for each in study.amendments] == [35, None]


def test_costs_whose_sum_no_number_holds(served: Service) -> None:
    study = bough.connect(served.url, served.write, "demo", space=space, method="random", seed=3)
    study.run(lambda _: {"value": 1.0, "cost": 1e308}, trials=2, progress=False)
    assert study.spent == math.inf
    study.run(lambda _: 0.5, trials=3, progress=False)
    assert study.best.value == 0.5
    with served.client(served.write) as client:
        assert client.get("/api/v1/studies/demo/status").json()["spent"] is None
        for page in ("/studies/demo", "/"):
            assert client.get(page).status_code == 200
        with client.stream("GET", "/api/v1/studies/demo/events") as events:
            text = next(line for line in events.iter_lines() if line.startswith("data:"))
    assert json.loads(text.removeprefix("data:"), parse_constant=pytest.fail)["spent"] is None


def test_the_command_ends_with_its_budget(tmp_path: Path) -> None:
    file = tmp_path / "space.json"
    file.write_text(json.dumps({"x": {"type": "float", "low": 0, "high": 1}}))
    storage = f"sqlite:///{tmp_path}/s.db"
    line = ["run", str(file), "--storage", storage, "--budget", "5", "--method", "random", "-q"]
    done = command(*line, "--", "echo", '{{"value": 1, "cost": 2}}', cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    study = bough.open_study("space", storage)
    assert (len(study.trials), study.spent, study.budget) == (3, 6.0, 5.0)
