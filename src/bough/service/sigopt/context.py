"""The arguments of every SigOpt handler: the call, and the context with studies and documents."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bough.errors import TrialError
from bough.service.auth import Principal
from bough.service.records import Document, Records
from bough.service.sigopt.errors import SigOptError
from bough.service.sigopt.objects import CLIENT
from bough.service.studies import NoStudy, OpenStudies
from bough.study import Study
from bough.trial import Trial

__all__ = ["Call", "SigOptContext"]

Json = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A request: parts of its path, its query, its JSON body, and who sent it."""

    path: dict[str, str]
    query: dict[str, str]
    body: Json
    who: Principal


@dataclass(frozen=True)
class SigOptContext:
    studies: OpenStudies
    records: Records

    def experiment(self, call: Call, kind: str | None = None) -> tuple[Document, Study]:
        """The experiment that a path names, and its study."""
        name = call.path["experiment"]
        document = self.records.get("experiment", name)
        if document is None or kind not in (None, document.body["object"]):
            raise SigOptError(f"No experiment {name}", 404)
        try:
            return document, self.studies.open(document.body["study"])
        except NoStudy:
            raise SigOptError(f"The study of experiment {name} was deleted", 404) from None

    def active(self, call: Call, kind: str | None = None) -> tuple[Document, Study]:
        """The experiment that a path names, and its study; SigOptError if it is archived."""
        document, study = self.experiment(call, kind)
        if document.body["state"] == "deleted":
            raise SigOptError(f"Experiment {document.name} is deleted: set its state to active to go on")
        return document, study

    def trial(self, call: Call, part: str, study: Study) -> Trial:
        """The trial of the suggestion, observation or queued suggestion that a path names."""
        return find_trial(call.path[part], part, study)

    def new(self, kind: str, body: Json, owner: str = "") -> Document:
        """A new document under a random number, like SigOpt's ids."""
        while True:
            document = self.records.put(kind, str(secrets.randbelow(9 * 10**8) + 10**8), body, owner)
            if document is not None:
                return document

    def change(self, kind: str, document: Document, change: Callable[[Json], Json]) -> Document:
        """The document with a changed body. No request deletes documents, so it still exists."""
        changed = self.records.change(kind, document.name, change)
        assert changed is not None
        return changed

    def experiments(self, kind: str, call: Call, project: str | None) -> list[Document]:
        """The experiments of a kind and a project, or of all, in the state that the query asks for."""
        return [
            document
            for document in self.records.list("experiment")
            if document.body["object"] == kind
            and document.body["state"] == call.query.get("state", "active")
            and project in (None, document.body["definition"]["project"])
        ]

    # ---- data that clients attach to trials: one document per trial that has any -------------------------

    def attach(self, kind: str, experiment: Document, trial: Trial, extra: Json) -> None:
        """Store the client's data of a suggestion or observation, or merge it into the stored data."""
        name = f"{experiment.name}/{trial.number}"
        if self.records.put(kind, name, extra, experiment.name) is None:
            self.records.change(kind, name, lambda old: {**old, **extra})

    def attached(self, kind: str, experiment: Document) -> dict[int, Json]:
        """The client's data of all suggestions or observations of an experiment, by trial number."""
        found = self.records.list(kind, experiment.name)
        return {int(each.name.rpartition("/")[2]): each.body for each in found}

    def metadata(self, kind: str, experiment: Document, trial: Trial) -> Json | None:
        found = self.records.get(kind, f"{experiment.name}/{trial.number}")
        return None if found is None else found.body.get("metadata")

    def check_client(self, call: Call) -> None:
        if call.path["client"] != CLIENT:
            raise SigOptError(f"No client {call.path['client']}", 404)


def find_trial(name: Any, what: str, study: Study) -> Trial:
    text = str(name)
    try:
        return study.trial(int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else -1)
    except TrialError:
        raise SigOptError(f"No {what.replace('_', ' ')} {text[:50]}", 404) from None
