"""The tree of branches: every parameter once, every trial where its values lead."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from tests.space.strategies import World, worlds

from bough import plot
from bough.cli.text import branch_tree
from bough.errors import ConfigError
from bough.plot import StudySnapshot
from bough.plot.outline import activity, count, outline
from bough.space import Categorical, Choice, Float, Int, Space
from bough.study import Study
from bough.trial import Trial

from .examples import SPACES, layers, nested, study


def test_nested_choices_become_nested_branches():
    root = outline(nested())
    assert [each.path for each, _ in root.parameters] == ["shrink"]
    assert [switch.path for switch in root.switches] == ["model", "scale"]
    svm, forest, bayes = root.switches[0].branches
    assert (svm.label, forest.label, bayes.label) == ("svm", "forest", "bayes")
    assert [each.path for each, _ in svm.parameters] == ["model=svm/C"]
    assert [branch.label for branch in svm.switches[0].branches] == ["rbf", "poly", "linear"]
    assert svm.switches[0].branches[0].path == (("model", "svm"), ("model=svm/kernel", "rbf"))
    assert bayes.parameters == () and bayes.switches == ()


def test_names_may_have_slashes():
    switch = Choice({"a": {"train/rate": Float(0, 1), "eval/rate": Float(0, 1)}, "b": {}})
    there = Study(Space({"model/kind": switch, "data/rows": Int(1, 9)}), method="random", seed=0)
    there.run(lambda config: config["data/rows"], 6, progress=False)
    assert "a  [train/rate, eval/rate]" in branch_tree(StudySnapshot.of(there))
    drawn = json.dumps(plot.tree(there).to_dict(), default=str)
    assert "train/rate, eval/rate" in drawn and "model/kind = a" in drawn and "  train/rate: " in drawn
    headings = [each.text for each in plot.parallel(there).layout.annotations]
    assert "<b>data/rows</b>" in headings
    assert "<span style='font-size:10px'>a</span><br><b>eval/rate</b>" in headings


def test_options_may_have_slashes_and_be_long():
    kernel = Choice({"<b>": {"gamma": Float(0, 1)}})
    switch = Choice({"lab/net": {"rate": Float(0, 1), "kernel": kernel}, "a/very/long/" * 9: {}})
    there = Study(Space({"model": switch, "rows": Int(1, 9)}), method="random", seed=0)
    there.run(lambda config: config["rows"], 9, progress=False)
    texts = [each.text for each in plot.parallel(there).layout.annotations]
    assert "<span style='font-size:10px'>lab/net</span><br><b>rate</b>" in texts
    assert "<span style='font-size:10px'>lab/net / &lt;b&gt;</span><br><b>gamma</b>" in texts
    assert {"lab/net", "&lt;b&gt;"} < set(texts)
    assert [text for text in texts if text.startswith("a/very")] == ["a/very/long/a/v…"]


def test_options_that_read_alike_are_told_apart():
    space = Space({"a": Categorical([1, "1", True]), "x": Float(0, 1, when="a == '1'")})
    assert [branch.label for branch in outline(space).switches[0].branches] == ["1", "'1'", "True"]


def test_what_a_branch_does_not_say_is_kept_as_a_condition():
    root = outline(nested())
    assert root.parameters[0][1] == "model in ('svm', 'forest') and scale != 'none'"
    both = Space({"a": Int(1, 2), "b": Int(1, 2), "x": Float(0, 1, when="a == 1 and b == 2")})
    found = {
        each.path: (branch.path, condition)
        for branch in outline(both).walk()
        for each, condition in branch.parameters
    }
    assert found == {"x": ((("a", "1"),), "b == 2")}


def test_numeric_switches_split_by_value_or_by_range():
    root = outline(layers())
    assert [[branch.label for branch in switch.branches] for switch in root.switches] == [
        ["1", "2", "3", "4"],
        ["≤ 0.01", "> 0.01"],
    ]
    cut = Space(
        {"n": Int(0, 100), "x": Float(0, 1, when="n >= 10 and n < 20"), "y": Float(0, 1, when="n == 50")}
    )
    values = [branch.value for branch in outline(cut).switches[0].branches]
    assert [value.label for value in values] == ["< 10", "≥ 10, < 20", "≥ 20, < 50", "50", "> 50"]
    for number in range(101):
        held = [value.label for value in values if value.holds(number)]
        assert len(held) == 1
    assert values[1].holds(10) and values[2].holds(20) and values[3].holds(50) and values[0].holds(9)


@given(worlds(depth=3, forbid=False))
@settings(deadline=None, max_examples=100)
def test_every_space_has_an_outline_that_accounts_for_all_trials(world: World):
    space = world.space
    root = outline(space)
    switches = [switch for branch in root.walk() for switch in branch.switches]
    plain = [each.path for branch in root.walk() for each, _ in branch.parameters]
    assert sorted([switch.path for switch in switches] + plain) == sorted(p.path for p in space.parameters)

    trials = [
        Trial(i, config, "done", value=float(i))
        for i, config in enumerate(space.sample(40, np.random.default_rng(0)))
    ]
    active = space.layout.active(space.encode([t.config for t in trials]).on)
    reached = {p.path: int(active[:, i].sum()) for i, p in enumerate(space.parameters)}
    for branch in count(root, trials, activity(space, trials), minimizes=True).walk():
        for switch in branch.switches:  # a trial takes exactly one branch of each switch that it reaches
            assert sum(below.tally.trials for below in switch.branches) == reached[switch.path]
        for each, condition in branch.parameters:
            # a parameter is active only in its branch, and everywhere in it if nothing else is asked for
            assert reached[each.path] <= branch.tally.trials
            if condition is None:
                assert reached[each.path] == branch.tally.trials


def test_best_and_failed_are_counted_in_the_right_direction():
    space = Space({"m": Choice({"a": {}, "b": {"x": Float(0, 1)}})})
    trials = (
        Trial(0, {"m": "a"}, "done", value=3.0),
        Trial(1, {"m": "b", "x": 0.5}, "done", value=1.0),
        Trial(2, {"m": "b", "x": 0.6}, "done", value=2.0),
        Trial(3, {"m": "b", "x": 0.7}, "failed", error="no"),
        Trial(4, {"m": "a"}, "running"),
    )
    for minimizes, best in ((True, [1.0, 3.0, 1.0]), (False, [3.0, 3.0, 2.0])):
        counted = list(count(outline(space), trials, activity(space, trials), minimizes).walk())
        assert [branch.tally.trials for branch in counted] == [5, 2, 3]
        assert [branch.tally.failed for branch in counted] == [1, 0, 1]
        assert [branch.tally.best.value for branch in counted if branch.tally.best] == best


def test_a_view_narrows_to_a_branch_by_value_or_label():
    snapshot = study(layers(), 200)
    shallow = snapshot.within({"layers": 1})
    assert {t.config["layers"] for t in shallow.trials} == {1}
    steep = snapshot.within({"layers": "2", "rate": "> 0.01"})
    assert steep.trials and all(t.config["layers"] == 2 and t.config["rate"] > 0.01 for t in steep.trials)
    assert steep.branch == (("layers", "2"), ("rate", "> 0.01"))
    with pytest.raises(ConfigError, match=r"no parameter 'layer' decides .* did you mean 'layers'"):
        snapshot.within({"layer": 1})
    with pytest.raises(ConfigError, match="no parameter 'units1' decides"):
        snapshot.within({"units1": 8})
    with pytest.raises(ConfigError, match="its branches are 1, 2, 3, 4"):
        snapshot.within({"layers": "seven"})


def test_switches_of_one_name_are_told_apart_by_path():
    """Two models with a switch ``kernel`` each: one of them narrows to its own trials only."""
    kernel = Choice({"rbf": {"gamma": Float(0, 1)}, "linear": {}})
    snapshot = study(Space({"model": Choice({"svm": {"kernel": kernel}, "gp": {"kernel": kernel}})}), 60)
    found = snapshot.within({"model=svm/kernel": "rbf"}).trials
    assert found and {(t.config["model"], t.config["kernel"]) for t in found} == {("svm", "rbf")}
    with pytest.raises(ConfigError, match="several switches: say which of model=svm/kernel, model=gp/kernel"):
        snapshot.within({"kernel": "rbf"})


@pytest.mark.parametrize("kind", SPACES)
def test_a_branch_of_a_view_holds_the_trials_that_its_tree_counts(kind: str):
    snapshot = study(SPACES[kind](), 150)
    for branch in snapshot.root.walk():
        assert len(snapshot.within(dict(branch.path)).trials) == branch.tally.trials
