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

    space, method and goals are JSON texts; goals None stands for one objective. The space is the current one:
    an amendment may have replaced it. The storage chooses the id and never uses it again, even if the study
    is deleted and another one gets its name. trials: how many there were when the record was read.
    stopping: the rule that stops trials; None is the default one.
    """

    name: str
    space: str
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
    """Something said about a study after its creation; amendments are appended and never change.

    kind:  "space", "learned", "retract", "correct", "belief", "source", "budget", "instances", "stop",
           "note", "audit". body: JSON data that goes with it. trial: the number of the trial that it is
           about, if there is one.
    since: how many trials the study had; it holds for the proposals from this number on. position: 0, 1, 2,
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

    A finished trial, which never changes again, may be among them although it was read before.

    revision: pass it to the next call to read on from here; now: the storage's clock.
    amendments: those that are new, in their order.
    reports:  what trials reported after that revision, each report once, in the order of its arrival.
    """

    trials: list[Trial]
    revision: int
    now: float
    amendments: list[Amendment] = field(default_factory=list)
    reports: Sequence[Report] = ()


@runtime_checkable
class Storage(Protocol):
    """Keeps studies and their trials.

    Each method is atomic, and safe to call from several threads and processes. A study is named by its
    ``id``; StudyError is raised if it was deleted meanwhile, StorageError if the storage itself fails.
    Times are those of the storage's clock: hosts whose clocks differ agree about leases.
    """

    def create(
        self,
        record: StudyRecord,
        trials: Sequence[Trial] = (),
        amendments: Sequence[Amendment] = (),
        reports: Sequence[Report] = (),
    ) -> StudyRecord:
        """Store a new study with what it has from the start, as it is; StudyError if the name is taken."""
        ...

    def find(self, name: str | None = None) -> list[StudyRecord]:
        """The study of that name (none or one), or all of them in the order of their creation."""
        ...

    def delete(self, study: int) -> None:
        """Delete a study, its trials and amendments; nothing happens if it is gone already."""
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

        after: how many amendments there were when this one was made; ConflictError if there are more by now,
        and nothing is stored. None appends whatever came before. space: the study's new space, as JSON.
        moved: trials with their configs in the new space, which replace the stored ones. ConflictError if
        one is in another state by now, or if the study has more trials than ``amendment.since`` says. Whoever
        has read these trials before reads all of the study again.
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
        Trials with the mark of a request (``request``, or ``holder`` of a single running trial) are inserted
        once: if the storage has trials with that mark, those are returned instead.
        """
        ...

    def take(
        self, study: int, worker: str, lease: float | None = None, holder: str | None = None
    ) -> Trial | None:
        """Hand out the first trial that is queued or whose lease has ended, in its next attempt.

        holder: mark of the request that it is handed out to; see ``Trial``. If a trial runs for that mark
        already, it is returned as it is.
        One whose attempts are used up counts as failed instead. None if there is nothing to hand out.
        """
        ...

    def finish(self, study: int, result: Trial) -> Trial:
        """Give a trial its result: ``result.number`` says which; its state is "done", "failed" or "stopped".

        The same result again changes nothing; another one is a ConflictError. A value is accepted from any
        attempt, another end only from the current one (attempt 0 stands for the current one).
        """
        ...

    def report(self, study: int, report: Report) -> Trial:
        """Store what a running trial reports, and return the trial; its lease stays as it is.

        The same report again changes nothing, whatever became of the trial. TrialError if the trial does not
        run in that attempt or has reported a later step, ConflictError if it reported another value there.
        """
        ...

    def renew(self, study: int, held: Sequence[Trial], lease: float | None) -> None:
        """Let the leases of the trials end ``lease`` seconds from now; None puts the trials into the queue.

        A trial that is no longer running in the attempt given is left alone.
        """
        ...
