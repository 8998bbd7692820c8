"""The report is one file that shows everything and trusts nothing that a study says."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from bough.errors import StudyError
from bough.plot import report
from bough.space import Choice, Float, Space
from bough.study import Study
from bough.trial import Trial

from .examples import SPACES, flat, nested, study


class Elements(HTMLParser):
    """Every element with its attributes, and the text of the page outside of scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("kind", SPACES)
def test_a_report_is_complete_and_self_contained(kind: str, tmp_path: Path):
    snapshot = study(SPACES[kind](), 40)
    page = report(
        snapshot, tmp_path / "deep" / "report.html", against=[replace(snapshot, name="other")]
    ).read_text("utf-8")
    elements = Elements(page).found
    ids = {attrs["id"] for _, attrs in elements if "id" in attrs}
    wanted = {"history", "regret", "importance", "parallel", "slice", "contour"}
    assert wanted | ({"tree", "branches"} if kind != "flat" else set()) <= ids
    for _, attrs in elements:
        assert "src" not in attrs and "href" not in attrs
    assert snapshot.best is not None and f"trial {snapshot.best.number}" in page
    assert "diverged" in page


def test_a_report_without_results_is_still_a_report(tmp_path: Path):
    page = report(study(nested(), 0), tmp_path / "report.html").read_text("utf-8")
    assert "No trial has a value yet" in page


@pytest.mark.parametrize(("names", "title"), [(["a"], "Best configuration"), (["a", "b"], "Front")])
def test_the_best_results_have_their_name(names: list[str], title: str, tmp_path: Path):
    found = Study(flat(), objectives=dict.fromkeys(names, "minimize"))
    found.tell(found.ask(), dict.fromkeys(names, 1.0))
    assert f"<section><h2>{title}</h2>" in report(found, tmp_path / "r.html").read_text("utf-8")


@pytest.mark.parametrize(("trials", "more"), [(15, False), (18, True)])
def test_a_long_front_says_how_many_are_not_shown(trials: int, more: bool, tmp_path: Path):
    found = Study(Space({"x": Float(0, 1)}), objectives=["error", "size"])
    found.add_many([({"x": i / 20}, {"error": i, "size": -i}) for i in range(trials)])
    page = report(found, tmp_path / "r.html").read_text("utf-8")
    assert ("3 more on the front; shown are the best in error" in page) is more


def test_nothing_a_study_says_becomes_markup(tmp_path: Path):
    evil = "</script><script>alert(1)</script>"
    space = Space({"m": Choice({evil: {"x": Float(0, 1)}, "b": {}})})
    snapshot = replace(study(space, 20), name=evil)
    snapshot = replace(snapshot, trials=(*snapshot.trials, Trial(20, {"m": "b"}, "failed", error=evil)))
    page = report(snapshot, tmp_path / "report.html").read_text("utf-8")
    assert "<script>alert(1)" not in page
    assert sum(tag == "script" for tag, _ in Elements(page).found) == 3
    data = re.search(r'<script type="application/json" id="figures">(.*?)</script>', page, re.DOTALL)
    assert data is not None and "tree" in json.loads(data[1])["figures"]


def test_a_report_that_cannot_be_written_is_one_line(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StudyError, match="cannot write"):
        report(study(flat(), 5), tmp_path / "file" / "report.html")
