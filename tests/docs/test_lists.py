"""Lists in the docs that must be complete: a new method or kernel without its page fails here."""

from __future__ import annotations

from pathlib import Path

import pytest

import bough
from bough.gp import kernels

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.mark.parametrize("name", sorted(bough.methods()))
def test_every_method_has_a_page(name: str) -> None:
    pages = [path for path in (DOCS / "methods").glob("*.md") if path.name != "index.md"]
    documented = any(f"`{name}`" in page.read_text(encoding="utf-8") for page in pages)
    assert documented, f"write about `{name}` on a page of docs/methods"
    listed = (DOCS / "methods" / "index.md").read_text(encoding="utf-8").partition("## All methods")[2]
    assert f"`{name}`" in listed, f"list `{name}` under 'All methods' in docs/methods/index.md"


@pytest.mark.parametrize("name", kernels.__all__)
def test_every_kernel_is_in_the_reference(name: str) -> None:
    line = f"::: bough.gp.kernels.{name}"
    documented = f"{line}\n" in (DOCS / "reference.md").read_text(encoding="utf-8")
    assert documented, f"add the line {line!r} to docs/reference.md"


def test_the_readme_counts_the_methods() -> None:
    assert f"**{len(bough.methods())} methods**" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in DOCS.rglob("*.md"):
        name = page.relative_to(DOCS).as_posix()
        assert f" {name}\n" in navigation, f"list {name} under nav in mkdocs.yml"


@pytest.mark.parametrize("folder", ["benchmarks", "examples"])
def test_every_program_is_in_the_list_of_its_folder(folder: str) -> None:
    listed = (ROOT / folder / "README.md").read_text(encoding="utf-8")
    for program in (ROOT / folder).glob("[!_]*.py"):
        assert f"`{program.stem}`" in listed or f"`{program.name}`" in listed, (
            f"add {program.name} to the list"
        )
