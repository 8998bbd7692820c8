"""Names of files: short enough, and different for different texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from bough.integrations.names import file_name, folder_of


@pytest.mark.parametrize("text", ["study", "a_b", "n" * 200, "größe 3"])
def test_an_allowed_name_stays(text: str) -> None:
    assert file_name(text, "_ ") == text


def test_other_names_differ_and_fit() -> None:
    texts = ["a b", "a/b", "a_b", "é" * 200, "é" * 199 + "e", "日" * 200, "\udc80"]
    names = [file_name(text, "_") for text in texts]
    assert len(set(names)) == len(names)
    assert max(len(name.encode()) for name in names) <= 210
    assert all("/" not in name for name in names)


def test_a_former_folder_stays_with_what_began_in_it(tmp_path: Path) -> None:
    def folder(text: str, began: bool) -> str:
        return folder_of(tmp_path, text, "_", ".logs", lambda former: began).name

    new = file_name("a b", "_") + ".logs"
    assert folder("a b", True) == new
    (tmp_path / "a_b.logs").mkdir()
    assert (folder("a b", True), folder("a b", False), folder("a_b", True)) == ("a_b.logs", new, "a_b.logs")
    (tmp_path / new).mkdir()
    assert folder("a b", True) == new
    assert folder("é" * 200, True) == file_name("é" * 200, "_") + ".logs"
