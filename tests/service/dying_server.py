"""``bough``, killed at a moment of a transaction: ``dying_server finish:after-commit serve ...``."""

from __future__ import annotations

import sys

from tests.storage.failpoints import dying_write

from bough.cli.main import main
from bough.storage.database import Database

if __name__ == "__main__":
    Database.write = dying_write(sys.argv[1])  # type: ignore[method-assign]
    sys.exit(main(sys.argv[2:]))
