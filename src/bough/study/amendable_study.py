"""The part of a study that amends its record: change the space, correct results, add beliefs and notes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from types import NoneType
from typing import Any

from bough.errors import ConfigError, ConflictError, MethodError, StudyError, TrialError
from bough.space import Space
from bough.storage import Amendment
from bough.study.handles import number_and_attempt
from bough.study.revising.beliefs import belief_amendment
from bough.study.revising.changing import differences, space_change
from bough.study.revising.corrections import correction, remark, remarks_of, retraction, stop_request
from bough.study.revising.revisions import names_asked
from bough.study.running.spending import new_budget
from bough.study.study_results import StudyResults
from bough.study.trial_index import TrialIndex
from bough.trial import Config, Trial, storable

__all__ = ["AmendableStudy"]

AMEND_TRIES = 20
"""Attempts to store an amendment; each one fails if another process stores an amendment first."""


class AmendableStudy(StudyResults):
    """The part of a ``Study`` that appends amendments; the stored results themselves never change."""

    def retract(self, trial: Trial | int, reason: str, *, by: str | None = None) -> Trial:
        """Say that the result of a finished trial does not count, and why; nothing stored is deleted.

        From now on the method, ``best``, ``front`` and ``recommend`` ignore it. It stays among the trials,
        with the reason in ``trial.retracted``, and counts as finished for ``run``.
        by: who made the amendment; stored with it.
        """
        number, _ = number_and_attempt(trial)
        self.amend(lambda view: retraction(_existing(view, number), reason), by=by)
        return self.trial(number)

    def correct(self, trial: Trial | int, value: Any, reason: str, *, by: str | None = None) -> Trial:
        """Give a finished trial another result, and say why; the last correction counts.

        value: a number, or a dict as for ``tell``; measures missing from the dict keep their old values. The
        reason is in ``trial.corrected``, and the first value in ``trial.value_before``.
        """
        number, _ = number_and_attempt(trial)
        self.amend(lambda view: correction(_existing(view, number), value, reason, self.goals), by=by)
        return self.trial(number)

    def believe(self, likely: Mapping[str, Any] | None, *, by: str | None = None) -> None:
        """Say where good values are expected from now on: {"rate": (1e-4, 1e-2), "model": {"svm": 3}}.

        Give ranges and weights as in ``likely=`` of parameters, by name or path. The latest statement about a
        parameter counts. None as a range withdraws it; an empty dict withdraws all, also those of the space.
        """
        if not getattr(self._strategy, "uses_beliefs", False):
            raise MethodError(f"method {self.method.name!r} cannot use beliefs; methods with a model can")
        self.amend(lambda _: belief_amendment(self.space, likely), by=by)

    def change(
        self,
        space: Space,
        *,
        backfill: Mapping[str, Any] | None = None,
        fix: Mapping[str, Any] | None = None,
        preview: bool = False,
        seen: Space | None = None,
        by: str | None = None,
    ) -> list[str]:
        """Continue in another space; returns the differences, one line each (empty if there are none).

        From the next trial on, proposals come from ``space``. Earlier trials keep their configs and still
        inform the method. Results of running trials are still accepted.

        backfill: values of new parameters in earlier trials, {"dropout": 0.0}. A new parameter without a
                  value is inactive in them.
        fix:      values of removed parameters from now on, {"epochs": 10}: earlier trials near them are more
                  informative. A removed parameter without a value is inactive in new trials.
        preview:  True to check the change and return the differences without making it.
        seen:     the study's space when a preview was made: ConflictError if the study has another one now.
        """
        if not isinstance(seen, (Space, NoneType)):
            raise StudyError(f"seen must be a bough.Space, not {type(seen).__name__}")
        lines: list[str] = []
        known: list[int] = []

        def make(view: TrialIndex) -> Amendment | None:
            if names_asked(view.amendments):
                raise StudyError(
                    f"study {self.name!r} learns its space from its objective, so change the objective"
                )
            known.append(view.space_changes)
            made = space_change(self._revisions, view.trials, space, backfill or {}, fix or {})
            if made is None:
                return None
            if known[0] != known[-1] or (seen is not None and seen != self.space):
                raise ConflictError("another change of the space came first: look at it, then try again")
            self.goals.check_limits(space)
            self._built(space)  # MethodError if the method cannot work there
            lines[:] = differences(self.space, space)
            return None if preview else made

        self.amend(make, space, by=by)
        return lines

    def set_budget(self, budget: float | None) -> None:
        """Say what the trials may cost together, as ``run(budget=)`` does; ``auto`` then weighs costs.

        None removes the budget.
        """
        self.amend(lambda view: new_budget(view.amendments, budget))

    def stop_runs(self, reason: str = "", *, by: str | None = None) -> Amendment:
        """Ask every active ``run`` of the study, on any machine, to start no further trial.

        Running evaluations are finished and their results kept. A ``run`` that starts later is not affected.
        """
        made = self.amend(lambda _: stop_request(reason), by=by)
        assert made is not None
        return made

    def note(
        self,
        text: str,
        trial: Trial | int | None = None,
        *,
        by: str | None = None,
        request: str | None = None,
    ) -> Amendment:
        """Write a remark into the study's record, about the study or about one trial.

        request: mark of a request that may be sent again; the same one has no second effect.
        """
        number = None if trial is None else self.trial(number_and_attempt(trial)[0]).number
        sent_before: list[Amendment] = []

        def make(view: TrialIndex) -> Amendment | None:
            sent_before[:] = remarks_of(request, view.amendments)
            return None if sent_before else remark(text, number, request)

        return self.amend(make, by=by) or sent_before[0]

    def amend(
        self,
        make: Callable[[TrialIndex], Amendment | None],
        space: Space | None = None,
        *,
        by: str | None = None,
    ) -> Amendment | None:
        """Append the amendment that ``make`` returns for the current view; retry if another came first.

        space: the study's new space. by: who made the amendment; stored in its body.
        """
        for _ in range(AMEND_TRIES):
            with self._current() as view:
                made, seen = make(view), len(view.amendments)
            if made is None:
                return None
            if by is not None:
                made = replace(made, body={**made.body, "by": storable(str(by))})
            with contextlib.suppress(ConflictError):
                text = None if space is None else space.to_json()
                stored = self._storage.amend(self.record.id, made, after=seen, space=text)
                with self._current():
                    return stored
        raise ConflictError("other processes keep changing the study: try again later")

    def _validated(self, config: Config) -> Config:
        """The config, checked against the current space; the error says if it fits an earlier space."""
        try:
            return self.space.validate(config)
        except ConfigError as error:
            for earlier, later in pairwise(self._revisions):
                if earlier.space.contains(config):
                    when = f"trial {later.since}, and this config belongs to the space before"
                    raise ConfigError(f"{error}; the space was changed at {when}") from None
            raise


def _existing(view: TrialIndex, number: int) -> Trial:
    if number >= len(view.trials):
        raise TrialError(f"the study has no trial {number}")
    return view.trials[number]
