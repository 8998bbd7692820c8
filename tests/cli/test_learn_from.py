"""``bough run --learn-from``: by name in the storage, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

from bough.space import Float, Space
from bough.study import Study, open_study

from .programs import bough_here

SPACE = {"x": {"type": "float", "low": 0, "high": 1, "likely": [0.1, 0.4]}}


def test_a_run_starts_from_the_best_of_an_earlier_study(tmp_path: Path) -> None:
    (tmp_path / "space.json").write_text(json.dumps(SPACE))
    storage = f"sqlite:///{tmp_path}/s.db"
    earlier = Study(Space({"x": Float(0, 1)}), name="earlier", storage=storage)
    earlier.add_many([({"x": x}, abs(x - 0.3)) for x in (0.1, 0.31, 0.9)])
    run = ["run", "space.json", "-n", "1", "--storage", storage, "--name", "new"]
    done = bough_here(*run, "--learn-from", "earlier", "--", "echo", "{x}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert open_study("new", storage).trial(0).config == {"x": 0.31}
    refused = bough_here(*run, "--learn-from", "nobody", "--", "echo", "{x}", cwd=tmp_path)
    assert refused.returncode == 2
    assert "study 'new' exists and learns from 'earlier', not from 'nobody'" in refused.stderr
    mistaken = ["run", "space.json", "-n", "1", "--storage", "sqlite:///new.db", "--learn-from", "nobody"]
    refused = bough_here(*mistaken, "--", "echo", "{x}", cwd=tmp_path)
    assert "neither a file nor a study 'nobody'" in refused.stderr
    assert not (tmp_path / "new.db").exists()
