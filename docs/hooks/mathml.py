"""Turn the LaTeX that arithmatex marks into MathML, so that the built pages need no script and no network."""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert

_MARKED = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\(?P<open>[\(\[])(?P<latex>.*?)\\[\)\]]</(?P=tag)>', re.DOTALL
)


def on_page_content(content: str, **_: object) -> str:
    return _MARKED.sub(_mathml, content)


def _mathml(match: re.Match[str]) -> str:
    latex = html.unescape(match["latex"])
    if match["open"] == "(":
        return convert(latex, display="inline")
    return f'<div class="formula">{convert(latex, display="block")}</div>'  # scrolls where the screen is narrow
