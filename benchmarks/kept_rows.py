"""Results of a benchmark, kept in a file of JSON lines, so an interrupted benchmark can continue."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

__all__ = ["RESULTS", "KeptRows"]

RESULTS = Path(__file__).parent / "results"

T = TypeVar("T")


class KeptRows:
    """Earlier results by key. Without a file, everything is computed again."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._known: dict[str, object] = {}
        if path is not None and path.exists():
            for line in path.read_text().splitlines():
                row = json.loads(line)
                self._known[row["key"]] = row["found"]

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def once(self, key: str, compute: Callable[[], T]) -> T:
        """The result of ``compute``, JSON data; it is called at most once for a key."""
        if key not in self._known:
            self._known[key] = found = compute()
            if self._path is not None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._path.open("a") as file:
                    file.write(json.dumps({"key": key, "found": found}) + "\n")
        return self._known[key]  # type: ignore[return-value]
