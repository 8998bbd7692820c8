"""The pages in a real browser: signed in, watched live, narrowed to a branch, paged, kept to the policy."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
import yaml
from tests.conftest import need
from tests.service.running import SPACE, Service, service

import bough
from bough.plot.figures import FIGURES

pytestmark = pytest.mark.slow

CHROMIUM = Path("/usr/bin/chromium")
EVIL = "<img src=x onerror=alert(1)>"
space = bough.Space.from_json(SPACE)


@pytest.fixture(scope="module")
def browser() -> Iterator:
    sync_api = pytest.importorskip("playwright.sync_api")
    if not CHROMIUM.exists():
        need("Chromium as /usr/bin/chromium")
    with sync_api.sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        arguments += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
        yield playwright.chromium.launch(executable_path=str(CHROMIUM), args=arguments)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(f"sqlite:///{tmp_path_factory.mktemp('pages')}/studies.db") as served:
        study = bough.connect(served.url, served.write, "filled", space=space, method="random", seed=0)
        study.run(objective, trials=30, progress=False)
        yield served


@pytest.fixture
def page(browser, running: Service) -> Iterator:
    """A page that reports whatever a reader would not want: errors, violations, requests elsewhere."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(60_000)
    complaints: list[str] = []
    own = urlsplit(running.url).netloc

    def request(sent) -> None:
        if urlsplit(sent.url).scheme not in ("data", "blob") and urlsplit(sent.url).netloc != own:
            complaints.append(f"request to {sent.url}")

    opened.on("request", request)
    opened.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("dialog", lambda dialog: complaints.append("a script of the data ran") or dialog.dismiss())
    yield opened
    context.close()
    # Chromium reports refused requests in the console; a wrong token and a malformed space are meant.
    meant = ("401 (Unauthorized)", "400 (Bad Request)")
    assert [text for text in complaints if not any(each in text for each in meant)] == []


def objective(config: dict) -> float:
    if config["model"] == "bayes":
        raise ValueError(EVIL)
    return {"svm": 0.0, "forest": 1.0}[config["model"]] + config.get("depth", 0) / 20


def sign_in(page, running: Service, path: str, token: str | None = None) -> None:
    page.goto(running.url + path)
    page.fill("#token", token or running.write)
    page.click("main button.primary")
    if token is None:
        page.wait_for_selector("#study[data-ready]" if path.startswith("/studies/") else "#space")


def drawn(name: str) -> str:
    return f"[data-figure='{name}'][data-drawn]"


def until(page, expression: str, wanted: object) -> None:
    """Wait for an expression to have a value; Playwright's own way needs eval, which the policy forbids."""
    for _ in range(600):
        found = page.evaluate(expression)
        if found == wanted:
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"{expression} is {found!r}, not {wanted!r}")


def until_place(page, text: str) -> None:
    """Wait for the table to say which of how many trials it shows."""
    until(page, "document.querySelector('#place').textContent", text)


def test_a_wrong_token_is_refused_and_a_right_one_leads_on(page, running: Service) -> None:
    sign_in(page, running, "/studies/filled", "bough_0_0")
    page.wait_for_selector("[role=alert]")
    assert "unknown" in page.inner_text("[role=alert]")
    page.fill("#token", running.write)
    page.click("main button.primary")
    page.wait_for_selector("h1:has-text('filled')")
    page.click("button:has-text('Sign out')")
    page.wait_for_selector("h1:has-text('Sign in')")
    page.goto(running.url + "/studies/filled")
    page.wait_for_selector("#token")


def test_the_history_grows_without_a_reload(page, running: Service) -> None:
    study = bough.connect(running.url, running.write, "live", space=space, method="random", seed=1)
    study.tell(study.ask(), 1.0)
    sign_in(page, running, "/studies/live")
    page.wait_for_selector(drawn("history"))
    page.evaluate("window.kept = 'this page'")
    points = "document.querySelector('[data-figure=history]').data[0].x"
    count = f"(() => {{ const x = {points}; return x.length ?? x._inputArray?.length ?? x.shape; }})()"
    assert page.evaluate(count) == 1
    worker = threading.Thread(
        target=study.run, args=(objective,), kwargs={"trials": 12, "progress": False}, daemon=True
    )
    worker.start()
    worker.join(60)
    done = sum(trial.state == "done" for trial in study.trials)
    until(page, count, done)
    until(page, "document.querySelector('[data-fact=trials]').textContent", "12")
    until_place(page, "1–12 of 12")
    assert page.evaluate("window.kept") == "this page"


def test_a_retraction_is_counted_and_named_without_a_reload(page, running: Service) -> None:
    study = bough.connect(running.url, running.write, "retracted", space=space, method="random", seed=1)
    for value in (1.0, 2.0):
        study.tell(study.ask(), value)
    sign_in(page, running, "/studies/retracted")
    assert not page.is_visible("[data-fact=retracted]")
    study.retract(0, "the disk was full")
    page.wait_for_selector("[data-fact=retracted]")
    page.wait_for_selector("#table .tag[title='the disk was full']")

    def said() -> list:
        facts = ("trials", "done", "retracted", "open")
        rows = page.eval_on_selector_all("#table tbody td:nth-child(2)", "all => all.map(e => e.innerText)")
        return [*(page.inner_text(f"[data-fact={fact}]") for fact in facts), *rows]

    live = said()
    assert live == ["2", "1", "1", "0", "done", "done retracted"]
    page.reload()
    assert said() == live


def test_a_branch_narrows_every_figure_and_the_table(page, running: Service) -> None:
    sign_in(page, running, "/studies/filled")
    names = page.eval_on_selector_all("[data-figure]", "all => all.map(each => each.dataset.figure)")
    one_objective = {name for name, each in FIGURES.items() if not each.several}
    assert set(names) == {*one_objective, "timeline"}
    page.click("#branches button[title='svm']")
    wanted = json.dumps({"model": "svm"}, separators=(",", ":"))
    for name in names:
        page.locator(f"[data-figure='{name}']").scroll_into_view_if_needed()
        place = f"document.querySelector(\"[data-figure='{name}']\")"
        until(page, f"{place}.dataset.branch", wanted)
        if name != "tree":  # it shows the whole space, with the branch framed
            head = page.inner_text(f".figure-head:has(+ .pan [data-figure='{name}'])")
            assert "model = svm" in head, name
    expected = sum(
        trial.config["model"] == "svm" for trial in bough.connect(running.url, running.write, "filled").trials
    )
    until_place(page, f"1–{expected} of {expected}")
    assert page.locator("#table tbody tr").count() == expected
    assert set(page.locator("#table tbody td:nth-child(4)").all_inner_texts()) == {"svm"}
    page.click("#filter-clear")
    until_place(page, "1–30 of 30")


FRAMED = """(() => {
  const figure = document.querySelector("[data-figure=tree]");
  const shapes = figure.layout.shapes.filter((shape) => shape.line.color === "#e69f00");
  const framed = shapes.filter((shape) => shape.line.width > 0);
  if (framed.length !== 1) return framed.length;
  const { customdata, y } = figure.data.at(-1);
  const middle = (framed[0].y0 + framed[0].y1) / 2;
  const heights = y._inputArray ?? y;
  return JSON.stringify(customdata[[...heights].findIndex((height) => Math.abs(height - middle) < 0.01)]);
})()"""


def test_the_frame_is_around_the_chosen_branch_of_nested_choices(page, running: Service) -> None:
    inner = bough.Choice({"sgd": {"momentum": bough.Float(0, 1)}, "adam": {}})
    deep = {
        "mlp": {"solver": inner},
        "svm": {"kernel": bough.Choice({"rbf": {"gamma": bough.Float(0, 1)}, "linear": {}})},
    }
    nested = bough.Space({"model": bough.Choice(deep), "x": bough.Float(0, 1, when="momentum > 0.1")})
    study = bough.connect(running.url, running.write, "nested", space=nested, method="random", seed=0)
    study.add_many([(config, float(i)) for i, config in enumerate(nested.sample(30, 0))])
    sign_in(page, running, "/studies/nested")
    page.wait_for_selector(drawn("tree"))
    for title in ("mlp › sgd", "mlp › adam", "svm › linear", "mlp › sgd › ≤ 0.1"):
        page.click(f"#branches button[title='{title}']")
        button = page.locator(f"#branches button[title='{title}']")
        path = json.loads(button.get_attribute("data-branch"))
        wanted = json.dumps([list(step) for step in path.items()], separators=(",", ":"), ensure_ascii=False)
        until(page, FRAMED, wanted)


def test_figures_and_branches_follow_the_chosen_measure(page, running: Service) -> None:
    space = bough.Space({"model": bough.Choice({"a": {"x": bough.Float(0, 1)}, "b": {}})})
    goals = {"objectives": ["error", "size"]}
    study = bough.connect(running.url, running.write, "sizes", space=space, method="random", seed=0, **goals)
    study.add_many(
        [
            ({"model": "a", "x": 0.5}, {"error": 0.25, "size": 7.0}),
            ({"model": "b"}, {"error": 1.0, "size": 3.0}),
        ]
    )
    sign_in(page, running, "/studies/sizes")
    best = "document.querySelector(\"#branches button[title='a'] .best\").textContent"
    until(page, best, "0.25")
    page.select_option("#measure", "size")
    until(page, best, "7")
    for name in ("front", "history"):
        page.locator(f"[data-figure={name}]").scroll_into_view_if_needed()
    until(page, "document.querySelector('[data-figure=history]').layout?.yaxis.title.text", "size")
    until(page, "document.querySelector('[data-figure=front]').layout?.xaxis.title.text", "error")


def test_figures_take_parameters_and_a_log_axis(page, running: Service) -> None:
    sign_in(page, running, "/studies/filled")
    page.locator("[data-figure=slice]").scroll_into_view_if_needed()
    page.wait_for_selector(drawn("slice"))
    page.click(".picker summary")
    page.check("[name=params][value='model=forest/depth']")
    title = "document.querySelector('[data-figure=slice]').layout.xaxis.title.text.split('<br>')[0]"
    until(page, title, "depth")
    page.locator("[data-figure=branches]").scroll_into_view_if_needed()
    page.wait_for_selector(drawn("branches"))
    page.check("[data-options=branches] [name=log]")  # svm's values are 0: refused in words, the figure stays
    note = "document.querySelector('.figure-head:has([data-options=branches]) p').textContent"
    until(page, note, "a log axis needs values above 0; here is 0")


def test_the_table_sorts_by_any_column(page, running: Service) -> None:
    sign_in(page, running, "/studies/filled")
    until_place(page, "1–30 of 30")
    depths = "[...document.querySelectorAll('#table tbody tr')].map((row) => row.cells[5].textContent)"
    page.click("#table [data-by=depth]")
    page.wait_for_selector("th[aria-sort=ascending] [data-by=depth]")
    told = bough.connect(running.url, running.write, "filled").trials
    wanted = sorted(trial.config["depth"] for trial in told if "depth" in trial.config)
    rest = [""] * (30 - len(wanted))
    until(page, depths, [*map(str, wanted), *rest])
    page.click("#table [data-by=depth]")
    until(page, depths, [*map(str, wanted[::-1]), *rest])
    page.click("#table [data-order=best]")
    until(page, "document.querySelector('#table tbody tr').cells[2].textContent", "0")


def test_the_best_configuration_is_on_the_page_and_follows(page, running: Service) -> None:
    study = bough.connect(running.url, running.write, "best", space=space, method="random", seed=1)
    sign_in(page, running, "/studies/best")
    assert page.locator("#best").is_hidden()
    study.add({"model": "forest", "depth": 7, "scale": "none"}, 1.0)
    shown = "document.querySelector('#best .config').textContent"
    until(page, shown, "modelforestdepth7scalenone")
    study.add({"model": "bayes", "scale": "standard"}, 0.5)
    until(page, shown, "modelbayesscalestandard")


def test_a_click_in_the_tree_chooses_its_branch(page, running: Service) -> None:
    sign_in(page, running, "/studies/filled")
    page.wait_for_selector(drawn("tree"))
    page.locator("[data-figure='tree'] .annotation", has_text="forest").first.click()
    page.wait_for_selector("#filter-text:has-text('model = forest')")
    page.wait_for_selector("#branches button[title='forest'][aria-pressed=true]")


def test_branches_can_be_chosen_by_keyboard(page, running: Service) -> None:
    sign_in(page, running, "/studies/filled")
    page.focus("#branches button")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("#filter-text:has-text('model = svm')")


def test_10000_trials_are_paged_and_searched(page, running: Service) -> None:
    study = bough.connect(running.url, running.write, "large", space=space, method="random", seed=1)
    config = {"model": "forest", "depth": 3, "scale": "none"}
    for start in range(0, 10_000, 2500):
        study.add_many([(config, float(n)) for n in range(start, start + 2500)])
    sign_in(page, running, "/studies/large")
    until_place(page, "1–50 of 10000")
    first = page.locator("#table tbody tr th")
    assert first.first.inner_text() == "9999"
    page.click("[data-go=on]")
    until_place(page, "51–100 of 10000")
    page.click("[data-go=last]")
    until_place(page, "9951–10000 of 10000")
    assert first.last.inner_text() == "0"
    page.fill("#tools [name=search]", "1234 done")
    until_place(page, "1–1 of 1")
    first.first.locator("a").click()
    page.wait_for_selector("h1:has-text('Trial 1234')")


def test_a_study_is_created_and_deleted_from_the_page(page, running: Service) -> None:
    sign_in(page, running, "/new")
    page.fill("#name", "from the page")
    page.fill("#space", '{"x": {"type": "float", "low": 2, "high": 1}}')
    page.click("main button.primary")
    page.wait_for_selector("[role=alert]:has-text('x')")
    page.fill("#space", "x: &a {type: float, low: 0, high: 1}\ny: *a")
    page.click("main button.primary")
    page.wait_for_selector("[role=alert]:has-text('aliases')")
    page.fill("#space", yaml.safe_dump(SPACE, sort_keys=False))
    page.click("main button.primary")
    page.wait_for_selector("h1:has-text('from the page')")
    assert bough.connect(running.url, running.write, "from the page").space == space
    page.click(".danger summary")
    page.fill("#confirm", "from the page")
    page.click("button.bad")
    page.wait_for_selector("h1:has-text('Studies')")
    assert page.locator("h2:has-text('from the page')").count() == 0


def test_names_of_all_kinds_are_only_text(page, running: Service) -> None:
    evil = bough.Space(
        {EVIL: bough.Choice({EVIL: {"<b>x</b>": bough.Float(0, 1)}, "a & b": {}}), "y": bough.Float(0, 1)}
    )
    study = bough.connect(running.url, running.write, EVIL, space=evil, method="random", seed=0)
    for _ in range(12):
        trial = study.ask()
        study.fail(trial, EVIL) if trial.number % 4 == 3 else study.tell(trial, trial.config["y"])
    sign_in(page, running, f"/studies/{quote(EVIL, safe='')}")
    for name in ("tree", "history", "branches", "importance", "parallel", "slice", "timeline"):
        page.locator(f"[data-figure='{name}']").scroll_into_view_if_needed()
        page.wait_for_selector(drawn(name))
    page.click("#branches button >> nth=1")
    page.wait_for_selector("#filter:visible")
    page.locator("#table tbody a").first.click()
    page.wait_for_selector("h1:has-text('Trial')")
    assert page.locator("img[src='x']").count() == 0


@pytest.mark.parametrize(("scheme", "width"), [("dark", 1280), ("light", 390)])
def test_dark_and_narrow(browser, running: Service, scheme: str, width: int, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    opened = context.new_page()
    sign_in(opened, running, "/studies/filled")
    opened.wait_for_selector(drawn("tree"))
    ground = opened.evaluate("document.querySelector('[data-figure=tree]')._fullLayout.paper_bgcolor")
    assert ground == ("#14191f" if scheme == "dark" else "#ffffff")
    # Nothing but what is meant to scroll sideways is wider than the page.
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    fetched: list[str] = []
    opened.on("request", lambda sent: fetched.append(sent.url) if "/figures/tree" in sent.url else None)
    opened.click("#theme")
    other = "#ffffff" if scheme == "dark" else "#14191f"
    until(opened, "document.querySelector('[data-figure=tree]')._fullLayout.paper_bgcolor", other)
    assert fetched == []  # redrawn in the browser
    context.close()


def test_a_person_acts_from_the_page(page, running: Service) -> None:
    study = bough.connect(running.url, running.write, "acted", space=space, method="random", seed=3)
    for value in (1.0, 2.0):
        study.tell(study.ask(), value)
    study.ask()
    sign_in(page, running, "/studies/acted")
    page.fill("#enqueue", '{"model": "bayes", "scale": "none"}')
    page.click("button:has-text('Enqueue')")
    page.wait_for_selector("#record th:has-text('enqueue trial 3')")
    page.fill("#record #note", EVIL)
    page.click("#record button:has-text('Write')")
    page.wait_for_selector("#record td:has-text('onerror')")
    page.goto(running.url + "/studies/acted/trials/2")
    page.fill("#tell", "0.5")
    page.click("button:has-text('Tell')")
    page.wait_for_selector("#said th:has-text('tell trial 2')")
    page.fill("#retract", "the sensor was off")
    page.click("button:has-text('Retract')")
    page.wait_for_selector("h2:has-text('Retracted')")
    page.goto(running.url + "/studies/acted/trials/3")
    page.fill("#fail", "no time")
    page.click("button:has-text('Fail')")
    page.wait_for_selector("#said th:has-text('fail trial 3')")
    page.goto(running.url + "/studies/acted/trials/1")
    page.fill("#correct", "many")
    page.fill("#why", "x")
    page.click("button:has-text('Correct')")
    page.wait_for_selector("[role=alert]:has-text('is not a number')")
    page.goto(running.url + "/studies/acted/trials/1")
    page.fill("#correct", "2.5")
    page.fill("#why", EVIL)
    page.click("button:has-text('Correct')")
    page.wait_for_selector("h2:has-text('Corrected')")
    assert page.url.endswith("/studies/acted/trials/1#said")
    page.goto(running.url + "/studies/acted")
    for _ in range(2):  # the table of the page, then as its script writes it
        page.wait_for_selector("#study[data-ready]")
        struck = page.locator("#table tbody td:has(> s)")
        assert struck.all_inner_texts() == ["0.5", "2 2.5"]
        assert page.locator("#table s").last.get_attribute("title") == f"corrected: {EVIL}"
        page.fill("#tools [name=search]", "done")
        until_place(page, "1–3 of 3")
    assert [(trial.state, trial.value, trial.retracted) for trial in study.trials] == [
        ("done", 1.0, None),
        ("done", 2.5, None),
        ("done", 0.5, "the sensor was off"),
        ("failed", None, None),
    ]
    assert {each.body["by"] for each in study.amendments} != {None}


def test_a_run_is_stopped_from_the_page(page, running: Service) -> None:
    study = bough.connect(running.url, running.write, "stopped", space=space, method="random", seed=3)

    def slow(config: dict[str, object]) -> float:
        time.sleep(0.2)
        return 1.0

    run = threading.Thread(target=lambda: study.run(slow, trials=10_000, progress=False), daemon=True)
    run.start()
    sign_in(page, running, "/studies/stopped")
    page.fill("#stop", "good enough")
    page.click("button:has-text('Stop runs')")
    page.wait_for_selector("#record th:has-text('stop')")
    run.join(timeout=30)
    assert not run.is_alive()
    assert {trial.state for trial in study.trials} == {"done"}
    assert [(each.kind, each.body["reason"]) for each in study.amendments] == [("stop", "good enough")]
    assert study.amendments[0].body["by"]


def test_the_space_is_changed_after_a_preview(page, running: Service) -> None:
    study = bough.connect(running.url, running.write, "changed", space=space, method="random", seed=3)
    study.tell(study.ask(), 1.0)
    sign_in(page, running, "/studies/changed")
    page.click("summary:has-text('Change the space')")
    assert bough.Space.from_json(page.input_value("#new-space")).to_json() == space.to_json()
    dropout = {"type": "float", "low": 0, "high": 0.5}
    page.fill("#new-space", yaml.safe_dump({**SPACE, "dropout": dropout}, sort_keys=False))
    page.fill("#backfill", '{"dropout": 0.1}')
    page.click("button:has-text('Show what differs')")
    page.wait_for_selector("#differences")
    assert page.inner_text("#differences") == "+ dropout: Float(0.0, 0.5)"
    assert study.amendments == []
    page.click("button:has-text('Continue in this space')")
    page.wait_for_selector("#record th:has-text('space')")
    assert study.amendments[0].body["backfill"] == {"dropout": 0.1}
    assert "dropout" in study.ask().config


def test_a_preview_that_somebody_overtook_is_refused(page, running: Service) -> None:
    study = bough.connect(running.url, running.write, "overtaken", space=space, method="random", seed=3)
    study.tell(study.ask(), 1.0)
    sign_in(page, running, "/studies/overtaken")
    page.click("summary:has-text('Change the space')")
    for name, wanted in (("backfill", '{"drop": 0.1}'), ("fix", '{"scale": "none"}')):
        page.fill(f"#{name}", wanted)
        page.click("button:has-text('Show what differs')")
        page.wait_for_selector(f"[role=alert]:has-text('{name} names')")
        assert page.input_value(f"#{name}") == wanted  # what was typed is not lost
        page.fill(f"#{name}", "")
    more = {**SPACE, "dropout": {"type": "float", "low": 0, "high": 0.5}}
    page.fill("#new-space", json.dumps(more))
    page.click("button:has-text('Show what differs')")
    page.wait_for_selector("#differences")
    other = bough.Space.from_json({**SPACE, "epochs": {"type": "int", "low": 1, "high": 9}})
    study.change(other)
    page.click("button:has-text('Continue in this space')")
    page.wait_for_selector("[role=alert]:has-text('another change of the space came first')")
    assert study.space == other


def test_a_reader_sees_the_record_and_no_forms(page, running: Service) -> None:
    sign_in(page, running, "/studies/filled", running.read)
    page.wait_for_selector("#record")
    assert page.locator("#record form").count() == 0
    with running.client(running.read) as client:
        assert client.post("/studies/filled/act", data={"action": "note", "text": "x"}).status_code == 403


def test_no_figure_leaves_a_hole_beside_it(page, running: Service) -> None:
    """A flat space has three figures of half a row; the third one gets a whole row."""
    flat = bough.Space({"x": bough.Float(0, 1), "y": bough.Float(0, 1)})
    bough.connect(running.url, running.write, "flat", space=flat, method="random")
    sign_in(page, running, "/studies/flat")
    widths = page.evaluate("[...document.querySelectorAll('.grid .card')].map((card) => card.clientWidth)")
    assert widths[0] == widths[1] < widths[2] == widths[3]
