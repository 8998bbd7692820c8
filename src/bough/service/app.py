"""The ASGI application: the state that all requests share, the middleware and the routes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from bough import __version__
from bough.errors import BoughError
from bough.service import api, sigopt
from bough.service.dashboard import pages
from bough.service.events import Watchers
from bough.service.figures import FigureCache
from bough.service.records import Records
from bough.service.routing import error_response
from bough.service.security_middleware import SecurityMiddleware
from bough.service.studies import OpenStudies
from bough.storage import Storage, open_storage

__all__ = ["create_app"]


def create_app(
    storage: str | None = None,
    *,
    hosts: Iterable[str] = (),
    records: Records | None = None,
    opened: Storage | None = None,
    max_body: int = 4 * 2**20,
    secure: bool = False,
) -> FastAPI:
    """The service for the studies of a storage; without a URL they are kept in memory.

    hosts:   host names of the service, besides localhost and IP addresses.
    records: the store of tokens, if already open; by default the storage's database.
    opened:  the storage itself, if already open.
    secure:  browsers use https (through a proxy), so the session's cookie is marked secure.
    """
    records = records or Records(storage)
    studies = OpenStudies(opened or open_storage(storage))
    figures = FigureCache(studies)
    watchers = Watchers()

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        warming = asyncio.create_task(figures.warm())
        yield
        warming.cancel()
        studies.close()
        figures.close()

    app = FastAPI(
        title="bough",
        version=__version__,
        summary="Bayesian optimization for search spaces that branch",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # that page would load scripts from other sites
        redoc_url=None,
        lifespan=lifespan,
        middleware=[
            Middleware(SecurityMiddleware, records=records, hosts=tuple(hosts), max_body=max_body),
            Middleware(GZipMiddleware, minimum_size=1000, compresslevel=4),
        ],
        exception_handlers={
            BoughError: error_response,
            RequestValidationError: error_response,
            HTTPException: error_response,
            Exception: error_response,
        },
    )
    app.state.studies, app.state.watchers = studies, watchers
    app.include_router(api.router(studies, figures, watchers))
    app.router.routes.extend(sigopt.routes(studies, records))
    app.router.routes.extend(pages.routes(studies, figures, records, secure=secure))
    return app
