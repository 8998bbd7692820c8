"""``python -m bough`` is the same as the ``bough`` command."""

import sys

from bough.cli import main

if __name__ == "__main__":
    sys.exit(main())
