"""A report as one HTML file: no external scripts, no network, figures inline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.report import sections, tables
from benchmarks.report.blocks import Block, Text, inline, to_html
from benchmarks.report.data import is_real
from benchmarks.report.view import View

STYLE = """
:root { --ink:#1f2430; --faint:#667085; --line:#e4e7ec; --paper:#fff; --wash:#f6f7f9; --accent:#d55e00 }
* { box-sizing:border-box }
body { margin:0; color:var(--ink); background:var(--wash);
  font:15px/1.55 system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif }
main { max-width:1040px; margin:0 auto; padding:32px 40px 80px; background:var(--paper);
  border-left:1px solid var(--line); border-right:1px solid var(--line) }
h1 { font-size:26px; margin:0 0 4px; letter-spacing:-.01em } h2 { font-size:20px; margin:46px 0 8px }
h3 { font-size:16px; margin:30px 0 6px } p { max-width:80ch; margin:6px 0 12px; color:#3a4150 }
code { font-size:.92em; background:var(--wash); padding:1px 4px; border-radius:3px }
nav { color:var(--faint); margin:6px 0 0 } nav a { color:inherit; margin-right:14px }
.scroll { overflow-x:auto; margin:10px 0 8px } table { border-collapse:collapse; font-size:13.5px;
  font-variant-numeric:tabular-nums }
caption { text-align:left; color:var(--faint); padding-bottom:4px }
th { text-align:right; font-weight:600; border-bottom:1.5px solid var(--ink); padding:4px 10px;
  vertical-align:bottom; max-width:11em }
td { text-align:right; border-bottom:1px solid var(--line); padding:3px 10px; white-space:nowrap }
th:first-child, td:first-child { text-align:left; padding-left:4px }
table.many { font-size:11.5px } table.many th { hyphens:none } table.many :is(th,td) { padding:3px 6px }
td.shaded { background:rgba(0,114,178,calc(.18 * var(--shade))) }
.grid { display:grid; grid-template-columns:repeat(auto-fill,minmax(400px,1fr)); gap:14px 10px }
figure { margin:0 } figure.wide { margin:14px 0 } figure svg { max-width:100%; height:auto }
figcaption { color:var(--faint); font-size:13px; max-width:80ch }
.m { transition:opacity .12s } svg.hover .m { opacity:.12 } svg.hover .m.on { opacity:1 }
"""

HOVER = """
const all = document.querySelectorAll('g.m');
for (const g of all) {
  g.addEventListener('mouseenter', () => { for (const o of all) {
    o.classList.toggle('on', o.dataset.m === g.dataset.m); o.ownerSVGElement.classList.add('hover') } });
  g.addEventListener('mouseleave', () => {
    for (const o of all) o.ownerSVGElement.classList.remove('hover') });
}
"""


def page(title: str, views: Sequence[View]) -> str:
    """The whole page; one chapter per view."""
    chapters = [(view, chapter(view)) for view in views]
    links = "".join(f'<a href="#{view.name}">{inline(view.title)}</a>' for view, _ in chapters)
    bodies = "".join(
        f'<section id="{view.name}"><h2>{inline(view.title)}</h2>\n{to_html(blocks)}</section>\n'
        for view, blocks in chapters
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{inline(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body><main>'
        f"<h1>{inline(title)}</h1><nav>{links if len(chapters) > 1 else ''}</nav>\n{bodies}</main>"
        f"<script>{HOVER}</script></body></html>\n"
    )


def chapter(view: View) -> list[Block]:
    """All sections of one view."""
    blocks: list[Block] = [*sections.work(view)]
    for heading, part in (
        ("Ranks", sections.ranks(view)),
        (f"{view.label(view.reference)} against each method", sections.pairs(view)),
        ("Evaluations needed", sections.reach(view)),
        ("The best branch", tables.branches(view)),
        ("What a suggestion costs", tables.cost(view)),
        (f"Where {view.label(view.reference)} loses", sections.losses(view)),
        ("Problem by problem", [*tables.finals(view), *tables.curves(view)]),
    ):
        if part:
            blocks += [Text(heading, 3), *part]
    return blocks


def halves(view: View) -> list[View]:
    """One view of synthetic and one of real problems if there are both, else the view itself."""
    found = []
    for name, title, chosen in (
        ("synthetic", "synthetic problems", lambda p: not is_real(p)),
        ("real", "real problems", is_real),
    ):
        part = view.results.only(chosen)
        if part is not None:
            found.append(
                replace(view, name=f"{view.name}-{name}", title=f"{view.title}: {title}", results=part)
            )
    return found if len(found) > 1 else [view]
