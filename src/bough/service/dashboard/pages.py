"""The routes of the pages."""

from __future__ import annotations

from starlette.routing import BaseRoute

from bough.service.figures import FigureDesk
from bough.service.records import Records
from bough.service.studies import OpenStudies

__all__ = ["routes"]


def routes(studies: OpenStudies, figures: FigureDesk, records: Records, *, secure: bool) -> list[BaseRoute]:
    return []
