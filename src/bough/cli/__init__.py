"""The command line: ``bough demo``, ``bough run SPACE -- COMMAND``, ``bough show`` and the rest.

Exit codes: 0 success, 1 a run without any result, 2 a usage error (one line on stderr says which), 130 ended
by Ctrl-C with all results kept.
"""

from bough.cli.main import main

__all__ = ["main"]
