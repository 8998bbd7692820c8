"""Names of files: short enough, and different for different texts."""

from __future__ import annotations

import pytest

from bough.integrations.names import file_name


@pytest.mark.parametrize("text", ["study", "a_b", "n" * 200, "größe 3"])
def test_an_allowed_name_stays(text: str) -> None:
    assert file_name(text, "_ ") == text


@pytest.mark.parametrize("text", [".", ".."])
def test_no_name_is_that_of_a_folder_above(text: str) -> None:
    assert file_name(text, "_.-").startswith(f"{text}-")


def test_other_names_differ_and_fit() -> None:
    texts = ["a b", "a/b", "a_b", "é" * 200, "é" * 199 + "e", "日" * 200, "\udc80"]
    names = [file_name(text, "_") for text in texts]
    assert len(set(names)) == len(names)
    assert max(len(name.encode()) for name in names) <= 210
    assert all("/" not in name for name in names)
