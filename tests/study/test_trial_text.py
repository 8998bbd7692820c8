"""How a trial prints: what happened, in one line that a person can read."""

from __future__ import annotations

import bough
from bough.trial import Trial


def test_a_trial_prints_what_has_a_value():
    space = bough.Space({"x": bough.Float(0, 1)})
    study = bough.Study(space, method="random", seed=0)
    trial = study.ask(lease=60)
    study.report(trial, 0.7, 1)
    done = study.tell(trial, {"value": 0.5, "memory": 3})
    config = f"config={{'x': {done.config['x']!r}}}"
    assert repr(done) == f"Trial(number=0, {config}, state='done', value=0.5, measures={{'memory': 3.0}})"


def test_what_is_out_of_the_ordinary_is_printed():
    failed = Trial(2, {}, "failed", error="no luck", attempt=3, learn=False)
    assert (
        repr(failed) == "Trial(number=2, config={}, state='failed', error='no luck', attempt=3, learn=False)"
    )
