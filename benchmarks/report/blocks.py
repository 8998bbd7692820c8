"""The parts of a report: text, tables and figures, and how each is written as HTML and as Markdown."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Text:
    """A paragraph, or a heading of some level; `code` and **bold** as in Markdown."""

    text: str
    level: int = 0


@dataclass(frozen=True)
class Cell:
    """An entry of a table; ``shade`` from 0 (none) to 1 (strong)."""

    text: str
    bold: bool = False
    shade: float = 0.0


Row = Sequence["Cell | str"]


@dataclass(frozen=True)
class Table:
    """A table whose first column names the rows; all others are numbers."""

    header: Sequence[str]
    rows: Sequence[Row]
    caption: str = ""


@dataclass(frozen=True)
class Figure:
    """A drawing; consecutive figures are placed side by side if there is room."""

    name: str
    svg: str
    caption: str = ""
    wide: bool = False


Block = Text | Table | Figure


def to_html(blocks: Sequence[Block]) -> str:
    """The body of a page; neighbouring small figures share a grid."""
    parts: list[str] = []
    grid: list[str] = []
    for block in (*blocks, None):
        if isinstance(block, Figure) and not block.wide:
            grid.append(_figure_html(block))
            continue
        if grid:
            parts.append('<div class="grid">' + "\n".join(grid) + "</div>")
            grid = []
        if isinstance(block, Figure):
            parts.append(_figure_html(block))
        elif isinstance(block, Table):
            parts.append(_table_html(block))
        elif isinstance(block, Text):
            parts.append(_text_html(block))
    return "\n".join(parts)


def inline(text: str) -> str:
    """Escaped text with `code` and **bold** as HTML."""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
    return re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)


def anchor(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _text_html(block: Text) -> str:
    if block.level:
        return f'<h{block.level} id="{anchor(block.text)}">{inline(block.text)}</h{block.level}>'
    return f"<p>{inline(block.text)}</p>"


def _figure_html(block: Figure) -> str:
    caption = f"<figcaption>{inline(block.caption)}</figcaption>" if block.caption else ""
    kind = ' class="wide"' if block.wide else ""
    return f"<figure{kind}>{block.svg}{caption}</figure>"


def _table_html(table: Table) -> str:
    head = "".join(f"<th>{inline(text)}</th>" for text in table.header)
    rows = []
    for row in table.rows:
        cells = []
        for entry in row:
            cell = entry if isinstance(entry, Cell) else Cell(entry)
            style = f' style="--shade:{cell.shade:.2f}" class="shaded"' if cell.shade else ""
            text = f"<strong>{inline(cell.text)}</strong>" if cell.bold else inline(cell.text)
            cells.append(f"<td{style}>{text}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    caption = f"<caption>{inline(table.caption)}</caption>" if table.caption else ""
    body = "\n".join(rows)
    inner = f"{caption}<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody>"
    kind = ' class="many"' if len(table.header) > 9 else ""
    return f'<div class="scroll"><table{kind}>{inner}</table></div>'


def to_markdown(blocks: Sequence[Block], figures: str) -> str:
    """Markdown in which figures are files of the folder ``figures`` (as the page sees it)."""
    parts = []
    for block in blocks:
        if isinstance(block, Text):
            parts.append(f"{'#' * block.level} {block.text}" if block.level else block.text)
        elif isinstance(block, Table):
            parts.append(_table_markdown(block))
        else:
            width = "" if block.wide else "{ width=49% }"
            picture = f"![{block.caption or block.name}]({figures}/{block.name}.svg){width}"
            if parts and not block.wide and parts[-1].endswith("{ width=49% }"):
                parts[-1] += f"\n{picture}"  # one paragraph: side by side
            else:
                parts.append(picture)
            if block.caption and block.wide:
                parts.append(f"*{block.caption}*")
    return "\n\n".join(parts) + "\n"


def _table_markdown(table: Table) -> str:
    lines = [_row_markdown(table.header), "|---|" + "---:|" * (len(table.header) - 1)]
    lines += [_row_markdown(row) for row in table.rows]
    caption = f"{table.caption}\n\n" if table.caption else ""
    return caption + "\n".join(lines)


def _row_markdown(row: Row) -> str:
    texts = []
    for entry in row:
        cell = entry if isinstance(entry, Cell) else Cell(entry)
        text = cell.text.replace("|", "\\|")
        texts.append(f"**{text}**" if cell.bold and text else text)
    return "| " + " | ".join(texts) + " |"
