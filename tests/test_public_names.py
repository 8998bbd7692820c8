"""What ``import bough`` offers, and what it does not load."""

from __future__ import annotations

import subprocess
import sys

import bough

LIGHT = """
import sys
import bough
bough.Space({"m": bough.Choice({"a": {"x": bough.Float(0, 1)}, "b": {}})}).to_json()
heavy = "scipy sqlalchemy loky click yaml plotly fastapi ConfigSpace optuna sklearn ray distributed cmaes"
print([name for name in heavy.split() if name in sys.modules])
"""


def test_import_is_light():
    result = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_public_names_are_sorted():
    assert bough.__all__ == sorted(bough.__all__)
    assert set(bough.__all__) <= set(dir(bough))


def test_unknown_names_are_attribute_errors():
    assert not hasattr(bough, "nonsense")
