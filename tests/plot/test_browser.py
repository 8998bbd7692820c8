"""The report in a real browser: every figure drawn, nothing fetched, no error, light and dark."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import need

import bough
from bough.plot import history, report, save
from bough.plot.figures import FIGURES

from .examples import nested, study

pytestmark = pytest.mark.slow
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = shutil.which("chromium")
    if path is None:
        need("chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield started
        started.close()


def new_page(browser: Any, **options: Any) -> Any:
    """A page with time to load Plotly, also on a busy machine."""
    page = browser.new_page(**options)
    page.set_default_timeout(240_000)
    return page


def test_the_reader_of_a_report_chooses_the_measure(browser: Any, tmp_path: Path):
    space = bough.Space({"model": bough.Choice({"a": {"x": bough.Float(0, 1)}, "b": {}})})
    told = bough.optimize(
        lambda config: {"error": config.get("x", 0.5), "size": 1.0 + config.get("x", 0.2)},
        space, 12, method="random", seed=0, objectives=["error", "size"], progress=False,
    )  # fmt: skip
    page = new_page(browser)
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.goto(report(told, tmp_path / "report.html").as_uri())
    title = "document.querySelector('#history').layout.yaxis.title.text"
    page.wait_for_function(f"{title} === 'error'")
    page.select_option("#measure", "size")
    page.wait_for_function(f"{title} === 'size'")
    heights = "[...document.querySelectorAll('section.figure')].map(each => each.offsetHeight)"
    assert min(page.evaluate(heights)) > 200 and troubles == []
    assert page.evaluate("document.querySelector('#front').data.length") > 0
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_figure_of_a_report_is_drawn(browser: Any, scheme: str, tmp_path: Path):
    snapshot = study(nested(), 120)
    page = new_page(browser, color_scheme=scheme, viewport={"width": 1100, "height": 900})
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    page.on(
        "request",
        lambda request: troubles.append(request.url) if not request.url.startswith("file:") else None,
    )
    page.goto(report(snapshot, tmp_path / "report.html", against=[snapshot]).as_uri())
    page.wait_for_function(
        "document.querySelectorAll('.js-plotly-plot .main-svg').length >= " + str(len(FIGURES) + 1)
    )
    assert troubles == []
    drawn = page.evaluate("[...document.querySelectorAll('.js-plotly-plot')].map(figure => figure.id)")
    wanted = [name for name, each in FIGURES.items() if not each.several]  # the study has one objective
    wanted.insert(wanted.index("history") + 1, "regret")
    assert drawn == wanted
    ground = page.evaluate("getComputedStyle(document.querySelector('#tree .main-svg')).backgroundColor")
    assert ground == ("rgb(20, 25, 31)" if scheme == "dark" else "rgb(255, 255, 255)")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.close()


def test_a_narrow_report_cuts_no_heading(browser: Any, tmp_path: Path):
    """Only a figure that says so scrolls sideways."""
    flat = bough.Space({"learning_rate": bough.Float(0, 1), "momentum": bough.Float(0, 1)})
    for space, wide in ((nested(), ["tree", "parallel", "slice"]), (flat, [])):
        page = new_page(browser, viewport={"width": 390, "height": 844})
        page.goto(report(study(space, 30), tmp_path / "report.html").as_uri())
        page.wait_for_selector("#slice .main-svg")
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        cards = "[...document.querySelectorAll('section.figure')]"
        scrolled = f"{cards}.filter(card => card.scrollWidth > card.clientWidth + 4)"
        assert page.evaluate(f"{scrolled}.map(card => card.querySelector('div').id)") == wide
        hint = "card => getComputedStyle(card, '::before').content.includes('sideways')"
        assert page.evaluate(f"{cards}.filter({hint}).length") == len(wide)
        words = "[...document.querySelectorAll('.figure h2, .figure p, .gtitle')]"
        edges = page.evaluate(f"{words}.map(each => each.getBoundingClientRect().right)")
        assert len(edges) >= 10 and max(edges) <= 390
        page.close()


def test_the_buttons_of_a_figure_cover_no_entry_of_its_legend(browser: Any, tmp_path: Path):
    """The names of the branches fill the line below the heading."""
    options = {f"long_name_of_branch_{i}": {f"x{i}": bough.Float(0, 1)} for i in range(6)}
    space = bough.Space({"model": bough.Choice(options)})
    page = new_page(browser, viewport={"width": 1120, "height": 900})
    page.goto(report(study(space, 60, failures=0), tmp_path / "report.html").as_uri())
    page.wait_for_selector("#branches .legend")
    edge = "each => each.getBoundingClientRect()"
    names = page.eval_on_selector_all("#branches .legendtext", f"all => all.map({edge}).map(b => b.right)")
    buttons = page.eval_on_selector_all("#branches .modebar-btn", f"all => all.map({edge}).map(b => b.left)")
    assert len(names) == 6 and max(names) > 800
    assert len(buttons) > 3 and min(buttons) > max(names)
    page.close()


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<svg"), ("pdf", b"%PDF")])
def test_figures_are_saved_as_pictures(ending: str, start: bytes, tmp_path: Path):
    pytest.importorskip("kaleido")
    if shutil.which("chromium") is None:
        need("chromium")
    figure = history(study(nested(), 20))
    assert save(figure, tmp_path / f"history.{ending}").read_bytes().startswith(start)


def test_a_report_is_printed(tmp_path: Path):
    pytest.importorskip("kaleido")
    if shutil.which("chromium") is None:
        need("chromium")
    printed = report(study(nested(), 20), tmp_path / "report.PDF").read_bytes()
    assert printed.startswith(b"%PDF") and printed.count(b"/Type /Page\n") >= 2


def test_labels_of_the_tree_do_not_overlap(browser: Any, tmp_path: Path):
    page = new_page(browser, viewport={"width": 1100, "height": 900})
    page.goto(report(study(nested(), 120), tmp_path / "report.html").as_uri())
    page.wait_for_selector("#tree .annotation-text")
    boxes = page.evaluate(
        "[...document.querySelectorAll('#tree .annotation-text-g')].map(g => {"
        " const b = g.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom, g.textContent] })"
    )
    assert len(boxes) > 8
    for (left, top, right, bottom, one), (x0, y0, x1, y1, other) in itertools.combinations(boxes, 2):
        apart = right <= x0 or x1 <= left or bottom <= y0 + 2 or y1 <= top + 2
        assert apart, f"{one!r} overlaps {other!r}"
    page.close()
