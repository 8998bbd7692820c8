"""The figure of branches: ribbons keep count, bars have their places, huge trees are folded."""

from __future__ import annotations

import itertools

import pytest

from bough.plot import StudySnapshot
from bough.plot.tree_layout import lay_out
from bough.space import Choice, Float, Space
from bough.trial import Trial

from .examples import SPACES, array, drawn, nested, study


def test_the_tree_conserves_trials_and_overlaps_nowhere():
    for kind in SPACES:
        snapshot = study(SPACES[kind](), 120)
        layout = lay_out(snapshot.root, snapshot.minimizes)
        columns: dict[float, list[tuple[float, float]]] = {}
        for bar in layout.bars:
            columns.setdefault(bar.x, []).append((bar.top, bar.top + bar.height))
        for spans in columns.values():
            spans.sort()
            assert all(low <= high for (_, low), (high, _) in itertools.pairwise(spans))
        assert min(bar.top for bar in layout.bars) >= 0
        assert max(bar.top + bar.height for bar in layout.bars) <= layout.height
        scale = next(bar.height for bar in layout.bars if not bar.branch.path) / 120
        for ribbon in layout.ribbons:
            if ribbon.tally.trials:
                assert ribbon.height >= scale * ribbon.tally.trials - 1e-9


def test_a_huge_tree_is_folded_to_its_busiest_branches():
    space = Space({"m": Choice({f"option {i}": {f"x{i}": Float(0, 1)} for i in range(300)})})
    layout = lay_out(study(space, 500).root, True)
    labels = [bar.branch.label for bar in layout.bars]
    assert len(labels) == 13
    assert labels[11] == "289 more"
    assert sum(bar.branch.tally.trials for bar in layout.bars if bar.branch.path) == 500


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_joined_branches_show_the_best_of_their_trials(direction: str) -> None:
    space = Space({"m": Choice({f"option {i}": {f"x{i}": Float(0, 1)} for i in range(300)})})
    root, pick = study(space, 500, direction=direction).root, {"minimize": min, "maximize": max}[direction]
    layout = lay_out(root, direction == "minimize")
    shown = {bar.branch.label for bar in layout.bars}
    values = [
        (b.tally.best.value, b.label in shown) for b in root.walk() if b.path and b.tally.best is not None
    ]
    folded = next(bar.branch.tally.best for bar in layout.bars if bar.branch.label == "289 more")
    assert folded is not None and folded.value == pick(value for value, is_shown in values if not is_shown)
    whole = layout.ribbons[0].tally.best
    assert whole is not None and whole.value == pick(value for value, _ in values)


def test_clicking_a_bar_gives_the_address_of_its_branch():
    snapshot = study(nested(), 60)
    addresses = drawn("tree", snapshot)["data"][0]["customdata"]
    assert [["model", "svm"], ["model=svm/kernel", "rbf"]] in addresses
    for address in addresses:
        assert snapshot.within(dict(address)).branch == tuple(map(tuple, address))


def test_ribbons_keep_their_width_where_switches_are_parallel():
    """Every trial takes a branch of each of three independent switches: none gets only a third of them."""
    options = {"a": {}, "b": {}}
    space = Space(
        {name: Choice(options | {"c": {f"x_{name}": Float(0, 1)}}) for name in ("one", "two", "three")}
    )
    layout = lay_out(study(space, 90).root, True)
    root = next(bar for bar in layout.bars if not bar.branch.path)
    first = [ribbon for ribbon in layout.ribbons if ribbon.x0 == root.x]
    assert len(first) == 3
    for ribbon in first:
        assert ribbon.height == pytest.approx(root.height) and ribbon.top0 == pytest.approx(root.top)


@pytest.mark.parametrize(
    ("values", "direction", "ends"),
    [
        ([0.1, 0.2, 0.3, 0.4, 5.0], "minimize", ["0.1", "≥ 0.4"]),
        ([0.1, 0.2, 0.3, 0.4, 5.0], "maximize", ["≤ 0.2", "5"]),
        ([0.1, 0.2, 0.3, 0.3, 0.3], "minimize", ["0.1", "0.3"]),
    ],
)
def test_the_colour_bar_names_its_ends(values: list[float], direction: str, ends: list[str]):
    space = Space({"m": Choice({str(i): {f"x{i}": Float(0, 1)} for i in range(len(values))})})
    trials = [Trial(i, {"m": str(i), f"x{i}": 0.5}, "done", value=value) for i, value in enumerate(values)]
    figure = drawn("tree", StudySnapshot("example", space, direction, tuple(trials)))
    axis = figure["layout"]["coloraxis"]
    assert axis["colorbar"]["ticktext"] == ends
    assert list(axis["colorbar"]["tickvals"]) == [axis["cmin"], axis["cmax"]]


def test_the_bar_of_a_branch_is_found_by_name():
    """Pages frame the chosen branch: other shapes before or after the bars must not matter."""
    figure = drawn("tree", study(nested(), 60))
    shapes = {shape["name"]: shape for shape in figure["layout"]["shapes"] if "name" in shape}
    points = figure["data"][0]
    assert len(shapes) == len(points["customdata"])
    for i, (x, y) in enumerate(zip(array(points["x"]), array(points["y"]))):
        bar = shapes[f"branch {i}"]
        assert bar["xanchor"] == x and (bar["y0"] + bar["y1"]) / 2 == pytest.approx(y)
