"""Services and clients for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from tests.service.running import SPACE, Process, Service, service


@pytest.fixture(scope="package")
def shared_service() -> Iterator[Service]:
    with service() as running:
        yield running


@pytest.fixture
def served(shared_service: Service) -> Iterator[Service]:
    """A service with no studies in it."""
    yield shared_service
    with shared_service.client(shared_service.write) as client:
        for study in client.get("/api/v1/studies").json()["studies"]:
            request = client.build_request("DELETE", "/")
            path = f"/api/v1/studies/{quote(study['name'], safe='').replace('.', '%2E')}"
            request.url = httpx.URL(shared_service.url).copy_with(raw_path=path.encode())
            assert client.send(request).status_code == 204


@pytest.fixture
def api(served: Service) -> Iterator[httpx.Client]:
    """A client that may write, and a study "demo" of method random."""
    with served.client(served.write) as client:
        made = {"name": "demo", "space": SPACE, "method": "random", "seed": 0}
        assert client.post("/api/v1/studies", json=made).status_code == 201
        client.base_url = f"{served.url}/api/v1"
        yield client


@pytest.fixture
def process(sqlite_url: str, tmp_path: Path) -> Iterator[Process]:
    """A service in a process of its own, not yet started."""
    running = Process(sqlite_url, tmp_path)
    yield running
    running.close()
