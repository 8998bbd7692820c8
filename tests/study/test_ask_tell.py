"""Asking, telling, adding and queueing by hand."""

from __future__ import annotations

import math
import threading
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bough.errors import ConfigError, ConflictError, ExhaustedError, StudyError, TrialError
from bough.space import Categorical, Choice, Float, Int, Space
from bough.storage import MemoryStorage, open_storage
from bough.study import Study, open_study
from bough.trial import Trial

SPACE = Space(
    {
        "model": Choice(
            {"svm": {"C": Float(1e-5, 1e5, log=True)}, "forest": {"trees": Int(1, 30)}, "bayes": {}}
        ),
        "scale": Categorical(["none", "standard"]),
    }
)
LINE = Space({"x": Float(0, 1)})


def new_study(space: Space = LINE, **more: Any) -> Study:
    return Study(space, **{"method": "random", "seed": 0, **more})


# ---- ask -------------------------------------------------------------------------------------------


def test_asked_trials_are_running_and_legal() -> None:
    study = new_study(SPACE)
    trials = [study.ask() for _ in range(20)]
    assert [trial.number for trial in trials] == list(range(20))
    for trial in trials:
        assert (trial.state, trial.attempt, trial.expires) == ("running", 1, None)
        assert SPACE.validate(trial.config) == trial.config
    assert study.trials == trials


def test_ask_for_several() -> None:
    study = new_study()
    assert [trial.number for trial in study.ask(3)] == [0, 1, 2]
    with pytest.raises(TrialError, match="at least 1"):
        study.ask(0)


def test_one_seed_gives_one_sequence_however_it_is_cut(storage_url: str | None) -> None:
    whole = [trial.config for trial in new_study(SPACE).ask(12)]
    study = new_study(SPACE, storage=storage_url, name="cut")
    configs = [trial.config for trial in study.ask(5)]
    if storage_url is not None:
        study = open_study("cut", storage_url)
    configs += [study.ask().config for _ in range(7)]
    assert configs == whole
    assert [trial.config for trial in new_study(SPACE, seed=1).ask(12)] != whole


def test_without_a_seed_one_is_drawn_and_kept() -> None:
    storage = MemoryStorage()
    study = Study(LINE, name="s", storage=storage, method="random")
    assert open_study("s", storage).seed == study.seed
    assert Study(LINE, method="random").seed != study.seed


def test_defaults_come_first() -> None:
    space = Space({"x": Float(0, 1, default=0.25), "n": Int(1, 5)})
    study = new_study(space)
    assert study.ask().config == {"x": 0.25, "n": 3}
    assert study.ask().config != {"x": 0.25, "n": 3}
    late = new_study(space)
    late.add({"x": 0.5, "n": 1}, 1.0)
    assert late.ask().config == {"x": 0.25, "n": 3}


def test_a_finite_space_ends() -> None:
    study = new_study(Space({"a": Categorical(["x", "y", "z"])}))
    assert sorted(trial.config["a"] for trial in study.ask(5)) == ["x", "y", "z"]
    with pytest.raises(ExhaustedError, match="all 3 configurations"):
        study.ask()
    assert len(study.trials) == 3


def test_threads_share_a_study(storage_url: str | None) -> None:
    study = new_study(storage=storage_url, name="s")

    def work() -> None:
        for _ in range(8):
            study.tell(study.ask(), 1.0)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [trial.state for trial in study.trials] == ["done"] * 32
    assert [trial.config for trial in study.trials] == [trial.config for trial in new_study().ask(32)]


def test_a_slower_asker_proposes_again_with_the_newcomer_in_mind(
    storage_url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage, many = open_storage(storage_url), Space({"x": Int(1, 10**6)})
    slow, fast = (new_study(many, name="s", storage=storage) for _ in range(2))
    seen: list[tuple[int, list[int]]] = []
    propose = type(slow._strategy).propose

    def overtaken(self: Any, space: Space, history: Any, rng: Any) -> Any:
        seen.append((history.number, list(history.pending_numbers)))
        if len(seen) <= overtakings:
            fast.add({"x": 1}, 1.0)
            storage.insert(fast.record.id, [Trial(-1, {"x": 2}, "running")])
        return propose(self, space, history, rng)

    overtakings = 1
    monkeypatch.setattr(type(slow._strategy), "propose", overtaken)
    trial = slow.ask()
    assert seen == [(0, []), (2, [1])]
    assert trial.number == 2
    # Under constant pressure the fourth proposal is drawn at random, and takes whatever number is next.
    seen.clear()
    overtakings = 100
    assert slow.ask().number == 3 + 4 * 2
    assert [number for number, _ in seen] == [3, 5, 7, 9]


def test_askers_that_draw_at_random_never_draw_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = MemoryStorage()
    slow, fast = (new_study(name="s", storage=storage) for _ in range(2))
    propose = type(slow._strategy).propose
    racing = [True]

    def overtaken(self: Any, space: Space, history: Any, rng: Any) -> Any:
        if racing:
            racing.clear()
            fast.ask()
        return propose(self, space, history, rng)

    monkeypatch.setattr(type(slow._strategy), "propose", overtaken)
    assert slow.ask().number == 1
    first, second = slow.trials
    assert first.config != second.config


# ---- tell and fail ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (1.5, 1.5),
        (2, 2.0),
        (True, 1.0),
        (np.float32(0.5), 0.5),
        (np.int64(3), 3.0),
        (np.array(2.5), 2.5),
        (Fraction(1, 4), 0.25),
        (Decimal("0.125"), 0.125),
    ],
)
def test_numbers_of_any_make(value: Any, stored: float) -> None:
    study = new_study()
    told = study.tell(study.ask(), value, noise=np.float64(0.5), cost=3)
    assert (told.value, told.noise, told.cost, told.state) == (stored, 0.5, 3.0, "done")
    assert study.trials == [told]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float64("nan"), 10**400, -(10**400)])
def test_nan_and_infinities_are_failures(value: Any) -> None:
    study = new_study()
    trial = study.ask()
    told = study.tell(trial, value)
    assert (told.state, told.value) == ("failed", None)
    assert told.error is not None and told.error.startswith("the value is")
    assert study.tell(trial, value) == told
    with pytest.raises(StudyError, match=r"no trial with a value yet.*the value is"):
        _ = study.best


@pytest.mark.parametrize("value", [None, "1.0", 1j, np.complex128(1), [1.0], np.array([1.0]), object])
def test_what_is_no_number_is_refused(value: Any) -> None:
    study = new_study()
    trial = study.ask()
    with pytest.raises(TrialError, match="the value of trial 0 must be a number, not"):
        study.tell(trial, value)
    assert study.trials == [trial]


@pytest.mark.parametrize("extra", [{"noise": -1.0}, {"noise": math.nan}, {"noise": "x"}, {"cost": math.inf}])
def test_bad_noise_and_cost_are_refused(extra: dict[str, Any]) -> None:
    study = new_study()
    trial = study.ask()
    with pytest.raises(TrialError, match=next(iter(extra))):
        study.tell(trial, 1.0, **extra)
    assert study.trials == [trial]


@pytest.mark.parametrize("number", [1, -1, 10**30, "0", 1.0, None])
def test_unknown_trials(number: Any) -> None:
    study = new_study()
    trial = study.ask()
    for call in (lambda: study.tell(number, 1.0), lambda: study.fail(number, "why")):
        with pytest.raises(TrialError):
            call()
    assert study.trials == [trial]


def test_telling_twice() -> None:
    study = new_study()
    trial = study.ask()
    told = study.tell(trial.number, 1.0)
    assert study.tell(trial, 1.0) == told
    with pytest.raises(
        ConflictError, match=r"trial 0 is already finished \(value=1\.0\); another result \(value=2\.0\)"
    ):
        study.tell(trial, 2.0)
    with pytest.raises(ConflictError):
        study.fail(trial, "no")
    assert study.trials == [told]


def test_failures_keep_their_reason() -> None:
    study = new_study()
    failed = study.fail(study.ask(), "no \0 memory \ud800" + "!" * 10_000)
    assert failed.error is not None
    assert failed.error.startswith("no \\x00 memory \\ud800!!!")
    assert len(failed.error) == 2000


# ---- add and enqueue -------------------------------------------------------------------------------


def test_added_results_count_for_the_best_but_not_as_trials() -> None:
    study = new_study(SPACE)
    added = study.add({"model": "forest", "trees": 3, "scale": "none"}, -5.0, noise=0.1)
    assert (added.number, added.state, added.value, added.noise, added.was_added) == (
        0,
        "done",
        -5.0,
        0.1,
        True,
    )
    study.tell(study.ask(), 1.0)
    assert study.best == added
    assert study.status().finished == 1


def test_many_are_added_at_once() -> None:
    study = new_study()
    trials = study.add_many([({"x": 0.1}, 1.0), ({"x": 0.2}, 2.0, 0.5), ({"x": 0.3}, math.nan)])
    assert [(trial.number, trial.value) for trial in trials] == [(0, 1.0), (1, 2.0), (2, None)]
    assert trials[1].noise == 0.5
    with pytest.raises(ConfigError):
        study.add_many([({"x": 0.4}, 1.0), ({"x": 4.0}, 1.0)])
    assert len(study.trials) == 3, "all or none"


@pytest.mark.parametrize("config", [{}, {"x": 2.0}, {"x": 0.5, "y": 1}, {"x": "a"}])
def test_configs_outside_the_space_are_refused(config: dict[str, Any]) -> None:
    study = new_study()
    for call in (lambda: study.add(config, 1.0), lambda: study.enqueue(config)):
        with pytest.raises(ConfigError):
            call()
    assert study.trials == []


def test_the_queue_comes_first() -> None:
    study = new_study()
    study.enqueue({"x": 0.25})
    study.enqueue({"x": 0.75})
    assert [(trial.number, trial.config["x"]) for trial in study.ask(2)] == [(0, 0.25), (1, 0.75)]
    assert study.ask().number == 2


def test_trials_that_are_handed_back_may_be_changed() -> None:
    study = Study(Space({"x": Float(0, 1)}), method="random", seed=0)
    notes = {"seen": [1]}
    told = study.tell(study.ask(), {"value": 1.0, "size": 2.0}, notes=notes)
    first = dict(told.config)
    for trial in (told, study.trial(0), study.best, study.enqueue({"x": 0.5}), study.add({"x": 0.5}, 2.0)):
        trial.config.pop("x")
        trial.measures.clear()
        trial.notes.setdefault("seen", []).append(2)
    assert [trial.config for trial in study.trials] == [first, {"x": 0.5}, {"x": 0.5}]
    assert study.trials[0].measures == {"size": 2.0}
    assert study.trials[0].notes == notes


# ---- what is known ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("direction", "best"), [("minimize", 1), ("maximize", 2)])
def test_best(direction: str, best: int) -> None:
    study = new_study(direction=direction)
    for value in (2.0, -3.0, 7.0, math.nan, -3.0, 7.0):
        study.tell(study.ask(), value)
    assert study.best.number == best


def test_methods_see_values_to_minimise() -> None:
    study = new_study(direction="maximize")
    study.tell(study.ask(), 2.0, noise=0.5)
    study.fail(study.ask(), "why")
    pending = study.ask()
    with study._current() as view:
        history = study._history(view)
    assert (history.y.tolist(), history.noise.tolist()) == ([-2.0], [0.5])
    assert (history.done_numbers.tolist(), history.failed_numbers.tolist()) == ([0], [1])
    assert history.pending_numbers.tolist() == [2]
    assert history.number == 3
    np.testing.assert_array_equal(history.pending.x, LINE.encode([pending.config]).x)


def test_history_is_in_the_order_of_results_and_earlier_views_stay() -> None:
    study = new_study()
    trials = study.ask(40)
    told = [trials[i].number for i in np.random.default_rng(0).permutation(40)]
    earlier = []
    for number in told:
        study.tell(number, float(number))
        with study._current() as view:
            earlier.append(study._history(view))
    for count, history in enumerate(earlier, start=1):
        assert history.done_numbers.tolist() == told[:count]
        assert history.y.tolist() == [float(number) for number in told[:count]]
        assert history.pending_numbers.tolist() == sorted(told[count:])
        np.testing.assert_array_equal(history.done.x, LINE.encode([trials[n].config for n in told[:count]]).x)


def test_changing_a_handed_out_config_changes_nothing() -> None:
    study = new_study()
    trial = study.ask()
    config = dict(trial.config)
    trial.config.clear()
    study.tell(trial, 1.0)
    study.best.config.clear()
    assert study.trials[0].config == config


def test_table() -> None:
    space = Space({"value": Choice({"a": {"x": Float(0, 1)}, "b": {}})})
    study = new_study(space)
    study.add({"value": "a", "x": 0.5}, 1.0)
    study.add({"value": "b"}, 2.0)
    frame = study.frame()
    assert frame["value"].tolist() == [1.0, 2.0]
    assert frame["config.value"].tolist() == ["a", "b"]
    assert frame["x"][0] == 0.5 and np.isnan(frame["x"][1])


def test_explain_sees_the_past(monkeypatch: pytest.MonkeyPatch) -> None:
    study = new_study()
    first, second = study.ask(2)
    study.tell(second, 2.0)
    third = study.ask()
    study.tell(first, 1.0)
    seen: list[Any] = []

    def explain(self: Any, space: Space, history: Any, point: Any, rng: Any) -> dict[str, Any]:
        seen.append(
            (history.number, history.done_numbers.tolist(), history.pending_numbers.tolist(), point.x)
        )
        return {"reason": "why not"}

    monkeypatch.setattr(type(study._strategy), "explain", explain)
    assert study.explain(third)["reason"] == "why not"
    number, done, pending, x = seen[0]
    assert (number, done, pending) == (2, [1], [0])
    np.testing.assert_array_equal(x, LINE.encode([third.config]).x)
    with pytest.raises(TrialError, match="no trial 3"):
        study.explain(3)


def test_a_stored_config_of_another_space_is_an_error_at_every_ask() -> None:
    storage = MemoryStorage()
    study = Study(SPACE, name="s", storage=storage, method="random", seed=0)
    configs = [study.ask().config, {"unknown": 1.0}]
    storage.insert(study.record.id, [Trial(-1, config, "done", value=1.0) for config in configs])
    for _ in range(2):
        with pytest.raises(ConfigError):
            study.ask()
