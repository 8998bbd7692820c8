"""What ``import bough`` offers, and what it does not load."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import bough

ROOT = Path(__file__).resolve().parents[1]

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


PUBLIC = [
    "BoughError", "Categorical", "Choice", "Float", "Int", "Mixture", "Space", "Strategy", "Study",
    "Transient", "Trial", "connect", "errors", "maximize", "method", "methods", "minimize", "open_study",
    "optimize", "plot", "studies",
]  # fmt: skip
"""Every name that a user may rely on. A new one belongs into docs/reference.md as well."""


def test_public_names_are_exactly_these():
    assert bough.__all__ == PUBLIC
    assert sorted(PUBLIC) == PUBLIC
    for name in PUBLIC:
        assert getattr(bough, name) is not None


def test_the_reference_has_every_public_name_and_says_where_it_is():
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    documented = set()
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        home = re.search(r"(?:from|in) `(bough[\w.]*)`\.$", section, re.MULTILINE)
        module = import_module(home[1] if home else "bough")
        documented.add(module.__name__.removeprefix("bough."))
        for path in re.findall(r"^::: ([\w.]+)", section, re.MULTILINE):
            name = path.rpartition(".")[2]
            whole = path == module.__name__
            documented.update(module.__all__ if whole else [name])
            assert whole or hasattr(module, name), f"{module.__name__} has no {name}"
    assert set(PUBLIC) <= documented


def test_unknown_names_are_attribute_errors():
    assert not hasattr(bough, "nonsense")
