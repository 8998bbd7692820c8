"""Figures of a study as JSON, drawn by ``bough.plot`` once per version of the study, then cached."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from bough.errors import BoughError, ConfigError
from bough.plot.figures import FIGURES
from bough.plot.snapshot import StudySnapshot
from bough.plot.theme import template
from bough.service.dashboard.timeline import timeline
from bough.service.studies import OpenStudies, Version
from bough.study import Study

__all__ = ["SHOWN", "FigureCache", "FigureName"]

T = TypeVar("T")
Branch = dict[str, Any]

SHOWN = {**FIGURES, timeline.name: timeline}
"""The figures of the service's pages, by name."""

if TYPE_CHECKING:
    FigureName = str
else:
    FigureName = Literal[tuple(SHOWN)]

WARM = 4
"""Studies that are read when the service starts."""


class _Recent:
    """The values used last, by key; for one thread."""

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
    """Draws figures in one separate thread: a figure may take a second, and no request waits for it."""

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

    async def draw(
        self, study: Study, figure: str, branch: Branch, dark: bool, options: dict[str, Any]
    ) -> tuple[str, bytes]:
        """A figure as Plotly's JSON, and an ETag that changes with it."""
        for name in options:
            if name not in SHOWN[figure].options:
                raise ConfigError(f"figure {figure!r} has no option {name!r}")

        def draw() -> tuple[str, bytes]:
            version = self._studies.version(study)
            key = (version, figure, json.dumps(branch), dark, json.dumps(options))
            body = self._drawn.get(key, lambda: self._draw(study, version, figure, branch, dark, options))
            return f'"{hash(key) & (2**63 - 1):x}"', body

        return await self.run(draw)

    def _draw(
        self,
        study: Study,
        version: Version,
        figure: str,
        branch: Branch,
        dark: bool,
        options: dict[str, Any],
    ) -> bytes:
        drawn = SHOWN[figure].draw(self._snapshot(study, version, branch), **options)
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
