"""The surrogates of real tuning problems are read as their data describes them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.problems.yahpo import DEVELOPMENT, PUBLISHED, SETS, measures, space, surrogate, yahpo

pytestmark = pytest.mark.usefixtures("shared_data")


def test_no_published_task_is_used_for_development() -> None:
    assert not set(DEVELOPMENT) & set(PUBLISHED)
    assert (len(DEVELOPMENT), len(PUBLISHED)) == (82, 85)


@pytest.mark.parametrize("kind", SETS)
def test_every_task_exists_and_fixed_parameters_are_left_out(kind: str, shared_data: Path) -> None:
    table = json.loads((shared_data / "yahpo" / SETS[kind] / "config_space.json").read_text())
    entries = {entry["name"]: entry for entry in table["hyperparameters"]}
    instance = "OpenML_task_id" if kind == "lcbench" else "task_id"
    tasks = [name.split("-")[2] for name in (*DEVELOPMENT, *PUBLISHED) if f"-{kind}-" in name]
    assert set(tasks) <= set(entries[instance]["choices"])
    fixed = {instance, "epoch"} if kind == "lcbench" else {instance, "trainsize", "repl"}
    assert {parameter.name for parameter in space(kind)} == set(entries) - fixed


def test_inactive_parameters_are_encoded_as_missing() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    folder = Path(__file__).resolve().parents[3] / "shared" / "data" / "yahpo" / "rbv2_xgboost"
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
    codes = json.loads((folder / "encoding.json").read_text())
    config = {
        "booster": "gblinear",
        "num.impute.selected.cpo": "impute.mean",
        "nrounds": 100,
        "lambda": 1.0,
        "alpha": 0.5,
        "subsample": 0.7,
    }
    by_hand = {
        "x_cat": np.array(
            [
                [
                    codes["task_id"]["3"],
                    codes["booster"]["gblinear"],
                    codes["num.impute.selected.cpo"]["impute.mean"],
                ]
            ],
            np.int32,
        ),
        "x_cont": np.array([[100, 0, 0, 1.0, 0.5, 0.7, 0, 0, 0, 0, 0, 0, 1.0, 10]], np.float32),
    }
    expected = session.run(None, by_hand)[0][0]
    found = measures("yahpo-xgboost-3")(config)
    np.testing.assert_allclose(list(found.values()), expected, rtol=1e-5)
    assert yahpo("yahpo-xgboost-3").function(config) == pytest.approx(1 - expected[1], rel=1e-5)


def test_several_fidelities_at_once_are_those_one_by_one() -> None:
    pytest.importorskip("onnxruntime")
    config = space("lcbench").sample(1, 0)[0]
    levels = [{"epoch": float(epoch)} for epoch in (1, 20, 52)]
    together = surrogate("lcbench").at_levels("3945", config, levels)
    for level, found in zip(levels, together, strict=True):
        alone = measures("yahpo-lcbench-3945", fidelity=level)(config)
        assert found == pytest.approx(alone, rel=1e-4)
