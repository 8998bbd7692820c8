"""The page of a trial, and the figure of all trials in time."""

from __future__ import annotations

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
