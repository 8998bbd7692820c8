"""Lists in the docs that must be complete: a new method or kernel without its page fails here."""

from __future__ import annotations

from pathlib import Path

import pytest

import bough
from bough.gp import kernels

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", sorted(bough.methods()))
def test_every_method_has_a_page(name: str) -> None:
    pages = [path for path in (DOCS / "methods").glob("*.md") if path.name != "index.md"]
    documented = any(f"`{name}`" in page.read_text(encoding="utf-8") for page in pages)
    assert documented, f"write about `{name}` on a page of docs/methods, and list the page in mkdocs.yml"


@pytest.mark.parametrize("name", kernels.__all__)
def test_every_kernel_is_in_the_reference(name: str) -> None:
    line = f"::: bough.gp.kernels.{name}"
    documented = f"{line}\n" in (DOCS / "reference.md").read_text(encoding="utf-8")
    assert documented, f"add the line {line!r} to docs/reference.md"
