"""Spaces, and tables of anything, as HTML for notebooks: self-contained, without scripts, in any theme.

Every text that comes from a user passes through ``escape``. Colours are those of the page, faded where a text
is secondary.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from bough.space.choice import Choice, Declared
from bough.space.render import describe

if TYPE_CHECKING:
    from bough.space.space import Space

__all__ = ["FADED", "and_more", "block", "faded", "space_html", "table"]

FADED = "opacity:.65"
MAX_LINES = 150
"""Parameters that a tree shows; a space may have thousands."""

_LIST = "list-style:none;margin:0;padding-left:1.1em;border-left:1px solid rgba(128,128,128,.35)"


def space_html(space: Space) -> str:
    """The tree of a space: a line per parameter, the options of each choice below it."""
    budget = iter(range(MAX_LINES))
    lines = [_list(space.declared, budget)]
    lines.append(and_more(len(space) - MAX_LINES, "parameters"))
    for what, clauses in (("forbidden", space.forbid), ("required", space.require)):
        shown = list(clauses)[:20]
        lines += [f"<div>{what}: <code>{escape(str(clause))}</code></div>" for clause in shown]
        lines.append(and_more(len(clauses) - len(shown), what))
    count = f"{len(space):,} parameter{'' if len(space) == 1 else 's'}"
    return block(f"Space {faded(count)}", "".join(lines))


def _list(declared: Mapping[str, Declared], budget: Iterator[int]) -> str:
    items = []
    for name, parameter in declared.items():
        if next(budget, None) is None:
            break
        line = f"<b>{escape(name)}</b> {faded(describe(parameter))}"
        if isinstance(parameter, Choice):
            for label, children in parameter.options.items():
                inside = _list(children, budget) if children else ""
                line += f'<div style="padding-left:1.1em">{escape(label)}{inside}</div>'
        items.append(f"<li>{line}</li>")
    return f'<ul style="{_LIST}">{"".join(items)}</ul>'


def block(heading: str, body: str) -> str:
    """A heading, which is HTML already, and a body below it."""
    style = "font-family:system-ui,sans-serif;font-size:13px;line-height:1.5;text-align:left"
    return f'<div style="{style}"><div style="font-weight:600">{heading}</div>{body}</div>'


def faded(text: str) -> str:
    """Secondary text."""
    return f'<span style="{FADED};font-weight:400">{escape(text)}</span>'


def and_more(count: int, what: str) -> str:
    """How many others a list leaves out; nothing if it has all."""
    return f'<div style="{FADED}">and {count:,} more {what}</div>' if count > 0 else ""


def table(rows: Sequence[Sequence[Any]], heads: Sequence[str] = ()) -> str:
    """A table of texts; they are escaped here."""
    cell = "padding:1px 10px 1px 0;text-align:left;border:none;background:none"
    head = "".join(f'<th style="{cell};font-weight:400;{FADED}">{escape(text)}</th>' for text in heads)
    lines = "".join(
        "<tr>" + "".join(f'<td style="{cell}">{escape(str(text))}</td>' for text in row) + "</tr>"
        for row in rows
    )
    first = f"<tr>{head}</tr>" if heads else ""
    style = "border-collapse:collapse;margin:2px 0;border:none;font-size:inherit;color:inherit"
    return f'<table style="{style}">{first}{lines}</table>'
