"""The tables of Assael's experiments and of the baselines, from records made by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import assael, compare_baselines
from benchmarks.assael_figure import draw
from benchmarks.runner import Record, Task


def record(method: str, seed: int, values: list[float], problem: str = "exp") -> Record:
    return Record(problem, method, seed, len(values), values, ["None"] * len(values), [2.0] * len(values))


@pytest.fixture
def records() -> list[Record]:
    """Two seeds that all methods have, a third that one lacks; one run is longer than asked for."""
    found = [
        record(method, seed, [0.1, -0.1 * (1 + place), -0.1 * (1 + place) - 0.01 * seed])
        for place, method in enumerate(assael.METHODS)
        for seed in (1, 2)
    ]
    found += [record(method, 3, [0.0, 0.0, -9.0]) for method in assael.METHODS[:-1]]
    found[0] = record("gp", 1, [0.1, -0.1, -0.11, -99.0])
    return found


def test_only_seeds_of_all_methods_count_and_runs_are_cut_off(records: list[Record]) -> None:
    found = assael.collect(records, 3)
    assert [r.seed for r in found["exp", "gp"]] == [1, 2]
    np.testing.assert_allclose(assael.curves(found["exp", "gp"])[:, -1], [-0.11, -0.12])
    assert assael.collect(records, 5) == {}


def test_the_printed_form_of_a_single_process_is_collected_apart(records: list[Record]) -> None:
    assert assael.collect(records, 3, printed=True) == {}
    single = [r for r in records if r.method in assael.AS_PRINTED]
    slower = [replace(r, method=assael.AS_PRINTED[r.method], values=[-9.0] * r.trials) for r in single]
    found = assael.collect([*records, *slower], 3, printed=True)
    np.testing.assert_allclose(assael.curves(found["exp", "gp"])[:, -1], [-9.0, -9.0])
    np.testing.assert_allclose(assael.curves(found["exp", "treed"])[:, -1], [-0.31, -0.32])


def test_the_form_of_table_1(records: list[Record]) -> None:
    lines = assael.final_table(assael.collect(records, 3))
    assert lines[2].startswith("| 2-D Exp (−0.429) | ours | −0.115 ± 0.005 | −0.215 ± 0.005 |")
    assert "−0.24 ± 0.20" in lines[3]
    assert lines[4].endswith("| 0 of 2 | 0 of 2 | 0 of 2 | 0 of 2 |")
    found = assael.collect([record(method, 0, [0.0, -0.4285]) for method in assael.METHODS], 2)
    assert assael.final_table(found)[4].count("1 of 1") == 4


def test_tables_of_a_page_are_written_anew(records: list[Record], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "a\n<!-- assael: finals -->\nold\n<!-- /assael -->\nb\n<!-- assael: cost -->\n<!-- /assael -->\n"
    )
    assael.renew(page, records, 3)
    text = page.read_text()
    assert "old" not in text
    assert "−0.115 ± 0.005" in text
    assert "| `gp` | 2 |" in text
    assael.renew(page, records, 3)
    assert page.read_text() == text


def test_the_figure_has_a_panel_per_problem(records: list[Record]) -> None:
    found = assael.collect(records, 3)
    best = {method: np.repeat(assael.curves(found["exp", method]), 3, axis=1) for method in assael.METHODS}
    svg = draw({"exp": best, "rkhs": best}, {"exp": "First", "rkhs": "Second"})
    assert svg.count("<svg ") == 3
    assert "First, 2 runs" in svg and "Second, 2 runs" in svg


def test_baselines_by_quartiles_of_common_seeds() -> None:
    tasks = [Task("p", method, seed, 2) for seed in range(3) for method in compare_baselines.METHODS]
    done = {
        task.key: record(task.method, task.seed, [5.0, 1.0 + task.seed], "p")
        for task in tasks
        if task.key != ("p", "smac", 2, 2)
    }
    lines = compare_baselines.table(done, tasks)
    assert lines[2].startswith("| p | 2 | 1.5 [1.25, 1.75] |")
    pair = compare_baselines.table(
        done, tasks, ("tpe", "optuna")
    )  # what another pair lacks does not count here
    assert pair[0] == "| problem | seeds | `tpe` | `optuna` |"
    assert pair[2] == "| p | 3 | 2 [1.5, 2.5] | 2 [1.5, 2.5] |"


def test_baselines_renew_their_part_of_a_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- baselines -->\nold\n<!-- /baselines -->\nb\n", encoding="utf-8")
    for _ in range(2):
        compare_baselines.renew(page, ["| new |"])
        assert (
            page.read_text(encoding="utf-8") == "a\n<!-- baselines -->\n\n| new |\n\n<!-- /baselines -->\nb\n"
        )


def test_costs_count_after_the_designs() -> None:
    late = {"tpe": 1.0, "optuna": 3.0, "forest": 2.0, "smac": 8.0}
    trials = compare_baselines.STARTED + 4
    found = [
        Record(
            "p", m, 0, trials, [0.0] * trials, [""] * trials, [99.0] * compare_baselines.STARTED + [ms] * 4
        )
        for m, ms in late.items()
    ]
    # what only one of a pair has done does not count
    found.append(replace(found[0], seed=1, ask_ms=[50.0] * trials))
    assert compare_baselines.costs(found) == [
        "tpe 1.0 ms, optuna 3.0 ms: a factor of 3.0",
        "forest 2.0 ms, smac 8.0 ms: a factor of 4.0",
    ]
