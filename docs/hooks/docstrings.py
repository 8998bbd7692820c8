"""What the reference shows otherwise than the source has it.

Docstrings describe arguments and fields as ``name: text``; on a page that reads better as a list. A figure is
written as a function of a snapshot; users call it with a study.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_ITEM = re.compile(r"^(?P<names>\*?\w+(?:, \*?\w+)*):\s+(?P<text>\S.*)$")


class Reference(griffe.Extension):
    """Loaded by mkdocstrings; see mkdocs.yml."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = listed(obj.docstring.value)

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        for decorator in func.decorators:
            if str(decorator.value).startswith("figure("):
                func.parameters = as_called(func.parameters, "measured=False" not in str(decorator.value))
                func.returns = "plotly.graph_objects.Figure"


def as_called(drawn: griffe.Parameters, measured: bool) -> griffe.Parameters:
    """The parameters of a figure for its callers, from those of the function that draws it."""
    study = griffe.Parameter("study", kind=griffe.ParameterKind.positional_or_keyword)
    common = {"branch": "None", **({"measure": "None"} if measured else {}), "dark": "False"}
    keywords = [
        griffe.Parameter(name, kind=griffe.ParameterKind.keyword_only, default=default)
        for name, default in common.items()
    ]
    return griffe.Parameters(study, *list(drawn)[1:], *keywords)


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
