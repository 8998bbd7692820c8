"""The page of a trial, and the figure of all trials in time."""

from __future__ import annotations

import re
from importlib import resources

import pytest
from tests.service.running import SPACE, Service

import bough
from bough.service.dashboard.timeline import timeline


def test_a_failed_trial_shows_its_traceback(served: Service) -> None:
    study = bough.connect(served.url, served.write, "s", space=bough.Space.from_json(SPACE), method="random")
    study.run(lambda config: config["<missing>"], trials=1, progress=False)
    traceback = study.trials[0].traceback
    assert traceback
    text = served.client(served.write).get("/studies/s/trials/0").text
    assert "Traceback (most recent call last)" in traceback
    assert "Traceback (most recent call last)" in text
    assert "&lt;missing&gt;" in text and "<missing>" not in text


def test_a_space_of_one_parameter_is_counted_in_the_singular(served: Service) -> None:
    space = bough.Space({"x": bough.Float(0, 1)})
    bough.connect(served.url, served.write, "s", space=space, method="random")
    text = served.client(served.write).get("/studies/s").text
    assert "1 parameter " in text and "1 parameters" not in text


def test_the_timeline_hides_numbers_that_do_not_fit_their_bars() -> None:
    study = bough.minimize(lambda config: config["x"], bough.Space({"x": bough.Float(0, 1)}), trials=3)
    figure = timeline(study)
    assert figure.layout.uniformtext.mode == "hide"


def test_short_trials_do_not_overlap_on_the_timeline() -> None:
    study = bough.minimize(
        lambda config: config["x"], bough.Space({"x": bough.Float(0, 1)}), trials=30, method="random"
    )
    (bars,) = timeline(study).data
    lasted = [1000 * (trial.finished - trial.started) for trial in study.trials]
    assert sum(bars.x) == pytest.approx(sum(lasted), rel=0.1, abs=30)


def test_an_empty_study_says_that_it_has_no_trials(served: Service) -> None:
    bough.connect(served.url, served.write, "s", space=bough.Space.from_json(SPACE), method="random")
    text = served.client(served.write).get("/studies/s").text
    assert '<span id="place" role="status">no trials</span>' in text


@pytest.mark.parametrize("button", ["primary", "bad"])
@pytest.mark.parametrize("theme", [0, 1])
def test_buttons_are_legible(button: str, theme: int) -> None:
    """The contrast of text and ground is at least 4.5, as WCAG asks, on light and dark pages."""
    sheet = resources.files("bough.service.dashboard").joinpath("static/bough.css").read_text("utf-8")
    colours = [dict(re.findall(r"--([\w-]+): (#\w+)", block)) for block in sheet.split("}")[:2]][theme]
    rule = re.search(rf"^\.{button} {{(.*?)}}", sheet, re.M)
    assert rule is not None
    used = dict(re.findall(r"(background|(?<!-)color): ([^;]+);", rule[1]))

    def luminance(colour: str) -> float:
        name = colour.removeprefix("var(--").removesuffix(")")
        text = colours.get(name, "#ffffff").removeprefix("#")
        parts = [int(text[i : i + 2], 16) / 255 for i in (0, 2, 4)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted(map(luminance, used.values()))
    assert (high + 0.05) / (low + 0.05) >= 4.5


@pytest.mark.parametrize(
    ("page", "form"),
    [
        ("trials/0/act", {"action": "tell", "value": "[" * 3000}),
        ("act", {"action": "enqueue", "config": "[" * 3000}),
        ("act", {"action": "change", "space": "{}", "backfill": "[" * 3000}),
    ],
)
def test_a_form_with_deeply_nested_text_says_what_is_wrong(
    served: Service, page: str, form: dict[str, str]
) -> None:
    bough.connect(served.url, served.write, "s", space=bough.Space.from_json(SPACE), method="random").ask()
    with served.client(served.write) as client:
        reply = client.post(f"/studies/s/{page}", data=form, headers={"Origin": served.url})
    assert reply.status_code == 400 and "[&#39; is not " in reply.text
