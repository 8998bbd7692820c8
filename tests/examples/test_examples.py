"""Every program in ``examples`` runs, with a small budget, and finds what it says."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
BUDGETS: dict[str, dict[str, Any]] = {
    "any_program": {"trials": 6},
    "ask_and_tell": {"cups": 8},
    "noisy_and_failing": {"trials": 14},
    "own_method": {"trials": 20},
    "parallel_workers": {"trials": 6},
    "sklearn_pipeline": {"trials": 6},
}
"""The arguments of each program's ``main`` that make it take a few seconds."""


def test_every_program_is_tested():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(BUDGETS)


SLOW = ("any_program", "sklearn_pipeline")
"""Among the long tests; ``tests/cli/test_run.py`` and ``tests/integrations/test_sklearn.py`` are quick."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in BUDGETS]
)
def test_a_program_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    study = runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"](**BUDGETS[name])
    printed = capfd.readouterr().out
    assert "best" in printed or "error" in printed
    if study is not None:
        budget = next(iter(BUDGETS[name].values()))
        assert sum(trial.state in ("done", "failed") for trial in study.trials) == budget
        assert study.best.value is not None
