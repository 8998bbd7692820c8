"""Learning from earlier studies: what is read and stored, how spaces are matched, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import MethodError, StudyError
from bough.history import Source
from bough.storage import MemoryStorage
from bough.study.catalogue import copy_study, delete_study, export_study, import_study
from bough.study.sources import present_sources, source_amendments

SPACE = bough.Space(
    {
        "model": bough.Choice({"svm": {"C": bough.Float(0, 1)}, "ridge": {"C": bough.Float(0, 4)}}),
        "w": bough.Float(0, 1),
    }
)


def value(config: dict[str, Any]) -> float:
    return (config["model"] == "ridge") + (config["C"] - 0.3) ** 2 + (config["w"] - 0.6) ** 2


@pytest.fixture(scope="module")
def earlier() -> bough.Study:
    study = bough.Study(SPACE, name="earlier", method="lhs", seed=0)
    return study.run(value, trials=16, progress=False)


def _widened(study: bough.Study) -> bough.Study:
    """A copy whose space got a parameter that no trial has a value of."""
    copied = copy_study(study, "earlier", MemoryStorage())
    copied.change(bough.Space({**SPACE.declared, "z": bough.Float(0, 1)}))
    return copied


def source_of(study: Any, space: bough.Space) -> Source:
    (found,) = present_sources(space, source_amendments([study], space, MemoryStorage()))
    return found


def test_the_first_trial_did_best_in_the_earlier_study(earlier: bough.Study) -> None:
    study = bough.Study(SPACE, seed=1, learn_from=[earlier])
    first = study.ask()
    # The model of the earlier study says which did best, so of two near results it may take the other one.
    assert first.config in [trial.config for trial in sorted(earlier.trials, key=lambda t: t.value)[:2]]
    assert study.explain(first)["reason"] == "did well in earlier studies"


@pytest.mark.parametrize("search", [bough.minimize, bough.maximize, bough.optimize])
def test_a_search_in_one_call_learns_too(search: Any, earlier: bough.Study) -> None:
    storage = MemoryStorage()
    copy_study(earlier, "earlier", storage)
    wanted = {"direction": "maximize"} if search is bough.maximize else {}
    by_hand = bough.Study(SPACE, seed=1, learn_from=[earlier], **wanted).ask().config
    for where, given in ({}, [earlier]), ({"storage": storage, "name": "new"}, ["earlier"]):
        study = search(value, SPACE, 1, seed=1, learn_from=given, progress=False, **where)
        assert study.trials[0].config == by_hand


def test_a_study_that_learns_its_space_learns_from_no_other(earlier: bough.Study) -> None:
    with pytest.raises(StudyError, match="learn_from= needs a space"):
        bough.minimize(lambda trial: trial.float("x", 0, 1), trials=1, learn_from=[earlier])


def test_one_study_needs_no_list(earlier: bough.Study) -> None:
    alone, listed = (bough.Study(SPACE, seed=1, learn_from=given) for given in (earlier, [earlier]))
    assert alone.ask().config == listed.ask().config


def test_a_file_a_name_and_a_study_teach_the_same(earlier: bough.Study, tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/s.db"
    copy_study(earlier, "earlier", storage)
    export_study(earlier, tmp_path / "e.jsonl")
    studies = [
        bough.Study(SPACE, name=f"s{i}", storage=storage, seed=3, learn_from=[given])
        for i, given in enumerate([earlier, tmp_path / "e.jsonl", str(tmp_path / "e.jsonl"), "earlier"])
    ]
    for study in studies:
        study.run(value, trials=7, progress=False)
    runs = [[trial.config for trial in study.trials] for study in studies]
    assert all(run == runs[0] for run in runs)


def test_a_proposal_depends_on_what_is_stored_alone(earlier: bough.Study, tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/s.db"
    source = copy_study(earlier, "earlier", storage)
    study = bough.Study(SPACE, name="s", storage=storage, seed=3, learn_from=["earlier"])
    study.run(value, trials=6, progress=False)
    source.add({"model": "svm", "C": 0.9, "w": 0.1}, -100.0)
    delete_study("earlier", storage)
    again = bough.open_study("s", storage)
    other = bough.Study(SPACE, seed=3, learn_from=[earlier]).run(value, trials=6, progress=False)
    assert again.ask().config == other.ask().config


def test_reopening_needs_the_same_names_or_none(earlier: bough.Study) -> None:
    storage = MemoryStorage()
    bough.Study(SPACE, name="s", storage=storage, learn_from=[earlier])
    bough.Study(SPACE, name="s", storage=storage, learn_from=[earlier])
    assert len(bough.Study(SPACE, name="s", storage=storage).amendments) == 1
    with pytest.raises(StudyError, match="learns from 'earlier', not from 'other'"):
        bough.Study(SPACE, name="s", storage=storage, learn_from=["other"])
    bough.Study(SPACE, name="plain", storage=storage)
    with pytest.raises(StudyError, match="learns from no other study, not from 'earlier'"):
        bough.Study(SPACE, name="plain", storage=storage, learn_from=[earlier])


def test_files_carry_it(earlier: bough.Study, tmp_path: Path) -> None:
    study = bough.Study(SPACE, seed=1, learn_from=[earlier])
    export_study(study, tmp_path / "s.jsonl")
    read = import_study(tmp_path / "s.jsonl", MemoryStorage())
    assert read.ask().config == study.ask().config


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda body: body.pop("name"), "an earlier study has 'name', 'space' and 'results'"),
        (lambda body: body.update(results=3), "'results' must be a list"),
        (lambda body: body.update(results=[[{"C": 0.1}, 1.0]]), "is missing"),
        (lambda body: body["results"][0].__setitem__(1, 10**400), "is too large"),
        (lambda body: body["results"][0].__setitem__(1, "1"), "a value must be a number"),
        (lambda body: body.update(space={"x": 1}), "must be an object"),
    ],
)
def test_a_damaged_file_is_refused(change: Any, message: str, earlier: bough.Study, tmp_path: Path) -> None:
    export_study(bough.Study(SPACE, seed=1, learn_from=[earlier]), tmp_path / "s.jsonl")
    lines = (tmp_path / "s.jsonl").read_text().splitlines()
    row = json.loads(lines[1])
    change(row["body"])
    (tmp_path / "s.jsonl").write_text("\n".join([lines[0], json.dumps(row)]) + "\n")
    with pytest.raises(StudyError, match=message):
        import_study(tmp_path / "s.jsonl", MemoryStorage())


def test_results_from_before_a_change_are_completed_by_backfill(earlier: bough.Study) -> None:
    changed = copy_study(earlier, "changed", MemoryStorage())
    wider = bough.Space({**SPACE.declared, "dropout": bough.Float(0, 1)})
    changed.change(wider, backfill={"dropout": 0.25})
    source = source_of(changed, wider)
    dropout = [parameter.name for parameter in wider.parameters].index("dropout")
    assert len(source.y) == 16
    assert (source.points.x[:, dropout] == 0.25).all()


def test_maximising_and_retracted_results() -> None:
    study = bough.Study(SPACE, direction="maximize", seed=0)
    configs = SPACE.sample(6, 0)
    study.add_many([(config, float(i)) for i, config in enumerate(configs)])
    study.retract(5, "the machine was busy")
    found = source_of(study, SPACE)
    assert found.y.tolist() == [-0.0, -1.0, -2.0, -3.0, -4.0]
    assert SPACE.decode(found.points) == configs[:5]


def test_results_below_the_highest_fidelity_are_left_out() -> None:
    x = bough.Float(0, 1)
    study = bough.Study(bough.Space({"x": x, "epochs": bough.Int(1, 9, fidelity=True)}), seed=0)
    for epochs in (1, 3, 9):
        study.add_many([({"x": i / 10, "epochs": epochs}, i + 1 / epochs) for i in range(4)])
    found = source_of(study, bough.Space({"x": x}))
    assert found.y.tolist() == [1 / 9, 1 + 1 / 9, 2 + 1 / 9, 3 + 1 / 9]


def test_parameters_are_matched_by_path_then_by_name(earlier: bough.Study) -> None:
    """C of svm is 0 to 0.5 here, so some results do not fit; w is the same; depth is new; ridge is gone."""
    space = bough.Space(
        {
            "kind": bough.Categorical(["a", "b"]),
            "model": bough.Choice({"svm": {"C": bough.Float(0, 0.5)}, "tree": {"depth": bough.Int(1, 9)}}),
            "w": bough.Float(0, 2),
        }
    )
    found = source_of(earlier, space)
    expected = [
        (trial.config, trial.value)
        for trial in earlier.trials
        if trial.config["model"] == "svm" and trial.config["C"] <= 0.5
    ]
    assert len(found.y) == len(expected) >= 3
    for row, (config, told) in enumerate(expected):
        mapped = space.decode(found.points.take([row]))[0]
        assert mapped["w"] == pytest.approx(config["w"])
        assert mapped["C"] == pytest.approx(config["C"])
        assert found.y[row] == told
    assert len({config["kind"] for config in space.decode(found.points)}) == 2  # filled at random


def test_a_name_that_two_parameters_have_is_not_guessed() -> None:
    flat = bough.Space({"C": bough.Float(0, 1), "w": bough.Float(0, 1)})
    study = bough.Study(flat, seed=0)
    study.add_many([(config, 0.0) for config in flat.sample(5, 0)])
    found = source_of(study, SPACE)
    mapped = SPACE.decode(found.points)
    assert np.allclose([config["w"] for config in mapped], [trial.config["w"] for trial in study.trials])
    assert not np.allclose([config["C"] for config in mapped], [trial.config["C"] for trial in study.trials])


def _coarse() -> bough.Study:
    """A study with many results, of which one is at the highest fidelity."""
    space = bough.Space({"x": bough.Float(0, 1), "epochs": bough.Int(1, 9, fidelity=True)})
    study = bough.Study(space, name="coarse")
    study.add_many([({"x": k / 10, "epochs": 9 if k == 5 else 1}, 1.0) for k in range(10)])
    return study


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda _: ["nobody"], "neither a file nor a study 'nobody'"),
        (lambda _: [3], "takes studies, files and names of studies, not 3"),
        (lambda _: 3, "takes studies, files and names of studies, not 3"),
        (lambda e: [e] * 9, "at most 8 studies, not 9"),
        (lambda _: [bough.Study(SPACE, name="new")], "needs at least 3 results; study 'new' has no results$"),
        (
            lambda _: [_coarse()],
            r"study 'coarse' has only 1 of them at epochs=9, the highest fidelity$",
        ),
        (
            lambda e: [_widened(e)],
            "study 'earlier' has no results in its present space, and 16 in earlier ones",
        ),
        (
            lambda _: [
                bough.Study(bough.Space({"q": bough.Float(0, 1)}), name="far", method="random").run(
                    lambda config: 1.0, trials=3, progress=False
                )
            ],
            "study 'far' shares no parameter",
        ),
        (
            lambda _: [bough.Study(SPACE, name="two", objectives=["a", "b"])],
            "study 'two' has several objectives or constraints",
        ),
    ],
)
def test_what_cannot_be_learned_from_is_named_and_nothing_is_stored(
    make: Any, message: str, earlier: bough.Study
) -> None:
    storage = MemoryStorage()
    with pytest.raises(StudyError, match=message):
        bough.Study(SPACE, name="s", storage=storage, learn_from=make(earlier))
    assert storage.find() == []


@pytest.mark.parametrize("method", ["random", "tpe", "forest", "gp"])
def test_methods_that_cannot_learn_say_so(method: str, earlier: bough.Study) -> None:
    with pytest.raises(MethodError, match=f"method '{method}' cannot learn from earlier studies"):
        bough.Study(SPACE, method=method, learn_from=[earlier])


def test_options_that_keep_a_method_from_learning_are_named(earlier: bough.Study) -> None:
    with pytest.raises(MethodError, match="method 'auto' with acquisition='lcb' cannot learn"):
        bough.Study(SPACE, method=bough.method("auto", acquisition="lcb"), learn_from=[earlier])


@pytest.mark.parametrize("goals", [{"objectives": ["error", "size"]}, {"constraints": ["memory <= 3"]}])
def test_goals_that_cannot_learn_are_named(goals: Any, earlier: bough.Study) -> None:
    with pytest.raises(MethodError, match="a study with several objectives or constraints cannot learn"):
        bough.Study(SPACE, learn_from=[earlier], **goals)


def test_none_is_no_earlier_study() -> None:
    study = bough.Study(SPACE, learn_from=None)  # type: ignore[arg-type]
    assert study.amendments == []


@pytest.mark.parametrize("fix", [{}, {"w": 0.6}])
def test_what_was_learned_is_kept_in_a_changed_space(earlier: bough.Study, fix: dict[str, float]) -> None:
    study = bough.Study(SPACE, seed=1, learn_from=[earlier])
    study.run(value, trials=2, progress=False)
    study.change(bough.Space({"model": SPACE.declared["model"], "v": bough.Float(0, 1)}), fix=fix)
    with study._current() as view:
        model, history = study._model_space(view), study._history(view)
    assert model.space != study.space
    (source,) = history.sources
    assert len(source.points) == len(earlier.trials)
    assert model.space.legal(source.points).all()
    assert {config["model"] for config in model.decode(source.points)} == {"svm", "ridge"}


def test_an_objective_with_a_name_teaches_as_one_without() -> None:
    named = bough.Study(SPACE, objectives={"score": "maximize"}, method="lhs", seed=0)
    plain = bough.Study(SPACE, direction="maximize", method="lhs", seed=0)
    for study in (named, plain):
        for _ in range(4):
            trial = study.ask()
            study.tell(trial, -value(trial.config))
    (one, other) = (source_of(study, SPACE) for study in (named, plain))
    np.testing.assert_array_equal(one.y, other.y)
    limited = bough.Study(SPACE, objectives=["score"], constraints=["memory <= 1"], method="random")
    with pytest.raises(StudyError, match="has several objectives or constraints"):
        bough.Study(SPACE, learn_from=[limited])


def test_a_study_reopens_without_the_file_it_learned_from(earlier: bough.Study, tmp_path: Path) -> None:
    export_study(earlier, tmp_path / "runs.jsonl")

    def opened(*learn_from: Any) -> bough.Study:
        url = f"sqlite:///{tmp_path}/s.db"
        return bough.Study(earlier.space, name="new", storage=url, seed=0, learn_from=learn_from)

    first = opened(tmp_path / "runs.jsonl").ask().config
    (tmp_path / "runs.jsonl").unlink()
    again = opened(tmp_path / "runs.jsonl")
    assert len(again._history(again._view).sources) == 1
    assert opened("elsewhere/runs.jsonl").trial(0).config == first
    with pytest.raises(StudyError, match=r"learns from '.*', not from 'other\.jsonl'"):
        opened("other.jsonl")
    export_study(again, tmp_path / "new.jsonl")
    assert import_study(tmp_path / "new.jsonl", MemoryStorage()).amendments == again.amendments


def test_results_too_large_to_standardise_are_left_out(tmp_path: Path) -> None:
    space = bough.Space({"x": bough.Float(0, 1)})
    huge = bough.Study(space, name="huge")
    huge.add_many([({"x": i / 10}, 1e301 * i) for i in range(1, 6)])
    with pytest.raises(StudyError, match="at least 3 results; study 'huge' has no results"):
        bough.Study(space, learn_from=huge)
    huge.add_many([({"x": i / 10}, float(i)) for i in range(6, 9)])
    study = bough.Study(space, learn_from=huge)
    export_study(study, tmp_path / "s.jsonl")
    again = import_study(tmp_path / "s.jsonl", MemoryStorage())
    assert [len(each.body["results"]) for each in again.amendments] == [3]
