"""Whatever happened to a study, its file and its copy tell the same story, in memory and in SQLite."""

from __future__ import annotations

import contextlib
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import bough
from bough.errors import BoughError, ExhaustedError
from bough.storage import MemoryStorage
from bough.study import copy_study, export_study, import_study
from bough.trial import Trial

SPACES = [
    bough.Space(
        {
            "kind": bough.Choice(
                {"a": {"x": bough.Float(1e-3, 1e3, log=True)}, "b": {"x": bough.Int(1, high)}}
            ),
            "notes": bough.Categorical(["é\u2028", None, 1, "1", True]),
            **extra,
        }
    )
    for high, extra in [(9, {}), (20, {}), (9, {"new": bough.Float(0, 1)}), (20, {"new": bough.Float(0, 2)})]
]
VALUES = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0, -(10**20), 10**400])
TEXTS = st.text(max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | VALUES | TEXTS, lambda inner: st.lists(inner, max_size=2), max_leaves=4
)
OFTEN = ("ask", "tell", "report")
ACTS = (*OFTEN * 3, "fail", "add", "enqueue", "retract", "correct", "note", "believe", "change", "budget")


def act(study: bough.Study, what: str, data: st.DataObject) -> None:
    """One step in the life of a study; a BoughError if it is not possible now."""
    trials = study.trials
    wanted = [each.number for each in trials if each.is_finished != (what in ("tell", "fail", "report"))]
    number = data.draw(st.sampled_from(wanted or [0]))
    result = {"value": data.draw(VALUES), data.draw(TEXTS): data.draw(VALUES | JSON)}
    match what:
        case "ask":
            study.ask(lease=data.draw(st.sampled_from([None, 60.0])), worker=data.draw(TEXTS))
        case "tell":
            study.tell(
                number, result, noise=data.draw(st.sampled_from([None, 0.1])), notes={"n": data.draw(JSON)}
            )
        case "fail":
            study.fail(number, data.draw(TEXTS), learn=data.draw(st.booleans()))
        case "report":
            study.report(number, data.draw(VALUES), data.draw(st.integers(0, 5)))
        case "add":
            study.add(study.space.sample(1, number)[0], result)
        case "enqueue":
            study.enqueue(study.space.sample(1, number)[0])
        case "retract":
            study.retract(number, data.draw(TEXTS), by=data.draw(TEXTS))
        case "correct":
            study.correct(number, result, data.draw(TEXTS))
        case "note":
            study.note(data.draw(TEXTS), data.draw(st.sampled_from([None, number])))
        case "believe":
            study.believe({"kind": {"a": data.draw(st.floats(0.1, 5))}})
        case "change":
            study.change(data.draw(st.sampled_from(SPACES)))
        case "budget":
            study.set_budget(data.draw(st.floats(0.1, 1e9)))


def story(study: bough.Study) -> list[Any]:
    """All that a study says of itself; what is running goes back to the queue in a copy."""
    waiting = dict(state="queued", worker=None, started=None, expires=None, request=None, holder=None)

    def at_rest(trial: Trial) -> Trial:
        return trial if trial.is_finished else replace(trial, **waiting)

    told: list[Any] = [study.space, study.amendments, study.budget, study.goals]
    lists = (study.trials, study.told_trials(), study.current_trials, study.front)
    told += [[(at_rest(each), each.curve, each.feasible) for each in trials] for trials in lists]
    with contextlib.suppress(BoughError):
        told.append(study.best)
    return told


@settings(max_examples=40, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(data=st.data())
def test_a_study_survives_its_file(data: st.DataObject) -> None:
    study = bough.Study(
        SPACES[0],
        name="s",
        method="random",
        seed=1,
        direction=data.draw(st.sampled_from(["minimize", "maximize"])),
    )
    for what in data.draw(st.lists(st.sampled_from(ACTS), max_size=25)):
        with contextlib.suppress(BoughError):
            act(study, what, data)
    before = story(study)
    with tempfile.TemporaryDirectory() as folder:
        export_study(study, Path(folder) / "s.jsonl")
        for storage in (MemoryStorage(), f"sqlite:///{folder}/s.db"):
            again = import_study(Path(folder) / "s.jsonl", storage)
            assert story(again) == before
            assert story(copy_study(again, "copy", storage)) == before
            assert next_config(bough.open_study("copy", storage)) == next_config(again)
        assert story(study) == before


def next_config(study: bough.Study) -> Any:
    with contextlib.suppress(ExhaustedError):
        return study.ask().config
