"""``bough``, killed at a moment of a transaction: ``dying_server.py finish:after-commit serve ...``."""

from __future__ import annotations

import os
import signal
import sys

from bough.cli.main import main
from bough.storage.database import Database


def reached(database: Database, label: str, moment: str) -> None:
    if f"{label}:{moment}" == sys.argv[1]:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    Database._reached = reached  # type: ignore[method-assign]
    sys.exit(main(sys.argv[2:]))
