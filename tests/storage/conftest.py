"""A storage of each kind, and a study in it."""

from __future__ import annotations

import pytest
from tests.storage.contract import RECORD

from bough.storage import Storage, open_storage


@pytest.fixture
def storage(storage_url: str | None) -> Storage:
    return open_storage(storage_url)


@pytest.fixture
def study(storage: Storage) -> int:
    return storage.create(RECORD).id
