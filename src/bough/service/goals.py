"""Objectives and constraints under ``/api/v1``: results by name, the front and its hypervolume."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel

from bough.errors import TrialError
from bough.service.models import Known, Tell, TrialsOut, trial_json
from bough.service.routing import Opened, json_object
from bough.strict_json import finite
from bough.study.analysis.fronts import hypervolume_of, reference_of
from bough.study.goals import RESERVED, Goals
from bough.study.results import failure, told
from bough.trial import Trial

__all__ = ["add_goal_routes", "known_result", "told_result"]


class HypervolumeOut(BaseModel):
    """``reference``: the point it is measured from; empty if none is given and no trial is feasible.
    null is a number that JSON cannot represent."""

    hypervolume: float | None
    reference: dict[str, float | None]


def told_result(number: int, given: Tell, goals: Goals) -> Trial:
    """The result in a request."""
    parts = _measured(given, goals)
    return told(number, parts, given.noise, given.cost, given.attempt, given.notes, goals)


def known_result(given: Known, goals: Goals) -> Trial:
    """A result to add."""
    if given.error is None:
        return told(-1, _measured(given, goals), given.noise, given.cost, notes=given.notes, goals=goals)
    if given.value is not None:
        raise TrialError("a known result has a value or an error, not both")
    return replace(failure(-1, given.error), measures=given.measures, notes=given.notes)


def _measured(given: Tell | Known, goals: Goals) -> dict[str, Any]:
    """Measured values by name; ``value`` is the first objective."""
    parts: dict[str, Any] = dict(given.measures)
    for name in RESERVED:
        if name in parts:
            raise TrialError(f"no measure can be called {name!r}: send {name} beside the measures")
    if given.value is None:
        return parts
    if not goals.objectives:
        raise TrialError("this study has no objective: send measures, not a value")
    if parts.setdefault(goals.value_name, given.value) != given.value:
        raise TrialError(
            f"the value is {given.value!r}, but the measure {goals.value_name!r} is "
            f"{parts[goals.value_name]!r}: they are the same, so send one"
        )
    return parts


def add_goal_routes(api: APIRouter) -> None:
    @api.get("/studies/{study:name}/front", response_model=TrialsOut, tags=["trials"])
    def front(opened: Opened) -> Response:
        """The feasible trials that no other one dominates, the best of the first objective first."""
        found = [trial_json(trial) for trial in opened.front]
        return JSONResponse({"trials": found, "total": len(found)})

    @api.get("/studies/{study:name}/hypervolume", response_model=HypervolumeOut, tags=["trials"])
    def hypervolume(
        opened: Opened,
        reference: Annotated[
            str | None, Query(max_length=4000, description='A JSON object such as {"error": 0.5}.')
        ] = None,
    ) -> Response:
        """The volume between the front and a reference point: given, the study's, or inferred."""
        trials = opened.current_trials
        given = json_object(reference, "reference", '{"error": 0.5}') or None
        found = {
            "hypervolume": hypervolume_of(opened.goals, trials, given),
            "reference": reference_of(opened.goals, trials, given),
        }
        return JSONResponse(finite(found))
