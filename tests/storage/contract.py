"""Studies and trials for the tests of what every storage promises."""

from __future__ import annotations

from dataclasses import replace

from bough.storage import Storage, StudyRecord
from bough.trial import Trial

RECORD = StudyRecord("a study", '{"x": 1}', "minimize", '{"name": "random"}', 2**63 - 1)
RUNNING = Trial(-1, {"x": 0.5}, "running", worker="me")
QUEUED = Trial(-1, {"x": 0.25}, "queued")
BRIEF = 0.001  # a lease that has ended after...
A_MOMENT = 0.02


def done(number: int, value: float = 1.0, **more: object) -> Trial:
    return replace(Trial(number, {}, "done", value=value), **more)  # type: ignore[arg-type]


def failed(number: int, attempt: int = 0) -> Trial:
    return Trial(number, {}, "failed", error="no luck", attempt=attempt)


def read(storage: Storage, study: int) -> list[Trial]:
    return sorted(storage.changes(study, 0).trials, key=lambda trial: trial.number)


def state(storage: Storage, study: int, number: int) -> Trial:
    return read(storage, study)[number]
