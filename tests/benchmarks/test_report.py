"""Reports of made-up results whose tables are known beforehand."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from benchmarks.report import __main__ as command
from benchmarks.report import docs, figures, sections, svg, tables
from benchmarks.report.blocks import Cell, Figure, Table, Text, to_html, to_markdown
from benchmarks.report.data import arrange, best_branches
from benchmarks.report.page import halves, page
from benchmarks.report.view import View
from benchmarks.runner import Record

PROBLEMS = ("small-shifted", "modes", "cash-pima", "cash-car")
METHODS = ("auto", "tpe", "random")
SPEC = f"""
title = "Made up"
problems = {list(PROBLEMS)}
methods = {list(METHODS)}
seeds = 6
trials = 8
"""


def record(problem: str, method: str, seed: int, trials: int = 8) -> Record:
    """``auto`` reaches 0.2 at its second trial, ``tpe`` at its sixth, ``random`` stays at 0.4, but has 0.1 on
    cash-car. ``auto`` is always in branch 0, the others in branch 1, and their second trial fails."""
    reached = {"auto": 2, "tpe": 6, "random": 99}[method]
    values = [0.4 + 0.01 * seed if t < reached else 0.2 + 0.001 * seed for t in range(1, trials + 1)]
    if problem == "cash-car" and method == "random":
        values = [0.1] * trials
    if method != "auto":
        values[1] = math.nan
    branch = "0" if method == "auto" else "1"
    cost = {"auto": 30.0, "tpe": 10.0, "random": 1.0}[method]
    return Record(problem, method, seed, trials, values, [branch] * trials, [cost] * trials, seconds=9.0)


@pytest.fixture
def records() -> list[Record]:
    return [record(p, m, s) for s in range(6) for p in PROBLEMS for m in METHODS]


@pytest.fixture
def view(records: list[Record]) -> View:
    results = arrange(records)
    assert results is not None
    return View("test", "Made up", results)


def cells(blocks: list, row: str) -> list[str]:
    """The texts of a table's row."""
    table = next(block for block in blocks if isinstance(block, Table))
    texts = [[cell.text if isinstance(cell, Cell) else cell for cell in line] for line in table.rows]
    return next(line[1:] for line in texts if line[0] == row)


def test_arranging_keeps_seeds_that_every_complete_method_has(records: list[Record]):
    few = [r for r in records if not (r.method == "tpe" and r.problem == "modes" and r.seed in (0, 3))]
    results = arrange(few)
    assert results is not None
    assert results.methods == METHODS
    assert results.seeds["modes"] == (1, 2, 4, 5)
    assert results.seeds["cash-pima"] == tuple(range(6))
    assert results.curves["modes"].shape == (3, 4, 8)


def test_a_method_that_lacks_a_problem_is_drawn_but_not_ranked(records: list[Record]):
    results = arrange([r for r in records if (r.problem, r.method) != ("modes", "tpe")])
    assert results is not None
    assert (results.methods, results.partial) == (("auto", "random"), ("tpe",))
    assert results.all_methods("modes") == ("auto", "random")
    assert "`tpe`" in sections.work(View("t", "t", results))[0].text


def test_a_method_with_few_seeds_is_compared_on_those_and_takes_none_from_the_others(records: list[Record]):
    results = arrange([r for r in records if r.method != "tpe" or r.seed < 2])
    assert results is not None
    assert (results.methods, results.partial) == (("auto", "random"), ("tpe",))
    assert results.seeds["modes"] == tuple(range(6))
    blocks = sections.pairs(View("t", "t", results))
    assert cells(blocks, "random")[-2:] == ["4", "18 / 0 / 6"]
    assert cells(blocks, "tpe")[-2:] == ["4", "0 / 8 / 0"]


def test_the_best_of_a_group_is_chosen_problem_by_problem(view: View):
    grouped = View("t", "t", view.results, groups={"best rival": ["tpe", "random"]})
    # tpe's end (a quarter of the budget) on three problems, random's on cash-car (never)
    assert cells(sections.reach(grouped), "best rival")[:3] == ["0.25", "0.25 to > 1", "1 of 4"]


def test_ranks_at_a_quarter_half_and_all_of_the_budget(view: View):
    blocks = sections.ranks(view)
    # on three problems auto is first after 2 and 4 of 8 trials and the others tie; on cash-car random is
    # first, then auto, then tpe: (1 + 1 + 1 + 2) / 4 and (2.5 + 2.5 + 2.5 + 3) / 4
    # at the end auto and tpe tie for the first place, on cash-car for the second: (1.5 + 1.5 + 1.5 + 2.5) / 4
    assert cells(blocks, "auto")[:3] == ["1.25", "1.25", "1.75"]
    assert cells(blocks, "tpe")[:3] == ["2.62", "2.62", "1.75"]


def test_wilcoxon_counts_runs(view: View):
    blocks = sections.pairs(view)
    assert cells(blocks, "random")[-1] == "18 / 0 / 6"
    assert cells(blocks, "tpe")[-1] == "0 / 24 / 0"
    assert cells(blocks, "tpe")[2] == "p = 1.000"
    assert cells(blocks, "random")[2].startswith("better, p = 0.0")


def test_evaluations_needed_are_shares_of_the_budget(view: View):
    blocks = sections.reach(view)
    assert cells(blocks, "tpe")[:3] == ["0.25", "0.25 to 0.25", "0 of 4"]
    assert cells(blocks, "tpe")[3] == "0.75"
    # random's 0.4 is there at once, but its 0.1 on cash-car never
    assert cells(blocks, "random")[:3] == ["0.12", "0.12 to > 1", "1 of 4"]
    assert cells(blocks, "random")[3] == "> 1"


def test_the_best_branch_is_the_known_one_or_where_the_best_value_was_found(view: View):
    known = best_branches(view.results, "small-shifted", 0)
    assert known == {"0"}
    assert best_branches(view.results, "cash-pima", 0) == {"0", "1"}  # auto and tpe tie
    assert best_branches(view.results, "cash-car", 0) == {"1"}  # random's 0.1
    blocks = tables.branches(view)
    table = next(block for block in blocks if isinstance(block, Table))
    auto, random = (list(table.header).index(method) - 1 for method in ("auto", "random"))
    assert cells(blocks, "cash-car")[auto] == "0%"
    assert cells(blocks, "cash-car")[random] == "100%"
    assert cells(blocks, "small-shifted")[auto] == "100%"


def test_losses_name_what_beats_the_reference(view: View):
    blocks = sections.losses(view)
    assert cells(blocks, "cash-car") == ["random", "6 : 0", "0.016", "0.062"]
    assert len(blocks[0].rows) == 1
    assert "With 6 seeds no single problem can stay significant" in blocks[1].text


def test_costs_are_shown_for_the_sizes_that_were_reached(view: View):
    long = arrange([record("modes", m, 0, trials=30) for m in METHODS])
    assert long is not None
    blocks = tables.cost(View("t", "t", long))
    assert list(blocks[0].header) == ["a suggestion costs", "n = 20", "a whole study"]
    assert cells(blocks, "auto") == ["30.0 ms", "0.90 s"]
    assert list(tables.cost(view)[0].header) == ["a suggestion costs", "a whole study"]


def test_core_hours_are_added_up(view: View):
    assert sections.work(view)[0].text.startswith(
        "72 studies: 4 problems, 3 methods, 6 seeds, 8 trials; 0.2 core-hours."
    )


class Balanced(HTMLParser):
    """Checks that every element is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        if tag not in ("meta", "br", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_from_elsewhere(view: View):
    text = page("Made up & more", halves(view))
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    assert "Made up &amp; more" in text
    assert text.count("<section") == 2
    outside = [url for url in re.findall(r"https?://[^\"' <)]+", text) if "www.w3.org" not in url]
    assert outside == []
    for drawing in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        ElementTree.fromstring(drawing)


def test_every_method_has_its_line_band_and_label_on_every_problem(view: View):
    for figure in tables.curves(view):
        root = ElementTree.fromstring(figure.svg)
        groups = root.findall("{http://www.w3.org/2000/svg}g")
        assert sorted(g.get("data-m") for g in groups) == sorted(METHODS * 2)
        labels = {text.text for g in groups for text in g.findall("{http://www.w3.org/2000/svg}text")}
        assert labels == set(METHODS)


def test_labels_never_overlap_and_stay_inside():
    rng = np.random.default_rng(0)
    for _ in range(50):
        wanted = list(rng.uniform(0, 100, 9)) + [50.0, 50.0, 50.0]
        placed = svg.spread(wanted, 8.0, 0.0, 100.0)
        ordered = sorted(placed)
        assert np.min(np.diff(ordered)) >= 8.0 - 1e-9
        assert ordered[0] >= -1e-9
        assert ordered[-1] <= 100 + 1e-9
        assert list(np.argsort(wanted, kind="stable")) == list(np.argsort(placed, kind="stable"))
    assert svg.spread([10.0, 40.0], 8.0, 0.0, 100.0) == [10.0, 40.0]


def test_ticks_are_round_and_inside():
    assert svg.ticks(0.13, 0.58) == pytest.approx([0.2, 0.3, 0.4, 0.5])
    assert svg.ticks(1, 80) == [20, 40, 60, 80]
    assert svg.power_of_ten(-12) == "10⁻¹²"


def test_a_matrix_is_drawn_as_a_picture_of_its_size():
    drawn = figures.matrices({"a": np.eye(7)}, [3], "Title")
    ElementTree.fromstring(drawn)
    import base64
    import struct
    import zlib

    data = base64.b64decode(re.search(r"base64,([^\"]+)", drawn)[1])
    assert struct.unpack(">II", data[16:24]) == (7, 7)
    start = data.index(b"IDAT") + 4
    pixels = np.frombuffer(zlib.decompressobj().decompress(data[start:]), np.uint8).reshape(7, 22)[:, 1:]
    dark = pixels.reshape(7, 7, 3).sum(axis=2) < 300
    assert np.array_equal(dark, np.eye(7, dtype=bool))


def test_markdown_tables_and_figures():
    blocks = [
        Text("Title", 2),
        Table(["method", "rank"], [[Cell("auto", bold=True), "1.5"], ["a|b", "2"]]),
        Figure("one", "<svg/>"),
        Figure("two", "<svg/>"),
    ]
    text = to_markdown(blocks, "figures")
    assert "| **auto** | 1.5 |" in text
    assert "| a\\|b | 2 |" in text
    assert "![one](figures/one.svg){ width=49% }\n![two]" in text
    assert "&lt;b&gt;" in to_html([Text("<b>")])


@pytest.fixture
def toml(tmp_path: Path, records: list[Record]) -> Path:
    path = tmp_path / "made-up.toml"
    path.write_text(SPEC)
    path.with_suffix(".jsonl").write_text("".join(r.to_json() + "\n" for r in records))
    return path


def test_the_command_writes_html_and_markdown(toml: Path, tmp_path: Path):
    command.main(
        [str(toml), "--html", str(tmp_path / "out"), "--markdown", str(tmp_path / "md" / "report.md")]
    )
    assert "</html>" in (tmp_path / "out" / "index.html").read_text()
    text = (tmp_path / "md" / "report.md").read_text()
    for name in re.findall(r"\]\((figures/[^)]+)\)", text):
        ElementTree.parse(tmp_path / "md" / name)
    assert text.count("](figures/") >= 4 + 2


def test_the_command_says_when_there_is_nothing_to_report(toml: Path, tmp_path: Path):
    toml.with_suffix(".jsonl").unlink()
    with pytest.raises(SystemExit, match="nothing has been run"):
        command.main([str(toml), "--html", str(tmp_path / "out")])


def test_docs_pages_are_renewed_between_their_marks_only(toml: Path, tmp_path: Path):
    folder = tmp_path / "docs"
    folder.mkdir()
    page_path = folder / "page.md"
    marked = "<!-- begin: ranks of {0} on branches+cash-car -->\n{1}<!-- end -->"
    frame = f"# Page\n\nWords.\n\n{marked}\n\nMore words.\n"
    page_path.write_text(frame.format(toml, "old numbers\n"))
    docs.renew(folder)
    first = page_path.read_text()
    assert "old numbers" not in first
    assert first.startswith("# Page\n\nWords.\n") and first.endswith("\nMore words.\n")
    assert "| **auto** |" in first
    assert list((folder / "figures").glob("*.svg"))
    docs.renew(folder)
    assert page_path.read_text() == first
