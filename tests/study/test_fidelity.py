"""A fidelity that the study chooses: promotions, what counts, and that a restart decides the same."""

import json
from dataclasses import replace

import pytest

import bough
from bough.errors import SpaceError, StudyError
from bough.space.fidelity import full_space, rungs
from bough.study import export_study, import_study
from bough.study.goals import Goals
from bough.study.stopping.fidelities import Fidelity, Halving, resumed_by
from bough.trial import Trial

EPOCHS = bough.Int(3, 81, fidelity=True)


def two_models() -> bough.Space:
    branches = {"fast": {"c": bough.Float(0, 1)}, "slow": {"d": bough.Float(0, 1)}}
    return bough.Space({"model": bough.Choice(branches), "epochs": EPOCHS})


def error(config):
    """Slow models are far behind at first and ahead in the end."""
    if config["model"] == "fast":
        return (config["c"] - 0.3) ** 2 + 1 / config["epochs"]
    return (config["d"] - 0.7) ** 2 - 0.2 + 9 / config["epochs"]


def asked(study, count):
    for _ in range(count):
        trial = study.ask()
        study.tell(trial, error(trial.config))
    return study


# ---- the space -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [
        (EPOCHS, (3, 9, 27, 81)),
        (bough.Int(1, 52, fidelity=True), (1, 3, 7, 19, 52)),
        (bough.Int(10, 100, step=10, fidelity=True), (10, 30, 100)),
        (bough.Float(0.1, 0.9, fidelity=True), pytest.approx((0.1, 0.3, 0.9))),
        (bough.Float(1, 2, fidelity=True), (1.0, 2.0)),
    ],
)
def test_rungs_go_from_low_to_high_in_factors_of_about_three(parameter, expected):
    assert rungs(parameter) == expected
    for value in rungs(parameter):
        parameter.check(value)


def test_a_fidelity_survives_json_and_yaml(tmp_path):
    space = two_models()
    assert bough.Space.from_json(space.to_json()) == space
    file = tmp_path / "space.yaml"
    file.write_text(
        "x: {type: float, low: 0, high: 1}\nepochs: {type: int, low: 3, high: 81, fidelity: true}\n"
    )
    assert bough.Space.load(file).fidelity.name == "epochs"
    assert space != bough.Space({**space.declared, "epochs": bough.Int(3, 81)})
    assert "epochs: int 3 to 81, fidelity" in str(space)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bough.Int(0, 9, fidelity=True), "low above 0"),
        (lambda: bough.Int(1, 9, fidelity="yes"), "must be True or False"),
        (
            lambda: bough.Int(1, 10, step=4, fidelity=True),
            "high of a fidelity must be 1 plus a multiple of 4",
        ),
        (lambda: bough.Int(1, 2**40, fidelity=True), "too large: use Float"),
        (lambda: bough.Float(1, 9, fidelity=True, default=2), "cannot have default="),
        (lambda: bough.Float(1, 9, fidelity=True, when="x > 1"), "cannot have when="),
        (lambda: bough.Space({"e": EPOCHS}), "no parameter besides the fidelity 'e'"),
        (lambda: bough.Space({"x": bough.Float(0, 1), "e": EPOCHS, "f": EPOCHS}), "at most one fidelity"),
        (
            lambda: bough.Space({"e": EPOCHS, "x": bough.Float(0, 1, when="e > 9")}),
            "a fidelity in a condition: 'x'",
        ),
        (
            lambda: bough.Space({"e": EPOCHS, "x": bough.Float(0, 1)}, forbid=["e > 9 and x > 0.5"]),
            "a fidelity in a condition: forbid",
        ),
        (
            lambda: bough.Space({"e": EPOCHS, "x": bough.Float(0, 1)}, require=["e >= 9 * x"]),
            "a fidelity in a condition: 'e >= 9 * x'",
        ),
        (
            lambda: bough.Space({"m": bough.Choice({"a": {"e": EPOCHS}, "b": {}})}),
            "must be active in every configuration",
        ),
    ],
)
def test_mistakes_are_one_line(make, message):
    with pytest.raises(SpaceError, match=r"^[^\n]+$") as raised:
        make()
    assert message in str(raised.value)


def test_methods_search_at_the_highest_fidelity():
    space = full_space(two_models())
    assert {config["epochs"] for config in space.sample(50, 0)} == {81}


# ---- promotions ----------------------------------------------------------------------------------


def halving(results, branches=None, violated=(), disturbed=()):
    """``results``: for each config its values by fidelity; None for a trial that runs.

    violated: the configs whose results violate a limit. disturbed: (config, fidelity) of each trial that
    failed through no fault of its config.
    """
    trials, number = [], 0
    for x, values in enumerate(results):
        mine = []
        for epochs, value in values.items():
            state = "running" if value is None else "done"
            broken = ("memory <= 4",) if x in violated else ()
            mine.append(Trial(number, {"x": float(x), "epochs": epochs}, state, value, violated=broken))
            number += 1
        for _, epochs in (each for each in disturbed if each[0] == x):
            mine.append(Trial(number, {"x": float(x), "epochs": epochs}, "failed", learn=False))
            number += 1
        trials.append(mine)
    of = branches or {}
    fidelity = Fidelity("epochs", (3, 9, 27, 81))
    return Halving(fidelity, trials, lambda t: of.get(t.config["x"], b"a"), Goals())


def test_the_first_config_of_a_branch_goes_all_the_way():
    assert halving([{3: 1.0}]).due() == {"x": 0.0, "epochs": 9}
    assert halving([{3: 1.0, 9: 1.0, 27: 1.0}]).due() == {"x": 0.0, "epochs": 81}
    other = halving([{3: 1.0, 9: 1.0, 27: 1.0, 81: 1.0}, {3: 5.0}], {1.0: b"b"})
    assert other.due() == {"x": 1.0, "epochs": 9}


def test_the_best_third_of_a_rung_is_promoted():
    done = {3: 1.0, 9: 1.0, 27: 1.0, 81: 1.0}
    assert halving([done, {3: 2.0}, {3: 3.0}]).due() is None
    assert halving([done, {3: 0.5}, {3: 3.0}]).due() == {"x": 1.0, "epochs": 9}
    assert halving([done, {3: 0.5, 9: None}, {3: 3.0}]).due() is None
    assert halving([done, {3: 0.5, 9: 0.5}, {3: 3.0}]).due() is None  # one of two has gone on already
    assert halving([done, {3: 0.5}]).due() is None  # a third of two is none


def test_branches_are_compared_by_predicted_final_results():
    fast = [{3: 1.0, 9: 1.0, 27: 1.0, 81: 1.0}] * 3 + [{3: 0.9}]
    slow = [{3: 9.0, 9: 5.0, 27: 2.0, 81: 0.1}] * 3 + [{3: 8.9}]
    found = halving([*fast, *slow], dict.fromkeys((4.0, 5.0, 6.0, 7.0), b"slow"))
    assert found.due() == {"x": 7.0, "epochs": 9}  # 8.9 now is 0.0 in the end


def test_a_branch_whose_configs_change_unequally_is_given_its_better_changes():
    """Changes of -1 each, against 0, 0, -2 and -2: their mean is the same, their lower quartile is not."""
    steady = [{3: 5.0, 9: 4.0, 27: 4.0, 81: 4.0}] * 4 + [{3: 2.0}]
    varied = [{3: 5.0, 9: end, 27: end, 81: end} for end in (5.0, 5.0, 3.0, 3.0)] + [{3: 2.5}]
    found = halving([*steady, *varied], dict.fromkeys((5.0, 6.0, 7.0, 8.0, 9.0), b"varied"))
    assert found.due() == {"x": 9.0, "epochs": 9}


def test_configs_that_meet_the_limits_come_first():
    done = {3: 1.0, 9: 1.0, 27: 1.0, 81: 1.0}
    rest = [{3: 0.5}, {3: 1.5}, {3: 5.0}, {3: 5.0}, {3: 5.0}]
    assert halving([done, *rest]).due() == {"x": 1.0, "epochs": 9}
    assert halving([done, *rest], violated=[1]).due() == {"x": 2.0, "epochs": 9}


def test_a_promotion_that_was_disturbed_is_tried_once_more():
    done = {3: 1.0, 9: 1.0, 27: 1.0, 81: 1.0}
    results = [done, {3: 0.5}, {3: 3.0}]
    assert halving(results, disturbed=[(1, 9)]).due() == {"x": 1.0, "epochs": 9}
    assert halving(results, disturbed=[(1, 9), (1, 9)]).due() is None


def test_only_an_earlier_result_that_still_counts_is_resumed():
    trials = [Trial(k, {"x": 0.5, "epochs": epochs}, "done", 1.0) for k, epochs in enumerate((3, 9, 27))]
    assert resumed_by(trials[2], "epochs", trials) == 1
    retracted = [trials[0], replace(trials[1], retracted="wrong data"), trials[2]]
    assert resumed_by(trials[2], "epochs", retracted) == 0
    failed = [replace(trials[0], state="failed", value=None), trials[2]]
    assert resumed_by(trials[2], "epochs", failed) is None
    later = replace(trials[0], number=7)
    assert resumed_by(trials[2], "epochs", [later, trials[2]]) is None


def test_a_branch_that_is_little_known_is_compared_with_itself_alone():
    fast = [{3: 1.0, 9: 1.0, 27: 1.0, 81: 1.0}] * 3 + [{3: 2.0}] * 3
    stuck = {3: 9.0, 9: 9.0, 27: 9.0, 81: 9.0}
    found = halving([*fast, stuck, {3: 8.0}, {3: 9.5}], dict.fromkeys((6.0, 7.0, 8.0), b"other"))
    assert found.due() == {"x": 7.0, "epochs": 9}


def test_a_rung_that_saves_little_is_left_out():
    study = bough.Study(two_models(), method="random", seed=0)
    costs = {3: 1.0, 9: 3.5, 27: 4.0, 81: 10.0}  # 9 costs almost as much as 27, and 3 is cheap
    for _ in range(20):
        trial = study.ask()
        study.tell(trial, error(trial.config), cost=costs[trial.config["epochs"]])
    assert [trial.config["epochs"] for trial in study.trials[:4]] == [3, 9, 27, 81]
    assert {trial.config["epochs"] for trial in study.trials[4:]} == {3, 27, 81}


@pytest.mark.parametrize("resumes", [True, False])
def test_a_cost_in_proportion_to_the_fidelity_keeps_every_rung(resumes: bool):
    study = bough.Study(two_models(), method="random", seed=0)
    for _ in range(40):
        trial = study.ask()
        before = study.trial(trial.resumes).config["epochs"] if resumes and trial.resumes is not None else 0
        study.tell(trial, error(trial.config), cost=trial.config["epochs"] - before)
    assert {trial.config["epochs"] for trial in study.trials[20:]} == {3, 9, 27, 81}
    assert all(trial.config["epochs"] == 3 for trial in study.trials if trial.resumes is None)


def test_where_no_rung_saves_enough_configs_start_at_the_highest():
    study = bough.Study(two_models(), method="random", seed=1)
    first, second = study.ask(), study.ask()
    assert first.config["model"] != second.config["model"]
    for trial in (first, second):
        study.tell(trial, error(trial.config), cost=5.0)
    for _ in range(12):
        trial = study.ask()
        study.tell(trial, error(trial.config), cost=10.0 if trial.config["epochs"] == 81 else 5.0)
    full = next(trial.number for trial in study.trials if not trial.partial)
    later = study.trials[full + 1 :]
    assert {trial.config["epochs"] for trial in later} == {81}
    waited = [trial for trial in later if trial.resumes is not None]
    assert [study.trial(t.resumes).config["model"] for t in waited] == [
        ({"fast", "slow"} - {study.trial(full).config["model"]}).pop()
    ], "the other branch skips the rungs above its own"


def test_what_is_left_is_promoted_when_nothing_new_is():
    done = {3: 1.0, 9: 1.0, 27: 1.0, 81: 1.0}
    assert halving([done, {3: 2.0}, {3: 1.5}]).left() == {"x": 2.0, "epochs": 9}
    assert halving([done]).left() is None


def test_a_slow_starter_is_not_lost():
    study = asked(bough.Study(two_models(), seed=0), 30)
    assert study.best.config["model"] == "slow"


def test_promoted_trials_say_what_they_resume():
    study = asked(bough.Study(two_models(), method="random", seed=1), 12)
    promoted = [trial for trial in study.trials if trial.resumes is not None]
    assert promoted
    for trial in promoted:
        before = study.trial(trial.resumes)
        assert before.config | {"epochs": 0} == trial.config | {"epochs": 0}
        assert before.config["epochs"] < trial.config["epochs"]
    assert study.best.resumes == study.trial(study.best.number).resumes is not None
    assert study.explain(promoted[0])["rule"] == "promotion"
    assert study.explain(promoted[0].resumes)["rule"] == "random"


def test_a_request_that_is_sent_again_gets_the_same_trial_to_resume():
    study = asked(bough.Study(two_models(), method="random", seed=0), 1)
    first, again = (study.ask_up_to(1, request="mark")[0] for _ in range(2))
    assert first.number == again.number == 1
    assert first.resumes == again.resumes == 0


@pytest.mark.parametrize("method", ["auto", "tpe", "random"])
def test_a_restart_decides_the_same(method, tmp_path):
    whole = asked(bough.Study(two_models(), method=method, seed=3), 14)
    where = f"sqlite:///{tmp_path}/s.db"
    for _ in range(7):
        parts = bough.Study(two_models(), name="s", method=method, seed=3, storage=where)
        asked(parts, 2)
    assert [t.config for t in parts.trials] == [t.config for t in whole.trials]
    assert [t.resumes for t in parts.trials] == [t.resumes for t in whole.trials]


def test_a_restart_decides_the_same_among_equal_results(tmp_path):
    """Results that come in another order than their trials began, as from parallel workers."""
    asked = []
    for name in ("open", "reopened"):
        storage = f"sqlite:///{tmp_path}/{name}.db"
        study = bough.Study(two_models(), name="s", storage=storage, method="random", seed=0)
        for _ in range(4):
            for trial in reversed(study.ask(5)):
                study.tell(trial, 1.0)
            study = study if name == "open" else bough.open_study("s", storage)
        asked.append([trial.config for trial in study.trials])
    assert asked[0] == asked[1]


def test_a_finite_space_is_used_up():
    space = bough.Space(
        {"x": bough.Categorical(["a", "b", "c", "d"]), "epochs": bough.Int(1, 9, fidelity=True)}
    )
    study = bough.Study(space, method="grid", seed=0)
    study.run(lambda c: "abcd".index(c["x"]) + 1 / c["epochs"], progress=False)
    assert len(study.trials) == 4 * 3  # each config at 1, 3 and 9
    assert study.best.config == {"x": "a", "epochs": 9}


@pytest.mark.parametrize("method", ["sobol", "cma", "gp", "tree"])
def test_any_method_fills_the_rungs(method):
    study = asked(bough.Study(two_models(), method=method, seed=0), 16)
    assert {trial.config["epochs"] for trial in study.trials} == {3, 9, 27, 81}


def test_asking_for_several_gives_different_configs():
    study = asked(bough.Study(two_models(), seed=0), 12)
    trials = study.ask(4)
    assert len({json.dumps(trial.config) for trial in trials}) == 4


# ---- what counts ---------------------------------------------------------------------------------


def test_only_full_results_are_compared():
    study = bough.Study(two_models(), seed=0)
    study.add({"model": "fast", "c": 0.5, "epochs": 27}, -5.0)
    with pytest.raises(StudyError, match=r"no result at epochs=81 yet.*up to 27"):
        _ = study.best
    assert study.front == []
    full = study.add({"model": "fast", "c": 0.1, "epochs": 81}, 1.0)
    assert study.best.number == full.number == study.recommend().trial.number
    assert [trial.partial for trial in study.trials] == [True, False]
    assert [trial.number for trial in study.front] == [full.number]


def test_results_of_a_coarse_run_are_promoted():
    study = bough.Study(two_models(), seed=0, method="random")
    study.add_many([({"model": "fast", "c": c, "epochs": 9}, c) for c in (0.2, 0.1, 0.3)])
    assert study.ask().config == {"model": "fast", "c": 0.1, "epochs": 27}


def test_several_objectives_and_limits_are_promoted_by_fronts():
    goals = {"objectives": ["error", "size"], "constraints": ["memory <= 5"]}
    study = bough.Study(two_models(), seed=0, **goals)
    for _ in range(14):
        trial = study.ask()
        study.tell(trial, {"error": error(trial.config), "size": 1.0, "memory": trial.config.get("c", 0.0)})
    assert all(trial.config["epochs"] == 81 for trial in study.front)


def test_a_fidelity_is_the_cost_where_none_is_told():
    study = bough.Study(two_models(), seed=0, method="random")
    study.run(error, progress=False, budget=200)
    spent = sum(trial.config["epochs"] for trial in study.trials)
    assert study.spent == spent >= 200
    assert spent - study.trials[-1].config["epochs"] < 200


def test_what_does_not_go_with_a_fidelity_is_refused():
    with pytest.raises(StudyError, match="stopping='median' does not go with the fidelity 'epochs'"):
        bough.Study(two_models(), stopping="median")
    study = bough.Study(two_models(), seed=0)
    with pytest.raises(StudyError, match="a race over instances needs none"):
        study.run(lambda config, instance: 0.0, 1, instances=[1, 2])
    with pytest.raises(StudyError, match="it cannot have a belief"):
        study.believe({"epochs": (3, 9)})
    with pytest.raises(StudyError, match="fidelity of a study cannot change"):
        study.change(bough.Space({**two_models().declared, "epochs": bough.Int(3, 100, fidelity=True)}))


def test_reports_are_kept_and_stop_nothing():
    study = bough.Study(two_models(), seed=0)
    for _ in range(6):
        trial = study.ask()
        assert not study.report(trial, 100.0 + trial.number, 1)
        stored = study.tell(trial, error(trial.config))
        assert stored == study.trial(trial.number)
    assert stored.curve == ((1, 105.0),)
    assert any(trial.resumes is not None for trial in study.trials)


def test_a_change_of_other_parameters_keeps_the_fidelity():
    study = asked(bough.Study(two_models(), seed=0), 9)
    wider = {"fast": {"c": bough.Float(0, 2)}, "slow": {"d": bough.Float(0, 1)}, "new": {}}
    study.change(bough.Space({"model": bough.Choice(wider), "epochs": EPOCHS}))
    study.enqueue({"model": "new", "epochs": 3})
    for _ in range(5):
        trial = study.ask()
        study.tell(trial, 0.0 if trial.config["model"] == "new" else error(trial.config))
    assert {"model": "new", "epochs": 81} in [trial.config for trial in study.trials]


def test_a_config_that_a_change_completed_is_promoted_once():
    rate, epochs = bough.Float(0, 1), bough.Int(1, 27, fidelity=True)
    study = bough.Study(bough.Space({"c": rate, "epochs": epochs}), seed=0, method="random")
    for value in (0.1, 0.2, 0.3):
        study.add({"c": value, "epochs": 1}, value)
    wider = bough.Space({"c": rate, "kind": bough.Categorical(["a", "b"]), "epochs": epochs})
    study.change(wider, backfill={"kind": "a"})
    for _ in range(6):
        trial = study.ask()
        study.tell(trial, trial.config["c"])
    promoted = [(trial.config["c"], trial.config["epochs"], trial.resumes) for trial in study.trials[3:6]]
    assert promoted == [(0.1, 3, 0), (0.1, 9, 3), (0.1, 27, 4)]
    assert study.trials[6].config["epochs"] == 1


def test_a_config_whose_result_is_retracted_may_be_promoted_again():
    study = asked(bough.Study(two_models(), seed=0, method="random"), 4)
    assert study.trials[3].config["epochs"] == 81
    study.retract(3, "the wrong data")
    again = study.ask()
    assert (again.config, again.resumes) == (study.trials[3].config, 2)


def test_results_may_come_in_any_order():
    study = bough.Study(two_models(), seed=0)
    slow = study.ask(3)
    asked(study, 12)
    for trial in slow:
        study.tell(trial, error(trial.config))
    assert asked(study, 3).best.config["epochs"] == 81


def test_an_exported_study_goes_on_as_it_would_have(tmp_path):
    study = asked(bough.Study(two_models(), seed=5, method="random"), 9)
    export_study(study, tmp_path / "s.jsonl")
    again = import_study(tmp_path / "s.jsonl", f"sqlite:///{tmp_path}/s.db")
    assert again.ask().config == study.ask().config


def test_a_fidelity_may_have_any_range_of_floats():
    found = rungs(bough.Float(1e-300, 1e300, fidelity=True))
    assert found[0] == 1e-300 and found[-1] == 1e300 and len(found) == 1259
