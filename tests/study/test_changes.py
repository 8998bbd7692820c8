"""Changes of a study's space: earlier trials go on informing, proposals come from the current space."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from bough import Categorical, Choice, Float, Int, Space
from bough.errors import BoughError, ConfigError, ConflictError, StudyError
from bough.study import copy_study, export_study, import_study, open_study
from bough.study.revising.changing import differences
from bough.trial import Config

MODELS = {
    "svm": {"C": Float(1e-3, 1e3, log=True)},
    "forest": {"trees": Int(1, 30)},
}
BEFORE = Space({"model": Choice(MODELS), "rate": Float(0, 1)})
WIDER = Space({"model": Choice(MODELS), "rate": Float(-1, 2)})
NARROW = Space({"model": Choice(MODELS), "rate": Float(0.2, 0.4)})
BRANCH = Space({"model": Choice({**MODELS, "boost": {"eta": Float(0, 1)}}), "rate": Float(0, 1)})
ONE_LESS = Space({"model": Choice({"forest": MODELS["forest"]}), "rate": Float(0, 1)})
DROPOUT = Space({"model": Choice(MODELS), "rate": Float(0, 1), "dropout": Float(0, 0.5)})
NO_RATE = Space({"model": Choice(MODELS)})
CONDITION = Space({"model": Choice(MODELS), "rate": Float(0, 1, when="model == 'svm'")})
NO_SMALL = Space({"model": Choice(MODELS), "rate": Float(0, 1)}, forbid=["model == 'svm' and rate < 0.5"])
OTHER_KIND = Space({"model": Choice(MODELS), "rate": Categorical([0.0, 0.5, 1.0])})
ALL = [WIDER, NARROW, BRANCH, ONE_LESS, DROPOUT, NO_RATE, CONDITION, NO_SMALL, OTHER_KIND]


def with_models(**models: Any) -> Space:
    return Space({"model": Choice(models), "rate": Float(0, 1)})


def objective(config: Config) -> float:
    branch = (math.log10(config["C"]) / 3) ** 2 if "C" in config else 0.2 + config.get("trees", 0) / 100
    return branch + abs(config.get("rate", 0.3) - 0.3) + config.get("dropout", 0.0)


def filled(space: Space = BEFORE, n: int = 12, method: str = "auto", **more: Any) -> bough.Study:
    study = bough.Study(space, seed=3, method=method, **more)
    study.add_many((config, objective(config)) for config in space.sample(n, 5))
    return study


@pytest.mark.parametrize("space", ALL, ids=range(len(ALL)))
def test_a_study_goes_on_in_the_changed_space(space: Space) -> None:
    study = filled()
    study.change(space)
    assert study.space == space
    for _ in range(2):
        trial = study.ask()
        assert space.validate(trial.config) == trial.config
        study.tell(trial, objective(trial.config))
    assert study.status().done == 14
    history = study._history(study._view)
    assert len(history.done) == 14, "all results inform the method"


def test_identity_changes_nothing() -> None:
    study, untouched = filled(), filled()
    again = Space({"rate": Float(0, 1), "model": Choice(MODELS)})  # in another order
    assert study.change(again) == []
    assert study.amendments == []
    assert study.ask().config == untouched.ask().config


def test_widening_equals_a_new_study_with_the_results() -> None:
    for space in (WIDER, BRANCH):
        study, new = filled(), bough.Study(space, seed=3)
        new.add_many((trial.config, trial.value) for trial in study.trials)
        study.change(space)
        assert [study.ask().config for _ in range(2)] == [new.ask().config for _ in range(2)]


def test_undo_returns() -> None:
    for space in ALL:
        study = filled(method="tpe")
        study.change(space)
        study.change(BEFORE)
        assert study.ask().config == filled(method="tpe").ask().config


def test_what_a_change_said_of_parameters_is_taken_back_with_it() -> None:
    study, untouched = filled(), filled()
    study.change(DROPOUT, backfill={"dropout": 0.1})
    study.change(NO_RATE, fix={"rate": 0.4, "dropout": 0.2})
    study.change(BEFORE)
    assert study.ask().config == untouched.ask().config


def test_a_backfill_that_was_taken_back_completes_no_trial() -> None:
    study = filled()
    study.change(DROPOUT, backfill={"dropout": 0.1})
    assert len(study.current_trials) == len(study.trials)
    study.change(BEFORE)
    assert study.current_trials == study.trials
    study.change(DROPOUT)
    assert study.current_trials == []


def test_a_fix_holds_where_trials_were_made_in_between() -> None:
    study = filled()
    study.change(DROPOUT)
    study.tell(study.ask(), 0.5)
    study.change(BEFORE, fix={"dropout": 0.2})
    study.change(WIDER)
    study.change(BEFORE)
    with study._current() as view:
        model, _ = study._in_use(view)
    dropout = [parameter.name for parameter in model.space.parameters].index("dropout")
    assert model.encode_configs([{"model": "forest", "trees": 3, "rate": 0.5}]).x[0, dropout] == 0.4


def test_a_backfilled_parameter_makes_earlier_trials_whole() -> None:
    study, new = filled(), bough.Study(DROPOUT, seed=3)
    new.add_many(({**trial.config, "dropout": 0.0}, trial.value) for trial in study.trials)
    study.change(DROPOUT, backfill={"dropout": 0.0})
    assert study.ask().config == new.ask().config


def test_a_fixed_parameter_goes_on_with_one_value() -> None:
    study = filled()
    study.change(NO_RATE, fix={"rate": 0.25})
    assert study.ask().config.keys() <= {"model", "C", "trees"}
    model = study._model
    assert model is not None
    points = model.encode_configs([{"model": "forest", "trees": 3}])
    column = [parameter.path for parameter in model.space.parameters].index("rate")
    assert points.x[0, column] == 0.25
    assert model.space.legal(points).all()
    mean, sd = study.predict([{"model": "forest", "trees": 3}])
    assert np.isfinite(mean).all() and np.isfinite(sd).all()


def test_an_incumbent_that_is_gone_need_not_be_beaten() -> None:
    study = bough.Study(BEFORE, seed=0)
    study.add_many((config, objective(config)) for config in BEFORE.sample(10, 1))
    study.add({"model": "svm", "C": 1.0, "rate": 0.3}, -50.0)
    study.change(ONE_LESS)
    assert study.best.config["model"] == "forest"
    assert study.trials[-1].value == -50.0, "what was measured stays"
    assert study.recommend().trial.config["model"] == "forest"
    assert "C" not in study.ask().config


def test_running_trials_may_still_be_told() -> None:
    study = filled()
    trial = study.ask()
    study.change(ONE_LESS)
    assert study.tell(trial, 0.5).value == 0.5
    assert study.ask().config["model"] == "forest"


def test_a_proposal_overtaken_by_a_change_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    study = filled(method="random")
    other = bough.Study.of_record(study.record, study._storage)
    ask = study._storage.insert

    def late(*args: Any, **more: Any) -> Any:
        monkeypatch.undo()
        other.change(ONE_LESS)
        return ask(*args, **more)

    monkeypatch.setattr(study._storage, "insert", late)
    trial = study.ask()
    assert ONE_LESS.validate(trial.config) == trial.config


def test_explain_uses_the_space_of_its_time() -> None:
    study = filled()
    trial = study.ask()
    before = study.explain(trial)
    study.tell(trial, 1.0)
    study.change(DROPOUT)
    later = study.ask()
    assert study.explain(trial) == before
    assert {"mean", "reason"} <= study.explain(later).keys()


def test_two_changes_at_once_one_wins(shared_url: str) -> None:
    study = filled(name="s", storage=shared_url, method="random")
    barrier, said = threading.Barrier(4), []

    def change(space: Space) -> None:
        mine = open_study("s", shared_url)
        assert mine.status().done == 12
        barrier.wait()
        try:
            mine.change(space)
            said.append("changed")
        except BoughError as error:
            said.append(str(error))

    threads = [threading.Thread(target=change, args=(space,)) for space in (WIDER, BRANCH, DROPOUT, NO_RATE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    changes = [amendment for amendment in study.amendments if amendment.kind == "space"]
    assert said.count("changed") == len(changes) >= 1
    for line in said:
        assert line == "changed" or "another change of the space came first" in line, line


def test_a_change_that_lost_the_race_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    study = filled(method="random")
    other = bough.Study.of_record(study.record, study._storage)
    amend = study._storage.amend

    def late(*args: Any, **more: Any) -> Any:
        monkeypatch.undo()
        other.change(BRANCH)
        return amend(*args, **more)

    monkeypatch.setattr(study._storage, "amend", late)
    with pytest.raises(ConflictError, match="another change of the space came first"):
        study.change(WIDER)
    assert len(study.trials) == 12
    assert study.space == BRANCH


def test_a_preview_shows_and_checks_everything_and_changes_nothing() -> None:
    study = filled(method="random")
    assert study.change(DROPOUT, preview=True) == ["+ dropout: Float(0.0, 0.5)"]
    assert study.change(BEFORE, preview=True) == []
    study.enqueue({"model": "svm", "C": 1.0, "rate": 0.5})
    with pytest.raises(StudyError, match="trial 12 waits in the queue"):
        study.change(ONE_LESS, preview=True)
    with pytest.raises(StudyError, match="backfill names 'drop', which is not new"):
        study.change(DROPOUT, backfill={"drop": 0.1}, preview=True)
    assert (study.space, study.amendments) == (BEFORE, [])


def test_what_was_seen_must_still_hold() -> None:
    study = filled(method="random")
    other = bough.Study.of_record(study.record, study._storage)
    seen = study.space
    other.change(BRANCH)
    with pytest.raises(ConflictError, match="another change of the space came first"):
        study.change(WIDER, seen=seen)
    assert study.space == BRANCH
    assert study.change(BRANCH, seen=seen) == []  # what is wanted is there: a request that was sent twice
    assert study.change(WIDER, seen=BRANCH)
    assert study.space == WIDER


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.change({"x": 1}), "space must be a bough.Space, not dict"),
        (lambda s: s.change(DROPOUT, backfill={"drop": 0.1}), "backfill names 'drop', which is not new"),
        (lambda s: s.change(DROPOUT, backfill={"dropout": 9}), "'dropout' must be a number in"),
        (lambda s: s.change(DROPOUT, backfill=[1]), "backfill must be a dict"),
        (lambda s: s.change(NO_RATE, fix={"model": "svm"}), "fix names 'model', which is not gone"),
        (lambda s: s.change(NO_RATE, fix={"rate": 7}), "'rate' must be a number in"),
        (
            lambda s: s.change(Space({"model": Choice(MODELS), "rates": Float(0, 1)})),
            "'rates' comes and 'rate' goes: is it misspelt",
        ),
        (lambda s: s.change(ONE_LESS), "trial 12 waits in the queue, .*must be one of 'forest'"),
        (
            lambda s: s.change(with_models(svn=MODELS["svm"], forest=MODELS["forest"])),
            "option 'svn' of 'model' comes and 'svm' goes: is it misspelt",
        ),
        (
            lambda s: s.change(with_models(svm={"c": Float(1, 2)}, forest=MODELS["forest"])),
            "'model=svm/c' comes and 'model=svm/C' goes: is it misspelt",
        ),
        (
            lambda s: s.change(with_models(svm=MODELS["svm"], Forest=MODELS["forest"])),
            "option 'Forest' of 'model' comes and 'forest' goes: is it misspelt",
        ),
        (lambda s: s.change(WIDER, seen={"x": 1}), "seen must be a bough.Space, not dict"),
    ],
)
def test_mistakes_change_nothing(change: Callable[[bough.Study], Any], message: str) -> None:
    study = filled(method="random")
    study.enqueue({"model": "svm", "C": 1.0, "rate": 0.5})
    before = study.trials
    with pytest.raises(StudyError, match=message):
        change(study)
    assert (study.trials, study.space, study.amendments) == (before, BEFORE, [])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"a": {"depth": Int(1, 5)}, "b": {}}, {"a": {"leaves": Int(1, 5)}, "b": {}}),
        ({"a": {"units1": Int(1, 5)}, "b": {}}, {"a": {"units2": Int(1, 5)}, "b": {}}),
        ({"a": {"rate": Int(1, 5)}, "b": {}}, {"a": {}, "b": {"rate": Int(1, 5)}}),
        ({"knn": {}, "svm": {}}, {"knn": {}, "forest": {}}),
        ({"v1": {}, "svm": {}}, {"v2": {}, "svm": {}}),
        ({"org/opt": {}, "svm": {}}, {"org/t5": {}, "svm": {}}),
        ({"google/bert": {}, "svm": {}}, {"meta/bert": {}, "svm": {}}),
    ],
)
def test_other_names_are_no_misspelling(old: Any, new: Any) -> None:
    study = bough.Study(Space({"model": Choice(old)}), method="random", seed=0)
    assert study.change(Space({"model": Choice(new)}))


@pytest.mark.parametrize(
    ("old", "new"), [("google/bert", "gogle/bert"), ("google/bert", "google/bart"), ("org/bert", "orgbert")]
)
def test_options_with_a_slash_may_be_misspelt_anywhere(old: str, new: str) -> None:
    study = bough.Study(Space({"model": Categorical([old, "svm"])}), method="random", seed=0)
    with pytest.raises(StudyError, match=f"option '{new}' of 'model' comes and '{old}' goes"):
        study.change(Space({"model": Categorical([new, "svm"])}))


def test_a_name_that_looks_misspelt_comes_in_two_steps() -> None:
    study = filled(method="random")
    svn = with_models(svn=MODELS["svm"], forest=MODELS["forest"])
    study.change(with_models(svn=MODELS["svm"], **MODELS))
    study.change(svn)
    assert study.space == svn


def test_a_change_that_contradicts_the_goals_is_refused() -> None:
    study = bough.Study(BEFORE, objectives=["error"], constraints=["dropout <= 0.2"], method="random", seed=0)
    with pytest.raises(StudyError, match=r"the constraint 'dropout <= 0.2' names a parameter"):
        study.change(DROPOUT)
    assert (study.space, study.amendments) == (BEFORE, [])


def test_no_option_may_be_left_without() -> None:
    with pytest.raises(BoughError, match="option"):
        Space({"model": Choice({})})
    with pytest.raises(BoughError, match="excludes every configuration"):
        Space({"model": Categorical(["a"])}, forbid=["model == 'a'"])


def test_reopening_with_the_former_space_says_what_to_do(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.db"
    study = filled(name="s", storage=url, method="random")
    with pytest.raises(StudyError, match=r"its space lacks your parameter 'dropout'.*study\.change"):
        bough.Study(DROPOUT, name="s", storage=url)
    study.change(DROPOUT)
    assert bough.Study(DROPOUT, name="s", storage=url).space == DROPOUT
    assert open_study("s", url).space == DROPOUT
    with pytest.raises(
        StudyError, match="its space was changed at trial 12, and yours is the one before; open"
    ):
        bough.Study(BEFORE, name="s", storage=url)


def test_a_config_of_the_former_space_is_named(tmp_path: Path) -> None:
    study = filled(method="random")
    former = bough.Study.of_record(study.record, study._storage)
    study.change(DROPOUT)
    with pytest.raises(ConfigError, match=r"'dropout' is missing.*the space was changed at trial 12"):
        former.enqueue({"model": "forest", "trees": 3, "rate": 0.5})
    with pytest.raises(ConfigError, match=r"must be a number in \[0.0, 1.0\], not 5.0$"):
        former.add({"model": "forest", "trees": 3, "rate": 5.0}, 1.0)


def test_files_and_copies_keep_all_revisions(tmp_path: Path) -> None:
    study = filled(method="random")
    study.change(DROPOUT, backfill={"dropout": 0.1})
    study.tell(study.ask(), 1.0)
    study.change(NO_RATE, fix={"rate": 0.5})
    study.tell(study.ask(), 1.0)
    export_study(study, tmp_path / "s.jsonl")
    url = f"sqlite:///{tmp_path}/s.db"
    for other in (import_study(tmp_path / "s.jsonl", url), copy_study(study, "copy", url)):
        assert other.trials == study.trials
        assert other.amendments == study.amendments
        assert other.space == NO_RATE
        assert NO_RATE.validate(other.ask().config)


def test_files_and_copies_have_a_change_that_another_process_made(tmp_path: Path) -> None:
    study = filled(method="random")
    former = [bough.Study.of_record(study.record, study._storage) for _ in range(2)]
    study.change(DROPOUT)
    export_study(former[0], tmp_path / "s.jsonl")
    url = f"sqlite:///{tmp_path}/s.db"
    for other in (import_study(tmp_path / "s.jsonl", url), copy_study(former[1], "copy", url)):
        assert bough.Study(DROPOUT, name=other.name, storage=url).trials == study.trials


def test_the_differences_are_shown() -> None:
    assert differences(BEFORE, BEFORE) == []
    assert differences(BEFORE, DROPOUT) == ["+ dropout: Float(0.0, 0.5)"]
    assert differences(BEFORE, NARROW) == ["~ rate: Float(0.0, 1.0) -> Float(0.2, 0.4)"]
    assert differences(BEFORE, ONE_LESS) == [
        "- model: option 'svm'",
        "- model=svm/C: Float(0.001, 1000.0, log=True) when model == 'svm'",
    ]
    assert differences(BEFORE, CONDITION) == ["~ rate: when always -> when model == 'svm'"]
    assert differences(BEFORE, NO_SMALL) == ["+ forbid: model == 'svm' and rate < 0.5"]


def test_beliefs_alone_are_no_other_space() -> None:
    study = bough.Study(Space({"x": Float(0, 1, likely=(0.1, 0.2))}), method="random", seed=0)
    assert study.change(Space({"x": Float(0, 1)})) == []
    assert study.change(Space({"x": Float(0, 1, likely=(0.1, 0.2))})) == []
    with pytest.raises(StudyError, match=r"study\.believe changes"):
        study.change(Space({"x": Float(0, 1, likely=(0.3, 0.4))}))
