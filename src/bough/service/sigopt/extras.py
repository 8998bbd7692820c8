"""What clients say beyond results, such as metadata: a document per trial that has any."""

from __future__ import annotations

from typing import Any

from bough.service.records import Document
from bough.service.sigopt.desk import Desk
from bough.trial import Trial

__all__ = ["keep", "kept", "metadata_of", "name_of"]

Json = dict[str, Any]


def name_of(document: Document, trial: Trial) -> str:
    return f"{document.name}/{trial.number}"


def keep(desk: Desk, kind: str, document: Document, trial: Trial, extra: Json) -> None:
    name = name_of(document, trial)
    if desk.records.put(kind, name, extra, document.name) is None:
        desk.records.change(kind, name, lambda old: {**old, **extra})


def kept(desk: Desk, kind: str, document: Document) -> dict[int, Json]:
    """By the number of the trial."""
    return {int(each.name.rpartition("/")[2]): each.body for each in desk.records.list(kind, document.name)}


def metadata_of(desk: Desk, kind: str, document: Document, trial: Trial) -> Json | None:
    found = desk.records.get(kind, name_of(document, trial))
    return None if found is None else found.body.get("metadata")
