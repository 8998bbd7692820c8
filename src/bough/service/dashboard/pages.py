"""The routes of the dashboard: sign in, the list of studies, a study, a trial, a new study, and files."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs, quote

from anyio import to_thread
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bough import Study, __version__
from bough.errors import BoughError, StudyError, TrialError
from bough.plot.theme import template
from bough.registry import methods
from bough.service.auth import (
    SESSION_COOKIE,
    SESSION_SECONDS,
    Attempts,
    close_session,
    open_session,
    principal_of_token,
)
from bough.service.dashboard import filters
from bough.service.dashboard.actions import act_on_study, act_on_trial, goals_of_form, preview, space_of
from bough.service.dashboard.assets import assets, style_ids
from bough.service.events import status_json
from bough.service.figures import SHOWN, FigureCache
from bough.service.records import Records
from bough.service.studies import NoStudy, OpenStudies
from bough.service.table import Selection, select
from bough.space.parameters import Categorical
from bough.study.goals import goals_of
from bough.trial import Trial

__all__ = ["routes"]

ROWS = 50
"""The number of trials on one page of the table."""

NO_FORM = dict.fromkeys(
    ("name", "direction", "method", "seed", "space", "objectives", "constraints", "reference"), ""
)
"""The fields of a new study, empty."""

NO_ACTION = dict.fromkeys(("action", "space", "backfill", "fix"), "")
"""The fields of a change of the space, empty. Other actions have other fields."""

EXAMPLE_SPACE = """\
model:
  type: choice
  options:
    svm:
      C: {type: float, low: 1e-3, high: 1e3, log: true}
    forest:
      trees: {type: int, low: 10, high: 500, log: true}
    bayes: {}
scale: {type: categorical, options: [none, standard, maxabs]}
"""
"""The space that the form of a new study shows at first."""

MOST_AMENDMENTS = 50
"""The number of latest amendments that a study's page shows."""

MOST_CHOICES = 40
"""The number of measures that a study's page offers for its figures."""

MOST_MEASURES = 12
"""The number of columns for measures in the table of trials."""

RECENT = 24
"""The number of latest studies for which the list shows progress."""


def routes(studies: OpenStudies, figures: FigureCache, records: Records, *, secure: bool) -> list[BaseRoute]:
    pages = _Pages(studies, figures, records, secure)
    return [
        Route("/", pages.home),
        Route("/sign-in", pages.sign_in, methods=["GET", "POST"]),
        Route("/sign-out", pages.sign_out, methods=["POST"]),
        Route("/new", pages.new, methods=["GET", "POST"]),
        Route("/studies/{study:name}", pages.found(pages.study)),
        Route("/studies/{study:name}/delete", pages.found(pages.delete), methods=["POST"]),
        Route("/studies/{study:name}/act", pages.found(pages.act), methods=["POST"]),
        Route("/studies/{study:name}/trials/{number:number}/act", pages.found(pages.act), methods=["POST"]),
        Route("/studies/{study:name}/trials/{number:number}", pages.found(pages.trial)),
        Route("/static/{name}", pages.static),
    ]


class _Pages:
    """The state that all pages share."""

    def __init__(self, studies: OpenStudies, figures: FigureCache, records: Records, secure: bool) -> None:
        self._studies, self._figures, self._records, self._secure = studies, figures, records, secure
        self._assets = assets()
        self._style_ids = style_ids(self._assets["plotly.min.js"])
        self._attempts = Attempts()
        self._templates = Environment(
            loader=PackageLoader("bough.service.dashboard"), autoescape=True, undefined=StrictUndefined
        )
        self._templates.filters.update(filters.FILTERS)
        self._templates.trim_blocks = self._templates.lstrip_blocks = True

    def _page(self, request: Request, template: str, code: int = 200, **values: Any) -> Response:
        who = request.scope.get("principal")
        shared = {"who": who, "version": __version__, "plotly": self._assets["plotly.min.js"].tag.strip('"')}
        text = self._templates.get_template(template).render(**shared, **values)
        return HTMLResponse(text, code)

    def found(self, page: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Any]:
        """The handler of a page, with a page for the error that the study does not exist."""

        async def page_or_missing(request: Request) -> Response:
            try:
                return await page(request)
            except NoStudy as error:
                return self._missing(request, str(error))

        return page_or_missing

    # ---- signing in ---------------------------------------------------------------------------------

    async def sign_in(self, request: Request) -> Response:
        onward = _local(request.query_params.get("next", "/"))
        if request.method != "POST":
            if request.scope["principal"] is not None:
                return RedirectResponse(onward, 303)
            return self._page(request, "sign_in.html", onward=onward, error=None)
        if "origin" not in request.headers:  # browsers send it with every form of this page
            raise HTTPException(403, "signing in needs the Origin header of this page")
        address = request.client.host if request.client else ""
        if self._attempts.blocked(address):
            return self._page(
                request, "sign_in.html", 429, onward=onward, error="Too many tries; wait ten minutes."
            )
        form = await _form(request)
        token = form.get("token", "").strip()
        principal = await to_thread.run_sync(principal_of_token, self._records, token)
        if principal is None:
            self._attempts.failed(address)
            error = "This token is unknown, or was revoked."
            return self._page(request, "sign_in.html", 401, onward=onward, error=error)
        cookie = await to_thread.run_sync(open_session, self._records, principal)
        response = RedirectResponse(onward, 303)
        response.set_cookie(
            SESSION_COOKIE,
            cookie,
            max_age=SESSION_SECONDS,
            httponly=True,
            samesite="strict",
            secure=self._secure or request.url.scheme == "https",
        )
        return response

    async def sign_out(self, request: Request) -> Response:
        cookie = request.cookies.get(SESSION_COOKIE, "")
        await to_thread.run_sync(close_session, self._records, cookie)
        response = RedirectResponse("/sign-in", 303)
        response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="strict")
        return response

    # ---- studies ------------------------------------------------------------------------------------

    def home(self, request: Request) -> Response:
        rows: list[dict[str, Any]] = []
        for record in reversed(self._studies.records()):
            # Showing progress means reading all trials of a study, so only the latest studies show it.
            status, front = None, None
            if len(rows) < RECENT:
                with contextlib.suppress(StudyError):  # it may be deleted at the same moment
                    study = self._studies.open(record.name)
                    status, front = study.status(), self._studies.front_size(study)
            goals = goals_of(record.goals, record.direction)
            rows.append(
                {
                    "record": record,
                    "method": json.loads(record.method)["name"],
                    "status": status,
                    "front": front,
                    "goals": [
                        direction if goals.is_plain else f"{direction} {name}"
                        for name, direction in goals.objectives
                    ]
                    + [str(limit) for limit in goals.limits],
                }
            )
        return self._page(request, "home.html", rows=rows)

    async def study(self, request: Request) -> Response:
        study = await self._open(request)
        snapshot = await self._figures.snapshot(study, {})
        status = await to_thread.run_sync(status_json, self._studies, study)
        latest = Selection(order="latest", limit=ROWS)
        trials, total = await to_thread.run_sync(select, snapshot.trials, study, latest)
        reported = any(trial.curve for trial in snapshot.trials)
        measures = await to_thread.run_sync(lambda: snapshot.measures[:MOST_CHOICES])
        return self._page(
            request,
            "study.html",
            study=study,
            status=status,
            trials=trials,
            total=total,
            style_ids=self._style_ids,
            branches=list(snapshot.root.walk()),
            figures=[
                each for each in SHOWN.values() if each.fits(snapshot) and (reported or each.name != "curves")
            ],
            measures=_measures(study, trials),
            shown_measures=measures,
            space_text=json.dumps(study.space.to_dict(), indent=1, ensure_ascii=False),
            amendments=study.amendments[::-1][:MOST_AMENDMENTS],
            templates={"light": template(), "dark": template(dark=True)},
            columns=list(dict.fromkeys(parameter.name for parameter in study.space.parameters)),
            numeric=[p.path for p in study.space.parameters if not isinstance(p.domain, Categorical)],
            address=f"{request.url.scheme}://{request.headers['host']}",
        )

    async def trial(self, request: Request) -> Response:
        study = await self._open(request)
        number = request.path_params["number"]
        try:
            trial = await to_thread.run_sync(study.trial, number)
        except TrialError:
            return self._missing(request, f"This study has no trial {number}.")
        status = await to_thread.run_sync(study.status)
        paths = {parameter.name: parameter for parameter in study.space.parameters}
        return self._page(
            request,
            "trial.html",
            study=study,
            trial=trial,
            best=status.best,
            last=status.trials - 1,
            inactive=[name for name in paths if name not in trial.config],
            amendments=[each for each in study.amendments if each.trial == number],
        )

    async def new(self, request: Request) -> Response:
        known = methods()
        if request.method != "POST":
            form = {**NO_FORM, "direction": "minimize", "method": "auto", "space": EXAMPLE_SPACE}
            return self._page(request, "new.html", form=form, methods=known, error=None)
        form = {**NO_FORM, **await _form(request)}
        try:
            study = await to_thread.run_sync(self._create, form)
        except BoughError as error:
            return self._page(request, "new.html", 400, form=form, methods=known, error=str(error))
        return RedirectResponse(f"/studies/{quote(study.name, safe='')}", 303)

    def _create(self, form: dict[str, str]) -> Study:
        name = form["name"].strip()
        if name and self._studies.storage.find(name):
            raise BoughError(f"there is a study {name!r} already: choose another name")
        seed = form["seed"].strip()
        if seed and not (seed.isascii() and seed.isdigit() and len(seed) <= 18):
            raise BoughError(f"seed must be a number, not {seed[:40]!r}")
        return Study(
            space_of(form["space"]),
            name=name or None,
            storage=self._studies.storage,
            method=form["method"],
            **goals_of_form(form),
            seed=int(seed) if seed else None,
        )

    async def delete(self, request: Request) -> Response:
        study = await self._open(request)
        form = await _form(request)
        if form.get("name", "") != study.name:
            raise HTTPException(400, "type the study's name to delete it")
        await to_thread.run_sync(self._studies.storage.delete, study.record.id)
        return RedirectResponse("/", 303)

    async def act(self, request: Request) -> Response:
        """Perform the action of a form, then show its page; a change of the space shows a preview first."""
        study, form = await self._open(request), {**NO_ACTION, **await _form(request)}
        who, number = request.scope["principal"].name, request.path_params.get("number")
        back = f"/studies/{quote(study.name, safe='')}" + ("" if number is None else f"/trials/{number}")
        shown: dict[str, Any] = {"study": study, "form": form, "back": back, "lines": [], "error": None}
        try:
            if form["action"] == "change" and "confirmed" not in form:
                shown["lines"], shown["seen"] = await to_thread.run_sync(preview, study, form)
                return self._page(request, "acted.html", title="Change the space", **shown)
            if number is None:
                await to_thread.run_sync(act_on_study, study, form, who)
            else:
                await to_thread.run_sync(act_on_trial, study, number, form, who)
        except BoughError as error:
            shown["error"] = str(error)
            return self._page(request, "acted.html", 400, title="That did not work", **shown)
        return RedirectResponse(back + ("#record" if number is None else "#said"), 303)

    async def _open(self, request: Request) -> Study:
        return await to_thread.run_sync(self._studies.open, request.path_params["study"])

    def _missing(self, request: Request, message: str) -> Response:
        return self._page(request, "missing.html", 404, message=message)

    # ---- files --------------------------------------------------------------------------------------

    def static(self, request: Request) -> Response:
        asset = self._assets.get(request.path_params["name"])
        if asset is None:
            raise HTTPException(404, "no such file")
        lasting = "v" in request.query_params
        headers = {
            "ETag": asset.tag,
            "Cache-Control": "public, max-age=31536000, immutable" if lasting else "no-cache",
            "Vary": "Accept-Encoding",
        }
        if request.headers.get("if-none-match") == asset.tag:
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["Content-Encoding"] = "gzip"
            return Response(asset.compressed, headers=headers, media_type=asset.media_type)
        return Response(asset.body, headers=headers, media_type=asset.media_type)


def _measures(study: Study, trials: list[Trial]) -> list[str]:
    """The measures that the table shows: those of the goals, then others of the latest trials."""
    seen = [*study.goals.needed, *(name for trial in trials for name in trial.measures)]
    return [name for name in dict.fromkeys(seen) if name != study.goals.value_name][:MOST_MEASURES]


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form; of several with the same name, the first."""
    text = (await request.body()).decode("utf-8", "replace")
    try:
        fields = parse_qs(text, keep_blank_values=True, max_num_fields=20)
    except ValueError:
        raise HTTPException(400, "this form has too many fields") from None
    return {name: values[0] for name, values in fields.items()}


def _local(target: str) -> str:
    """The page to show after signing in: always a path of this service."""
    if not target.startswith("/") or target.startswith(("//", "/\\")) or not target.isprintable():
        return "/"
    return target
