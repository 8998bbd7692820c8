"""What a study's model expects, asked through the study."""

from __future__ import annotations

import numpy as np
import pytest

from bough.errors import StudyError
from bough.space import Float, Space
from bough.study import Study

SPACE = Space({"x": Float(0, 1)})


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_predictions_are_in_the_users_units_and_direction(direction: str):
    study = Study(SPACE, method="gp", seed=0, direction=direction)
    grid = np.linspace(0, 1, 12)
    study.add_many([({"x": float(x)}, 100 + 20 * np.sin(3 * x)) for x in grid])
    between = (grid[:-1] + grid[1:]) / 2
    mean, sd = study.predict([{"x": float(x)} for x in between])
    assert mean == pytest.approx(100 + 20 * np.sin(3 * between), abs=1.5)
    assert (sd >= 0).all() and sd.max() < 5


def test_a_model_that_takes_turns_with_random_draws_can_be_asked():
    study = Study(SPACE, method="forest", seed=0)
    grid = np.linspace(0, 1, 40)
    study.add_many([({"x": float(x)}, float(x > 0.5)) for x in grid])
    assert study.has_model
    mean, sd = study.predict([{"x": 0.1}, {"x": 0.9}])
    assert mean == pytest.approx([0.0, 1.0], abs=0.2)
    assert (sd >= 0).all()


def test_a_study_that_cannot_predict_says_why():
    assert not Study(SPACE, method="random").has_model
    with pytest.raises(StudyError, match="method 'random' has no model"):
        Study(SPACE, method="random").predict([{"x": 0.5}])
    with pytest.raises(StudyError, match="no result yet"):
        Study(SPACE, method="gp").predict([{"x": 0.5}])
