"""Changes of a study as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from bough.errors import BoughError
from bough.service.models import trial_json
from bough.service.studies import OpenStudies
from bough.strict_json import finite
from bough.study import Study

__all__ = ["Watchers", "status_json", "watch"]

POLL_SECONDS = 1.0
"""Seconds between two reads of a study."""

STREAM_SECONDS = 600.0
"""Seconds after which a stream ends; the browser then reconnects automatically."""

HEARTBEAT_SECONDS = 15.0
"""Seconds of silence after which a comment is sent, so proxies keep the stream open."""

COUNTS = (
    "trials", "finished", "done", "failed", "leased", "stopped", "retracted", "spent", "stop_requests"
)  # fmt: skip
"""The numbers of a ``Status`` that the service shows."""


MAX_STREAMS = 200


class Watchers:
    """Limits the number of open streams, and ends all of them when the service stops."""

    def __init__(self) -> None:
        self._open = 0
        self.closed = False

    def enter(self) -> bool:
        if self._open >= MAX_STREAMS:
            return False
        self._open += 1
        return True

    def leave(self) -> None:
        self._open -= 1

    def close(self) -> None:
        """Let every stream end at its next read."""
        self.closed = True


def status_json(studies: OpenStudies, study: Study) -> dict[str, Any]:
    """The progress of a study; see ``models.StatusOut``."""
    status = study.status()
    return {
        **{name: finite(getattr(status, name)) for name in COUNTS},
        "best": None if status.best is None else trial_json(status.best),
        "front": studies.front_size(study),
        "has_model": study.has_model,
    }


async def watch(look: Callable[[], Awaitable[dict[str, Any]]], watchers: Watchers) -> AsyncIterator[str]:
    """An event "status" at once and whenever ``look`` returns a new one; "gone" if the study is deleted."""
    last, quiet, alive = "", 0.0, 0.0
    try:
        while alive < STREAM_SECONDS and not watchers.closed:
            try:
                text = json.dumps(await look())
            except BoughError as error:
                yield f"event: gone\ndata: {json.dumps(str(error))}\n\n"
                return
            if text != last:
                last, quiet = text, 0.0
                yield f"event: status\ndata: {text}\n\n"
            elif quiet >= HEARTBEAT_SECONDS:
                quiet = 0.0
                yield ": still here\n\n"
            await asyncio.sleep(POLL_SECONDS)
            quiet, alive = quiet + POLL_SECONDS, alive + POLL_SECONDS
    finally:
        watchers.leave()
