"""Numbers that users pass are of many types; what is stored is always a float of Python."""

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import bough
from bough import Float, Space, Study
from bough.errors import BoughError
from bough.storage import MemoryStorage
from bough.study import export_study, import_study
from bough.study.running.spending import checked_budget

SPACE = Space({"x": Float(0, 1)})


@pytest.mark.parametrize("kind", [float, np.float32, np.float64, np.int64, Fraction, Decimal])
def test_a_lease_of_any_type_leaves_the_study_readable(tmp_path, kind):
    url = f"sqlite:///{tmp_path}/studies.db"
    study = Study(SPACE, name="a", storage=url, method="random", seed=0)
    study.tell(study.ask(), 1.0)
    trial = study.ask(lease=kind(60))
    study.renew([trial], kind(90))
    reopened = bough.open_study("a", url)
    assert reopened.best.value == 1.0
    assert reopened.trials[1].expires > reopened.trials[1].started + 80


@pytest.mark.parametrize(
    "number", [np.float32("inf"), np.float32("nan"), Decimal("inf"), Decimal("sNaN"), 10**400]
)
def test_a_number_that_no_float_holds_is_refused_and_stores_nothing(tmp_path, number):
    url = f"sqlite:///{tmp_path}/studies.db"
    with pytest.raises(BoughError, match="reference"):
        Study(SPACE, name="r", storage=url, objectives=["a", "b"], reference={"a": number})
    assert not (tmp_path / "studies.db").exists()
    study = Study(SPACE, name="s", storage=url)
    with pytest.raises(BoughError, match="lease"):
        study.ask(lease=number)
    with pytest.raises(BoughError, match="budget"):
        study.set_budget(number)
    assert bough.open_study("s", url).trials == []


def test_a_float32_is_compared_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert checked_budget(np.float32(0.5)) == 0.5


def test_a_run_takes_decimals():
    study = Study(SPACE, method="random", seed=0)
    study.run(lambda config: config["x"], 3, timeout=Decimal(60), budget=Decimal(50), progress=False)
    assert len(study.trials) == 3


def test_a_negative_cost_of_version_0_1_survives_export_and_import(tmp_path):
    study = Study(SPACE, method="random", seed=0)
    study.tell(study.ask(), 1.0, cost=1.0)
    written, old = tmp_path / "study.jsonl", tmp_path / "old.jsonl"
    export_study(study, written)
    old.write_text(written.read_text().replace('"cost": 1.0', '"cost": -1.0'))
    study = import_study(old, MemoryStorage())
    assert study.trials[0].cost == -1.0
    written.unlink()
    export_study(study, written)
    assert import_study(written, MemoryStorage()).trials[0].cost == -1.0
