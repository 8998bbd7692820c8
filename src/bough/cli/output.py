"""Reads a program's result from its output: a JSON object, or the last number."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["CommandFailed", "first_and_last_line", "read_tail", "result_in"]

TAIL_BYTES = 1_000_000
"""Bytes at the end of an output that are read, so a program with much output costs no memory."""

# Both patterns match in linear time, so no text makes them slow.
WORD = re.compile(r"[\w.+\-,:/%±]+")
NUMBER = re.compile(r"[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|nan|inf(?:inity)?)", re.I | re.A)
COMMA_IN_NUMBER = re.compile(r"\d,[+-]?\.?\d")
PLUS_MINUS = re.compile(r"±|\+/-|\+-")


class CommandFailed(Exception):
    """The program gave no result; the text says why. learn: whether the config may be at fault."""

    def __init__(self, why: str, learn: bool = True) -> None:
        super().__init__(why)
        self.learn = learn


def result_in(text: str, source: str, names: Sequence[str] = ("value",)) -> dict[str, Any]:
    """The last JSON object, or else the last number, that a program wrote; CommandFailed if there is none.

    names: the entries that the object must have; a number is enough if there is only one.
    """
    lines = text.splitlines()
    found = _object(text, source, names)  # it may span several lines
    for line in reversed(lines):
        if found is not None:
            return found
        found = _object(line, source, names)
        if found is None and not line.lstrip().startswith("{"):
            number = _last_number(line, source)
            if number is not None and len(names) > 1:
                raise CommandFailed(
                    f"{source} ends with a number, {number:g}: print a JSON object with {_listed(names)}"
                )
            found = None if number is None else {names[0]: number}
    if found is None:
        ending = f"; it ends with {text.strip()[-60:]!r}" if text.strip() else ""
        raise CommandFailed(f"no number on {source}{ending}")
    return found


def read_tail(path: Path) -> str:
    """The last lines of a file, TAIL_BYTES at most."""
    with path.open("rb") as file:
        start = max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES)
        file.seek(start)
        text = file.read().decode("utf-8", "replace")
    if start == 0:
        return text
    _, _, whole_lines = text.partition("\n")
    return whole_lines or text.partition(" ")[2]


def first_and_last_line(path: Path, start: int) -> tuple[str, str]:
    """The first and the last line after the first ``start`` bytes of a file; empty if there is none."""
    with path.open("rb") as file:
        file.seek(start)
        head = file.read(TAIL_BYTES).decode("utf-8", "replace").strip()
        tail = head if not file.read(1) else read_tail(path).strip()
    return (head.splitlines() or [""])[0].strip(), (tail.splitlines() or [""])[-1].strip()


def _listed(names: Sequence[str]) -> str:
    return ", ".join(json.dumps(name) for name in names)


def _object(text: str, source: str, names: Sequence[str]) -> dict[str, Any] | None:
    """The result in a JSON object; None if the text is not one."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        found: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if missing := [name for name in names if name not in found]:
        other = "; --objective NAME chooses another entry" if missing == ["value"] else ""
        raise CommandFailed(
            f"the JSON object on {source} has no {_listed(missing)}: {text.strip()[:80]}{other}"
        )
    return found


def _last_number(line: str, source: str) -> float | None:
    """The last number in a line. Dates, times and fractions do not count; an ambiguous number is refused."""
    for word in reversed(WORD.findall(line)):
        if COMMA_IN_NUMBER.search(word):
            raise CommandFailed(
                f"{word.strip('.,:')!r} on {source} may be one number or several: "
                "write numbers with a decimal point and put spaces between them"
            )
        for part in reversed(word.rstrip(".,:%").split(",")):
            before, _, last = part.rpartition(":")
            if NUMBER.fullmatch(last) and not before[-1:].isdigit():
                if PLUS_MINUS.search(line):
                    raise CommandFailed(
                        f"{line.strip()[-60:]!r} on {source} has a value and its error: "
                        'print {"value": ..., "noise": ...} instead'
                    )
                return float(last)
    return None
