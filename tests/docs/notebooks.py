"""The notebooks of ``examples/notebooks``: made from the scripts beside them, and run.

A script has cells in the percent format: ``# %% [markdown]`` starts a text, ``# %%`` a piece of code.

    python -m tests.docs.notebooks [NAME ...]

runs the scripts in a kernel and writes the notebooks with their outputs. Figures become PNG pictures there,
which every viewer shows; who runs a notebook gets interactive ones.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "notebooks"
SCRIPTS = sorted(FOLDER.glob("*.py"))
KERNEL_SECONDS = 500
"""How long a cell may run."""


def cells(script: Path) -> list[tuple[str, str]]:
    """The cells of a script: "markdown" or "code", and the source."""
    found: list[tuple[str, str]] = []
    for part in ("\n" + script.read_text(encoding="utf-8")).split("\n# %%")[1:]:
        head, _, body = part.partition("\n")
        if head.strip() == "[markdown]":
            lines = [line.removeprefix("#").removeprefix(" ") for line in body.strip().splitlines()]
            found.append(("markdown", "\n".join(lines)))
        else:
            found.append(("code", body.strip()))
    return found


def notebook_of(script: Path) -> Path:
    return script.with_suffix(".ipynb")


def run(script: Path) -> Any:
    """The notebook of a script, with the outputs of its cells; an error in a cell is raised."""
    import nbformat
    from nbclient import NotebookClient

    made = nbformat.v4.new_notebook()
    new = {"markdown": nbformat.v4.new_markdown_cell, "code": nbformat.v4.new_code_cell}
    for number, (kind, source) in enumerate(cells(script)):
        made.cells.append(new[kind](source, id=f"cell-{number}"))
    os.environ["PLOTLY_RENDERER"] = "png"
    # A kernel sends what a cell prints in as many messages as the clock makes of it: they become one output.
    NotebookClient(made, timeout=KERNEL_SECONDS, kernel_name="python3", coalesce_streams=True).execute()
    for cell in made.cells:
        cell.metadata.pop("execution", None)  # times, which differ from run to run
    made.metadata.pop("language_info", None)  # the version of Python likewise
    return made


def main(names: list[str]) -> None:
    import nbformat

    for script in SCRIPTS:
        if not names or script.stem in names:
            nbformat.write(run(script), notebook_of(script))
            print(notebook_of(script))


if __name__ == "__main__":
    main(sys.argv[1:])
