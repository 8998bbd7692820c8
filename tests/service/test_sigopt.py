"""SigOpt's published client, unmodified, against our service."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from tests.service.running import Service, service

from bough.service.sigopt.definition import as_space, checked

sigopt = pytest.importorskip("sigopt")

EXPERIMENT = {
    "name": "conditional",
    "observation_budget": 30,
    "metrics": [{"name": "loss", "objective": "minimize", "strategy": "optimize"}],
    "conditionals": [{"name": "model", "values": ["svm", "forest"]}],
    "parameters": [
        {
            "name": "C", "type": "double", "bounds": {"min": 1e-3, "max": 1e3}, "transformation": "log",
            "conditions": {"model": ["svm"]},
        },
        {"name": "depth", "type": "int", "bounds": {"min": 1, "max": 20}, "conditions": {"model": "forest"}},
        {"name": "scale", "type": "categorical", "categorical_values": ["none", {"name": "standard"}]},
    ],
}  # fmt: skip


def loss(assignments: dict) -> float:
    """The best branch is svm, near C = 10."""
    import math

    if assignments["model"] == "svm":
        return abs(math.log10(assignments["C"]) - 1) + (assignments["scale"] == "none") * 0.1
    return 3 + assignments["depth"] / 20


@pytest.fixture(scope="module")
def running() -> Iterator[Service]:
    with service() as served:
        yield served


@pytest.fixture
def connection(running: Service, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Pointed at our service by its environment variables, as its documentation says."""
    monkeypatch.setenv("SIGOPT_API_URL", running.url)
    monkeypatch.setenv("SIGOPT_API_TOKEN", running.write)
    monkeypatch.setattr("sigopt.ratelimit._FailedStatusRateLimit.increment_and_check", lambda self: None)
    warnings.simplefilter("ignore", RuntimeWarning)
    return sigopt.Connection()


@pytest.fixture
def experiment(connection):
    return connection.experiments().create(**EXPERIMENT)


def refused(call, words: str, status: int = 400) -> None:
    with pytest.raises(sigopt.exception.ApiException) as caught:
        call()
    assert caught.value.status_code == status
    assert words in caught.value.message


def test_an_experiment_comes_back_as_it_was_described(connection, experiment) -> None:
    found = connection.experiments(experiment.id).fetch()
    assert (found.name, found.observation_budget, found.state, found.type) == (
        "conditional",
        30,
        "active",
        "offline",
    )
    assert found.conditionals[0].values == ["svm", "forest"]
    C, depth, scale = found.parameters
    assert dict(C.conditions) == {"model": ["svm"]} and C.transformation == "log" and C.bounds.min == 1e-3
    assert dict(depth.conditions) == {"model": ["forest"]}
    assert [(value.name, value.enum_index) for value in scale.categorical_values] == [
        ("none", 1),
        ("standard", 2),
    ]
    assert found.progress.observation_count == 0
    assert experiment.id in {each.id for each in connection.experiments().fetch().iterate_pages()}


def test_the_core_loop_finds_the_best_branch(connection, experiment) -> None:
    remote = connection.experiments(experiment.id)
    for _ in range(30):
        suggestion = remote.suggestions().create()
        assignments = dict(suggestion.assignments)
        assert set(assignments) == {"scale", "model", "C" if assignments["model"] == "svm" else "depth"}
        observation = remote.observations().create(
            suggestion=suggestion.id,
            values=[{"name": "loss", "value": loss(assignments), "value_stddev": 0.01}],
        )
        assert observation.suggestion == suggestion.id and not observation.failed
    progress = connection.experiments(experiment.id).fetch().progress
    assert progress.observation_count == 30
    [best] = remote.best_assignments().fetch().iterate_pages()
    assert best.assignments["model"] == "svm"
    assert best.value == min(each.value for each in remote.observations().fetch().iterate_pages())
    assert best.value < 0.6
    assert remote.stopping_criteria().fetch().should_stop


def test_lists_are_paged_both_ways(connection, experiment) -> None:
    remote = connection.experiments(experiment.id)
    rows = [
        {
            "assignments": {"model": "forest", "depth": n, "scale": "none"},
            "values": [{"name": "loss", "value": n}],
        }
        for n in range(1, 11)
    ]
    assert remote.observations().create_batch(observations=rows).count == 10
    newest_first = [each.value for each in remote.observations().fetch(limit=3).iterate_pages()]
    assert newest_first == list(range(10, 0, -1))
    page = remote.observations().fetch(limit=4, after=0)
    assert [each.value for each in page.data] == [2, 3, 4, 5]
    assert remote.observations().create_batch(observations=rows, dry_run=True).count == 0
    assert connection.experiments(experiment.id).fetch().progress.observation_count == 10


def test_failed_observations_count_but_have_no_value(connection, experiment) -> None:
    remote = connection.experiments(experiment.id)
    suggestion = remote.suggestions().create()
    assert remote.observations().create(suggestion=suggestion.id, failed=True).failed
    own = {"model": "forest", "depth": 3, "scale": "none"}
    assert (
        remote.observations().create(assignments=own, failed=True, metadata={"host": "a"}).metadata["host"]
        == "a"
    )
    assert connection.experiments(experiment.id).fetch().progress.observation_count == 2
    assert remote.best_assignments().fetch().count == 0


def test_queued_and_own_suggestions(connection, experiment) -> None:
    remote = connection.experiments(experiment.id)
    own = {"model": "svm", "C": 2.5, "scale": "standard"}
    queued = remote.queued_suggestions().create(assignments=own)
    dropped = remote.queued_suggestions().create(assignments={**own, "C": 5.0})
    assert [dict(each.assignments) for each in remote.queued_suggestions().fetch().iterate_pages()][-1] == own
    remote.queued_suggestions(dropped.id).delete()
    assert [each.id for each in remote.queued_suggestions().fetch().iterate_pages()] == [queued.id]
    assert dict(remote.suggestions().create().assignments) == own
    chosen = remote.suggestions().create(assignments={**own, "C": 7.0}, metadata={"by": "hand"})
    assert dict(chosen.assignments)["C"] == 7.0
    assert remote.suggestions(chosen.id).fetch().metadata["by"] == "hand"
    assert len(list(remote.suggestions().fetch(state="open").iterate_pages())) == 2
    remote.suggestions(chosen.id).delete()
    assert len(list(remote.suggestions().fetch(state="open").iterate_pages())) == 1
    assert connection.experiments(experiment.id).fetch().progress.observation_count == 0


GOOD = {"model": "svm", "C": 1.0, "scale": "none"}
VALUES = [{"name": "loss", "value": 1.0}]


@pytest.mark.parametrize(
    ("assignments", "words"),
    [
        ({"C": 1.0, "scale": "none"}, "Missing assignment for conditional model"),
        ({"model": "svm", "scale": "none"}, "Missing assignment for parameter C"),
        ({**GOOD, "depth": 3}, "Do not provide assignment for unsatisfied parameter depth"),
        ({**GOOD, "model": "tree"}, "Invalid value"),
        ({**GOOD, "C": 1e9}, "Invalid value"),
        ({**GOOD, "C": "much"}, "Invalid value"),
        ({**GOOD, "scale": "other"}, "Invalid value"),
        ({**GOOD, "extra": 1}, "there is no parameter extra"),
    ],
)
def test_bad_assignments_get_the_documented_messages(
    connection, experiment, assignments: dict, words: str
) -> None:
    remote = connection.experiments(experiment.id)
    refused(lambda: remote.observations().create(assignments=assignments, values=VALUES), words)
    refused(lambda: remote.queued_suggestions().create(assignments=assignments), words)


def test_bad_observations_are_refused(connection, experiment) -> None:
    observations = connection.experiments(experiment.id).observations()
    refused(lambda: observations.create(assignments=GOOD), "Provide values")
    refused(lambda: observations.create(assignments=GOOD, values=VALUES, failed=True), "Provide values")
    refused(lambda: observations.create(values=VALUES), "exactly one of")
    refused(lambda: observations.create(suggestion="99", values=VALUES), "No suggestion 99", 404)
    refused(lambda: observations.create(assignments=GOOD, values=[{"name": "x", "value": 1}]), "not a metric")
    refused(lambda: observations.create(assignments=GOOD, values=VALUES, bogus=1), "Unknown key 'bogus'")
    told = observations.create(
        suggestion=connection.experiments(experiment.id).suggestions().create().id, values=VALUES
    )
    again = [{"name": "loss", "value": 2.0}]
    refused(lambda: observations.create(suggestion=told.id, values=again), "another observation already")


def changed(**parts) -> dict:
    return {**EXPERIMENT, **parts}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (changed(linear_constraints=[{"type": "less_than"}]), "does not support linear constraints"),
        (changed(tasks=[{"name": "cheap", "cost": 0.1}]), "does not support tasks"),
        (changed(num_solutions=2), "more than one solution"),
        (changed(bogus=1), "Unknown key 'bogus'"),
        (changed(parameters=[]), "at least one"),
        (changed(conditionals=[{"name": "model", "values": ["svm"]}]), "at least 2 distinct values"),
        (changed(parameters=EXPERIMENT["parameters"][:1]), "satisfies each conditional value"),
        (
            changed(parameters=[{"name": "x", "type": "double", "bounds": {"min": 1, "max": 0}}]),
            "greater than min",
        ),
        (changed(parameters=[{"name": "x", "type": "double"}]), "needs bounds"),
        (changed(parameters=EXPERIMENT["parameters"] + EXPERIMENT["parameters"][2:]), "Duplicate name"),
        (
            changed(parameters=[{**EXPERIMENT["parameters"][2], "conditions": {"nope": "1"}}]),
            "no conditional 'nope'",
        ),
        (
            changed(
                parameters=[
                    {
                        "name": "x", "type": "double", "bounds": {"min": -1, "max": 1},
                        "transformation": "log",
                    }
                ]
            ),
            "positive min",
        ),
        (
            changed(
                parameters=[
                    {
                        "name": "x", "type": "double", "bounds": {"min": 0, "max": 1},
                        "prior": {"name": "normal", "mean": 0, "scale": 0},
                    }
                ]
            ),
            "must be above 0",
        ),
        (
            changed(
                parameters=[
                    {
                        "name": "x", "type": "int", "bounds": {"min": 0, "max": 9},
                        "prior": {"name": "beta", "shape_a": 2, "shape_b": 2},
                    }
                ]
            ),
            "a prior needs a double",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_a_clear_400(connection, body: dict, words: str) -> None:
    refused(lambda: connection.experiments().create(**body), words)


def test_priors_become_beliefs(connection) -> None:
    priors = {
        "x": {"name": "normal", "mean": 0.5, "scale": 0.1},
        "y": {"name": "beta", "shape_a": 2, "shape_b": 2},
    }
    bounds = {"min": 0, "max": 1}
    parameters = [{"name": n, "type": "double", "bounds": bounds, "prior": p} for n, p in priors.items()]
    made = connection.experiments().create(**changed(parameters=parameters))
    assert {each.name: each.prior.name for each in made.parameters} == {"x": "normal", "y": "beta"}
    space = as_space(checked(changed(parameters=parameters)))
    assert space["x"].domain.likely == pytest.approx((0.5 - 0.12816, 0.5 + 0.12816), abs=1e-4)
    assert space["y"].domain.likely == pytest.approx((0.19580, 0.80420), abs=1e-4)  # 3u² - 2u³ = 0.1


def test_grids_defaults_and_stored_metrics(connection) -> None:
    made = connection.experiments().create(
        name="grid",
        type="grid",
        metrics=[{"name": "gain"}, {"name": "seconds", "strategy": "store"}],
        parameters=[
            {"name": "a", "type": "double", "grid": [0.1, 1.0, 10.0]},
            {"name": "b", "type": "int", "grid": [1, 2]},
        ],
    )
    remote = connection.experiments(made.id)
    seen = set()
    for _ in range(6):
        suggestion = remote.suggestions().create()
        seen.add(tuple(sorted(dict(suggestion.assignments).items())))
        values = [{"name": "gain", "value": suggestion.assignments["a"]}, {"name": "seconds", "value": 2.0}]
        told = remote.observations().create(suggestion=suggestion.id, values=values)
        assert {each.name: each.value for each in told.values}["seconds"] == 2.0
    assert len(seen) == 6
    assert next(remote.best_assignments().fetch().iterate_pages()).value == 10.0


def test_experiments_are_changed_and_archived(connection, experiment) -> None:
    remote = connection.experiments(experiment.id)
    assert remote.update(name="renamed", observation_budget=5, metadata={"a": 1}).name == "renamed"
    refused(lambda: remote.update(parameters=[]), "cannot change 'parameters'")
    remote.delete()
    assert remote.fetch().state == "deleted"
    assert experiment.id not in {each.id for each in connection.experiments().fetch().iterate_pages()}
    refused(remote.suggestions().create, "is deleted")
    refused(
        lambda: remote.queued_suggestions().create(
            assignments={"model": "forest", "depth": 2, "scale": "none"}
        ),
        "is deleted",
    )
    remote.update(state="active")
    assert remote.suggestions().create().state == "open"
    refused(lambda: connection.experiments("nope").fetch(), "No experiment", 404)


def test_a_wrong_token_is_refused(running: Service) -> None:
    stranger = sigopt.Connection(client_token="wrong")
    stranger.set_api_url(running.url)
    refused(lambda: stranger.experiments().fetch(), "unknown, or was revoked", 401)


RUNS = """
    import math, sigopt
    sigopt.create_project()
    experiment = sigopt.create_experiment(
        name="runs", budget=30,
        metrics=[{"name": "loss", "objective": "minimize", "strategy": "optimize"}],
        conditionals=[{"name": "model", "values": ["svm", "forest"]}],
        parameters=[
            {"name": "C", "type": "double", "bounds": {"min": 1e-3, "max": 1e3}, "transformation": "log",
             "conditions": {"model": ["svm"]}},
            {"name": "depth", "type": "int", "bounds": {"min": 1, "max": 20},
             "conditions": {"model": ["forest"]}},
        ],
    )
    for number, run in enumerate(experiment.loop()):
        with run:
            if number == 3:
                run.log_failure()
                continue
            run.log_metadata("number", number)
            run.log_checkpoint({"loss": 9.0})
            svm = run.params.model == "svm"
            loss = abs(math.log10(run.params.C) - 1) if svm else 3 + run.params.depth
            run.log_metric("loss", loss, stddev=0.01)
    runs = list(experiment.get_runs())
    assert len(runs) == 30, len(runs)
    assert sum(run.state == "failed" for run in runs) == 1
    assert {run.checkpoint_count for run in runs} == {0, 1}
    best, = experiment.get_best_runs()
    assert best.assignments["model"] == "svm" and best.values["loss"].value < 0.6, best
    assert experiment.is_finished()
    experiment.archive()
    try:
        experiment.create_run()
        raise AssertionError("an archived experiment gave a run")
    except sigopt.exception.ApiException as error:
        assert "is deleted" in error.message, error
    with sigopt.create_run(name="alone") as alone:
        alone.params.rate = 0.1
        alone.log_metric("loss", 1.0)
    print("done", experiment.id)
"""


def test_the_runs_flow_of_the_ai_module(running: Service, tmp_path: Path) -> None:
    """In a process of its own: the client reads its environment when it is imported."""
    environment = {
        "SIGOPT_API_URL": running.url,
        "SIGOPT_API_TOKEN": running.write,
        "SIGOPT_PROJECT": "tests",
        "SIGOPT_HOME": str(tmp_path),
        "PATH": "/usr/bin:/bin",
    }
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(RUNS)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("done")


def test_health_answers_while_a_suggestion_waits_for_a_locked_database(tmp_path: Path) -> None:
    file = tmp_path / "locked.db"
    with service(f"sqlite:///{file}") as served, served.client(served.write) as client:
        project = client.post("/v1/clients/1/projects", json={"id": "locked"}).status_code
        assert project == 200
        definition = {
            "name": "locked",
            "type": "random",
            "parameters": [{"name": "x", "type": "double", "bounds": {"min": 0, "max": 1}}],
            "metrics": [{"name": "y", "objective": "minimize"}],
        }
        core = client.post("/v1/experiments", json=definition).json()["id"]
        ai = client.post("/v1/clients/1/projects/locked/aiexperiments", json={**definition, "budget": 9})
        waiting = {
            f"/v1/experiments/{core}/suggestions": {"assignments": {"x": 0.5}, "metadata": {"a": "b"}},
            f"/v1/aiexperiments/{ai.json()['id']}/training_runs": {"name": "run"},
        }
        with closing(sqlite3.connect(file, isolation_level=None)) as other, ThreadPoolExecutor(2) as pool:
            other.execute("BEGIN IMMEDIATE")
            replies = [pool.submit(client.post, path, json=body) for path, body in waiting.items()]
            time.sleep(0.5)
            assert client.get("/api/v1/health", timeout=25).status_code == 200
            assert not any(reply.done() for reply in replies)
            other.execute("ROLLBACK")
            assert [reply.result().status_code for reply in replies] == [200, 200]
