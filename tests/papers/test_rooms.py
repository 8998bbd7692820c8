"""The table at the head of each paper's package: what it names exists, under the name that it gives."""

from __future__ import annotations

import importlib
import re

import pytest

import bough

ROOMS = ("assael2014", "jenatton2017", "levesque2017", "ma2020")
_NAME = re.compile(r"(?P<kind>method |option )?``(?P<name>[^`]+)``")


def rows(room: str) -> list[list[str]]:
    """The cells of the rows below the heading."""
    text = importlib.import_module(f"bough.papers.{room}").__doc__ or ""
    table = [line.strip("|").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    assert [cell.strip() for cell in table[0]] == ["equation or algorithm", "function", "what differs"]
    return table[1:]


def resolve(name: str, room: str) -> object:
    """What a dotted name stands for: in the room, or anywhere if it starts with a package."""
    whole = name if name.startswith(("bough.", "benchmarks.")) else f"bough.papers.{room}.{name}"
    parts = whole.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(whole)


@pytest.mark.parametrize("room", ROOMS)
def test_the_table_of_a_paper_names_what_exists(room: str) -> None:
    table, methods = rows(room), bough.methods()
    assert len(table) > 8
    for cells in table:
        assert len(cells) == 3
        named = list(_NAME.finditer(cells[1]))
        assert named or cells[1].strip() == "not built"
        for found in named:
            if found["kind"] == "method ":
                assert found["name"] in methods
            elif found["kind"] != "option ":
                assert resolve(found["name"], room) is not None


def test_a_wrong_name_is_noticed() -> None:
    with pytest.raises(AttributeError):
        resolve("two_step.three_step", "jenatton2017")
    with pytest.raises(AttributeError):
        resolve("no_module.path_ei", "jenatton2017")
