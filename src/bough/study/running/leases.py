"""Keeps the leases of a run's trials alive while they are evaluated."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from bough.errors import BoughError
from bough.trial import Trial

__all__ = ["LEASE", "Leases"]

LEASE = 60.0
"""Seconds after the last renewal at which a trial is handed out again, such as one of a killed run."""

_log = logging.getLogger("bough")


class Leases:
    """Renews the leases of the trials it holds from a background thread, three times in each period.

    renew: called with trials and seconds; None instead of seconds puts the trials into the queue. Trials
    that are still held at the end go back to the queue.
    """

    def __init__(
        self, renew: Callable[[Sequence[Trial], float | None], None], seconds: float = LEASE
    ) -> None:
        self._renew, self._seconds = renew, seconds
        self._held: dict[int, Trial] = {}
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="bough-leases", daemon=True)

    def __enter__(self) -> Leases:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()
        if self._held:
            try:
                self._renew(list(self._held.values()), None)
            except BoughError as error:  # must not hide why the run ended; the leases will expire
                _log.warning(
                    "trials could not go back to the queue, others get them in %g s: %s", self._seconds, error
                )

    def hold(self, trial: Trial) -> None:
        self._held[trial.number] = trial

    def drop(self, trial: Trial) -> None:
        """Stop renewing a trial whose result was recorded."""
        self._held.pop(trial.number, None)

    def release(self, trial: Trial) -> None:
        """Put a trial into the queue, for its next attempt."""
        self.drop(trial)
        self._renew([trial], None)

    def _keep(self) -> None:
        while not self._end.wait(self._seconds / 3):
            if held := list(self._held.values()):
                try:
                    self._renew(held, self._seconds)
                except Exception as error:  # if this thread ended, others would get the same trials
                    _log.warning("leases could not be renewed, retrying soon: %s", error)
