"""``bough.connect``: the same as a local study."""

from __future__ import annotations

import pickle

import httpx
import numpy as np
import pytest
from tests.service.running import SPACE, Service

import bough
from bough.errors import ConfigError, ServiceError, StudyError, TrialError
from bough.study import copy_study, export_study, import_study

space = bough.Space.from_json(SPACE)


def objective(config: dict) -> float:
    return {"svm": 0.0, "forest": 1.0, "bayes": 2.0}[config["model"]] + config.get("C", 0.0) / 1e3


@pytest.fixture
def study(served: Service):
    return bough.connect(served.url, served.write, "demo", space=space, method="random", seed=3)


def test_it_proposes_what_a_local_study_proposes(study) -> None:
    local = bough.Study(space, method="random", seed=3)
    study.run(objective, trials=10, progress=False)
    local.run(objective, trials=10, progress=False)
    assert [trial.config for trial in study.trials] == [trial.config for trial in local.trials]
    assert study.best.config == local.best.config and study.best.value == local.best.value
    assert study.status().finished == 10
    assert study.space == space and study.direction == "minimize"


def test_it_learns_from_studies_of_its_service(study, served: Service) -> None:
    study.run(objective, trials=8, progress=False)
    earlier = bough.Study(space, name="demo", method="random", seed=3)
    earlier.run(objective, trials=8, progress=False)
    local = bough.Study(space, name="new", seed=4, learn_from=earlier)
    remote = bough.connect(served.url, served.write, "new", space=space, seed=4, learn_from="demo")
    assert remote.ask().config == local.ask().config
    again = bough.connect(served.url, served.write, "new", space=space, learn_from=["demo"])
    assert [each.body["name"] for each in again.amendments] == ["demo"]
    with pytest.raises(StudyError, match="learns from 'demo', not from 'nobody'"):
        bough.connect(served.url, served.write, "new", space=space, learn_from=["nobody"])
    for given, message in (
        (["nobody"], "no study 'nobody'"),
        ([__file__], "no study"),  # no file of the machine that serves
        ([study], "learn_from takes names of studies of this service, not"),
        (3, "learn_from takes names of studies of this service, not 3"),
    ):
        with pytest.raises(StudyError, match=message):
            bough.connect(served.url, served.write, "other", space=space, learn_from=given)
    with pytest.raises(StudyError, match="no study 'other'"):
        bough.connect(served.url, served.write, "other")
    with served.client(served.write) as client:
        assert client.delete("/api/v1/studies/demo").status_code == 204
    without = bough.connect(served.url, served.write, "new", space=space, learn_from=["demo"])
    assert without.ask().number == 1


def test_nothing_is_written_into_another_study_that_got_the_name(served: Service, study) -> None:
    evaluated = []

    def replaced_meanwhile(config: dict) -> float:
        evaluated.append(config)
        if len(evaluated) > 1:
            return 0.0
        with served.client(served.write) as client:
            assert client.delete("/api/v1/studies/demo").status_code == 204
        bough.connect(served.url, served.write, "demo", space=space, method="random", seed=4).ask()
        return 0.0

    with pytest.raises(StudyError, match="study 'demo' was deleted and created again: connect"):
        study.run(replaced_meanwhile, trials=3, progress=False)
    assert len(evaluated) == 1
    other = bough.connect(served.url, served.write, "demo")
    assert [(trial.state, trial.value) for trial in other.trials] == [("running", None)]
    for act in (
        lambda: study.renew(other.trials, None),
        lambda: study.note("a remark"),
        lambda: study.space,
        lambda: study.trials,
    ):
        with pytest.raises(StudyError, match="created again"):
            act()
    assert other.trials[0].state == "running" and not other.amendments


def test_an_older_client_that_names_no_id_still_works(api: httpx.Client) -> None:
    assert api.post("/studies/demo/ask").status_code == 200
    meant = {"Bough-Study": str(api.get("/studies/demo").json()["id"])}
    assert api.post("/studies/demo/ask", headers=meant).status_code == 200


def test_ask_tell_fail_add_and_enqueue(study) -> None:
    config = {"model": "bayes", "scale": "none"}
    study.enqueue(config)
    first = study.ask(lease=60)
    assert first.config == config and first.expires is not None
    assert study.tell(first, 1.0, noise=0.5, cost=2.0).noise == 0.5
    second, third = study.ask(2)
    assert study.fail(second, "broken", learn=False).error == "broken"
    assert [trial.learn for trial in study.trials] == [True, False, True]
    assert study.tell(third.number, float("nan")).state == "failed"
    study.add(config, 7, noise=0.1)
    assert [trial.state for trial in study.trials] == ["done", "failed", "failed", "done"]
    frame = study.frame()
    assert len(frame) == 4


def test_results_carry_the_same_as_those_of_a_local_study(study) -> None:
    local = bough.Study(space, method="random", seed=3)
    for each in (study, local):
        first = each.ask(worker="me")
        assert first.worker == "me"
        each.tell(first, {"value": 1.0, "memory": 512, "host": "a"}, notes={"run": [1, 2]})
        each.tell(each.ask(), {"value": float("nan"), "memory": 3})
        each.add({"model": "bayes", "scale": "none"}, {"value": 2, "cost": 1.5, "memory": 4, "host": "b"})
    fields = ("number", "config", "state", "value", "noise", "cost", "error", "measures", "notes")
    for theirs, ours in zip(study.trials, local.trials, strict=True):
        assert [getattr(theirs, name) for name in fields] == [getattr(ours, name) for name in fields]
    assert study.trial(1) == study.trials[1]
    with pytest.raises(TrialError, match="no trial 9"):
        study.trial(9)


def test_numbers_of_numpy_and_results_that_are_none_are_stored_as_by_a_local_study(study) -> None:
    local = bough.Study(space, method="random", seed=3)
    config = {"model": "forest", "depth": np.int64(3), "scale": np.str_("none")}
    for each in (study, local):
        each.enqueue({"model": "svm", "C": np.float32(0.5), "scale": "none"})
        each.run(lambda _: 1.0, trials=np.int64(2), progress=False)
        each.add(config, np.float32(2), noise=np.float64(0.5))
        each.add_many([(config, {"value": float("nan"), "memory": 3, "host": "a"}), (config, 7)])
        each.correct(0, np.float32(0.25), "a slip")
        each.correct(1, {"value": np.int64(4), "memory": np.float32(8)}, "another")
    fields = (
        "number",
        "config",
        "state",
        "value",
        "noise",
        "error",
        "measures",
        "notes",
        "learn",
        "corrected",
    )
    for theirs, ours in zip(study.trials, local.trials, strict=True):
        assert [getattr(theirs, name) for name in fields] == [getattr(ours, name) for name in fields]
    with pytest.raises(ServiceError, match=r"^this cannot be sent as JSON: .* \(object\) is not JSON data$"):
        study.enqueue({"model": object()})


def test_an_added_result_without_a_measure_fails_as_in_a_local_study(served: Service) -> None:
    goals = {"objectives": ["a", "b"], "method": "random", "seed": 3}
    remote = bough.connect(served.url, served.write, "several", space=space, **goals)
    local = bough.Study(space, **goals)
    added = [
        each.add({"model": "bayes", "scale": "none"}, {"a": 1.0, "b": float("inf"), "host": "a"})
        for each in (remote, local)
    ]
    assert len({(t.state, t.error, str(t.measures), str(t.notes)) for t in added}) == 1
    assert added[0].state == "failed"


def test_a_told_trial_has_the_curve_that_it_reported(study) -> None:
    first, second = study.ask(2)
    study.report(first, 2.0, 1)
    assert study.tell(first, 1.0) == study.trial(first.number)
    study.report(second, 3.0, 4)
    assert study.fail(second, "broken").curve == ((4, 3.0),)


def test_options_of_a_new_study_need_its_space(served: Service, study) -> None:
    for option in ({"method": "tpe"}, {"seed": 4}, {"objectives": ["a"]}, {"learn_from": ["other"]}):
        with pytest.raises(StudyError, match="are for a new study: pass space="):
            bough.connect(served.url, served.write, "demo", **option)
    with pytest.raises(TypeError, match="'study_name': did you mean 'name'"):
        bough.connect(served.url, served.write, study_name="demo")
    with pytest.raises(TrialError, match="named by its number or a Trial, not '0'"):
        study.explain("0")


def test_a_method_may_have_options(served: Service) -> None:
    chosen = bough.method("tpe", quantile=0.3)
    study = bough.connect(served.url, served.write, "chosen", space=space, method=chosen)
    found = bough.connect(served.url, served.write, "chosen", space=space, method=chosen)
    assert (study.method, found.seed) == (chosen, study.seed)
    with pytest.raises(StudyError, match="method is"):
        bough.connect(served.url, served.write, "chosen", space=space, method="random")


def test_a_study_without_results_has_no_best(study) -> None:
    with pytest.raises(StudyError, match="no trial with a value yet"):
        _ = study.best


def test_a_trial_is_explained_as_by_a_local_study(served: Service) -> None:
    local = bough.Study(space, method="gp", seed=0)
    remote = bough.connect(served.url, served.write, "explained", space=space, method="gp", seed=0)
    for study in (local, remote):
        for n, config in enumerate(space.sample(12, np.random.default_rng(0))):
            study.add(config, n % 5)
        study.ask()
    assert remote.trials[12].config == local.trials[12].config
    theirs, ours = remote.explain(12), local.explain(12)
    assert theirs["reason"] == ours["reason"] and theirs["mean"] == pytest.approx(ours["mean"])
    with pytest.raises(TrialError, match="no trial 99"):
        remote.explain(99)
    branch = {"model": "svm"}
    told, known = remote.explain(branch=branch), local.explain(branch=branch)
    assert told.pop("branch") == known.pop("branch") == branch
    assert told == pytest.approx(known)
    assert [each["branch"] for each in remote.explain()["branches"]] == [
        each["branch"] for each in local.explain()["branches"]
    ]
    with pytest.raises(ConfigError, match="no branch has model='x'"):
        remote.explain(branch={"model": "x"})
    with pytest.raises(TrialError, match="not both"):
        remote.explain(1, branch=branch)


def test_a_served_study_predicts_and_is_carried_away_like_a_local_one(served: Service, tmp_path) -> None:
    local = bough.Study(space, method="gp", seed=0, name="carried", storage=f"sqlite:///{tmp_path}/a.db")
    remote = bough.connect(served.url, served.write, "carried", space=space, method="gp", seed=0)
    configs = space.sample(8, np.random.default_rng(0))
    for study in (local, remote):
        study.add_many([(config, n % 5) for n, config in enumerate(configs)])
    reader = bough.connect(served.url, served.read, "carried")
    assert reader.has_model
    for theirs, ours in zip(reader.predict(configs), local.predict(configs), strict=True):
        np.testing.assert_allclose(theirs, ours)
    assert (remote.method, remote.record.space) == (local.method, local.record.space)
    export_study(remote, tmp_path / "carried.jsonl")
    copied = copy_study(remote, "copy", f"sqlite:///{tmp_path}/b.db")
    imported = import_study(tmp_path / "carried.jsonl", f"sqlite:///{tmp_path}/c.db")
    for twin in (copied, imported):
        assert [(t.config, t.value) for t in twin.trials] == [(t.config, t.value) for t in local.trials]
        assert (twin.seed, twin.method, twin.space) == (local.seed, local.method, space)
    random = bough.connect(served.url, served.write, "blind", space=space, method="random")
    assert not random.has_model
    with pytest.raises(StudyError, match="cannot predict"):
        random.predict(configs)


def test_figures_take_a_served_study(study) -> None:
    study.run(objective, trials=5, progress=False)
    assert bough.plot.history(study).data


def test_it_can_be_sent_to_another_process(study) -> None:
    twin = pickle.loads(pickle.dumps(study))  # noqa: S301 - our own object, in this process
    assert twin.tell(twin.ask(), 1.0).state == "done"


def test_beliefs_are_those_of_a_local_study(served: Service) -> None:
    remote = bough.connect(served.url, served.write, "believed", space=space, seed=3)
    local = bough.Study(space, seed=3)
    for each in (remote, local):
        each.believe({"model": {"svm": 3}, "C": (1.0, 10.0)})
    assert remote.ask().config == local.ask().config
    assert remote.explain(0) == local.explain(0)
    with pytest.raises(StudyError, match="the space has no parameter 'modle'; did you mean 'model'"):
        remote.believe({"modle": ["svm"]})
    remote.believe(None)
