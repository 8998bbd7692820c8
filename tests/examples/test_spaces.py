"""Every space in ``examples/spaces`` loads, samples, and has a command that bough understands."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest

import bough
from bough.cli.main import main

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "spaces"
FILES = sorted(path.name for path in FOLDER.glob("*.yaml"))


def test_the_readme_names_every_file():
    readme = (FOLDER / "README.md").read_text()
    assert all(f"`{name}`" in readme for name in FILES)


@pytest.mark.parametrize("name", FILES)
def test_a_space_is_sound(name: str):
    space = bough.Space.load(FOLDER / name)
    configs = space.sample(50, np.random.default_rng(0))
    assert all(space.validate(config) == config for config in configs)
    assert len(space.tree.paths(2)) == 2  # it branches
    assert bough.Space.from_json(space.to_json()) == space
    assert len({tuple(config) for config in configs}) > 1


@pytest.mark.parametrize("name", FILES)
def test_its_command_can_be_run(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    lines = (FOLDER / name).read_text().splitlines()
    command = next(line for line in lines if line.startswith("# bough run "))
    _, _, *words = shlex.split(command)
    assert words[:2] == ["run", name]
    monkeypatch.chdir(FOLDER)
    assert main([words[0], words[1], "--dry-run", *words[2:]]) == 0
    printed = capsys.readouterr().out.strip().splitlines()
    assert len(printed) >= 3
    assert not list(FOLDER.glob("*.db"))
