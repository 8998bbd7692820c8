"""Escape sequences on the terminal: those of bough only if the user wants them, those of programs never.

Text from users and programs passes through ``printable``, so it cannot control the terminal.
"""

from __future__ import annotations

import os

import click

__all__ = ["bold", "dim", "printable", "struck"]


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
