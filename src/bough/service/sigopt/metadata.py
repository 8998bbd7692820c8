"""Metadata that clients attach to suggestions and observations: one document per trial that has any."""

from __future__ import annotations

from typing import Any

from bough.service.records import Document
from bough.service.sigopt.context import SigOptContext
from bough.trial import Trial

__all__ = ["load_metadata", "metadata_of", "name_of", "save_metadata"]

Json = dict[str, Any]


def name_of(document: Document, trial: Trial) -> str:
    return f"{document.name}/{trial.number}"


def save_metadata(context: SigOptContext, kind: str, document: Document, trial: Trial, extra: Json) -> None:
    """Store metadata of a trial, or merge it into the stored one."""
    name = name_of(document, trial)
    if context.records.put(kind, name, extra, document.name) is None:
        context.records.change(kind, name, lambda old: {**old, **extra})


def load_metadata(context: SigOptContext, kind: str, document: Document) -> dict[int, Json]:
    """All metadata of one kind in an experiment, by trial number."""
    return {
        int(each.name.rpartition("/")[2]): each.body for each in context.records.list(kind, document.name)
    }


def metadata_of(context: SigOptContext, kind: str, document: Document, trial: Trial) -> Json | None:
    found = context.records.get(kind, name_of(document, trial))
    return None if found is None else found.body.get("metadata")
