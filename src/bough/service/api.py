"""REST under ``/api/v1``: studies, ask and tell, figures, events. ``/api/v1/openapi.json`` describes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from types import SimpleNamespace
from typing import Annotated, Any, Literal

from anyio import to_thread
from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from fastapi.security import HTTPBearer

from bough import __version__
from bough.plot import StudySnapshot
from bough.registry import Method, method
from bough.service.amending import add_amending_routes
from bough.service.events import Watchers, status_json, watch
from bough.service.figures import FigureCache, FigureName
from bough.service.goals import add_goal_routes, known_result, told_result
from bough.service.models import (
    Add,
    Ask,
    Believe,
    BranchOut,
    Enqueue,
    ErrorOut,
    Explain,
    ExplainOut,
    Fail,
    Health,
    Key,
    NewBudget,
    NewStudy,
    Predict,
    PredictOut,
    Renew,
    ReportIn,
    ReportOut,
    StatusOut,
    StudiesOut,
    StudyOut,
    Tell,
    TrialOut,
    TrialsOut,
    study_json,
    trial_json,
)
from bough.service.routing import Caller, Found, Opened, StrictRoute
from bough.service.studies import OpenStudies, checking_request, existing, existing_trial, request_mark
from bough.service.table import Order, Selection, branch_of, select
from bough.space import Space
from bough.strict_json import finite
from bough.study import Study, study_lines
from bough.study.formats.table_export import csv_lines
from bough.study.results import failure
from bough.study.stopping.reporting import checked_report
from bough.trial import State, Trial

__all__ = ["router"]

_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorOut} for status in (400, 401, 403, 404, 409, 413, 422, 501, 503)
}

CHUNK_CHARACTERS = 2**18
"""The length in characters of the pieces in which long replies are sent."""

_bearer = HTTPBearer(auto_error=False, description="A token from `bough token create`.")

Branch = Annotated[str | None, Query(max_length=4000, description='A JSON object such as {"model": "svm"}.')]


def router(studies: OpenStudies, figures: FigureCache, watchers: Watchers) -> APIRouter:
    """The routes; ``SecurityMiddleware`` checks tokens and scopes before any of them runs."""
    api = APIRouter(
        prefix="/api/v1", route_class=StrictRoute, responses=_ERRORS, dependencies=[Depends(_bearer)]
    )
    _add_studies(api, studies)
    _add_asking(api, studies)
    _add_reading(api, studies, figures, watchers)
    add_goal_routes(api)
    add_amending_routes(api, studies)
    return api


def _add_studies(api: APIRouter, studies: OpenStudies) -> None:
    @api.head("/health", include_in_schema=False)
    @api.get("/health", response_model=Health, tags=["service"])
    async def health() -> Response:
        """Whether the service answers; needs no token."""
        return JSONResponse({"status": "ok", "version": __version__})

    @api.get("/studies", response_model=StudiesOut, tags=["studies"])
    def list_studies() -> Response:
        return JSONResponse({"studies": [study_json(record) for record in studies.records()]})

    @api.post("/studies", response_model=StudyOut, status_code=201, tags=["studies"])
    def create_study(new: NewStudy) -> Response:
        """Create a study, or open the one of that name if space and goals agree (409 if they do not)."""
        space = Space.from_json(new.space)
        chosen: str | Method = (
            new.method if isinstance(new.method, str) else method(new.method.name, **new.method.options)
        )
        existed = bool(studies.storage.find(new.name))
        # A study stores the results it learned from, so the earlier studies may no longer exist.
        earlier = [SimpleNamespace(name=each) if existed else studies.open(each) for each in new.learn_from]
        study = Study(
            space,
            name=new.name,
            storage=studies.storage,
            method=chosen,
            seed=new.seed,
            direction=new.direction,
            objectives=new.objectives,
            constraints=new.constraints,
            reference=new.reference,
            stopping=new.stopping,
            learn_from=earlier,
        )
        return JSONResponse(study_json(study.record), 200 if existed else 201)

    @api.get("/studies/{study:name}", response_model=StudyOut, tags=["studies"])
    def read_study(found: Found) -> Response:
        return JSONResponse(study_json(found))

    @api.delete("/studies/{study:name}", status_code=204, tags=["studies"])
    def delete_study(found: Found) -> Response:
        """Delete a study with all its trials."""
        studies.storage.delete(found.id)
        return Response(status_code=204)


def _add_asking(api: APIRouter, studies: OpenStudies) -> None:
    @api.post("/studies/{study:name}/ask", response_model=TrialsOut, tags=["trials"])
    async def ask(who: Caller, opened: Opened, wanted: Ask | None = None, key: Key = None) -> Response:
        """The next trials to evaluate. 409 with type ExhaustedError if a finite space is exhausted."""
        wanted = wanted or Ask()
        trials = await studies.ask(
            opened,
            (wanted.worker or who.name)[:100],
            request=request_mark(who.id, "ask", key),
            n=wanted.n,
            lease=wanted.lease,
            limit=wanted.limit,
        )
        return _trials(trials)

    @api.post("/studies/{study:name}/trials/{number:number}/tell", response_model=TrialOut, tags=["trials"])
    def tell(opened: Opened, number: int, result: Tell) -> Response:
        """Give a trial its value, or measures by name. The same result may be told again; another is 409."""
        with checking_request():
            told = told_result(number, result, opened.goals)
        return _recorded(opened, told)

    @api.post("/studies/{study:name}/trials/{number:number}/fail", response_model=TrialOut, tags=["trials"])
    def fail(opened: Opened, number: int, result: Fail) -> Response:
        """Say that a trial has no result, and why; ``learn`` false if its config is not at fault."""
        finished = replace(
            failure(number, result.reason, result.attempt, result.learn),
            measures=result.measures,
            notes=result.notes,
            traceback=result.traceback,
        )
        return _recorded(opened, finished)

    @api.post(
        "/studies/{study:name}/trials/{number:number}/report", response_model=ReportOut, tags=["trials"]
    )
    def report(opened: Opened, number: int, given: ReportIn) -> Response:
        """Report a value of a running trial. The same report again changes nothing; steps must increase."""
        trial = Trial(number, {}, "running", attempt=given.attempt)
        reported: Any = given.measures or given.value
        with checking_request():
            checked_report(number, given.attempt, reported, given.step, opened.goals, opened.name)
        stop = existing(opened, number, lambda: opened.report(trial, reported, given.step))
        return JSONResponse({"stop": stop})

    @api.post("/studies/{study:name}/renew", status_code=204, tags=["trials"])
    def renew(found: Found, leases: Renew) -> Response:
        """Renew the leases of running trials, or put the trials into the queue."""
        held = [Trial(each.number, {}, "running", attempt=each.attempt) for each in leases.trials]
        studies.storage.renew(found.id, held, leases.lease)
        return Response(status_code=204)

    @api.post("/studies/{study:name}/enqueue", response_model=TrialsOut, status_code=201, tags=["trials"])
    async def enqueue(who: Caller, opened: Opened, wanted: Enqueue, key: Key = None) -> Response:
        """Have a configuration tried next, before the method proposes anything."""
        mark = request_mark(who.id, "enqueue", key, wanted.model_dump_json())
        trials = await studies.insert(opened, mark, lambda: [opened.enqueue(wanted.config, request=mark)])
        return _trials(trials, status=201)

    @api.post("/studies/{study:name}/believe", status_code=204, tags=["trials"])
    def believe(who: Caller, opened: Opened, told: Believe) -> Response:
        """Say where good values are expected from now on; an empty object withdraws all beliefs."""
        opened.believe(told.likely, by=who.name)
        return Response(status_code=204)

    @api.post("/studies/{study:name}/add", response_model=TrialsOut, status_code=201, tags=["trials"])
    async def add(who: Caller, opened: Opened, known: Add, key: Key = None) -> Response:
        """Add known results: all of them, or none if one is malformed."""
        mark = request_mark(who.id, "add", key, known.model_dump_json())
        with checking_request():
            rows = [(each.config, known_result(each, opened.goals)) for each in known.results]
            trials = await studies.insert(opened, mark, lambda: opened.insert(rows, mark))
        return _trials(trials, status=201)


def _add_reading(api: APIRouter, studies: OpenStudies, figures: FigureCache, watchers: Watchers) -> None:
    @api.get("/studies/{study:name}/trials", response_model=TrialsOut, tags=["trials"])
    async def trials(
        opened: Opened,
        branch: Branch = None,
        state: State | None = None,
        search: Annotated[str, Query(max_length=200)] = "",
        order: Order = "number",
        by: Annotated[str | None, Query(max_length=300)] = None,
        descending: bool = False,
        offset: Annotated[int, Query(ge=0, lt=2**31)] = 0,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
        curves: bool = False,
    ) -> Response:
        """One page of the trials that match; ``curves`` includes their curves.

        ``by`` sorts them by a parameter instead of ``order``.
        """
        wanted = Selection(state, search, order, offset, limit, by, descending)
        within = branch_of(branch)
        snapshot = await figures.snapshot(opened, within) if within else None

        def read() -> tuple[list[Trial], int, int]:
            page = select(opened.trials if snapshot is None else snapshot.trials, opened, wanted)
            return (*page, len(opened.amendments))

        found, total, amendments = await to_thread.run_sync(read)
        return _trials(found, total, curves=curves, amendments=amendments)

    @api.get("/studies/{study:name}/trials/{number:number}", response_model=TrialOut, tags=["trials"])
    def trial(opened: Opened, number: int) -> Response:
        return JSONResponse(trial_json(existing_trial(opened, number), curve=True))

    @api.get(
        "/studies/{study:name}/trials/{number:number}/explain", response_model=ExplainOut, tags=["trials"]
    )
    async def explain(opened: Opened, number: int) -> Response:
        """Why the method chose a trial: its prediction and its reason."""
        found = await studies.consult_model(lambda: existing(opened, number, lambda: opened.explain(number)))
        return JSONResponse(finite(found))

    @api.post("/studies/{study:name}/explain", tags=["studies"])
    async def explain_branches(opened: Opened, wanted: Explain) -> Response:
        """The trials of a branch, what the model expects there, and why it was or was not chosen lately."""
        return JSONResponse(finite(await studies.consult_model(lambda: opened.explain(branch=wanted.branch))))

    @api.post("/studies/{study:name}/predict", response_model=PredictOut, tags=["trials"])
    async def predict(opened: Opened, wanted: Predict) -> Response:
        """The posterior mean and standard deviation of the method's model at some configurations."""
        mean, sd = await studies.consult_model(lambda: opened.predict(wanted.configs, measure=wanted.measure))
        return JSONResponse(finite({"mean": mean.tolist(), "sd": sd.tolist()}))

    @api.get("/studies/{study:name}/best", response_model=TrialOut, tags=["trials"])
    def best(opened: Opened) -> Response:
        """The feasible trial with the best value; 409 while there is none, or with several objectives."""
        return JSONResponse(trial_json(opened.best, curve=True))

    @api.get("/studies/{study:name}/status", response_model=StatusOut, tags=["studies"])
    def status(opened: Opened) -> Response:
        return JSONResponse(status_json(studies, opened))

    @api.post("/studies/{study:name}/budget", status_code=204, tags=["studies"])
    def budget(opened: Opened, wanted: NewBudget) -> Response:
        """Set the total cost that the trials may have, earlier ones included."""
        opened.set_budget(wanted.budget)
        return Response(status_code=204)

    @api.get("/studies/{study:name}/branches", response_model=list[BranchOut], tags=["studies"])
    async def branches(opened: Opened, measure: str | None = None) -> Response:
        """The branches of the space from top to bottom, with the results of each branch by a measure."""
        snapshot = await figures.snapshot(opened, {})
        return JSONResponse(await to_thread.run_sync(lambda: branches_json(snapshot.showing(measure))))

    @api.get("/studies/{study:name}/figures/{figure}", tags=["studies"])
    async def figure(
        request: Request,
        opened: Opened,
        figure: FigureName,
        branch: Branch = None,
        measure: str | None = None,
        dark: bool = False,
        log: bool | None = None,
        params: Annotated[list[str] | None, Query(max_length=9)] = None,
        x: str | None = None,
        y: str | None = None,
        columns: Annotated[int | None, Query(ge=1, le=9)] = None,
    ) -> Response:
        """A figure as Plotly's JSON; measure, log, params, x, y and columns are options of some figures."""
        given = {"measure": measure, "log": log, "params": params, "x": x, "y": y, "columns": columns}
        options = {name: value for name, value in given.items() if value is not None}
        tag, body = await figures.draw(opened, figure, branch_of(branch), dark, options)
        headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(body, media_type="application/json", headers=headers)

    @api.get("/studies/{study:name}/events", tags=["studies"])
    async def events(opened: Opened) -> Response:
        """Server-sent events: "status" at once and when trials change, "gone" if the study is deleted."""
        if not watchers.enter():
            raise HTTPException(503, "too many watchers; try again later")

        async def look() -> dict[str, Any]:
            return await to_thread.run_sync(status_json, studies, opened)

        return StreamingResponse(watch(look, watchers), media_type="text/event-stream")

    @api.get("/studies/{study:name}/export", tags=["studies"])
    def export(opened: Opened, format: Literal["jsonl", "csv"] = "jsonl") -> Response:
        """All trials as a file; ``bough.study.import_study`` reads JSON lines."""
        csv = format == "csv"
        limited = bool(opened.goals.limits)
        lines = csv_lines(opened.space, opened.trials, limited) if csv else study_lines(opened)
        kind = "text/csv; charset=utf-8" if csv else "application/x-ndjson"
        name = f'attachment; filename="trials.{format}"'
        chunks = in_chunks(lines)
        begun = chain([next(chunks)], chunks)  # so an error gets its HTTP status instead of a partial file
        return StreamingResponse(begun, media_type=kind, headers={"Content-Disposition": name})


def branches_json(snapshot: StudySnapshot) -> list[dict[str, Any]]:
    """See ``models.BranchOut``."""
    return [
        {
            "path": dict(branch.path),
            "label": branch.label,
            "depth": len(branch.path),
            "trials": branch.tally.trials,
            "failed": branch.tally.failed,
            "best": None if branch.tally.best is None else branch.tally.best.value,
        }
        for branch in snapshot.root.walk()
    ]


def in_chunks(lines: Iterable[str]) -> Iterator[str]:
    """The same text in larger pieces, because the response fetches each piece from a thread."""
    held, size = [], 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= CHUNK_CHARACTERS:
            yield "".join(held)
            held, size = [], 0
    yield "".join(held)


def _recorded(study: Study, result: Trial) -> Response:
    stored = existing(study, result.number, lambda: study.record_result(result))
    return JSONResponse(trial_json(stored, curve=True))


def _trials(
    trials: list[Trial],
    total: int | None = None,
    status: int = 200,
    curves: bool = False,
    amendments: int | None = None,
) -> Response:
    count = len(trials) if total is None else total
    rows = [trial_json(trial, curve=curves) for trial in trials]
    return JSONResponse({"trials": rows, "total": count, "amendments": amendments}, status)
