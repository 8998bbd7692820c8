"""The benchmark problems of our own and of the papers: what they state about their optima is true."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from benchmarks.problems import FAMILIES, FURTHER, PROBLEMS, Problem, build, cache

SYNTHETIC = (
    *FAMILIES["jenatton"],
    *FAMILIES["branches"],
    *FAMILIES["kinds"],
    *(n for n in FURTHER if n != "pipeline"),
)
MANY_BRANCHES = ("product", "switches")  # more branches than samples can visit
CONTINUOUS = tuple(
    name for name in SYNTHETIC if name not in ("discrete", "uneven", "plateaus", *MANY_BRANCHES)
)


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "FOLDER", tmp_path)


def true_value(problem: Problem, config: dict) -> float:
    value = (problem.noiseless or problem.function)(config)
    return math.inf if math.isnan(value) else value


def descend(problem: Problem, config: dict, rng: np.random.Generator, rounds: int) -> float:
    """The best value that a shrinking random search around ``config`` finds without leaving its branch."""
    space, branch = problem.space, problem.branch(config)
    x, best = space.encode([config]).x[0], true_value(problem, config)
    for radius in np.geomspace(0.4, 1e-4, rounds):
        steps = radius * rng.normal(size=(40, len(x))) * (rng.random((40, len(x))) < rng.random((40, 1)))
        points = space.snap(np.clip(x + steps, 0, 1))
        for i, other in enumerate(space.decode(points)):
            if problem.branch(other) == branch and true_value(problem, other) < best:
                x, best = points.x[i], true_value(problem, other)
    return best


def test_every_name_is_listed_once():
    assert len(set(PROBLEMS)) == len(PROBLEMS) == sum(map(len, FAMILIES.values()))
    assert len(FURTHER) >= 10


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="no problem 'medium'; families are jenatton, branches"):
        build("medium", 0)
    with pytest.raises(ValueError, match=r"no problem 'pipelin'; did you mean 'pipeline'.*\?$"):
        build("pipelin", 0)


@pytest.mark.parametrize("name", [*SYNTHETIC, "pipeline", "cash-artificial"])
def test_configs_are_legal_and_instances_repeat(name):
    first, second = build(name, 3), build(name, 3)
    assert first.name == name
    for config in first.space.sample(20 if name != "pipeline" else 3, np.random.default_rng(0)):
        assert first.space.validate(config) == config
        hash(first.branch(config))
        np.testing.assert_equal(first.function(config), second.function(config))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if place % 4 == 0 else pytest.mark.slow)  # a sample of them is quick
        for place, name in enumerate(CONTINUOUS)
    ],
)
def test_the_stated_optimum_is_reached_in_the_stated_branch_and_nowhere_else(name):
    problem, rng = build(name, 1), np.random.default_rng(5)
    by_branch = defaultdict(list)
    for config in problem.space.sample(3000, rng):
        by_branch[problem.branch(config)].append((true_value(problem, config), config))
    for branch in by_branch:
        by_branch[branch].sort(key=lambda pair: pair[0])
    starts = by_branch.pop(problem.best_branch)[:3]
    reached = min(descend(problem, config, rng, rounds=60) for _, config in starts)
    assert problem.optimum <= reached <= problem.optimum + 0.01
    for candidates in by_branch.values():
        value, config = candidates[0]
        if value < math.inf:
            assert descend(problem, config, rng, rounds=10) > max(reached, problem.optimum + 0.001)


@pytest.mark.parametrize("seed", range(3))
def test_discrete_by_enumeration(seed):
    problem, least = build("discrete", seed), {}
    for k, block, unroll, order, level in itertools.product(
        "0123", range(1, 17), range(9), "ijklm", range(7)
    ):
        config = {"algorithm": k, "block": block, "unroll": unroll, "order": order}
        config |= {"vector": "on", "level": level} if level else {"vector": "off"}
        value = problem.function(config)
        least[int(k)] = min(value, least.get(int(k), math.inf))
    assert min(least, key=least.__getitem__) == problem.best_branch
    assert least[problem.best_branch] == problem.optimum
    assert len(least) * 16 * 9 * 5 * 7 == problem.space.size


@pytest.mark.parametrize(
    "name", [n for n in (*FAMILIES["branches"], *FAMILIES["kinds"], *FURTHER) if n != "pipeline"]
)
def test_the_best_branch_depends_on_the_seed(name):
    assert len({build(name, seed).best_branch for seed in range(12)}) >= 3


def test_unbalanced_trees_grow_and_their_best_leaf_is_the_deepest():
    for depth in range(2, 9):
        problem = build(f"unbalanced-{depth}", 0)
        assert len(problem.space) == depth + depth + 1
        way = {f"d{i}": "1" for i in range(depth)}
        assert problem.function({**way, f"x{depth}": 0.0}) == pytest.approx(0.1)
        assert problem.function({"d0": "0", "x0": 0.0}) == pytest.approx(0.1 * (depth + 1))


def test_noise_is_what_the_problem_says_and_repeats():
    problem, again = build("noisy", 0), build("noisy", 0)
    config = problem.space.sample(1, np.random.default_rng(0))[0]
    values = [problem.function(config) for _ in range(2000)]
    assert values[:5] == [again.function(config) for _ in range(5)]
    spread = np.std(values)
    assert min(abs(spread - stated) for stated in (0.05, 0.1, 0.2)) < 0.01
    assert problem.noiseless(config) == pytest.approx(np.mean(values), abs=4 * spread / np.sqrt(2000))
    assert problem.score(config, values[0]) == problem.noiseless(config) != values[0]


@pytest.mark.parametrize("name", FAMILIES["noise"])
def test_noise_on_a_problem_is_a_tenth_of_its_spread_and_repeats(name):
    problem, again, plain = build(name, 3), build(name, 3), build(name.removeprefix("noise-on-"), 3)
    assert problem.name == name and problem.noiseless is not None
    configs = problem.space.sample(2000, np.random.default_rng(0))
    noise = [problem.function(config) - plain.function(config) for config in configs]
    assert noise[:5] == [again.function(config) - plain.function(config) for config in configs[:5]]
    low, high = np.quantile([plain.function(config) for config in configs], [0.25, 0.75])
    assert np.std(noise) == pytest.approx(0.1 * (high - low), rel=0.15)
    assert problem.noiseless(configs[0]) == plain.function(configs[0])


@pytest.mark.parametrize("name", FAMILIES["diverging"])
def test_a_third_of_a_range_diverges_and_the_rest_is_as_before(name):
    problem, again, plain = build(name, 3), build(name, 3), build(name.removeprefix("diverges-on-"), 3)
    assert problem.name == name and problem.optimum is None
    configs = problem.space.sample(2000, np.random.default_rng(0))
    values = np.array([problem.function(config) for config in configs])
    assert values[:5].tolist() == [again.function(config) for config in configs[:5]]
    huge = values != [plain.function(config) for config in configs]
    assert 0.2 < huge.mean() < 0.5
    assert values[huge].min() >= 1e2 and values[huge].max() <= 1e6


@pytest.mark.parametrize("seed", range(3))
def test_a_third_of_failing_fails_and_one_branch_always(seed):
    problem = build("failing", seed)
    configs = problem.space.sample(2000, np.random.default_rng(0))
    failed = np.array([math.isnan(problem.function(config)) for config in configs])
    assert 0.25 < failed.mean() < 0.5
    branches = np.array([problem.branch(config) for config in configs])
    assert sum(failed[branches == k].all() for k in range(6)) == 1


def test_ties_are_whole_rows():
    problem = build("ties", 0)
    values = [problem.function(config) for config in problem.space.sample(500, np.random.default_rng(0))]
    np.testing.assert_allclose(np.round(np.array(values) * 100), np.array(values) * 100, atol=1e-9)
    assert len(set(values)) <= 32


def test_what_users_meet_is_there():
    assert len(build("wide", 0).space) >= 30
    assert build("many", 0).space["model"].domain.levels >= 24
    assert not build("either", 0).space.tree.is_tree
    assert all(p.domain.kind != "real" for p in build("discrete", 0).space)
