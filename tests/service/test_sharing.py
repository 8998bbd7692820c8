"""Requests that do not wait for each other: opening a study, reading trials, drawing figures, exporting."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import httpx
import pytest
from tests.service.running import SPACE, service

from bough.errors import StorageError
from bough.service.api import CHUNK_CHARACTERS, in_chunks
from bough.service.figures import SHOWN
from bough.study import Study


def test_opening_one_study_holds_up_no_other(api: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert api.post("/studies", json={"name": "huge", "space": SPACE}).status_code == 201
    started, go_on, of_record = threading.Event(), threading.Event(), Study.of_record
    opened = []

    def slow(record, storage):  # type: ignore[no-untyped-def]
        if record.name == "huge":
            opened.append(record.name)
            started.set()
            assert go_on.wait(60)
        return of_record(record, storage)

    monkeypatch.setattr(Study, "of_record", slow)
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(api.get, "/studies/huge/status") for _ in range(2)]
        assert started.wait(30)
        assert api.get("/studies/demo/status", timeout=20).status_code == 200
        assert not any(reply.done() for reply in waiting)
        go_on.set()
        assert [reply.result().status_code for reply in waiting] == [200, 200]
    assert opened == ["huge"]  # once for all who wait


def test_a_study_that_cannot_be_opened_may_be_opened_later(
    api: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert api.post("/studies", json={"name": "late", "space": SPACE}).status_code == 201

    def fail(record, storage):  # type: ignore[no-untyped-def]
        raise StorageError("away")

    with monkeypatch.context() as patched:
        patched.setattr(Study, "of_record", fail)
        assert api.get("/studies/late/status").status_code == 503
    assert api.get("/studies/late/status").status_code == 200


def test_trials_are_read_while_a_figure_is_drawn(api: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    started, go_on, draw = threading.Event(), threading.Event(), SHOWN["history"].draw

    def slow(snapshot, **options):  # type: ignore[no-untyped-def]
        started.set()
        assert go_on.wait(60)
        return draw(snapshot, **options)

    monkeypatch.setitem(SHOWN, "history", replace(SHOWN["history"], draw=slow))
    number = api.post("/studies/demo/ask").json()["trials"][0]["number"]
    with ThreadPoolExecutor(1) as pool:
        drawing = pool.submit(api.get, "/studies/demo/figures/history")
        assert started.wait(30)
        for path in (
            "trials",
            'trials?branch={"model":"svm"}',
            "trials?state=running&order=best",
            f"trials/{number}",
            "status",
        ):
            assert api.get(f"/studies/demo/{path}", timeout=20).status_code == 200
        assert api.get(f"/studies/demo/trials/{number}/explain", timeout=20).status_code == 200
        assert not drawing.done()
        go_on.set()
        assert drawing.result().status_code == 200


def test_an_export_is_sent_in_large_pieces() -> None:
    lines = [f"{n}\n" * 20 for n in range(20_000)]
    chunks = list(in_chunks(lines))
    assert "".join(chunks) == "".join(lines)
    assert all(len(chunk) >= CHUNK_CHARACTERS for chunk in chunks[:-1]) and len(chunks) > 2


def test_a_name_with_nul_is_not_found(postgresql_url: str) -> None:
    with service(postgresql_url) as served, served.client(served.write) as client:
        for path in ("/api/v1/studies/%00", "/studies/a%00b", "/v1/experiments/%00", "/v1/training_runs/%00"):
            assert client.get(path).status_code == 404, path
