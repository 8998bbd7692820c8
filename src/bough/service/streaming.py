"""Long replies in pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

__all__ = ["in_chunks"]

CHUNK_CHARACTERS = 2**18


def in_chunks(lines: Iterable[str]) -> Iterator[str]:
    """The same text in larger pieces: the response fetches each piece from a thread."""
    held, size = [], 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= CHUNK_CHARACTERS:
            yield "".join(held)
            held, size = [], 0
    yield "".join(held)
