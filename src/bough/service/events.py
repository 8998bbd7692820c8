"""News of a study for those who watch it: server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from bough.errors import BoughError
from bough.service.models import trial_json
from bough.service.studies import OpenStudies
from bough.study import Study

__all__ = ["Watchers", "status_json", "watch"]

LOOK = 1.0
"""Seconds between looks at a study."""

LIFE = 600.0
"""Seconds after which a stream ends; the browser opens it again by itself."""

HEARTBEAT = 15.0


class Watchers:
    """Bounds how many streams are open at once."""

    def __init__(self, most: int = 200) -> None:
        self._most, self._open = most, 0

    def enter(self) -> bool:
        if self._open >= self._most:
            return False
        self._open += 1
        return True

    def leave(self) -> None:
        self._open -= 1


def status_json(studies: OpenStudies, study: Study) -> dict[str, Any]:
    """How far a study is; see ``models.StatusOut``."""
    status = study.status()
    found = studies.storage.find(study.name)
    return {
        "trials": found[0].trials if found else 0,
        "finished": status.finished,
        "done": status.done,
        "failed": status.failed,
        "leased": status.leased,
        "best": None if status.best is None else trial_json(status.best),
    }


async def watch(
    look: Callable[[], Awaitable[dict[str, Any]]], watchers: Watchers, seconds: float = LOOK
) -> AsyncIterator[str]:
    """An event "status" whenever ``look`` sees something new, at once for a start; "gone" in the end."""
    last, quiet, alive = "", 0.0, 0.0
    try:
        while alive < LIFE:
            try:
                text = json.dumps(await look())
            except BoughError as error:
                yield f"event: gone\ndata: {json.dumps(str(error))}\n\n"
                return
            if text != last:
                last, quiet = text, 0.0
                yield f"event: status\ndata: {text}\n\n"
            elif quiet >= HEARTBEAT:
                quiet = 0.0
                yield ": still here\n\n"
            await asyncio.sleep(seconds)
            quiet, alive = quiet + seconds, alive + seconds
    finally:
        watchers.leave()
