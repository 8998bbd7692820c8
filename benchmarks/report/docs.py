"""Renew the tables and figures of the documentation from the committed results.

A page of ``docs/benchmarks`` says where they go:

    <!-- begin: peers ranks -->
    ... written by ``python -m benchmarks.report --docs`` ...
    <!-- end -->

``peers`` is a spec (several with +), ``ranks`` a section of ``SECTIONS``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks import spec
from benchmarks.report import sections, tables
from benchmarks.report.blocks import Block, Figure, to_markdown
from benchmarks.report.data import arrange
from benchmarks.report.view import View

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "benchmarks"
_PART = re.compile(r"(<!-- begin: (?P<specs>\S+) (?P<section>\S+) -->\n).*?(<!-- end -->)", re.DOTALL)

SECTIONS: Mapping[str, Callable[[View], list[Block]]] = {
    "work": sections.work,
    "ranks": sections.ranks,
    "pairs": sections.pairs,
    "reach": sections.reach,
    "losses": sections.losses,
    "branches": tables.branches,
    "cost": tables.cost,
    "finals": tables.finals,
    "curves": tables.curves,
}


def renew(folder: Path = FOLDER) -> None:
    """Write every part of every page anew; figures go to ``figures`` beside them."""
    for path in sorted(folder.glob("*.md")):
        before = path.read_text(encoding="utf-8")
        after = _PART.sub(lambda found: _renewed(found, folder), before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(f"renewed {path.name}")


def _renewed(found: re.Match[str], folder: Path) -> str:
    blocks = part(found["specs"].split("+"), found["section"])
    for block in blocks:
        if isinstance(block, Figure):
            (folder / "figures").mkdir(exist_ok=True)
            (folder / "figures" / f"{block.name}.svg").write_text(block.svg, encoding="utf-8")
    return f"{found[1]}\n{to_markdown(blocks, 'figures')}\n{found[4]}"


def part(specs: list[str], section: str) -> list[Block]:
    """The blocks of one section of one page."""
    loaded = [spec.load(name) for name in specs]
    results = arrange(
        [record for one in loaded for record in one.records()],
        [method for one in loaded for block in one.blocks for method in block.methods],
    )
    if results is None:
        raise spec.SpecError(f"{'+'.join(specs)} has no results yet; run python -m benchmarks.run {specs[0]}")
    if section not in SECTIONS:
        raise spec.SpecError(f"no section {section!r}; there are {', '.join(SECTIONS)}")
    labels = {key: label for one in loaded for key, label in one.labels.items()}
    name = "-".join(one.name for one in loaded)
    return SECTIONS[section](View(name, loaded[0].title, results, loaded[0].reference, labels))
