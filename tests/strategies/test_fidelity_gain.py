"""The choice of a configuration and its rung by improvement per cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm
from tests.strategies.histories import history

import bough
from bough.gp.kernels import SE
from bough.gp.likelihood import Data, GPModel
from bough.gp.posterior import posterior
from bough.history import Spending
from bough.points import Points
from bough.registry import build
from bough.space.beliefs import beliefs_of
from bough.space.fidelity import full_space
from bough.strategies.fidelity_gain import NORMAL, Contest, _gains_under, _index, next_evaluation
from bough.strategies.fidelity_history import at_fidelity
from bough.study.stopping.fidelities import Fidelity


def improvement(mean: float, sd: float) -> float:
    """The expected amount below 0."""
    return float(sd * norm.pdf(mean / sd) - mean * norm.cdf(-mean / sd))


@pytest.mark.parametrize("mean", [-0.5, 0.0, 1.5])
@pytest.mark.parametrize("cost", [0.03, 0.3])
def test_the_index_is_where_looking_first_costs_what_it_gains(mean: float, cost: float) -> None:
    moved, left = 0.8, 0.6
    after = np.array([improvement(mean + moved * u, left) for u in NORMAL])

    def surplus(price: float) -> float:
        return float(np.mean(np.maximum(after - price, 0.0))) - price * cost

    expected = brentq(surplus, 1e-12, 10.0)
    assert _index(after[None, :], np.array([cost])) == pytest.approx([expected], rel=1e-6)


def test_looking_first_pays_only_where_it_is_cheap_and_tells_something() -> None:
    at_once = improvement(0.5, 1.0)
    for moved, cost, pays in [(0.9, 0.05, True), (0.9, 1.0, False), (0.05, 0.05, False)]:
        left = np.sqrt(1 - moved**2)
        after = np.array([[improvement(0.5 + moved * u, left) for u in NORMAL]])
        assert (_index(after, np.array([cost]))[0] > at_once) == pays


@pytest.mark.parametrize("noise", [0.0, 0.5])
@pytest.mark.parametrize("between", [False, True])
def test_the_gain_of_looking_first_by_simulated_results(noise: float, between: bool) -> None:
    """Draw results at the lower rung, condition on each, and solve for the price at which looking pays.

    A result between the two rungs makes them vary in opposite directions.
    """
    active = np.ones((1, 1), dtype=bool)
    x = np.array([[0.1, 1.0], [0.9, 0.0], [0.4, 0.4] if between else [0.7, 1.0]])
    data = Data(Points(x, np.repeat(active, 3, axis=0)), np.array([0.2, -0.3, 0.1]), np.full(3, noise))
    model, theta = GPModel(SE((0, 1))), np.log([0.5, 0.5, 1e-6])
    gp = posterior(model, theta, data)
    contest = Contest(Points(np.array([[0.4, 1.0]]), active), np.array([-1]), 1, (0.0, 1.0))
    cost, best = 0.05, -0.1
    low, high = (at_fidelity(contest.points, (1, rung)) for rung in (0.0, 1.0))
    mean, sd = (float(part[0]) for part in gp.predict(low))
    covariance = gp.joint(Points.concat([low, high]))[1][0, 1]
    assert (covariance < 0) == between
    after = []
    for quantile in NORMAL:
        told = mean + np.hypot(sd, noise) * quantile
        both = Points.concat([data.points, low])
        then = posterior(model, theta, Data(both, np.append(data.y, told), np.append(data.noise, noise)))
        at_top = [float(part[0]) for part in then.predict(high)]
        after.append(improvement(at_top[0] - best, at_top[1]))
    gain = np.array(after)
    expected = brentq(lambda price: np.mean(np.maximum(gain - price, 0.0)) - price * cost, 1e-12, 10.0)
    found = _gains_under(gp, best, contest, np.array([[cost, 1.0]]))
    mean, sd = (float(part[0]) for part in gp.predict(high))
    assert np.exp(found[0]) == pytest.approx([expected, improvement(mean - best, sd)], rel=1e-3)


EPOCHS = bough.Int(1, 27, fidelity=True)
SPACE = bough.Space({"x": bough.Float(0, 1), "y": bough.Float(0, 1), "epochs": EPOCHS})


def spent_by_rung(cost, value, budget: float, seed: int = 0) -> dict[int, int]:
    """How many trials a study with a budget spends at each fidelity, after its first full results."""
    study = bough.Study(SPACE, seed=seed)
    study.set_budget(budget)
    while study.spent < budget and len(study.trials) < 26:
        trial = study.ask()
        study.tell(trial, value(trial.config), cost=cost(trial.config))
    epochs = [trial.config["epochs"] for trial in study.trials[12:]]
    return {rung: epochs.count(rung) for rung in (1, 3, 9, 27)}


def bowl(config) -> float:
    return (config["x"] - 0.3) ** 2 + (config["y"] - 0.6) ** 2 + 1 / config["epochs"]


def test_rungs_that_cost_as_much_as_the_highest_are_not_used() -> None:
    counts = spent_by_rung(lambda config: 1.0, bowl, budget=40.0)
    assert counts[27] > 2 * (counts[1] + counts[3] + counts[9])


def test_a_promotion_that_costs_most_of_the_budget_waits() -> None:
    """One configuration is a little ahead at the lowest rung, and costs a hundred times as much."""
    study = bough.Study(SPACE, seed=0)
    study.set_budget(200.0)
    for x, epochs in [(0.1, 1), (0.1, 27), (0.9, 1), (0.9, 27), (0.7, 1), (0.7, 27), (0.5, 1), (0.35, 1)]:
        config = {"x": x, "y": 0.5, "epochs": epochs}
        study.tell(
            study.enqueue(config) and study.ask(),
            bowl(config),
            cost=(10.0 if x == 0.35 else 0.1) * epochs**0.5,
        )
    dear = {"x": 0.35, "y": 0.5}
    for _ in range(6):
        trial = study.ask()
        assert {name: trial.config[name] for name in dear} != dear
        study.tell(trial, bowl(trial.config), cost=0.1 * trial.config["epochs"] ** 0.5)


def test_a_restart_decides_the_same(tmp_path) -> None:
    where = f"sqlite:///{tmp_path}/s.db"
    told = []
    for parts in (1, 4):
        for part in range(parts):
            study = bough.Study(SPACE, name=f"s{parts}", seed=1, storage=where)
            if part == 0:
                study.set_budget(100.0)
            for _ in range(20 // parts):
                trial = study.ask()
                study.tell(trial, bowl(trial.config), cost=float(trial.config["epochs"]))
        told.append([(trial.config, trial.resumes) for trial in study.trials])
    assert told[0] == told[1]
    assert len({config["epochs"] for config, _ in told[0]}) > 1


def test_a_changed_space_keeps_what_waits() -> None:
    study = bough.Study(bough.Space({"x": bough.Float(0, 1), "epochs": EPOCHS}), seed=2)
    study.set_budget(300.0)
    for _ in range(14):
        trial = study.ask()
        study.tell(trial, bowl({"y": 0.6, **trial.config}), cost=float(trial.config["epochs"]))
    study.change(SPACE, backfill={"y": 0.6})
    waiting = [trial.config["x"] for trial in study.trials if trial.config["epochs"] < 27]
    for _ in range(8):
        trial = study.ask()
        study.tell(trial, bowl(trial.config), cost=float(trial.config["epochs"]))
        assert (trial.resumes is not None) <= (trial.config["x"] in waiting)
        waiting.append(trial.config["x"])


def test_asking_for_several_gives_different_trials() -> None:
    study = bough.Study(SPACE, seed=3)
    study.set_budget(500.0)
    for _ in range(12):
        trial = study.ask()
        study.tell(trial, bowl(trial.config), cost=float(trial.config["epochs"]))
    trials = study.ask(5)
    assert len({tuple(trial.config.items()) for trial in trials}) == 5


@pytest.mark.parametrize(("likely", "promoted"), [((0.0, 0.25), 0), ((0.75, 1.0), 1)])
def test_beliefs_decide_between_equal_promotions(likely: tuple[float, float], promoted: int) -> None:
    """Two configurations wait with the same prospects, and one of them has a likely value."""
    space = full_space(SPACE)
    full = [({"x": x, "y": y, "epochs": 27}, 1.0) for x in (0.4, 0.6) for y in (0.0, 0.5, 1.0)]
    waiting = [{"x": x, "y": 0.5, "epochs": 9} for x in (0.1, 0.9)]
    past = history(space, [*full, *((config, 0.1) for config in waiting)])
    told = beliefs_of(space, {"x": (likely, past.number)})
    costs = np.array([27.0] * len(full) + [9.0] * 2)
    past = replace(past, beliefs=told, spending=Spending(costs, float(costs.sum()), 1e4))
    fidelity = Fidelity("epochs", (9, 27))
    strategy = build("auto", space)
    seen = fidelity.history(space, past, strategy)
    column, rungs = fidelity.places(space)
    new = {"x": 0.5, "y": 0.25, "epochs": 27}
    points = at_fidelity(space.encode([*waiting, new]), (column, rungs[-1]))
    contest = Contest(points, np.array([0, 0, -1]), column, rungs)
    assert next_evaluation(strategy, space, seen, contest) == (promoted, 1)


@pytest.mark.parametrize(("reached", "chosen"), [(-1, 0), (0, 1)])
def test_a_rung_that_was_looked_at_is_not_looked_at_again(reached: int, chosen: int) -> None:
    """A noisy and cheap result would be worth repeating; the config goes on to the next rung instead."""
    space = full_space(SPACE)
    full = [{"x": x, "y": y, "epochs": 27} for x in (0.2, 0.5, 0.8) for y in (0.1, 0.5, 0.9)]
    waiting = {"x": 0.3, "y": 0.6, "epochs": 9}
    past = history(space, [(config, bowl(config)) for config in (*full, waiting)])
    noise, costs = np.array([np.nan] * len(full) + [0.3]), np.array([27.0] * len(full) + [0.01])
    past = replace(past, noise=noise, spending=Spending(costs, float(costs.sum()), 1e4))
    fidelity, strategy = Fidelity("epochs", (9, 27)), build("auto", space)
    column, rungs = fidelity.places(space)
    points = space.encode([waiting, {"x": 0.9, "y": 0.95, "epochs": 27}])
    contest = Contest(at_fidelity(points, (column, rungs[-1])), np.array([reached, -1]), column, rungs)
    seen = fidelity.history(space, past, strategy)
    assert next_evaluation(strategy, space, seen, contest) == (0, chosen)
