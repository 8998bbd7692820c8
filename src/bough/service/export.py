"""A study as a file of JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator

from bough.service.models import study_json, trial_json
from bough.study import Study

__all__ = ["as_json_lines"]

_HEADER = ("name", "space", "direction", "method", "seed")


def as_json_lines(study: Study) -> Iterator[str]:
    """The study first, then a trial per line; ``bough.study.import_study`` reads it."""
    header = study_json(study.record)
    yield json.dumps({"bough": 1, **{key: header[key] for key in _HEADER}}) + "\n"
    for trial in study.trials:
        yield json.dumps(trial_json(trial)) + "\n"
