"""The protocol of a storage: ten methods, each one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from bough.errors import ConflictError
from bough.trial import Report, Trial

__all__ = ["Amendment", "Changes", "Storage", "StudyRecord", "amended_meanwhile"]


@dataclass(frozen=True)
class StudyRecord:
    """A study without its trials.

    space, method and goals are JSON texts; goals None means one objective. The space is the current one: an
    amendment may have replaced it. The storage chooses the id and never reuses it, even if the study is
    deleted and another one gets its name. trials: their number when the record was read.
    stopping: the rule that stops trials; None is the default rule.
    """

    name: str
    space: str = field(repr=False)
    direction: str
    method: str
    seed: int
    created: float = 0.0
    trials: int = 0
    id: int = -1
    goals: str | None = None
    stopping: str | None = None


@dataclass(frozen=True)
class Amendment:
    """An addition to a study after its creation; amendments are appended and never change.

    kind:  "space", "learned", "retract", "correct", "belief", "source", "budget", "instances", "stop",
           "note", "audit". body: its JSON data. trial: the number of the trial that it is about, if any.
    since: how many trials the study had; it applies to proposals from this number on. position: 0, 1, 2,
           ... without gaps; at: Unix time. The storage fills in these three.
    """

    kind: str
    body: dict[str, Any]
    trial: int | None = None
    since: int = -1
    position: int = -1
    at: float = 0.0


def amended_meanwhile() -> ConflictError:
    """The error for an amendment that was made without knowledge of the last one."""
    return ConflictError("another change to the study came first: look at it, then try again")


@dataclass(frozen=True)
class Changes:
    """The trials that changed after some revision, in the order of their changes, as one consistent snapshot.

    A finished trial never changes again, but it may be listed although it was read before.

    revision: pass it to the next call to read on from here; now: the storage's clock.
    amendments: those that are new, in their order.
    reports:  reports of trials after that revision, each report once, in the order of arrival.
    """

    trials: list[Trial]
    revision: int
    now: float
    amendments: list[Amendment] = field(default_factory=list)
    reports: Sequence[Report] = ()


@runtime_checkable
class Storage(Protocol):
    """Keeps studies and their trials.

    Each method is atomic, and safe to call from several threads and processes. A study is identified by its
    ``id``; StudyError is raised if it was deleted, StorageError if the storage itself fails. Times come from
    the storage's clock, so hosts with different clocks agree about leases.
    """

    def create(
        self,
        record: StudyRecord,
        trials: Sequence[Trial] = (),
        amendments: Sequence[Amendment] = (),
        reports: Sequence[Report] = (),
    ) -> StudyRecord:
        """Store a new study with these trials, amendments and reports; StudyError if the name is taken."""
        ...

    def find(self, name: str | None = None) -> list[StudyRecord]:
        """The study of that name (none or one), or all of them in the order of their creation."""
        ...

    def delete(self, study: int) -> None:
        """Delete a study, its trials and amendments; does nothing if it was already deleted."""
        ...

    def amend(
        self,
        study: int,
        amendment: Amendment,
        *,
        after: int | None = None,
        space: str | None = None,
        moved: Sequence[Trial] = (),
    ) -> Amendment:
        """Append an amendment and return it as stored.

        after: how many amendments there were when this one was made; ConflictError, and nothing is stored, if
        there are more by now. None appends unconditionally. space: the study's new space, as JSON.
        moved: trials with their configs in the new space, which replace the stored ones. ConflictError if
        the state of one has changed, or if the study has more trials than ``amendment.since``. Readers that
        have read these trials before must read the whole study again.
        """
        ...

    def changes(self, study: int, since: int) -> Changes:
        """All that changed after revision ``since``; 0 reads everything."""
        ...

    def insert(
        self,
        study: int,
        trials: Sequence[Trial],
        *,
        within: range | None = None,
        lease: float | None = None,
        seen: int | None = None,
    ) -> list[Trial]:
        """Append trials and return them with their numbers and times.

        Nothing is inserted and the list is empty in two cases: the next free number is not ``within`` the
        range, or the study was amended after the revision ``seen``.
        A running trial starts now, and its lease ends ``lease`` seconds from now.
        Trials with the id of a request (``request``, or ``holder`` of a single running trial) are inserted
        once: if the storage has trials with that id, those are returned instead.
        """
        ...

    def take(
        self, study: int, worker: str, lease: float | None = None, holder: str | None = None
    ) -> Trial | None:
        """Hand out the first trial that is queued or whose lease has ended, in its next attempt.

        holder: id of the request that gets the trial; see ``Trial``. If a trial already runs for that id, it
        is returned unchanged.
        A trial that has no attempts left is failed instead. None if there is nothing to hand out.
        """
        ...

    def finish(self, study: int, result: Trial) -> Trial:
        """Give a trial its result: ``result.number`` says which; its state is "done", "failed" or "stopped".

        The same result again changes nothing; a different one is a ConflictError. A value is accepted from
        any attempt, "failed" and "stopped" only from the current one (attempt 0 means the current one).
        """
        ...

    def report(self, study: int, report: Report) -> Trial:
        """Store a report of a running trial, and return the trial; its lease does not change.

        The same report again changes nothing, even if the trial has ended. TrialError if the trial does not
        run in that attempt or has reported a later step, ConflictError if it reported another value there.
        """
        ...

    def renew(self, study: int, held: Sequence[Trial], lease: float | None) -> None:
        """Let the leases of the trials end ``lease`` seconds from now; None puts the trials into the queue.

        A trial that is no longer running in the attempt given is left alone.
        """
        ...
