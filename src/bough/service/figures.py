"""Figures of a study as JSON, drawn by ``bough.plot`` once per version of the study, and cached."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from bough.errors import BoughError, ConfigError
from bough.plot.draw_curves import curves
from bough.plot.figures import FIGURES
from bough.plot.snapshot import StudySnapshot
from bough.plot.theme import checked_template
from bough.service.dashboard.timeline import timeline
from bough.service.studies import OpenStudies, Version
from bough.study import Study

__all__ = ["SHOWN", "FigureCache", "FigureName"]

T = TypeVar("T")
Branch = dict[str, Any]

SHOWN = {**FIGURES, curves.name: curves, timeline.name: timeline}
"""The figures of the service's pages, by name."""

if TYPE_CHECKING:
    FigureName = str
else:
    FigureName = Literal[tuple(SHOWN)]

WARM_STUDIES = 4
"""The number of latest studies that are read when the service starts."""


class _Recent:
    """The most recently used values, by key."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of a key; if missing, it is made while other threads wait."""
        with self._lock:
            if key not in self._values:
                self._values[key] = make()
                while len(self._values) > self._most:
                    self._values.popitem(last=False)
            self._values.move_to_end(key)
            value: T = self._values[key]
            return value


class FigureCache:
    """Draws figures in one thread and reads trials in another, so reading never waits for a figure."""

    def __init__(self, studies: OpenStudies) -> None:
        self._studies = studies
        self._drawing = ThreadPoolExecutor(1, thread_name_prefix="bough-figures")
        self._reading = ThreadPoolExecutor(1, thread_name_prefix="bough-snapshots")
        self._snapshots, self._drawn = _Recent(8), _Recent(64)

    def close(self) -> None:
        for thread in (self._drawing, self._reading):
            thread.shutdown(wait=False, cancel_futures=True)

    async def snapshot(self, study: Study, branch: Branch) -> StudySnapshot:
        """The trials of a branch as they are now."""
        return await _run(self._reading, lambda: self._snapshot(study, self._studies.version(study), branch))

    async def warm(self) -> None:
        """Read the latest studies before the first request, because reading 100,000 trials takes seconds."""
        for record in (await _run(self._reading, self._studies.records))[-WARM_STUDIES:]:
            with contextlib.suppress(BoughError):  # deleted or unreadable; a request for it will say so
                study = await _run(self._reading, partial(self._studies.open, record.name))
                snapshot = await self.snapshot(study, {})
                await _run(self._reading, partial(getattr, snapshot, "root"))

    async def draw(
        self, study: Study, figure: str, branch: Branch, dark: bool, options: dict[str, Any]
    ) -> tuple[str, bytes]:
        """A figure as Plotly's JSON, and an ETag that changes with it."""
        for name in options:
            if name not in (*SHOWN[figure].options, "measure"):
                raise ConfigError(f"figure {figure!r} has no option {name!r}")

        def draw() -> tuple[str, bytes]:
            version = self._studies.version(study)
            key = (version, figure, json.dumps(branch), dark, json.dumps(options))
            body = self._drawn.get(key, lambda: self._draw(study, version, figure, branch, dark, options))
            return f'"{hash(key) & (2**63 - 1):x}"', body

        return await _run(self._drawing, draw)

    def _draw(
        self,
        study: Study,
        version: Version,
        figure: str,
        branch: Branch,
        dark: bool,
        options: dict[str, Any],
    ) -> bytes:
        drawn = SHOWN[figure].of(self._snapshot(study, version, branch), **options)
        drawn.layout.template = checked_template(dark)
        text: str = drawn.to_json()
        return text.encode()

    def _snapshot(self, study: Study, version: Version, branch: Branch) -> StudySnapshot:
        # The page shows the study's name, so the headings of its figures need not.
        whole = self._snapshots.get((version, ""), lambda: replace(StudySnapshot.of(study), name=""))
        if not branch:
            return whole
        return self._snapshots.get((version, json.dumps(branch)), lambda: whole.within(branch))


async def _run(thread: Executor, work: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(thread, work)
