"""Docstrings describe arguments and fields as ``name: text``; on a page that reads better as a list."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ITEM = re.compile(r"^(?P<names>\*?\w+(?:, \*?\w+)*):\s+(?P<text>\S.*)$")


class Lists(griffe.Extension):
    """Loaded by mkdocstrings; see mkdocs.yml."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = listed(obj.docstring.value)


def listed(text: str) -> str:
    """``text`` with every paragraph of ``name: text`` lines made a Markdown list."""
    paragraphs = []
    for paragraph in text.split("\n\n"):
        lines = paragraph.splitlines()
        if len(lines) > 0 and _ITEM.match(lines[0]) and not paragraph.startswith(" "):
            lines = [_item(line) for line in lines]
        paragraphs.append("\n".join(lines))
    return "\n\n".join(paragraphs)


def _item(line: str) -> str:
    found = _ITEM.match(line)
    return f"- **{found['names']}**: {found['text']}" if found else f"  {line.strip()}"
