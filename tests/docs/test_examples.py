"""Every example in README, CONTRIBUTING and docs runs, and prints what the page shows below it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.pages import DATA, FENCE, PAGES, ROOT, RUN, agree, blocks, run_page, with_service

from benchmarks.walk import ask_in_memory, ask_service

QUICK = ("README.md", "CONTRIBUTING.md", "docs/quickstart.md", "docs/spaces.md", "docs/howto/extend.md")
"""Pages that ``make test`` runs; the others are among the long tests."""

RUNNABLE = [
    pytest.param(page, marks=() if page in QUICK else pytest.mark.slow)
    for page in PAGES
    if any(block.runs or block.title for block in blocks(page))
]
COMPARED = sys.platform == "linux"
"""Elsewhere the examples run too, but the last digits of a fit may differ and change later proposals."""


@pytest.mark.parametrize("page", RUNNABLE)
def test_the_examples_of_a_page_print_what_it_shows(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    if shutil.which("curl") is None and any(
        "curl " in each.code for each in blocks(page) if each.language == "sh"
    ):
        pytest.skip("the page has an example with curl, which is not installed")
    monkeypatch.chdir(tmp_path)
    wrong = []
    with with_service(page, tmp_path):
        for block, printed in run_page(page, tmp_path):
            if COMPARED and not agree(block.shown or "", printed):
                wrong.append(f"line {block.line} prints\n{printed}but the page shows\n{block.shown or ''}")
    assert not wrong, f"{page} ('make outputs' renews it):\n" + "\n".join(wrong)


@pytest.mark.parametrize("page", PAGES)
def test_every_block_runs_or_says_why_not(page: str):
    for block in blocks(page):
        where = f"{page}, line {block.line}"
        assert block.language in RUN + DATA, f"{where}: {block.language or 'a block without language'!r}"
        assert not re.search(r"^\$ ", block.code, re.MULTILINE), (
            f"{where}: a prompt is copied with the command"
        )
        if block.language == "python":
            compile(block.code, where, "exec")
        if block.language == "sh":
            checked = subprocess.run(["bash", "-n", "-c", block.code], capture_output=True, text=True)
            assert checked.returncode == 0, f"{where}: {checked.stderr}"


def test_an_ellipsis_stands_for_any_text_or_for_a_number_nearby():
    assert agree("0.12... of {'a': 1}\n", "0.123456 of {'a': 1}\n")
    assert agree("1.0...e-05, 2.50...\n", "0.987654e-05, 2.51\n")
    assert agree("first\n...\nlast\n", "first\n2\n3\nlast\n")
    assert not agree("0.12...\n", "0.13\n")
    assert not agree("1.0...e-05\n", "1.0e-04\n")
    assert not agree("", "something\n")
    assert not agree("something\n", "")
    assert not agree("a.b\n", "axb\n")


def test_the_readme_shows_exactly_two_commands():
    commands = [
        line.partition("#")[0].strip()
        for block in blocks("README.md")
        if block.language == "sh"
        for line in block.code.strip().splitlines()
    ]
    assert commands == ["make demo", "make test"]


def test_make_has_the_targets_that_pages_name():
    targets = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for target in re.findall(r"(?:`|^)make ([a-z-]+)", text, re.MULTILINE):
            assert target in targets, f"{page} names 'make {target}'"


def test_links_between_pages_lead_somewhere():
    for page in [*PAGES, "CHANGELOG.md", "SECURITY.md", "benchmarks/README.md", "examples/README.md"]:
        text = FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            if not re.match(r"\w+:", target):
                assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_files_of_the_code_that_exist(page: str):
    text = FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    for name in re.findall(r"`(\w+/[\w/]+\.py)`", text):
        assert any((root / name).exists() for root in (ROOT / "src" / "bough", ROOT)), f"{page} names {name}"


def test_the_map_names_files_that_exist():
    text = FENCE.sub("", (ROOT / "docs" / "map.md").read_text(encoding="utf-8"))
    roots = (ROOT / "src" / "bough", ROOT / "src", ROOT)
    for name in re.findall(r"`([\w/]+(?:/|\.py))`", text):
        assert any((root / name).exists() for root in roots), f"the map names {name}"


def test_the_map_follows_one_ask_through_every_file_that_it_visits(tmp_path: Path):
    text = (ROOT / "docs" / "map.md").read_text(encoding="utf-8")
    section = text.partition("## Follow one ask")[2].partition("\n## ")[0]
    named = set(re.findall(r"`([\w/]+\.py)`", section))
    for walk in (ask_in_memory(12), ask_service(7, tmp_path / "walk.db")):
        assert len(walk.files) > 100
        assert set(walk.files) <= named
