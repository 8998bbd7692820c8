"""``run(until="settled")`` ends when the model expects nothing more, and says what is left to gain."""

from __future__ import annotations

import logging
import math
from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import StudyError
from bough.strategies.base import RemainingGain
from bough.study.running.settling import SETTLED_RESULTS, Settling
from bough.trial import Trial

SPACE = bough.Space({"m": bough.Choice({"a": {"x": bough.Float(0, 1)}, "b": {"y": bough.Float(0, 1)}})})


def value(config: dict) -> float:
    return (config["x"] - 0.3) ** 2 if config["m"] == "a" else 1.0 + config["y"]


def test_a_run_ends_when_nothing_is_left_to_gain_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    study = bough.Study(SPACE, seed=0)
    with caplog.at_level(logging.WARNING, "bough"):
        study.run(value, trials=60, until="settled", progress=False)
    assert 10 <= len(study.trials) < 50
    assert study.best.value is not None
    assert study.best.value < 1e-3
    assert "settled: another trial is expected to gain" in caplog.text
    left = study.remaining_gain()
    assert left.settled
    assert 0 <= left.expected < 0.01
    assert left.possible >= left.expected
    before = len(study.trials)
    study.run(value, trials=60, until="settled", progress=False)  # resumed: it is still settled
    assert len(study.trials) == before


def test_noise_does_not_keep_a_run_going() -> None:
    """A gain counts only as far as one noisy trial can show it; otherwise 120 trials would not be enough."""
    rng = np.random.default_rng(1)
    study = bough.Study(SPACE, seed=1)
    study.run(lambda config: value(config) + 0.2 * rng.normal(), trials=120, until="settled", progress=False)
    assert len(study.trials) < 100
    assert value(dict(study.recommend().trial.config)) < 0.1


def test_the_answer_follows_from_the_stored_results(tmp_path) -> None:
    storage = f"sqlite:///{tmp_path}/s.db"
    study = bough.Study(SPACE, name="s", storage=storage, seed=1)
    study.run(value, trials=12, progress=False)
    again = bough.open_study("s", storage)
    again.ask()  # a running trial does not count
    for results in (8, 12):
        assert again.remaining_gain(results) == study.remaining_gain(results)
    assert study.remaining_gain(4).expected > study.remaining_gain(12).expected


def test_the_possible_gain_is_between_the_bounds_of_the_model() -> None:
    """The lowest upper bound of a trial minus the lowest lower bound anywhere, at two standard deviations."""
    study = bough.Study(bough.Space({"x": bough.Float(0, 1)}), seed=0)
    for x in (0.05, 0.3, 0.55, 0.7, 0.95):
        study.add({"x": x}, value=math.sin(9 * x) + x, noise=0.2)
    mean, sd = study.predict([trial.config for trial in study.trials])
    upper = np.min(mean + 2 * sd)
    mean, sd = study.predict([{"x": x} for x in np.linspace(0, 1, 2001).tolist()])
    lower = np.min(mean - 2 * sd)
    assert study.remaining_gain().possible == pytest.approx(upper - lower, rel=1e-3)


def test_what_is_left_is_finite_whatever_the_values() -> None:
    study = bough.Study(SPACE, seed=0)
    for value in [1.7e308, -1.7e308, 0.0] * 5:
        study.tell(study.ask(), value)
    left = study.remaining_gain()
    assert math.isfinite(left.expected)
    assert math.isfinite(left.possible)


def test_a_steep_start_is_not_settled() -> None:
    study = bough.Study(SPACE, seed=0)
    study.run(value, trials=SETTLED_RESULTS, progress=False)
    assert not study.remaining_gain().settled


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"until": "done"}, "until must be 'settled' or None, not 'done'"),
        ({"until": "settled", "method": "tpe"}, "'tpe' cannot"),
        ({"until": "settled", "method": "random"}, "'random' cannot"),
    ],
)
def test_methods_without_a_model_and_other_words_are_refused(arguments: dict, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        bough.minimize(value, SPACE, trials=3, progress=False, **arguments)


def test_several_objectives_are_refused() -> None:
    study = bough.Study(SPACE, objectives=["a", "b"], seed=0)
    with pytest.raises(StudyError, match="one objective"):
        study.run(value, until="settled", progress=False)
    with pytest.raises(StudyError, match="one objective") as raised:
        study.run(value, until="settled", progress=False)
    assert "'auto' cannot" not in str(raised.value)


def test_results_of_stopped_trials_count() -> None:
    study = bough.Study(SPACE, method="random", seed=0)
    for _ in range(4):
        trial = study.ask()
        for step in range(10):
            study.keep_report(trial, value(trial.config), step)
        study.tell(trial, value(trial.config))
    trial = study.ask()
    study.keep_report(trial, 5.0, 4)
    study.record_result(Trial(trial.number, {}, "stopped", attempt=trial.attempt))
    assert study.status().done == 4
    assert study.count_results() == 5


def test_it_looks_once_for_each_finished_trial() -> None:
    class Foreseen:
        asked = 0
        amendments = ()

        def count_results(self) -> int:
            self.asked += 1
            return 12

        def remaining_gain(self, results: int | None = None) -> RemainingGain:
            return RemainingGain(0.0, 0.0, settled=results != 9)

    study = Foreseen()
    settling = Settling(study)
    assert [settling.settled(finished) for finished in (20, 20, 21)] == [False, False, False]
    assert study.asked == 2


def test_a_retraction_asks_again() -> None:
    asked: list[int] = []

    class Known:
        amendments: tuple[Any, ...] = ()

        def count_results(self) -> int:
            return 12

        def remaining_gain(self, results: int | None = None) -> RemainingGain:
            asked.append(results or 0)
            return RemainingGain(0.0, 0.0, settled=True)

    study = Known()
    settling = Settling(study)
    assert settling.settled(12) and asked == [12, 11, 10, 9, 8]
    assert settling.settled(13) and len(asked) == 5
    study.amendments = ("a retraction",)
    assert settling.settled(14) and asked[5:] == [12, 11, 10, 9, 8]
