"""REST: what pages read of a study: lists of trials, branches, figures, exports."""

from __future__ import annotations

import json

import httpx
import pytest
from tests.service.running import Service

import bough
from bough.service.studies import OpenStudies
from bough.storage import StudyRecord, open_storage


def ask(api: httpx.Client, **body: object) -> list[dict]:
    reply = api.post("/studies/demo/ask", json=body)
    assert reply.status_code == 200, reply.text
    return reply.json()["trials"]


def test_trials_are_paged_searched_and_narrowed_to_a_branch(api: httpx.Client) -> None:
    for trial in ask(api, n=40):
        value = {"svm": 1.0, "forest": 2.0, "bayes": 3.0}[trial["config"]["model"]]
        api.post(
            f"/studies/demo/trials/{trial['number']}/tell", json={"value": value + trial["number"] / 100}
        )
    everything = api.get("/studies/demo/trials", params={"limit": 1000}).json()["trials"]
    assert [each["number"] for each in everything] == list(range(40))

    page = api.get("/studies/demo/trials", params={"offset": 30, "limit": 5, "order": "latest"}).json()
    assert (page["total"], [each["number"] for each in page["trials"]]) == (40, [9, 8, 7, 6, 5])
    svm = [each for each in everything if each["config"]["model"] == "svm"]
    narrowed = api.get("/studies/demo/trials", params={"branch": json.dumps({"model": "svm"})}).json()
    assert narrowed["trials"] == svm
    best = api.get("/studies/demo/trials", params={"order": "best", "limit": 3}).json()["trials"]
    assert best == sorted(everything, key=lambda each: each["value"])[:3]
    found = api.get("/studies/demo/trials", params={"search": "MODEL=svm scale=none"}).json()["trials"]
    assert found == [each for each in svm if each["config"]["scale"] == "none"]

    branches = {each["label"]: each for each in api.get("/studies/demo/branches").json()}
    assert branches["svm"]["trials"] == len(svm)
    assert branches["svm"]["best"] == min(each["value"] for each in svm)
    unknown = api.get("/studies/demo/trials", params={"branch": '{"model": "nope"}'})
    assert unknown.status_code == 400
    assert "svm, forest, bayes" in unknown.json()["error"]["message"]


def test_a_branch_shows_a_queued_trial_as_running_once_it_is_handed_out(api: httpx.Client) -> None:
    api.post("/studies/demo/enqueue", json={"config": {"model": "bayes", "scale": "none"}})

    def states() -> list[str]:
        narrowed = api.get("/studies/demo/trials", params={"branch": '{"model": "bayes"}'}).json()
        return [each["state"] for each in narrowed["trials"]]

    assert states() == ["queued"]
    assert ask(api)[0]["number"] == 0
    assert states() == ["running"]


FIGURES = ["tree", "history", "branches", "parallel", "importance", "slice", "contour", "timeline"]


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("trials", [0, 12])
def test_figures_are_drawn_by_bough_plot(api: httpx.Client, figure: str, trials: int) -> None:
    for trial in ask(api, n=trials) if trials else []:
        api.post(f"/studies/demo/trials/{trial['number']}/tell", json={"value": trial["number"] % 5})
    reply = api.get(f"/studies/demo/figures/{figure}", params={"dark": True})
    drawn = reply.json()
    assert drawn["layout"]["template"]["layout"]["paper_bgcolor"] == "#14191f"
    if trials and figure == "importance":  # these values are noise
        assert "withheld" in drawn["layout"]["annotations"][0]["text"]
    elif trials and figure != "contour":  # no branch of this space has the two numbers that a contour needs
        assert drawn["data"]
    # WebGL traces compile code at run time, which the content policy of the pages does not allow.
    assert not [trace["type"] for trace in drawn["data"] if trace["type"].endswith("gl")]
    assert "parcoords" not in {trace["type"] for trace in drawn["data"]}
    again = api.get(
        f"/studies/demo/figures/{figure}",
        params={"dark": True},
        headers={"If-None-Match": reply.headers["etag"]},
    )
    assert again.status_code == 304


def test_a_renewed_lease_leaves_a_figure_as_it_was(api: httpx.Client) -> None:
    trial = ask(api, lease=60)[0]

    def tag() -> str:
        return api.get("/studies/demo/figures/history").headers["etag"]

    before = tag()
    held = [{"number": trial["number"], "attempt": trial["attempt"]}]
    assert api.post("/studies/demo/renew", json={"trials": held, "lease": 90}).status_code == 204
    assert tag() == before
    api.post("/studies/demo/trials/0/tell", json={"value": 1.0})
    assert tag() != before


def test_the_version_changes_with_everything_but_renewed_leases(storage_url: str | None) -> None:
    storage = open_storage(storage_url)
    space = bough.Space({"x": bough.Float(0, 1)})
    study = bough.Study(space, name="s", storage=storage, method="random", seed=0)
    worker, opened = bough.open_study("s", storage), OpenStudies(storage)
    seen = [opened.version(study)]

    def is_new() -> bool:
        seen.append(opened.version(study))
        assert seen[-1] == opened.version(study)
        return seen[-1] not in seen[:-1]

    first, second, third = worker.ask(), worker.ask(), worker.ask(lease=60)
    assert is_new()
    worker.renew([third], 90)
    assert not is_new()
    worker.tell(first.number, 1.0)
    assert is_new()
    worker.tell(second.number, 2.0)  # PostgreSQL stores a result before the study has a revision for it
    assert is_new()
    worker.report(third, 1.0, 1)
    assert is_new()
    worker.enqueue({"x": 0.5})
    assert is_new()
    worker.retract(0, "a slip")
    assert is_new()
    worker.renew([third], None)
    assert is_new()


def test_figures_take_their_options_and_no_others(api: httpx.Client) -> None:
    for trial in ask(api, n=12):
        api.post(f"/studies/demo/trials/{trial['number']}/tell", json={"value": 1 + trial["number"]})
    log = api.get("/studies/demo/figures/history", params={"log": True}).json()
    assert log["layout"]["yaxis"]["type"] == "log"
    chosen = api.get("/studies/demo/figures/slice", params={"params": ["depth", "C"], "columns": 1}).json()
    titles = [chosen["layout"][axis]["title"]["text"] for axis in ("xaxis", "xaxis2")]
    assert [title.partition("<br>")[0] for title in titles] == ["depth", "C"]
    refused = api.get("/studies/demo/figures/tree", params={"log": True})
    assert refused.status_code == 400 and "'tree' has no option 'log'" in refused.text
    unknown = api.get("/studies/demo/figures/slice", params={"params": ["dept"]})
    assert unknown.status_code == 400 and "did you mean 'depth'" in unknown.json()["error"]["message"]
    assert api.get("/studies/demo/figures/nothing").status_code in (400, 404, 422)


def test_trials_are_sorted_by_a_parameter(api: httpx.Client) -> None:
    asked = ask(api, n=30)
    found = api.get("/studies/demo/trials", params={"by": "depth", "descending": True}).json()["trials"]
    depths = [trial["config"].get("depth") for trial in found]
    having = sorted((t["config"]["depth"] for t in asked if "depth" in t["config"]), reverse=True)
    assert depths == [*having, *[None] * (30 - len(having))]
    assert api.get("/studies/demo/trials", params={"by": "nothing"}).status_code == 400


@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_an_export_of_a_study_that_is_being_deleted_is_a_conflict(
    served: Service, api: httpx.Client, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    open_study = OpenStudies.study_of

    def opened_then_deleted(self: OpenStudies, record: StudyRecord) -> bough.Study:
        found = open_study(self, record)
        self.storage.delete(found.record.id)
        return found

    monkeypatch.setattr(OpenStudies, "study_of", opened_then_deleted)
    reply = api.get("/studies/demo/export", params={"format": format})
    message = "the study was deleted in the meantime"
    assert (reply.status_code, reply.json()["error"]["message"]) == (409, message)


def test_exports_read_back(api: httpx.Client, tmp_path) -> None:
    from bough.study import import_study

    for trial in ask(api, n=5):
        api.post(f"/studies/demo/trials/{trial['number']}/tell", json={"value": trial["number"] / 3})
    file = tmp_path / "demo.jsonl"
    file.write_bytes(api.get("/studies/demo/export").content)
    back = import_study(file, f"sqlite:///{tmp_path}/back.db")
    assert [trial.value for trial in back.trials] == [n / 3 for n in range(5)]
    rows = api.get("/studies/demo/export", params={"format": "csv"}).text.splitlines()
    assert rows[0].startswith("number,state,value") and "model" in rows[0] and len(rows) == 6


def test_formulas_are_text_in_the_table_for_spreadsheets(api: httpx.Client) -> None:
    ask(api)
    api.post("/studies/demo/trials/0/fail", json={"reason": "=HYPERLINK(1)"})
    assert ",'=HYPERLINK(1)," in api.get("/studies/demo/export", params={"format": "csv"}).text
