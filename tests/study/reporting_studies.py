"""Studies of one parameter whose trials report curves that fall evenly."""

from __future__ import annotations

from typing import Any

from bough.space import Float, Space
from bough.study import Study

FLAT = Space({"x": Float(0, 1)})
STEPS = 10


def course(start: float, end: float, step: int, steps: int = STEPS) -> float:
    """A curve that falls evenly from start to end."""
    return start + (end - start) * step / steps


def trained(config: dict[str, Any], run: Any) -> float:
    for step in range(1, STEPS + 1):
        if run.report(course(1.0 + config["x"], config["x"], step), step):
            break
    return float(config["x"])


def finished_study(xs: tuple[float, ...] = (0.4, 0.3, 0.2, 0.1), **options: Any) -> Study:
    """A study whose first trials ran to their ends, reporting every step."""
    study = Study(FLAT, **{"method": "random", "seed": 1, **options})
    for x in xs:
        trial = study.ask()
        assert study.trial(trial.number).curve == ()
        for step in range(1, STEPS + 1):
            assert not study.report(trial, course(1.0 + x, x, step), step)
        study.tell(trial, x)
    return study


def report_until_stopped(study: Study, x: float) -> tuple[int, int]:
    """The number of a new trial, and the step at which it was stopped; 0 if it never was."""
    trial = study.ask()
    for step in range(1, STEPS + 1):
        if study.report(trial, course(1.0 + x, x, step), step):
            return trial.number, step
    return trial.number, 0
