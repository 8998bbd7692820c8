"""Observations: results of suggestions, or of assignments that the client chose itself."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from bough.errors import ConflictError
from bough.service.records import Document
from bough.service.sigopt.assignments import config_of
from bough.service.sigopt.context import Call, SigOptContext, find_trial
from bough.service.sigopt.errors import SigOptError, deviation, known_keys, number
from bough.service.sigopt.metrics import is_plain, optimised, told_values
from bough.service.sigopt.objects import DELETED, is_observation, observation_json, page
from bough.study import Study
from bough.trial import Trial, finished

__all__ = [
    "create_batch", "create_observation", "fetch_observation", "list_observations", "update_observation"
]  # fmt: skip

Json = dict[str, Any]

MOST_OBSERVATIONS = 2500
_OBSERVATION = {
    "suggestion", "assignments", "values", "value", "value_stddev", "failed", "metadata", "task",
    "no_optimize",
}  # fmt: skip


def create_observation(context: SigOptContext, call: Call) -> Json:
    document, study = context.experiment(call)
    return _observe(context, document, study, call.body, call.who.name)


def create_batch(context: SigOptContext, call: Call) -> Json:
    known_keys(call.body, {"observations", "dry_run", "no_optimize"}, "batch of observations")
    document, study = context.experiment(call)
    bodies = call.body.get("observations")
    if not isinstance(bodies, list) or len(bodies) > MOST_OBSERVATIONS:
        raise SigOptError(f"Invalid value for observations: expected a list of at most {MOST_OBSERVATIONS}")
    _check_once([_checked_observation(document, study, body)[0] for body in bodies], study)
    if call.body.get("dry_run"):
        return page([], call.query)
    made = [_observe(context, document, study, body, call.who.name) for body in bodies]
    shown = page(made[-1000:], call.query)
    return {**shown, "count": len(made), "data": made}


def _check_once(results: Sequence[Trial], study: Study) -> None:
    """SigOptError for a suggestion that cannot have its result, or is given twice."""
    told, seen = study.told_trials(), set()
    for result in results:
        if result.number in seen:
            raise SigOptError(f"Suggestion {result.number} is given twice")
        if result.number >= 0:
            seen.add(result.number)
            with _one_result():
                finished(told[result.number], result, now=0.0)


@contextlib.contextmanager
def _one_result() -> Iterator[None]:
    try:
        yield
    except ConflictError as error:
        raise SigOptError(f"This suggestion has another observation already: {error}") from None


def _observe(context: SigOptContext, document: Document, study: Study, body: Json, who: str) -> Json:
    result, stored = _checked_observation(document, study, body)
    if result.number >= 0:
        with _one_result():
            trial = study.record_result(result)
    else:
        trial = study.insert([(result.config, replace(result, worker=who))])[0]
    extra = {"metadata": body.get("metadata"), "stored": stored}
    if any(extra.values()):
        context.attach("observation", document, trial, extra)
    return observation_json(document, trial, extra)


def _checked_observation(document: Document, study: Study, body: Any) -> tuple[Trial, list[Json]]:
    """The result in an observation, and the values of metrics that are only stored."""
    if not isinstance(body, dict):
        raise SigOptError("Invalid value for observation: expected an object")
    known_keys(body, _OBSERVATION, "observation")
    if (body.get("suggestion") is None) == (body.get("assignments") is None):
        raise SigOptError("Provide exactly one of suggestion and assignments")
    if body.get("task") is not None:
        raise SigOptError("bough does not support tasks")
    definition = document.body["definition"]
    failed = body.get("failed") or False
    if not isinstance(failed, bool):
        raise SigOptError("Invalid value for failed: true or false")
    values = _values(definition, body)
    if failed == bool(values):
        raise SigOptError("Provide values unless the observation failed, and none if it did")
    if body.get("suggestion") is not None:
        given = find_trial(body["suggestion"], "suggestion", study)
        if given.state == "queued" or given.error == DELETED:
            raise SigOptError(f"No suggestion {given.number}", 404)
        base = Trial(given.number, given.config, "failed", error="reported as failed")
    else:
        config = config_of(definition, body["assignments"], study)
        base = Trial(-1, config, "failed", error="reported as failed")
    if failed:
        return base, []
    result = replace(told_values(base.number, definition, values, study), config=base.config)
    if not is_plain(definition):
        return result, []
    del values[optimised(definition)[0]["name"]]
    return result, list(values.values())


def _values(definition: Json, body: Json) -> dict[str | None, Json]:
    """Values by the names of their metrics: one for each metric, or none at all."""
    given = body.get("values")
    if given is None and body.get("value") is not None:
        given = [{"value": body["value"], "value_stddev": body.get("value_stddev")}]
    if not given:
        return {}
    names = [metric["name"] for metric in definition["metrics"]]
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise SigOptError("Invalid value for values: expected a list of objects")
    found: dict[str | None, Json] = {}
    for each in given:
        name = each.get("name", names[0] if len(names) == 1 else None)
        if name not in names or name in found:
            raise SigOptError(f"Invalid value for values: {name!r} is not a metric, or is given twice")
        spread = deviation(each.get("value_stddev"))
        value = float(number(each.get("value"), f"the value of metric {name}"))
        found[name] = {"name": name, "value": value, "value_stddev": spread}
    missing = next((name for name in names if name not in found), None)
    if len(found) < len(names):
        raise SigOptError(f"Missing value for metric {missing}")
    return found


def list_observations(context: SigOptContext, call: Call) -> Json:
    document, study = context.experiment(call)
    extras = context.attached("observation", document)
    trials = [trial for trial in study.trials if is_observation(trial)]
    trials.sort(key=lambda trial: trial.finished or 0.0)
    return page([observation_json(document, trial, extras.get(trial.number)) for trial in trials], call.query)


def fetch_observation(context: SigOptContext, call: Call) -> Json:
    document, study = context.experiment(call)
    trial = context.trial(call, "observation", study)
    if not is_observation(trial):
        raise SigOptError(f"No observation {trial.number}", 404)
    return observation_json(document, trial, context.attached("observation", document).get(trial.number))


def update_observation(context: SigOptContext, call: Call) -> Json:
    for key in call.body:
        if key != "metadata":
            raise SigOptError(f"bough keeps results as they were told: {key!r} cannot be changed")
    document, study = context.experiment(call)
    trial = context.trial(call, "observation", study)
    extra = {**context.attached("observation", document).get(trial.number, {}), **call.body}
    context.attach("observation", document, trial, extra)
    return observation_json(document, trial, extra)
