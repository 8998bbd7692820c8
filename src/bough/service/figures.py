"""Figures of a study as JSON, drawn by ``bough.plot`` once per version of the study and kept for a while."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeVar

from bough.errors import BoughError
from bough.plot import FIGURES, template
from bough.plot.snapshot import StudySnapshot
from bough.service.dashboard.timeline import draw_timeline
from bough.service.studies import OpenStudies, Version
from bough.study import Study

__all__ = ["FigureCache", "FigureName"]

T = TypeVar("T")
Branch = dict[str, Any]

FigureName = Literal["tree", "history", "branches", "parallel", "importance", "slice", "contour", "timeline"]

WARM = 4
"""Studies that are read when the service starts."""


class _Recent:
    """The last values that were asked for, by key; only one thread uses it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        if key not in self._kept:
            self._kept[key] = make()
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        value: T = self._kept[key]
        return value


class FigureCache:
    """Draws in one thread of its own: figures may take a second, and nothing else waits for them."""

    def __init__(self, studies: OpenStudies) -> None:
        self._studies = studies
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="bough-figures")
        self._snapshots, self._drawn = _Recent(8), _Recent(64)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def snapshot(self, study: Study, branch: Branch) -> StudySnapshot:
        """The trials of a branch as they are now."""
        return await self.run(lambda: self._snapshot(study, self._studies.version(study), branch))

    async def warm(self) -> None:
        """Read the latest studies before anyone asks: to read 100,000 trials takes a second or two."""
        for record in (await self.run(self._studies.records))[-WARM:]:
            with contextlib.suppress(BoughError):  # deleted meanwhile, or not to be read: nobody asked yet
                study = await self.run(partial(self._studies.open, record.name))
                snapshot = await self.snapshot(study, {})
                await self.run(partial(getattr, snapshot, "root"))

    async def draw(self, study: Study, figure: str, branch: Branch, dark: bool) -> tuple[str, bytes]:
        """A figure as Plotly's JSON, and an ETag that changes with it."""

        def draw() -> tuple[str, bytes]:
            version = self._studies.version(study)
            key = (version, figure, json.dumps(branch), dark)
            body = self._drawn.get(key, lambda: self._draw(study, version, figure, branch, dark))
            return f'"{hash(key) & (2**63 - 1):x}"', body

        return await self.run(draw)

    def _draw(self, study: Study, version: Version, figure: str, branch: Branch, dark: bool) -> bytes:
        snapshot = self._snapshot(study, version, branch)
        drawn = draw_timeline(snapshot) if figure == "timeline" else FIGURES[figure](snapshot)
        drawn.update_layout(template=template(dark))
        text: str = drawn.to_json()
        return text.encode()

    def _snapshot(self, study: Study, version: Version, branch: Branch) -> StudySnapshot:
        # The page says whose figures these are, so their headings need not.
        whole = self._snapshots.get((version, ""), lambda: replace(StudySnapshot.of(study), name=""))
        if not branch:
            return whole
        return self._snapshots.get((version, json.dumps(branch)), lambda: whole.within(branch))

    async def run(self, work: Callable[[], T]) -> T:
        """Do something in the thread for figures."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)
