"""Budgets: a run ends when the cost is spent, and proposals weigh improvement against cost."""

from __future__ import annotations

import numpy as np
import pytest

import bough
from bough.errors import StudyError
from bough.study import export_study, import_study

SPACE = bough.Space(
    {
        "m": bough.Choice(
            {"cheap": {"x": bough.Float(0, 1)}, "dear": {"x": bough.Float(0, 1), "n": bough.Int(1, 100)}}
        )
    }
)


def priced(config: dict) -> dict[str, float]:
    cost = 1.0 if config["m"] == "cheap" else 10.0 + config["n"]
    return {"value": (config["x"] - 0.3) ** 2 + 0.5 / config.get("n", 10), "cost": cost}


def told(study: bough.Study, trials: int, scale: float = 1.0) -> list[dict]:
    """Configs of so many trials, asked and told by hand."""
    configs = []
    for _ in range(trials):
        trial = study.ask()
        result = priced(trial.config)
        study.tell(trial, result["value"], cost=scale * result["cost"])
        configs.append(trial.config)
    return configs


def test_a_run_ends_when_the_told_costs_are_spent_and_a_larger_budget_goes_on(tmp_path) -> None:
    storage = f"sqlite:///{tmp_path}/s.db"
    study = bough.Study(SPACE, name="s", storage=storage, method="random", seed=0)
    study.run(priced, budget=200, progress=False)
    costs = [trial.cost or 0 for trial in study.trials]
    assert sum(costs[:-1]) < 200 <= sum(costs) == study.spent
    assert study.budget == 200
    again = bough.open_study("s", storage)
    again.run(priced, budget=200, progress=False)
    assert len(again.trials) == len(costs)
    again.run(priced, budget=400, progress=False)
    assert again.spent >= 400
    assert [a.kind for a in again.amendments] == ["budget", "budget"]


def test_a_run_says_that_its_budget_or_its_time_ended_it(caplog: pytest.LogCaptureFixture) -> None:
    study = bough.Study(SPACE, method="random", seed=0)
    study.run(lambda config: {"value": 1.0, "cost": 2.0}, trials=20, budget=3, progress=False)
    text = "the run ends early: the budget of 3 is spent (4); a larger one continues the study"
    assert caplog.messages == [text]
    study.run(priced, budget=3, progress=False)
    assert caplog.messages == [text] * 2, "it ran nothing"
    study.run(priced, trials=20, timeout=1e-9, progress=False)
    assert caplog.messages[2:] == ["the run ends early: its timeout of 1e-09 s is over"]


def test_a_run_with_no_other_limit_ends_in_silence(caplog: pytest.LogCaptureFixture) -> None:
    bough.Study(SPACE, method="random", seed=0).run(priced, budget=20, progress=False)
    bough.Study(SPACE, method="random", seed=0).run(priced, trials=2, budget=2e9, progress=False)
    assert caplog.messages == []


def test_without_told_costs_seconds_count() -> None:
    study = bough.Study(SPACE, method="random", seed=0)
    trial = study.ask()
    assert study.spent == 0
    done = study.tell(trial, 1.0)
    assert done.started is not None
    assert done.finished is not None
    assert study.spent == pytest.approx(done.finished - done.started)
    assert study.trials[0].cost is None  # nothing is written where no cost was told


def test_failed_trials_count_as_the_average_and_added_ones_not_at_all() -> None:
    study = bough.Study(SPACE, method="random", seed=0)
    study.add({"m": "cheap", "x": 0.5}, {"value": 1.0, "cost": 1000.0})
    study.tell(study.ask(), 1.0, cost=2.0)
    study.tell(study.ask(), 1.0, cost=4.0)
    study.fail(study.ask(), "no memory")
    assert study.spent == pytest.approx(9.0)


def test_a_stopped_trial_costs_its_share_of_the_average(sqlite_url: str) -> None:
    study = bough.Study(bough.Space({"x": bough.Float(0, 1)}), name="s", storage=sqlite_url, method="random")
    for value in (0.4, 0.3, 0.2, 0.1):
        trial = study.ask()
        for step in range(1, 11):
            study.report(trial, value, step)
        study.tell(trial, value, cost=100 * value)
    trial = study.ask()
    assert study.report(trial, 9.0, 2)
    assert study.spent == pytest.approx(100 + 2 / 10 * 25)
    study.fail(study.ask(), "out of memory")
    assert study.spent == bough.open_study("s", sqlite_url).spent == pytest.approx(100 + 5 + 25)


def test_the_steps_of_a_stopped_trial_count_from_the_first_within_its_branch() -> None:
    branches = bough.Choice({"net": {"rate": bough.Float(0, 1)}, "boost": {"depth": bough.Float(0, 1)}})
    study = bough.Study(bough.Space({"model": branches}), method="random", stopping="none")
    ends = {"net": 3, "boost": 1000}
    for model, rounds in ends.items():
        config = {"model": model, "rate" if model == "net" else "depth": 0.5}
        study.enqueue(config)
        trial = study.ask()
        study.report(trial, 1.0, 0)
        study.report(trial, 1.0, rounds - 1)
        study.tell(trial, 1.0, cost=30.0)
    study.enqueue({"model": "net", "rate": 0.1})
    trial = study.ask()
    study.report(trial, 1.0, 0)
    study.report(trial, 1.0, 1)  # after two of three epochs
    study.record_result(bough.Trial(trial.number, {}, "stopped", attempt=trial.attempt))
    assert study.spent == pytest.approx(60 + 2 / 3 * 30)


def test_costs_change_no_proposal_unless_there_is_a_budget() -> None:
    costly, free = (bough.Study(SPACE, seed=1) for _ in range(2))
    configs = told(costly, 9)
    for config in configs:
        trial = free.ask()
        assert trial.config == config
        free.tell(trial, priced(config)["value"])


def test_a_budget_makes_cheap_trials_more_likely() -> None:
    """Over several seeds: a single one may begin with expensive trials."""
    spent = np.zeros(2)
    for seed in range(5):
        plain, aware = (bough.Study(SPACE, seed=seed) for _ in range(2))
        aware.set_budget(2000)
        told(plain, 12)
        told(aware, 12)
        spent += plain.spent, aware.spent
    assert spent[1] < 0.9 * spent[0]


def test_the_unit_of_a_budget_does_not_matter() -> None:
    plain, aware, cents = (bough.Study(SPACE, seed=1) for _ in range(3))
    aware.set_budget(2000)
    cents.set_budget(200_000)
    told(plain, 12)
    configs = told(aware, 12)
    assert [round(c["x"], 6) for c in told(cents, 12, scale=100.0)] == [round(c["x"], 6) for c in configs]
    explained = aware.explain(11)
    assert 0.25 < explained["cost"] / priced(configs[11])["cost"] < 4
    assert "cost" not in plain.explain(11)


def test_a_constant_cost_changes_no_proposal() -> None:
    plain, aware = (bough.Study(SPACE, seed=2) for _ in range(2))
    aware.set_budget(1000)
    for _ in range(9):
        one, other = plain.ask(), aware.ask()
        assert one.config == other.config
        for study, trial in ((plain, one), (aware, other)):
            study.tell(trial, priced(trial.config)["value"], cost=7.0)


def test_the_budget_is_part_of_the_stored_study(tmp_path) -> None:
    """Proposals follow from what is stored: a study opened anew, or copied to a file, goes on alike."""
    storage = f"sqlite:///{tmp_path}/s.db"
    kept = bough.Study(SPACE, name="s", storage=storage, seed=4)
    kept.set_budget(500)
    told(kept, 8)
    export_study(kept, tmp_path / "s.jsonl")
    copied = import_study(tmp_path / "s.jsonl", f"sqlite:///{tmp_path}/t.db")
    assert copied.budget == 500
    reopened = bough.open_study("s", storage)
    expected = copied.ask().config
    assert reopened.ask().config == expected


def test_a_budget_can_be_removed(tmp_path) -> None:
    study = bough.Study(SPACE, seed=4)
    study.set_budget(None)
    assert study.amendments == []
    study.set_budget(500)
    study.set_budget(None)
    assert study.budget is None
    export_study(study, tmp_path / "s.jsonl")
    assert import_study(tmp_path / "s.jsonl", None).budget is None
    plain = bough.Study(SPACE, seed=4)
    assert told(study, 9) == told(plain, 9)


def test_cost_enters_several_objectives_too() -> None:
    study = bough.Study(SPACE, objectives=["error", "size"], seed=0)
    study.set_budget(300)
    for _ in range(7):
        trial = study.ask()
        result = priced(trial.config)
        study.tell(trial, {"error": result["value"], "size": trial.config.get("n", 5)}, cost=result["cost"])
    assert study.spent > 0


@pytest.mark.parametrize("budget", [0, -1, np.inf, np.nan, "x", True])
def test_a_bad_budget_is_one_line_and_nothing_is_stored(budget: object) -> None:
    study = bough.Study(SPACE, method="random", seed=0)
    with pytest.raises(StudyError, match="budget must be a positive number"):
        study.run(priced, budget=budget, progress=False)  # type: ignore[arg-type]
    assert study.trials == []
    assert study.budget is None
