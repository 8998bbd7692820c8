"""Races over instances: which trials are dropped, what a trial is worth, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bough.errors import ConflictError, StudyError, TrialError
from bough.space import Choice, Float, Space
from bough.storage import MemoryStorage, open_storage
from bough.study import Study, export_study, import_study, maximize, minimize, optimize
from bough.study.stopping.curves import Curve
from bough.study.stopping.final_values import TrialCurve
from bough.study.stopping.race_values import (
    adjusted_mean,
    chance_to_win,
    first_test,
    instances_of,
    predicted_in_race,
)

FLAT = Space({"x": Float(0, 1)})
NAMES = [f"i{place}" for place in range(12)]


def curve(values: Any, sign: float = 1.0, final: float | None = None) -> TrialCurve:
    return TrialCurve(b"", Curve(1, list(range(1, len(values) + 1)), [float(v) for v in values]), sign, final)


def wobbly(config: dict[str, Any], instance: str) -> float:
    """x plus an effect of the instance, plus a little that depends on both."""
    number = int(instance[1:])
    return float(config["x"] + 10 * number + 0.05 * math.sin(17 * number + 1000 * config["x"]))


def raced(xs: list[float], **options: Any) -> Study:
    """A race of these configs, one after the other."""
    study = Study(FLAT, method="random", seed=3, **options)
    for x in xs:
        study.enqueue({"x": x})
    return study.run(wobbly, len(xs), instances=NAMES, progress=False)


# ---- the statistics ---------------------------------------------------------------------------------


def test_the_chance_is_that_of_a_paired_test_in_a_finite_population() -> None:
    rng = np.random.default_rng(0)
    best, other = rng.normal(size=40), rng.normal(0.3, 1.0, 40)
    for seen in (5, 17, 39):
        told = stats.ttest_rel(other[:seen], best[:seen])
        t = told.statistic / math.sqrt(1 - seen / 40)
        chance = chance_to_win(curve(other[:seen]), curve(best), 40)
        assert chance == pytest.approx(stats.t.sf(t, seen - 1))
        assert chance_to_win(curve(-other[:seen], -1.0), curve(-best, -1.0), 40) == pytest.approx(chance)


def test_only_instances_that_both_have_seen_are_compared() -> None:
    rng = np.random.default_rng(4)
    best, places = rng.normal(0, 9, 20), [1, 4, 5, 9, 13, 17]
    gaps = rng.normal(0.3, 1.0, 6)
    other = TrialCurve(b"", Curve(1, [place + 1 for place in places], list(best[places] + gaps)), 1.0)
    t = stats.ttest_1samp(gaps, 0.0).statistic / math.sqrt(1 - 6 / 20)
    assert chance_to_win(other, curve(best), 20) == pytest.approx(stats.t.sf(t, 5))


def test_the_chance_is_the_share_of_races_that_are_won_from_there_on() -> None:
    # By the posterior of a normal mean and variance under the usual prior: draw the rest of the race.
    rng = np.random.default_rng(1)
    gaps, count = np.array([0.9, -0.4, 1.3, 0.2, 0.5, -0.1]), 15
    seen = len(gaps)
    sd = np.sqrt((seen - 1) * gaps.var(ddof=1) / rng.chisquare(seen - 1, 40_000))
    mean = rng.normal(gaps.mean(), sd / math.sqrt(seen))
    rest = rng.normal((count - seen) * mean, sd * math.sqrt(count - seen))
    won = np.mean(gaps.sum() + rest < 0)
    assert chance_to_win(curve(gaps), curve(np.zeros(count)), count) == pytest.approx(won, abs=0.006)


@pytest.mark.parametrize(
    ("gaps", "chance"),
    [([9.0] * 4, 1.0), ([9.0] * 5, 0.0), ([0.0] * 5, 1.0), ([-9.0] * 5, 1.0), ([9.0] * 12, 1.0)],
)
def test_too_few_instances_all_of_them_and_equal_gaps(gaps: list[float], chance: float) -> None:
    assert chance_to_win(curve(gaps), curve(np.zeros(12)), 12) == chance


def test_short_races_are_tested_earlier() -> None:
    assert [first_test(count) for count in (2, 3, 5, 8, 10, 50)] == [3, 3, 3, 4, 5, 5]


def test_means_are_those_of_a_two_way_analysis() -> None:
    # Oracle: least squares for y_ci = f_c + d_i with all trials, the new one seen on some instances only.
    rng = np.random.default_rng(2)
    effects = rng.normal(0, 50, 10)
    table = rng.normal(size=(1, 1)) + rng.normal(size=(4, 1)) + effects
    partial = 1.5 + effects[:4]
    found = adjusted_mean(curve(partial), [curve(row) for row in table], 10)
    assert found is not None
    assert found[0] == pytest.approx(1.5 + effects.mean())
    assert found[1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("seen", [6, 20])
def test_the_standard_error_is_the_spread_of_means_over_fresh_instances(seen: int) -> None:
    rng = np.random.default_rng(3)
    means, variances = [], []
    for _ in range(3000):
        effects = rng.normal(0, 30, 20)
        effects -= effects.mean()
        peers = [curve(effects + rng.normal(0, 1.0, 20)) for _ in range(2)]
        found = adjusted_mean(curve(effects[:seen] + rng.normal(0, 1.0, seen)), peers, 20)
        assert found is not None
        means.append(found[0])
        variances.append(found[1] ** 2)
    assert np.sqrt(np.mean(variances)) == pytest.approx(np.std(means), rel=0.06)


def test_nothing_is_known_without_a_complete_trial() -> None:
    assert adjusted_mean(curve([1.0, 2.0]), [curve([1.0] * 3)], 4) is None
    assert predicted_in_race(curve([1.0, 2.0]), [], 4) is None


def test_a_dropped_trial_is_never_predicted_to_be_the_best() -> None:
    done = [curve([0.0] * 8, final=0.0), curve([4.0] * 8, final=4.0)]
    assert predicted_in_race(curve([-3.0] * 5), done, 8) == pytest.approx((0.0, 0.04))


# ---- the race ---------------------------------------------------------------------------------------


def test_losers_are_dropped_and_the_winner_sees_all_instances() -> None:
    study = raced([0.5, 0.9, 0.1, 0.12, 0.4])
    states = [(trial.state, len(trial.curve)) for trial in study.trials]
    assert states[:3] == [("done", 12), ("stopped", 5), ("done", 12)]
    assert states[4] == ("stopped", 5)
    assert study.best.number == 2
    expected = np.mean([wobbly({"x": 0.1}, name) for name in NAMES])
    assert study.best.value == pytest.approx(expected)
    assert study.trial(0).noise is None  # nothing is known about the instances yet
    assert study.best.noise is not None and 0 < study.best.noise < 0.05  # effects of up to 110 are out
    assert study.best.notes["instances"] == 12
    why = study.trial(1).notes["stopped"]
    assert why.startswith("after 5 of 12 instances, its mean was ") and "that of trial 0" in why


def test_a_retracted_incumbent_drops_nobody() -> None:
    study = raced([0.1, 0.5])
    assert study.trial(1).state == "stopped"
    study.retract(0, "wrong data")
    study.enqueue({"x": 0.5001})
    study.run(wobbly, 3, instances=NAMES, progress=False)
    assert study.trial(2).state == "done" and study.best.number == 2


def test_all_trials_see_the_instances_in_one_shuffled_order() -> None:
    study = raced([0.1, 0.9])
    order = instances_of(study.amendments)
    assert sorted(order) == sorted(NAMES) and order != NAMES
    for trial in study.trials:
        assert trial.curve == tuple(
            (step, wobbly(trial.config, name)) for step, name in enumerate(order[: len(trial.curve)], 1)
        )


def test_the_model_learns_the_adjusted_mean_of_a_dropped_trial() -> None:
    study = raced([0.5, 0.9])
    with study._current() as view:
        history = study._history(view)
    assert history.stopped is not None and list(history.stopped) == [False, True]
    assert history.y[1] - history.y[0] == pytest.approx(0.4, abs=0.06)
    assert 0 < history.noise[1] < 0.06


def test_largest_mean_and_named_objective() -> None:
    def gain(config: dict[str, Any], instance: str) -> dict[str, float]:
        return {"gain": -wobbly(config, instance), "memory": float(instance[1:]), "cost": 2.0}

    study = optimize(
        gain,
        FLAT,
        6,
        objectives={"gain": "maximize"},
        method="random",
        seed=1,
        instances=NAMES,
        progress=False,
    )
    assert study.best.config["x"] == min(trial.config["x"] for trial in study.trials)
    assert study.best.measures["memory"] == 5.5
    assert study.best.cost == 24.0
    assert study.best.noise is not None or study.best.number == 0
    assert any(trial.state == "stopped" for trial in study.trials)
    lowest = maximize(
        lambda c, i: -wobbly(c, i), FLAT, 6, method="random", seed=1, instances=NAMES, progress=False
    )
    assert [trial.state for trial in lowest.trials] == [trial.state for trial in study.trials]


def test_without_stopping_every_trial_sees_all_instances() -> None:
    assert all(len(trial.curve) == 12 for trial in raced([0.1, 0.9, 0.8], stopping="none").trials)


def test_worker_processes_and_threads_decide_the_same() -> None:
    one = raced([0.1, 0.9, 0.5])
    study = Study(FLAT, method="random", seed=3)
    for x in (0.1, 0.9, 0.5):
        study.enqueue({"x": x})
    study.run(lambda c, i: wobbly(c, i), 1, instances=NAMES, progress=False)
    study.run(lambda c, i: c["x"] + 10 * int(i[1:]), 2, workers=2, instances=NAMES, progress=False)
    with ThreadPoolExecutor(2) as executor:
        study.run(wobbly, 3, executor=executor, instances=NAMES, progress=False)
    assert [(t.state, len(t.curve)) for t in study.trials] == [(t.state, len(t.curve)) for t in one.trials]


def test_a_lost_attempt_leaves_no_value_behind(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/race.db"
    study = Study(FLAT, name="race", storage=storage, method="random", seed=3)
    calls: list[str] = []

    def interrupted(config: dict[str, Any], instance: str) -> float:
        calls.append(instance)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return -1000.0

    with pytest.raises(KeyboardInterrupt):
        study.run(interrupted, 1, instances=NAMES, progress=False)
    again = Study(FLAT, name="race", storage=storage, seed=3)
    again.run(wobbly, 1, instances=list(reversed(NAMES)), progress=False)  # their order does not matter
    trial = again.trial(0)
    assert trial.attempt == 2 and len(trial.curve) == 12
    assert min(value for _, value in trial.curve) > -1.0


def test_an_exported_race_goes_on(tmp_path: Path) -> None:
    export_study(raced([0.1, 0.9]), tmp_path / "race.jsonl")
    again = import_study(tmp_path / "race.jsonl", MemoryStorage())
    again.enqueue({"x": 0.8})
    again.run(wobbly, 3, instances=NAMES, progress=False)
    assert [len(trial.curve) for trial in again.trials] == [12, 5, 5]


# ---- bad input --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("instances", "message"),
    [
        ([], "at least one instance: the list is empty"),
        ("abc", "instances must be a list"),
        (7, "instances must be a list"),
        ({"a": 1}, "instances must be a list"),
        (["a", "b", "a"], "the instance 'a' is given twice"),
        ([{"k": 1, "l": 2}, {"l": 2, "k": 1}], "is given twice"),
        ([object()], r"\(object\) is not JSON data: name instances by texts or numbers"),
        ([1.0, math.nan], r"the instance nan \(float\) is not JSON data"),
    ],
)
def test_wrong_instances_store_nothing(instances: Any, message: str) -> None:
    study = Study(FLAT, seed=1)
    with pytest.raises(StudyError, match=message):
        study.run(wobbly, 2, instances=instances, progress=False)
    assert study.amendments == [] and study.trials == []


@pytest.mark.parametrize("objective", [lambda config: 1.0, lambda a, b, c: 1.0])
def test_an_objective_with_another_number_of_arguments(objective: Callable[..., Any]) -> None:
    with pytest.raises(StudyError, match=r"instances= needs an objective\(config, instance\)"):
        minimize(objective, FLAT, 2, instances=NAMES, progress=False)


def test_instances_that_change_on_resume() -> None:
    study = raced([0.1])
    with pytest.raises(
        StudyError, match=r'races over 12 instances, and they changed: yours lack "i.*" and "new" is new'
    ):
        study.run(wobbly, 2, instances=[*NAMES[:-1], "new"], progress=False)
    with pytest.raises(StudyError, match="races over 12 instances: give them again"):
        study.run(lambda config: 1.0, 2, progress=False)
    assert len(study.trials) == 1


def test_studies_that_cannot_race() -> None:
    study = Study(FLAT, seed=1, method="random").run(lambda config: 1.0, 1, progress=False)
    with pytest.raises(StudyError, match="has trials that were run without instances"):
        study.run(wobbly, 2, instances=NAMES)
    with pytest.raises(
        StudyError, match="a race needs one objective without limits; leave the instances out"
    ):
        optimize(wobbly, FLAT, 2, objectives=["a", "b"], instances=NAMES)
    with pytest.raises(StudyError, match="stops by 'asha', which compares learning curves"):
        minimize(wobbly, FLAT, 2, stopping="asha", instances=NAMES)
    with pytest.raises(StudyError, match="instances= needs a space"):
        minimize(wobbly, None, 2, instances=NAMES)

    class Elsewhere(Executor):
        def submit(self, call: Callable[..., Any], /, *args: Any, **more: Any) -> Future[Any]:
            raise AssertionError("nothing may be started")

    with pytest.raises(StudyError, match="objectives cannot report from Elsewhere"):
        minimize(wobbly, FLAT, 2, instances=NAMES, executor=Elsewhere(), workers=1)


def test_a_failing_instance_is_named() -> None:
    def broken(config: dict[str, Any], instance: str) -> Any:
        if instance == "i7":
            return 1 / 0 if config["x"] < 0.5 else "much"
        return 1.0

    study = Study(FLAT, seed=1, method="random")
    for x in (0.1, 0.9):
        study.enqueue({"x": x})
    study.run(broken, 2, instances=NAMES, progress=False)
    first, second = (str(trial.error) for trial in study.trials)
    assert first.startswith("ZeroDivisionError: division by zero; on instance 'i7' (line ")
    assert second == "on instance 'i7': the objective returned 'much' (str), not a number"
    study.enqueue({"x": 0.2})
    with pytest.raises(ZeroDivisionError):
        study.run(broken, 3, instances=NAMES, progress=False, on_error="raise")


def test_numpy_numbers_are_instances() -> None:
    study = minimize(
        lambda config, fold: config["x"] + fold,
        FLAT,
        2,
        instances=np.arange(4),
        progress=False,
        method="random",
    )
    assert sorted(instances_of(study.amendments)) == [0, 1, 2, 3]


def test_a_better_branch_is_found_through_dropped_trials() -> None:
    space = Space({"kind": Choice({"good": {"x": Float(0, 1)}, "bad": {"y": Float(0, 1)}})})

    def objective(config: dict[str, Any], instance: int) -> float:
        base = abs(config["x"] - 0.3) if config["kind"] == "good" else 2 + config["y"]
        return float(base * (1 + 0.1 * (instance % 3)) + instance)

    study = minimize(objective, space, 15, seed=0, instances=range(20), progress=False)
    assert study.best.config["kind"] == "good"
    assert sum(len(trial.curve) for trial in study.trials) < 0.7 * 15 * 20


def test_the_same_result_may_be_told_again_after_others_have_run() -> None:
    study = raced([0.5, 0.4, 0.3])
    assert study.trials[0].noise is None and study.trials[1].noise is not None
    for trial in study.trials[:2]:
        assert study.tell(trial, trial.value) == study.trial(trial.number)
    with pytest.raises(ConflictError):
        study.tell(0, 99.0)
    with pytest.raises(TrialError, match="no trial 77"):
        study.tell(77, 1.0)


def test_a_fresh_study_tells_a_standard_error(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.db"
    study = Study(FLAT, name="s", storage=url, method="random", seed=0)
    study.run(wobbly, trials=2, instances=NAMES, progress=False)
    trial = study.ask()
    for step in range(1, len(NAMES) + 1):
        study.keep_report(trial, 0.1 * step, step)
    fresh = Study.of_record(study.record, open_storage(url))
    told = fresh.tell(trial.number, 0.5)
    assert told.noise is not None
    assert told.notes["instances"] == len(NAMES)
