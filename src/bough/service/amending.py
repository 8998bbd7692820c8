"""Routes that amend a study under ``/api/v1``: retract, correct, note, race, stop runs, change the space."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from bough.service.models import Key, TrialOut, trial_json
from bough.service.routing import Caller, Opened
from bough.service.studies import OpenStudies, amending, checking_request, existing_trial, request_mark
from bough.space import Space
from bough.storage import Amendment
from bough.study.revising.corrections import KINDS
from bough.study.stopping.races import race_order
from bough.trial import Trial

__all__ = ["add_amending_routes"]

Reason = Annotated[str, Field(max_length=2000)]


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Retract(_In):
    reason: Reason


class Instances(_In):
    """The instances of a race: JSON data such as the names of files."""

    instances: Annotated[list[Any], Field(min_length=1, max_length=10_000)]


class Correct(_In):
    """Another result: a number, or an object of measures; measures missing from it keep their values."""

    value: float | dict[str, Any]
    reason: Reason


class Note(_In):
    """A remark about the study, or about one of its trials."""

    text: Reason
    trial: Annotated[int, Field(ge=0, lt=2**62)] | None = None


class Stop(_In):
    """Why no further trial should start."""

    reason: Reason = ""


class Change(_In):
    """Another space. ``preview`` returns the differences and changes nothing.

    ``seen``: the study's space when a preview was made; 409 if the study has another one now.
    """

    space: dict[str, Any]
    backfill: dict[str, Any] = {}
    fix: dict[str, Any] = {}
    preview: bool = False
    seen: dict[str, Any] | None = None


class ChangeOut(BaseModel):
    """The differences, one line each; ``since`` is the first trial of the new space."""

    differences: list[str]
    since: int | None


class AmendmentOut(BaseModel):
    """``since``: how many trials the study had; ``by`` in the body: who made it."""

    kind: str
    trial: int | None
    since: int
    position: int
    at: float
    body: dict[str, Any]


class AmendmentsOut(BaseModel):
    """``told``: the retracted and corrected trials, as they were first told."""

    amendments: list[AmendmentOut]
    told: list[TrialOut]


def add_amending_routes(api: APIRouter, studies: OpenStudies) -> None:
    @api.post(
        "/studies/{study:name}/trials/{number:number}/retract", response_model=TrialOut, tags=["trials"]
    )
    def retract(who: Caller, opened: Opened, number: int, given: Retract) -> Response:
        """Say that a finished trial does not count, and why; nothing is deleted."""
        trial = amending(opened, number, lambda: opened.retract(number, given.reason, by=who.name))
        return JSONResponse(trial_json(trial))

    @api.post(
        "/studies/{study:name}/trials/{number:number}/correct", response_model=TrialOut, tags=["trials"]
    )
    def correct(who: Caller, opened: Opened, number: int, given: Correct) -> Response:
        """Give a finished trial another result, and say why."""

        def act() -> Trial:
            return opened.correct(number, given.value, given.reason, by=who.name)

        return JSONResponse(trial_json(amending(opened, number, act)))

    @api.post("/studies/{study:name}/notes", response_model=AmendmentOut, status_code=201, tags=["studies"])
    def note(who: Caller, opened: Opened, given: Note, key: Key = None) -> Response:
        """Write a remark into the study's record."""
        mark = request_mark(who.id, "note", key, given.model_dump_json())
        if given.trial is not None:
            existing_trial(opened, given.trial)
        with checking_request():
            return JSONResponse(_json(opened.note(given.text, given.trial, by=who.name, request=mark)), 201)

    @api.post("/studies/{study:name}/instances", response_model=Instances, tags=["studies"])
    def instances(opened: Opened, given: Instances) -> Response:
        """Race over these instances; the reply has them in the order of the race."""
        return JSONResponse({"instances": race_order(opened, given.instances)})

    @api.post("/studies/{study:name}/stop", response_model=AmendmentOut, status_code=201, tags=["studies"])
    def stop(who: Caller, opened: Opened, given: Stop) -> Response:
        """Ask every run of the study to start no further trial; running trials are finished."""
        return JSONResponse(_json(opened.stop_runs(given.reason, by=who.name)), 201)

    @api.get("/studies/{study:name}/amendments", response_model=AmendmentsOut, tags=["studies"])
    def amendments(opened: Opened) -> Response:
        """All amendments of the study since its creation, in order."""
        _, told, made = opened.snapshot()
        about = {each.trial for each in made if each.kind in KINDS}
        return JSONResponse(
            {
                "amendments": [_json(each) for each in made],
                "told": [trial_json(trial, curve=True) for trial in told if trial.number in about],
            }
        )

    @api.post("/studies/{study:name}/change", response_model=ChangeOut, tags=["studies"])
    async def change(who: Caller, opened: Opened, given: Change) -> Response:
        """Continue in another space; earlier trials keep their configs and still inform the method."""

        def work() -> dict[str, Any]:
            lines = opened.change(
                Space.from_json(given.space),
                backfill=given.backfill,
                fix=given.fix,
                preview=given.preview,
                seen=None if given.seen is None else Space.from_json(given.seen),
                by=who.name,
            )
            changed = lines and not given.preview
            return {"differences": lines, "since": opened.amendments[-1].since if changed else None}

        return JSONResponse(await studies.consult_model(work))


def _json(amendment: Amendment) -> dict[str, Any]:
    return {
        "kind": amendment.kind,
        "trial": amendment.trial,
        "since": amendment.since,
        "position": amendment.position,
        "at": amendment.at,
        "body": {name: part for name, part in amendment.body.items() if name != "request"},
    }
