"""Figures and reports as files, and what is said if a package for them is missing."""

from __future__ import annotations

import builtins
import sys
from pathlib import Path
from typing import Any

import pytest

import bough.plot as figures
from bough.errors import MissingExtraError, StudyError

from .examples import nested, study


def test_save_writes_a_page_that_needs_nothing_else(tmp_path):
    figure = figures.tree(study(nested(), 10))
    page = figures.save(figure, tmp_path / "tree.html").read_text(encoding="utf-8")
    assert "Plotly.newPlot" in page and 'src="http' not in page
    with pytest.raises(StudyError, match=r"\.html, \.json, \.png, \.svg or \.pdf, not 'tree.bmp'"):
        figures.save(figure, tmp_path / "tree.bmp")
    with pytest.raises(StudyError, match="width and height are for"):
        figures.save(figure, tmp_path / "tree.html", width=300)
    with pytest.raises(StudyError, match="cannot write"):
        figures.save(figure, tmp_path / "no" / "where.html")


def test_a_report_may_have_any_suffix_that_stands_for_no_other_format(tmp_path):
    for name in ("report", "report.xhtml", "report.2024", "report.HTM"):
        assert "Plotly" in figures.report(study(nested(), 3), tmp_path / name).read_text(encoding="utf-8")


def test_pictures_without_kaleido_say_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path):
    monkeypatch.setitem(sys.modules, "kaleido", None)
    with pytest.raises(
        MissingExtraError, match=r"\.png files need Kaleido.*pip install 'bough-opt\[image\]'"
    ):
        figures.save(figures.tree(study(nested(), 10)), tmp_path / "tree.png")
    assert not (tmp_path / "tree.png").exists()


@pytest.mark.parametrize(
    ("browser", "error", "says"),
    [
        (None, StudyError, r"\.pdf files need Chrome or Chromium, which was not found: install it, or save"),
        ("/nowhere/chrome", StudyError, "/nowhere/chrome cannot be started: No such file"),
        ("/bin/false", StudyError, "/bin/false printed no PDF: exit code 1"),
        (ImportError, MissingExtraError, r"\.pdf files need Kaleido, .*pip install 'bough-opt\[image\]'"),
    ],
)
def test_a_report_that_cannot_be_printed_says_why(
    browser: Any, error: type[Exception], says: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    chromium = pytest.importorskip("choreographer.browsers.chromium")
    if browser is ImportError:
        monkeypatch.setitem(sys.modules, "choreographer.browsers.chromium", None)
    monkeypatch.setattr(chromium.Chromium, "find_browser", lambda **_: browser)
    with pytest.raises(error, match=says):
        figures.report(study(nested(), 10), tmp_path / "report.pdf")
    assert not (tmp_path / "report.pdf").exists()


def test_without_plotly_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    real = builtins.__import__

    def missing(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("plotly"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    for name in figures.FIGURES:
        with pytest.raises(MissingExtraError, match=r"pip install 'bough-opt\[plot\]'"):
            getattr(figures, name)(study(nested(), 10))
