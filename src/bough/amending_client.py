"""The part of a served study that amends its record; see ``bough.Study`` for what each method does."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from bough.errors import ConfigError, ConflictError, StudyError
from bough.space import Space
from bough.storage import Amendment, StudyRecord
from bough.strategies.base import RemainingGain
from bough.study.handles import number_and_attempt
from bough.study.revising.corrections import correction
from bough.study.revising.current_trials import CurrentSpace
from bough.study.revising.revisions import revisions_of
from bough.study.running.runnable import RunnableStudy
from bough.trial import Trial

__all__ = ["AmendingClient", "check_tries", "dict_of", "trial_of", "trials_of"]

READ_TRIES = 20
"""Attempts to read a study as of one moment; each one fails if the study is amended meanwhile."""


class AmendingClient(RunnableStudy):
    """Retract, correct, note, change and stop over HTTP."""

    _timeout: float

    @abstractmethod
    def trial(self, number: int) -> Trial: ...
    @abstractmethod
    def _get(self, path: str) -> Any: ...
    @abstractmethod
    def _post(self, path: str, body: dict[str, Any], timeout: float = ...) -> Any: ...

    def retract(self, trial: Trial | int, reason: str) -> Trial:
        """Say that the result of a finished trial does not count; see ``Study.retract``."""
        number, _ = number_and_attempt(trial)
        return trial_of(self._post(f"trials/{number}/retract", {"reason": reason}))

    def correct(self, trial: Trial | int, value: Any, reason: str) -> Trial:
        """Give a finished trial another result; see ``Study.correct``."""
        number, _ = number_and_attempt(trial)
        correction(self.trial(number), value, reason, self.goals)  # names mistakes that JSON cannot hold
        return trial_of(self._post(f"trials/{number}/correct", {"value": value, "reason": reason}))

    def note(self, text: str, trial: Trial | int | None = None) -> Amendment:
        """Write a remark into the study's record; see ``Study.note``."""
        number = None if trial is None else number_and_attempt(trial)[0]
        return _amendment(self._post("notes", {"text": text, "trial": number}))

    def stop_runs(self, reason: str = "") -> Amendment:
        """Ask every ``run`` of the study to start no further trial; see ``Study.stop_runs``."""
        return _amendment(self._post("stop", {"reason": reason}))

    def believe(self, likely: Mapping[str, Any] | None) -> None:
        """Say where good values are expected from now on; see ``Study.believe``."""
        self._post("believe", {"likely": dict_of(likely or {}, "likely")})

    def change(
        self,
        space: Space,
        *,
        backfill: Mapping[str, Any] | None = None,
        fix: Mapping[str, Any] | None = None,
        preview: bool = False,
        seen: Space | None = None,
    ) -> list[str]:
        """Continue in another space; see ``Study.change``."""
        for name, each in (("space", space), ("seen", seen)):
            if not isinstance(each, Space) and (name, each) != ("seen", None):
                raise StudyError(f"{name} must be a bough.Space, not {type(each).__name__}")
        given = {"backfill": dict_of(backfill or {}, "backfill"), "fix": dict_of(fix or {}, "fix")}
        body = {"space": space.to_dict(), **given, "preview": preview}
        body |= {} if seen is None else {"seen": seen.to_dict()}
        lines: list[str] = self._post("change", body, self._timeout)["differences"]
        return lines

    @property
    def current_trials(self) -> list[Trial]:
        """The trials that belong to the current space, with configs completed by ``backfill``."""
        return CurrentSpace(revisions_of(self.space, self.amendments)).trials(self.trials)

    @property
    def amendments(self) -> list[Amendment]:
        """All amendments of the study since its creation."""
        return [_amendment(row) for row in self._get("amendments")["amendments"]]

    def remaining_gain(self, results: int | None = None) -> RemainingGain:
        """Raises StudyError: this needs the study's storage, which a served study does not have."""
        raise StudyError("a served study cannot say what is left to gain: open it with bough.open_study")

    def told_trials(self) -> list[Trial]:
        """All trials as they were first told, without later corrections."""
        return self.snapshot()[1]

    def snapshot(self) -> tuple[StudyRecord, list[Trial], list[Amendment]]:
        """The record, the trials as first told, and the amendments, all of one moment."""
        amended = self._get("amendments")
        for tries in itertools.count():
            check_tries(tries, self.name)
            record, trials = self.record, self.trials
            before, amended = amended, self._get("amendments")
            if amended == before:
                break
        told = {row["number"]: trial_of(row) for row in amended["told"]}
        amendments = [_amendment(row) for row in amended["amendments"]]
        return record, [told.get(trial.number, trial) for trial in trials], amendments


def check_tries(tries: int, study: str) -> None:
    """ConflictError after ``READ_TRIES`` attempts to read a study."""
    if tries == READ_TRIES:
        raise ConflictError(f"others keep amending study {study!r}: try again later")


def dict_of(given: Any, what: str) -> dict[str, Any]:
    """The dict to send; ConfigError if it is something else."""
    if not isinstance(given, Mapping):
        raise ConfigError(f"{what} must be a dict of parameter names and values, not {given!r:.80}")
    return dict(given)


def trials_of(page: dict[str, Any]) -> list[Trial]:
    """The trials of a reply."""
    return [trial_of(row) for row in page["trials"]]


def trial_of(row: dict[str, Any]) -> Trial:
    """A trial from its JSON; ``feasible`` is derived from ``violated``."""
    given = {name: value for name, value in row.items() if name != "feasible"}
    curve = tuple((step, value) for step, value in row.get("curve", ()))
    measured = row.get("curves", {}).items()
    curves = {name: tuple((step, value) for step, value in pairs) for name, pairs in measured}
    return Trial(**given | {"violated": tuple(row["violated"]), "curve": curve, "curves": curves})


def _amendment(row: dict[str, Any]) -> Amendment:
    return Amendment(row["kind"], row["body"], row["trial"], row["since"], row["position"], row["at"])
