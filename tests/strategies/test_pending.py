"""Trials that run: they are believed to give what is expected of them, and that is to be beaten."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.strategies.histories import history

import bough
from bough.history import History
from bough.registry import build
from bough.strategies.model_based import ModelBased

SPACE = bough.Space({"x": bough.Float(0, 1), "y": bough.Float(0, 1)})


@pytest.mark.parametrize("seed", range(6))
def test_trials_asked_at_once_keep_apart(seed: int) -> None:
    study = bough.Study(SPACE, seed=seed)
    study.run(lambda c: (c["x"] - 0.3) ** 2 + (c["y"] - 0.6) ** 2, trials=8, progress=False)
    asked = np.array([list(trial.config.values()) for trial in study.ask(6)])
    apart = np.abs(asked[:, None] - asked[None]).max(axis=2)[np.triu_indices(6, 1)]
    assert apart.min() > 2e-4


def test_a_search_is_brief_beside_running_trials_of_a_long_study_alone() -> None:
    """With a fidelity, configurations that wait for promotion are pending, and few of them run."""
    configs = SPACE.sample(22, np.random.default_rng(0))
    long = history(SPACE, [(config, config["x"]) for config in configs[:20]], pending=configs[20:])
    short = history(SPACE, [(config, config["x"]) for config in configs[:10]], pending=configs[20:])
    strategy = build(bough.method("auto", working_set=16), SPACE)
    assert isinstance(strategy, ModelBased)

    def is_brief(trials: History) -> bool:
        return strategy._context(SPACE, trials).is_brief

    assert is_brief(long)
    assert not is_brief(short)
    assert not is_brief(replace(long, pending=long.pending.take([]), pending_numbers=np.arange(0)))
    assert not is_brief(replace(long, fidelity=(1, 1.0)))


def test_a_reopened_study_sees_running_trials_as_the_one_that_handed_them_out() -> None:
    """To the last bit: a proposal does not depend on which models are still in a cache."""
    configs = SPACE.sample(22, np.random.default_rng(1))
    done = [(config, (config["x"] - 0.3) ** 2 + config["y"]) for config in configs[:12]]
    live = build("auto", SPACE)
    for running in (0, 1, 2, 3, 9, 10):
        trials = history(SPACE, done, pending=configs[12 : 12 + running])
        reopened = build("auto", SPACE)
        one, other = (each.propose(SPACE, trials, np.random.default_rng(0)) for each in (live, reopened))
        assert np.array_equal(one.x, other.x)


@pytest.mark.parametrize("noisy", [False, True])
def test_a_config_that_is_given_up_is_only_avoided(noisy: bool) -> None:
    """The model expects the best value there; nobody will ever measure it."""
    grid = [{"x": x, "y": y} for x in (0.1, 0.3, 0.7, 0.9) for y in (0.1, 0.3, 0.7, 0.9)]
    done = [(config, (config["x"] - 0.5) ** 2 + (config["y"] - 0.5) ** 2) for config in grid]
    strategy = build("auto", SPACE)
    assert isinstance(strategy, ModelBased)
    plain = history(SPACE, [*done, (grid[0], 1.0)] if noisy else done)
    running = history(SPACE, [*done, (grid[0], 1.0)] if noisy else done, pending=[{"x": 0.5, "y": 0.5}])
    nothing = running.pending.take([])
    given_up = replace(
        running,
        pending=nothing,
        pending_numbers=np.arange(0),
        given_up=running.pending,
        given_up_numbers=running.pending_numbers,
    )
    best = strategy._context(SPACE, plain).model.best
    assert strategy._context(SPACE, running).model.best < best
    assert strategy._context(SPACE, given_up).model.best == best
    avoided = SPACE.decode(strategy._context(SPACE, given_up).avoid)
    assert {"x": 0.5, "y": 0.5} in avoided and (len(avoided) == 1) == noisy
