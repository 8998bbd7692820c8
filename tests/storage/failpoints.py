"""Kill this process at a moment of a transaction."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

from bough.storage.database import Database, Transaction

__all__ = ["dying_write"]

Work = Callable[[Transaction], Any]


def dying_write(failpoint: str) -> Callable[..., Any]:
    """A substitute for ``Database.write`` that dies, for example at "insert:before-commit".

    The name is that of the function whose transaction it is.
    """
    name, moment = failpoint.split(":")
    write = Database.write

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def dying(database: Database, work: Work, shortcut: Work | None = None) -> Any:
        if work.__qualname__.split(".")[-3] != name:  # such as SqlStorage.insert.<locals>.work
            return write(database, work, shortcut)
        if moment == "after-commit":
            write(database, work, shortcut)
            die()
        return write(database, lambda transaction: (work(transaction), die()))

    return dying
