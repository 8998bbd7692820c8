"""Turn the LaTeX that arithmatex marks into MathML, so that the built pages need no script and no network."""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert

_MARKED = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\(?P<open>[\(\[])(?P<latex>.*?)\\[\)\]]</(?P=tag)>', re.DOTALL
)

_SPACING = (  # the converter leaves these to TeX's rules of spacing, which browsers do not have
    (re.compile(r"<mi>&#x0007E;</mi>"), "<mo>&#x0223C;</mo>"),  # x ~ N is a relation
    (re.compile(r"(<mi>(?:log|exp|sin|cos)</mi>)(?=<m[infrs])"), r'\1<mspace width="0.17em"/>'),
    (re.compile(r"(&#x(?:00028|0002C);</mo>)<mo>&#x02212;</mo>"), r'\1<mo form="prefix">&#x02212;</mo>'),
)


def on_page_content(content: str, **_: object) -> str:
    return _MARKED.sub(_mathml, content)


def _mathml(match: re.Match[str]) -> str:
    latex = html.unescape(match["latex"])
    if match["open"] == "(":
        return _spaced(convert(latex, display="inline"))
    formula = _spaced(convert(latex, display="block"))
    return f'<div class="formula">{formula}</div>'  # scrolls where the screen is narrow


def _spaced(mathml: str) -> str:
    for pattern, replacement in _SPACING:
        mathml = pattern.sub(replacement, mathml)
    return mathml
