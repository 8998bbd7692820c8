"""Renew the tables and figures of the documentation from the committed results.

A page of ``docs/benchmarks`` marks their places:

    <!-- begin: ranks of peers+real on cash -->
    ... written by ``python -m benchmarks.report --docs`` ...
    <!-- end -->

``ranks`` is a section of ``SECTIONS``, followed by specs and optionally by problems or families; a section of
``ALONE`` needs neither.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks import spec
from benchmarks.report import papers, sections, tables
from benchmarks.report.blocks import Block, Figure, anchor, to_markdown
from benchmarks.report.data import arrange
from benchmarks.report.view import View

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "benchmarks"
_PART = re.compile(
    r"(?P<begin><!-- begin: (?P<section>\S+)( of (?P<specs>\S+))?( on (?P<where>\S+))? -->\n)"
    r".*?(?P<end><!-- end -->)",
    re.DOTALL,
)

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
    "distances": papers.distances,
    "one-sided": papers.one_sided,
    "test-errors": papers.test_errors,
    "pairwise": papers.pairwise,
    "classifiers": papers.classifiers,
    "rank-progress": papers.rank_progress,
}

ALONE: Mapping[str, Callable[[], list[Block]]] = {
    "regression": papers.regression,
    "leaves": papers.leaves,
    "kernels": papers.kernels,
}


def renew(folder: Path = FOLDER) -> None:
    """Renew every part of every page; figures go to ``figures`` beside them."""
    for path in sorted(folder.glob("*.md")):
        before = path.read_text(encoding="utf-8")
        after = _PART.sub(lambda found: _renewed(found, folder), before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(f"renewed {path.name}")


def _renewed(found: re.Match[str], folder: Path) -> str:
    specs, where = (found["specs"] or "").split("+"), found["where"] or ""
    blocks = part(found["section"], [name for name in specs if name], where)
    for block in blocks:
        if isinstance(block, Figure):
            (folder / "figures").mkdir(exist_ok=True)
            (folder / "figures" / f"{block.name}.svg").write_text(block.svg, encoding="utf-8")
    return f"{found['begin']}\n{to_markdown(blocks, 'figures')}\n{found['end']}"


def part(section: str, specs: list[str], where: str = "") -> list[Block]:
    """The blocks of one section of one page."""
    if section in ALONE:
        return ALONE[section]()
    if section not in SECTIONS:
        raise spec.SpecError(f"no section {section!r}; there are {', '.join((*SECTIONS, *ALONE))}")
    loaded = [spec.load(name) for name in specs]
    names = {name for entry in where.split("+") if entry for name in spec.expand(entry)}
    results = arrange(
        [r for one in loaded for r in one.records() if not names or r.problem in names],
        [method for one in loaded for block in one.blocks for method in block.methods],
    )
    if results is None:
        raise spec.SpecError(f"{'+'.join(specs)} has no results yet; run python -m benchmarks.run {specs[0]}")
    labels = {key: label for one in loaded for key, label in one.labels.items()}
    name = "-".join([*(one.name for one in loaded), *([anchor(where)] if where else [])])
    groups = {key: members for one in loaded for key, members in one.groups.items()}
    return SECTIONS[section](View(name, loaded[0].title, results, loaded[0].reference, labels, groups))
