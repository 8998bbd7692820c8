"""The notebooks are what their scripts say, and run from the first cell to the last."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .notebooks import SCRIPTS, cells, notebook_of, run

MAX_BYTES = 400_000


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_notebook_is_made_from_its_script(script: Path):
    content = notebook_of(script).read_text(encoding="utf-8")
    assert len(content) < MAX_BYTES
    made = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(content)["cells"]]
    assert made == cells(script), "python -m tests.docs.notebooks makes it again"


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_notebook_runs_and_shows_what_it_showed(script: Path):
    stored = json.loads(notebook_of(script).read_text(encoding="utf-8"))["cells"]
    now = [cell for cell in run(script).cells if cell.cell_type == "code"]
    before = [cell for cell in stored if cell["cell_type"] == "code"]
    for cell, earlier in zip(now, before, strict=True):
        # On a busy machine the browser that draws figures may write a warning.
        stderr = "".join(output["text"] for output in cell.outputs if output.get("name") == "stderr")
        assert "bough" not in stderr and "Error" not in stderr, stderr
        shown = [output for output in cell.outputs if output.get("name") != "stderr"]
        kinds = [sorted(output.get("data", ())) for output in shown]
        assert kinds == [sorted(output.get("data", ())) for output in earlier["outputs"]], cell.source
