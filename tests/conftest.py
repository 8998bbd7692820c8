"""Fixtures that every part of the test suite shares."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data beside the checkout; a test that needs it skips where it is absent."""
    if not SHARED_DATA.is_dir():
        need("the data folder ../shared/data")
    return SHARED_DATA


def need(what: str) -> None:
    """Skip a test whose need a plain machine lacks; in CI the lack is an error."""
    if os.environ.get("CI"):
        pytest.fail(f"CI must provide {what}")
    pytest.skip(f"needs {what}")
