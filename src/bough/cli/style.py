"""Escape sequences on the terminal: those of bough only if the user wants them, those of programs never.

Text from users and programs passes through ``printable``, so it cannot control the terminal.
"""

from __future__ import annotations

import io
import os
import sys

import click

__all__ = ["bold", "dim", "printable", "struck", "write_any_text"]


def bold(text: str) -> str:
    """Bold text; plain if the user wants no escape sequences (https://no-color.org)."""
    return text if os.environ.get("NO_COLOR") else click.style(text, bold=True)


def dim(text: str) -> str:
    """Faint text; plain as in ``bold``."""
    return text if os.environ.get("NO_COLOR") else click.style(text, dim=True)


def struck(text: str) -> str:
    """Struck-through text, for retracted results; plain as in ``bold``."""
    return text if os.environ.get("NO_COLOR") else click.style(text, strikethrough=True)


def printable(text: str) -> str:
    """The text with control characters written out, except line breaks and tabs."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def write_any_text(encoding: str | None = None) -> None:
    """Let standard output write every character: one that its encoding lacks becomes an escape.

    encoding: the encoding to use from now on, instead of that of the terminal.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):  # a program that calls ``main`` may have replaced it
        sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")
