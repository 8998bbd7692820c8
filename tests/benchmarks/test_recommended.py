"""The comparison of what studies recommend: counts by hand, and one study."""

from __future__ import annotations

import pytest

import bough
from benchmarks import recommended
from benchmarks.problems import build
from benchmarks.recommended import Recommended, Run, line


def test_pairs_are_counted_with_and_without_small_differences() -> None:
    def study(value: float, right: bool) -> Recommended:
        return Recommended([value] * 3, [right, right, False], spread=1.0)

    pairs = [
        (study(0.1, True), study(0.5, False)),
        (study(0.100, True), study(0.105, True)),
        (study(0.3, False), study(0.2, True)),
        (study(0.3, True), study(0.3, True)),
    ]
    first, _, last = line(pairs).split(" | ")
    assert first == "60: 2:1, that matter 1:1, best branch 3, 3"
    assert last == "150: 2:1, that matter 1:1, best branch 0, 0"


def test_a_study_is_judged_by_true_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recommended, "AT", (8, 12))
    found = recommended.run(Run("noise-on-edges", 200))
    problem = build("noise-on-edges", 200)
    assert problem.noiseless is not None
    study, true = bough.Study(problem.space, seed=200), []
    for _ in range(12):
        trial = study.ask()
        study.tell(trial, problem.function(trial.config))
        true.append(problem.noiseless(study.recommend().trial.config))
    assert found.values == [true[7], true[11]] and true[7] != true[11]
    assert found.spread > 0
    assert found == recommended.run(Run("noise-on-edges", 200, "blind")), "nothing has settled so early"
