"""Every example in README and docs is run, page by page, in an empty folder.

A page's ``python`` blocks share one namespace, ``sh`` blocks are run by a shell that stops at the first
error, and a block with a ``title`` becomes the file of that name. Other languages are prose.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(page.relative_to(ROOT).as_posix() for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
FENCE = re.compile(r"^```(?P<language>\w+)?(?P<rest>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r'title="(?P<title>[^"]+)"')
FOR_PEOPLE = ("make demo", "make test")
"""The README's commands: tests cannot run the tests, but see below."""


class Block(NamedTuple):
    language: str
    title: str | None
    code: str
    line: int


def blocks(page: str) -> list[Block]:
    text = (ROOT / page).read_text(encoding="utf-8")
    found = []
    for fence in FENCE.finditer(text):
        title = TITLE.search(fence["rest"])
        line = text.count("\n", 0, fence.start()) + 1
        found.append(Block(fence["language"] or "", title["title"] if title else None, fence["code"], line))
    return found


RUNNABLE = [page for page in PAGES if any(b.language in ("python", "sh") for b in blocks(page))]


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A service for the pages that talk to one, at BOUGH_URL, with a token in BOUGH_TOKEN."""
    words = [sys.executable, "-m", "bough"]
    storage = ["--storage", f"sqlite:///{tmp_path}/served.db"]
    with subprocess.Popen(
        [*words, "serve", "--port", "0", *storage], stdout=subprocess.PIPE, text=True
    ) as service:
        try:
            assert service.stdout is not None
            address = next(filter(None, (re.search(r"at (http://\S+)", line) for line in service.stdout)))
            created = subprocess.run(
                [*words, "token", "create", *storage], capture_output=True, text=True, check=True
            )
            monkeypatch.setenv("BOUGH_URL", address[1])
            monkeypatch.setenv("BOUGH_TOKEN", created.stdout.strip().splitlines()[-1])
            yield
        finally:
            service.terminate()


@pytest.mark.parametrize("page", RUNNABLE)
def test_the_examples_of_a_page_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
):
    monkeypatch.chdir(tmp_path)
    if "BOUGH_URL" in (ROOT / page).read_text(encoding="utf-8"):
        request.getfixturevalue("served")
    namespace: dict[str, object] = {"__name__": "example"}
    for block in blocks(page):
        if block.title is not None:
            (tmp_path / block.title).write_text(block.code, encoding="utf-8")
        elif block.language == "python":
            # compiled under the page's name, so that a failure points at the line of the page
            exec(compile("\n" * block.line + block.code, str(ROOT / page), "exec"), namespace)
        elif block.language == "sh" and not block.code.strip().startswith(FOR_PEOPLE):
            _shell(block, tmp_path, page)


def _shell(block: Block, folder: Path, page: str) -> None:
    own = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.code],
        cwd=folder,
        env={**os.environ, "PATH": own},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, f"{page}, line {block.line}: {done.stdout}{done.stderr}"


def test_the_commands_of_the_readme_exist():
    targets = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    commands = [
        line.partition("#")[0].strip()
        for block in blocks("README.md")
        if block.language == "sh" and block.code.startswith("make")
        for line in block.code.strip().splitlines()
    ]
    assert commands == ["make demo", "make test"]
    assert {"demo", "test"} <= set(targets)


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        text = FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            if not re.match(r"\w+:", target):
                assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}"
