"""A storage that writes into each trial who asked for it, and by which request.

A request to ask may be sent again, because its reply was lost or the server was killed before it could reply.
The trial itself must then tell that it belongs to that request: its ``worker`` is stored in the same
transaction as the trial, so nothing can come between. ``worker#mark`` is the form; readers see ``worker``.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import replace

from bough.storage import Changes, Storage, StudyRecord
from bough.trial import Trial

__all__ = ["Tagged", "asked_by", "mark_of", "tag_of", "worker_of"]

_tag: ContextVar[str | None] = ContextVar("bough_asked_by", default=None)


def tag_of(worker: str, client: str, key: str | None) -> str:
    """What a trial's ``worker`` is stored as; ``key`` is the request's Idempotency-Key."""
    name = worker.replace("#", "_")[:100]
    return name if key is None else f"{name}#{mark_of(client, key)}"


def mark_of(client: str, key: str) -> str:
    """A short name of a request: the same key from another client is another request."""
    digest = hashlib.sha256(f"{client}\0{key}".encode()).digest()
    return base64.urlsafe_b64encode(digest[:15]).decode()


def worker_of(trial: Trial) -> str | None:
    """Who evaluates a trial, as people know them."""
    return trial.worker and trial.worker.partition("#")[0]


@contextlib.contextmanager
def asked_by(tag: str) -> Iterator[None]:
    """Trials that this thread inserts or takes carry the tag."""
    token = _tag.set(tag)
    try:
        yield
    finally:
        _tag.reset(token)


class Tagged:
    """See ``Storage``; everything is done by the storage inside."""

    def __init__(self, inside: Storage) -> None:
        self._inside = inside

    def create(self, record: StudyRecord, trials: Sequence[Trial] = ()) -> StudyRecord:
        return self._inside.create(record, trials)

    def find(self, name: str | None = None) -> list[StudyRecord]:
        return self._inside.find(name)

    def delete(self, study: int) -> None:
        self._inside.delete(study)

    def changes(self, study: int, since: int) -> Changes:
        return self._inside.changes(study, since)

    def insert(
        self, study: int, trials: Sequence[Trial], *, within: range | None = None, lease: float | None = None
    ) -> list[Trial]:
        tag = _tag.get()
        tagged = trials if tag is None else [replace(trial, worker=tag) for trial in trials]
        return self._inside.insert(study, tagged, within=within, lease=lease)

    def take(
        self, study: int, worker: str, lease: float | None = None, holder: str | None = None
    ) -> Trial | None:
        return self._inside.take(study, _tag.get() or worker, lease, holder)

    def finish(self, study: int, result: Trial) -> Trial:
        return self._inside.finish(study, result)

    def renew(self, study: int, held: Sequence[Trial], lease: float | None) -> None:
        self._inside.renew(study, held, lease)
