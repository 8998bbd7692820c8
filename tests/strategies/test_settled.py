"""While the model of ``auto`` expects no gain, every second trial is random."""

from __future__ import annotations

from typing import Any

import numpy as np

import bough

SPACE = bough.Space(
    {"kind": bough.Choice({"wide": {"x": bough.Float(0, 1)}, "narrow": {"y": bough.Float(0, 1)}})}
)


def bowl(config: dict[str, Any]) -> float:
    return float((config.get("x", config.get("y", 0.0)) - 0.3) ** 2)


def pit(config: dict[str, Any]) -> float:
    """The narrow branch is flat except for a pit, in which it is the better one."""
    if config["kind"] == "wide":
        return float(0.1 + (config["x"] - 0.3) ** 2)
    return 0.0 if 0.6 < config["y"] < 0.7 else 1.0


def rules(study: bough.Study) -> list[str]:
    return [study.explain(trial)["rule"] for trial in study.trials]


def test_even_trials_are_random_once_nothing_is_expected() -> None:
    study = bough.minimize(bowl, SPACE, 30, seed=0, progress=False)
    chosen = rules(study)
    settled = chosen.index("random")
    assert settled > 8, "a bowl takes a few trials"
    assert "random" not in chosen[1::2]
    assert chosen[settled::2].count("random") >= 0.8 * len(chosen[settled::2])
    assert study.explain(settled)["reason"].startswith("drawn at random")
    assert study.best.value < 1e-6, "exploitation goes on"


def test_a_noisy_search_does_not_stay_beside_its_incumbent() -> None:
    """The incumbent is never known exactly, but one more trial beside it tells hardly anything."""
    noise = np.random.default_rng(0)
    study = bough.minimize(
        lambda config: bowl(config) + 0.05 * noise.standard_normal(), SPACE, 60, seed=0, progress=False
    )
    late = [study.explain(trial)["rule"] for trial in study.trials[40::2]]
    assert late.count("random") >= 5
    assert study.recommend().mean < 0.03


def test_a_branch_that_looked_flat_is_found() -> None:
    found = [
        bough.minimize(pit, SPACE, 60, seed=seed, progress=False).best.config["kind"] for seed in range(4)
    ]
    assert found == ["narrow"] * 4


def test_a_search_that_still_expects_gains_has_no_random_trials() -> None:
    space = bough.Space({name: bough.Float(0, 1) for name in "abcdef"})
    study = bough.minimize(
        lambda config: sum((value - 0.4) ** 2 for value in config.values()), space, 16, seed=0, progress=False
    )
    assert "random" not in rules(study)


def test_a_finite_space_is_used_up_without_repeats() -> None:
    space = bough.Space({"n": bough.Int(0, 1500)})
    study = bough.minimize(lambda config: abs(config["n"] - 700.0), space, 60, seed=0, progress=False)
    assert "random" in rules(study)
    assert len({trial.config["n"] for trial in study.trials}) == 60


def test_random_trials_will_probably_meet_the_limits() -> None:
    def measure(config: dict[str, Any]) -> dict[str, float]:
        x = config.get("x", config.get("y", 0.0))
        return {"value": (x - 0.2) ** 2, "memory": x}

    study = bough.Study(SPACE, seed=0, objectives={"value": "minimize"}, constraints=["memory <= 0.5"])
    study.run(measure, 40, progress=False)
    drawn = [trial for trial in study.trials if study.explain(trial)["rule"] == "random"]
    assert len(drawn) > 4
    assert sum(bool(trial.feasible) for trial in drawn) > 0.8 * len(drawn)


def test_nothing_is_random_where_cost_counts_or_every_trial_exploits() -> None:
    study = bough.Study(SPACE, seed=0)
    study.run(lambda config: {"value": bowl(config), "cost": 1.0}, budget=30, progress=False)
    assert "random" not in rules(study)
    study = bough.Study(SPACE, seed=0, method=bough.method("auto", exploit_every=1))
    assert "random" not in rules(study.run(bowl, 30, progress=False))


def test_a_branch_that_always_fails_does_not_keep_a_search_going() -> None:
    def half_works(config: dict[str, Any]) -> float:
        return float("nan") if config["kind"] == "narrow" else bowl(config)

    study = bough.Study(SPACE, seed=0)
    study.run(half_works, 60, until="settled", progress=False)
    assert 10 < len(study.trials) < 40
    assert study.best.value < 1e-3
