"""The built distributions: complete, and installable in a clean environment."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from tests.conftest import need

ROOT = Path(__file__).resolve().parents[1]
NEEDED = (
    ".ci/run", ".github/workflows/ci.yml", ".pre-commit-config.yaml", "CHANGELOG.md", "CITATION.cff",
    "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "SECURITY.md",
    "benchmarks/run.py", "constraints.txt", "docs/index.md", "examples/ask_and_tell.py", "mkdocs.yml",
    "pyproject.toml", "src/bough/py.typed", "tests/conftest.py",
)  # fmt: skip
OFFLINE = (
    "Failed to establish a new connection",
    "name resolution",
    "ConnectTimeout",
    "Network is unreachable",
)
TRY = """
import bough
study = bough.minimize(lambda c: c["x"] ** 2, bough.Space({"x": bough.Float(-1, 1)}), trials=5, seed=0)
assert "site-packages" in bough.__file__, bough.__file__
print(bough.__version__, len(study.trials))
"""


def _environment(folder: Path) -> Path:
    """A new virtual environment; its Python."""
    venv.create(folder, with_pip=True)
    return folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"


def _run(*words: object, cwd: Path) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=clean, capture_output=True, text=True, timeout=900
    )
    if done.returncode != 0 and "pip" in words and any(sign in done.stderr for sign in OFFLINE):
        need("a network to install packages from")
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The source distribution and the wheel, built as a release is."""
    folder = tmp_path_factory.mktemp("build")
    python = _environment(folder / "venv")
    _run(python, "-m", "pip", "install", "--quiet", "hatchling", cwd=folder)
    _run(python, "-m", "hatchling", "build", "--directory", folder / "dist", cwd=ROOT)
    return sorted((folder / "dist").iterdir(), key=lambda path: path.suffix)


@pytest.mark.slow
def test_the_source_distribution_is_complete_and_the_wheel_holds_the_package_only(built: list[Path]):
    source, wheel = built
    with tarfile.open(source) as archive:
        files = {name.partition("/")[2] for name in archive.getnames()}
    assert [name for name in NEEDED if name not in files] == []
    with zipfile.ZipFile(wheel) as packed:
        roots = {name.partition("/")[0] for name in packed.namelist()}
        metadata = packed.read(next(n for n in packed.namelist() if n.endswith("METADATA"))).decode()
    assert {root for root in roots if not root.endswith(".dist-info")} == {"bough", "hydra_plugins"}
    assert "Name: bough-opt\n" in metadata


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", [".whl", ".gz"])
def test_a_distribution_works_in_a_clean_environment(built: list[Path], kind: str, tmp_path: Path):
    package = next(path for path in built if path.suffix == kind)
    python = _environment(tmp_path / "venv")
    pins = ("--constraint", ROOT / "constraints.txt")
    _run(python, "-m", "pip", "install", "--quiet", *pins, package, cwd=tmp_path)
    version, trials = _run(python, "-c", TRY, cwd=tmp_path).split()
    assert version in package.name
    assert trials == "5"
    assert version in _run(python.parent / "bough", "--version", cwd=tmp_path)
    assert _run(python, "-m", "pip", "check", cwd=tmp_path).startswith("No broken requirements")
