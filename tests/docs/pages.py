"""The code blocks of README, CONTRIBUTING and docs: read them, run them, compare what they print.

A page's ``python`` blocks share one namespace. ``sh`` blocks run in a shell that stops at the first error.
A block with a ``title`` becomes the file of that name. A ``text`` block right after a ``python`` or ``sh``
block shows what that block prints. There, ``...`` stands for any text, and ``...`` behind a number with a
decimal point for any number within 5 % of it: other machines round differently. A block below
``<!-- not run: REASON -->`` is not run.

    python -m tests.docs.pages [PAGE ...]

runs the pages and writes the present output below every block that prints.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("BOUGH_CORE", "numpy")  # the pages show what NumPy computes

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    page.relative_to(ROOT).as_posix()
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")]
)
RUN = ("python", "sh")
DATA = ("text", "json", "yaml", "toml", "bibtex")
"""Languages of blocks that nobody would paste into a shell or an interpreter."""

FENCE = re.compile(
    r"(?:^<!-- not run: (?P<reason>[^\n]+?) -->\n+)?"
    r"^```(?P<language>\w+)?(?P<rest>[^\n]*)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
TITLE = re.compile(r'title="(?P<title>[^"]+)"')
ELLIPSIS = re.compile(r"((?:[-+]?\d+\.\d+)?\.\.\.)")
NEAR = 0.05
LONG_FLOAT = re.compile(r"(\d\.0*[1-9]\d{2})\d{3,}")
SHELL_SECONDS = 120


class Block(NamedTuple):
    language: str
    title: str | None
    code: str
    line: int
    """Line of the opening fence, counted from 1."""
    end: int
    """Offset just behind the closing fence."""
    not_run: str | None
    """Why the block is not run."""
    shown: str | None
    """The output that the page shows below the block."""
    shown_end: int
    """Offset just behind the output, or ``end``."""

    @property
    def runs(self) -> bool:
        return self.language in RUN and self.title is None and self.not_run is None


def blocks(page: str) -> list[Block]:
    """Every fenced block of a page, in order; the output of a block belongs to the block."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found: list[Block] = []
    for fence in FENCE.finditer(text):
        language, begin = fence["language"] or "", fence.start()
        before = found[-1] if found else None
        if language == "text" and before is not None and before.runs and not text[before.end : begin].strip():
            found[-1] = before._replace(shown=fence["code"], shown_end=fence.end())
            continue
        title = TITLE.search(fence["rest"])
        line = text.count("\n", 0, fence.start("code"))
        found.append(
            Block(
                language=language,
                title=title["title"] if title else None,
                code=fence["code"],
                line=line,
                end=fence.end(),
                not_run=fence["reason"],
                shown=None,
                shown_end=fence.end(),
            )
        )
    return found


def run_page(page: str, folder: Path) -> Iterator[tuple[Block, str]]:
    """Run the blocks of a page in ``folder``, the current folder, and yield each with what it printed."""
    namespace: dict[str, object] = {"__name__": "example"}
    for block in blocks(page):
        if block.title is not None:
            (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.title).write_text(block.code, encoding="utf-8")
        elif block.runs and block.language == "python":
            printed = io.StringIO()
            # compiled under the page's name: a failure points at the line of the page
            code = compile("\n" * block.line + block.code, page, "exec", dont_inherit=True)
            with contextlib.redirect_stdout(printed):
                exec(code, namespace)
            yield block, _trimmed(printed.getvalue())
        elif block.runs:
            yield block, _trimmed(_shell(block, folder, page))


def _shell(block: Block, folder: Path, page: str) -> str:
    own = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.code],
        cwd=folder,
        env={**os.environ, "PATH": own},
        capture_output=True,
        text=True,
        timeout=SHELL_SECONDS,
    )
    assert done.returncode == 0, f"{page}, line {block.line}: {done.stdout}{done.stderr}"
    return done.stdout


def _trimmed(output: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in output.rstrip().splitlines())


def agree(shown: str, printed: str) -> bool:
    """Whether ``printed`` is what ``shown`` says: ``...`` is any text, ``0.12...`` any number near 0.12."""
    pattern, near = "", []
    for part in ELLIPSIS.split(_trimmed(shown)):
        if part == "...":
            pattern += ".*?"
        elif part.endswith("..."):
            near.append(float(part[:-3]))
            pattern += r"([-+]?\d+(?:\.\d+)?)"
        else:
            pattern += re.escape(part)
    found = re.fullmatch(pattern, printed, re.DOTALL)
    return found is not None and all(
        math.isclose(float(number), about, rel_tol=NEAR) for number, about in zip(found.groups(), near)
    )


@contextlib.contextmanager
def service(folder: Path) -> Iterator[None]:
    """A service for the pages that talk to one, at BOUGH_URL, with a token in BOUGH_TOKEN."""
    words = [sys.executable, "-m", "bough"]
    storage = ["--storage", f"sqlite:///{folder}/served.db"]
    before = dict(os.environ)
    with subprocess.Popen(
        [*words, "serve", "--port", "0", *storage], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            address = next(filter(None, (re.search(r"at (http://\S+)", line) for line in process.stdout)))
            create = [*words, "token", "create", *storage]
            created = subprocess.run(create, capture_output=True, text=True, check=True)
            os.environ["BOUGH_URL"] = address[1]
            os.environ["BOUGH_TOKEN"] = created.stdout.strip().splitlines()[-1]
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)
            process.terminate()


def with_service(page: str, folder: Path) -> contextlib.AbstractContextManager[None]:
    """The service if the page mentions its address, otherwise nothing."""
    served = "BOUGH_URL" in (ROOT / page).read_text(encoding="utf-8")
    return service(folder) if served else contextlib.nullcontext()


def renew(page: str) -> None:
    """Write the present output below every block of a page that prints, where the page shows another one."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name), with_service(page, Path(name)):
        ran = list(run_page(page, Path(name)))
    path = ROOT / page
    text = before = path.read_text(encoding="utf-8")
    for block, printed in reversed(ran):
        if block.shown is not None and agree(block.shown, printed):
            continue
        short = LONG_FLOAT.sub(r"\1...", printed).replace(page, "...")
        output = f"\n\n```text\n{short}```" if printed else ""
        text = text[: block.end] + output + text[block.shown_end :]
    if text != before:
        path.write_text(text, encoding="utf-8")
        print(f"renewed {page}")


if __name__ == "__main__":
    for name in sys.argv[1:] or PAGES:
        renew(name)
