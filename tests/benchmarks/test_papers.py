"""The papers' tables from made-up results: whose numbers stand where."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from benchmarks import algorithm2, covariances, fig4_ma, spec
from benchmarks.report import docs
from benchmarks.report.blocks import Cell, Figure, Table
from benchmarks.runner import Record


def texts(block) -> list[list[str]]:
    assert isinstance(block, Table)
    return [[cell.text if isinstance(cell, Cell) else cell for cell in row] for row in block.rows]


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in place of the committed results."""
    load = spec.load
    moved = lambda name, **options: spec.replace(load(name, **options), folder=tmp_path)  # noqa: E731
    monkeypatch.setattr(spec, "load", moved)
    return tmp_path


def made_up(task, values, branches="a", test=None) -> str:
    trials = task.trials
    full = list(values) + [max(values)] * (trials - len(values))
    return Record(
        task.problem, task.method, task.seed, trials, full, [branches] * trials, [1.0] * trials, test
    ).to_json()


def test_distances_are_means_and_standard_errors_of_logarithms(results: Path):
    tasks = spec.load("ma-fig3").tasks()
    lines = [
        made_up(t, [0.1 + (1e-2 if t.seed % 2 else 1e-4) * (1 if t.method == "auto" else 10)]) for t in tasks
    ]
    (results / "ma-fig3.jsonl").write_text("\n".join(lines))
    (table,) = docs.part("distances", ["ma-fig3"])
    rows = {row[0]: row[1:] for row in texts(table)}
    # logs are -2 and -4, five times each: mean -3, sd sqrt(10 / 9), so 2 sd / sqrt(10) = 2 / 3
    assert rows["auto"] == ["-3.00 ± 0.67"] * 4
    assert rows["tree"] == ["-2.00 ± 0.67"] * 4


def test_one_sided_tests_stand_beside_the_printed_ones(results: Path):
    """The additive tree wins in every run against tree, and in none against smac."""
    lift = {"tree(kernel='se', initial='paths')": 1.0, "smac": -1.0}
    for name, problem in (("ma-fig3", "small-shared"), ("ma-fig5", "compress")):
        tasks = [t for t in spec.load(name).tasks() if t.problem == problem]
        lines = [made_up(t, [5.0 + 0.01 * t.seed + lift.get(t.method, 0.0)]) for t in tasks]
        (results / f"{name}.jsonl").write_text("\n".join(lines))
    (table,) = docs.part("one-sided", ["ma-table1"])
    rows = {row[0]: row[1:] for row in texts(table)}
    assert list(table.header[1:]) == ["smac", "tpe", "random", "gpyopt", "tree"]
    assert rows["small-shared, 40 trials"] == [
        "1.000 / 0.003", "1.000 / 0.030", "1.000 / 0.005", "1.000 / 0.003", "0.001 / 0.018"
    ]  # fmt: skip
    assert rows["compress, 80 trials"][-1] == "0.001 / 0.006"


def test_levesques_tables_hold_test_errors_not_validation_errors(results: Path):
    chosen = spec.load("levesque-table1")
    best = chosen.reference
    lines = [
        made_up(t, [0.5], "svm" if t.seed else "rf", 0.1 if t.method == best else 0.2 + 0.001 * t.seed)
        for t in chosen.tasks()
    ]
    (results / "levesque-table1.jsonl").write_text("\n".join(lines))
    table, note, figure = docs.part("test-errors", ["levesque-table1"])
    rows = {row[0]: row[1:] for row in texts(table)}
    assert rows["GP-cond-ls"][0] == "10.0\u00a0/\u00a00.8"
    assert rows["GP-cond-ls"][-1] == "1.00\u00a0/\u00a02.56"
    assert rows["RS"][-1] == "6.50\u00a0/\u00a07.08"  # ten methods tie behind it: places 2 to 11
    assert "printed: 9e-12" in note.text
    ElementTree.fromstring(figure.svg)
    (pairs,) = docs.part("pairwise", ["levesque-table1"])
    matrix = texts(pairs)
    place = chosen.blocks[0].methods.index(best)
    assert matrix[place][1] == "0.00"
    assert matrix[0][place + 1] == "(0.00)"
    assert matrix[0][2] == "1.00"
    (drawn,) = docs.part("classifiers", ["levesque-table1"])
    titles = re.findall(r"<title>((?:svm|rf) \d+%)</title>", drawn.svg)
    assert set(titles) == {"svm 80%", "rf 20%"}


def test_ranks_over_time_may_be_of_some_problems_only(results: Path):
    tasks = [t for t in spec.load("jenatton-fig4").tasks() if t.seed == 0]
    lines = [made_up(t, [float(len(t.method))]) for t in tasks]
    (results / "jenatton-fig4.jsonl").write_text("\n".join(lines))
    (top,) = docs.part("rank-progress", ["jenatton-fig4"], "mlp")
    (bottom,) = docs.part("rank-progress", ["jenatton-fig4"], "mlp-b")
    assert 'data-m="independent"' in top.svg
    assert 'data-m="independent"' not in bottom.svg
    assert 'data-m="arc"' in bottom.svg


def test_kernel_pictures_show_what_the_paper_says():
    shown = covariances.matrices()
    inside, near, far = zip(*map(covariances.blocks, shown.values()))
    names = list(shown)
    conditional = names.index("conditional kernel")
    assert near[conditional] == far[conditional] == 0.0
    # imputation sets the blocks apart, but leaves confusion between choices whose numbers are close
    random, imputed = 0, 1
    assert inside[imputed] > inside[random]
    assert 0.0 < far[imputed] < near[imputed] < inside[imputed]
    # 30 Mondrian partitions are the Laplace kernel up to the noise of 30 tosses
    mondrian, laplace = shown[names[3]], shown[names[4]]
    assert np.abs(mondrian - laplace).mean() < np.sqrt(0.25 / 30)
    for block in docs.part("kernels", []):
        if isinstance(block, Figure):
            ElementTree.fromstring(block.svg)


def test_the_laplace_matrix_is_that_of_equation_11():
    _, points = covariances.sample(20, 0)
    x = np.full((60, 4), 0.5)
    x[:, 0] = points.x[:, 0]
    for k in range(3):
        rows = slice(20 * k, 20 * (k + 1))
        x[rows, k + 1] = points.x[rows, k + 1]
    distance = np.abs(x[:, None] - x[None]).sum(axis=2)
    np.testing.assert_allclose(covariances.matrices()["Laplace"], np.exp(-distance / 0.75))
    squared = ((x[:, None] - x[None]) ** 2).sum(axis=2)
    imputed = covariances.matrices()["squared exponential, inactive imputed"]
    np.testing.assert_allclose(imputed, np.exp(-squared / 0.75))


def test_appendix_c_and_figure_4_are_drawn_from_what_was_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(algorithm2, "RESULTS", tmp_path / "c.json")
    (tmp_path / "c.json").write_text(json.dumps([{"leaves": 4, "algorithm2": 10.0, "every_leaf": 25.0}]))
    (table,) = docs.part("leaves", [])
    assert texts(table) == [["4 leaves", "10 ms", "25 ms", "2.5"]]
    monkeypatch.setattr(fig4_ma, "RESULTS", tmp_path / "fig4.json")
    monkeypatch.setattr(fig4_ma, "RESULTS_ORIGINAL", tmp_path / "none.json")
    errors = {name: np.full((2, 3), 10.0 ** -(3 + k)) for k, name in enumerate(("add-tree", "tree"))}
    fig4_ma.save(tmp_path / "fig4.json", [10, 20], errors)
    assert json.loads((tmp_path / "fig4.json").read_text())["tree"] == [[-4.0] * 3] * 2
    (figure,) = docs.part("regression", [])
    ElementTree.fromstring(figure.svg)


def test_algorithm_2_is_timed_on_trees_of_the_right_size(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(algorithm2, "REPEATS", 1)
    row = algorithm2.compare(2)
    assert row["leaves"] == 4
    assert min(row["algorithm2"], row["every_leaf"]) > 0


def test_a_section_that_does_not_exist_is_named(results: Path):
    with pytest.raises(spec.SpecError, match="no section 'rank'; there are work, ranks"):
        docs.part("rank", ["peers"])
    with pytest.raises(spec.SpecError, match="peers has no results yet"):
        docs.part("ranks", ["peers"])
