"""Write reports of benchmark results.

    python -m benchmarks.report quick --html out          # out/index.html
    python -m benchmarks.report peers real --markdown out/report.md
    python -m benchmarks.report --docs                    # the tables and figures of docs/benchmarks

Several specs make one page with a chapter each (``--together``: one chapter for all). ``--where cash,mlp``
keeps only some problems; ``--methods auto,tpe,optuna`` only some methods.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks import spec
from benchmarks.report import docs
from benchmarks.report.blocks import Figure, to_markdown
from benchmarks.report.data import arrange
from benchmarks.report.page import chapter, halves, page
from benchmarks.report.view import View
from benchmarks.run import split


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.report",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("spec", nargs="*", help="names of specs, or paths of TOML files")
    parser.add_argument("--html", type=Path, metavar="DIR", help="write DIR/index.html")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write FILE, and figures beside it")
    parser.add_argument("--docs", action="store_true", help="renew the results in docs/benchmarks")
    parser.add_argument("--full", action="store_true", help="the specs' full budgets")
    parser.add_argument("--together", action="store_true", help="all specs in one chapter")
    parser.add_argument("--where", default="", metavar="NAME,...", help="only these problems or families")
    parser.add_argument("--methods", default="", metavar="NAME,...", help="only these methods")
    options = parser.parse_args(arguments)
    if not options.docs and not (options.spec and (options.html or options.markdown)):
        parser.error("name a spec and --html or --markdown, or say --docs")
    try:
        if options.docs:
            docs.renew()
        if options.spec:
            write(options)
    except spec.SpecError as error:
        sys.exit(str(error))


def write(options: argparse.Namespace) -> None:
    views = [half for view in read_views(options) for half in halves(view)]
    if not views:
        sys.exit("nothing has been run of it yet; start with python -m benchmarks.run")
    if options.html:
        options.html.mkdir(parents=True, exist_ok=True)
        path = options.html / "index.html"
        path.write_text(
            page("; ".join(spec.load(name).title for name in options.spec), views), encoding="utf-8"
        )
        print(f"report in {path}")
    if options.markdown:
        folder = options.markdown.parent / "figures"
        folder.mkdir(parents=True, exist_ok=True)
        parts = []
        for view in views:
            blocks = chapter(view)
            parts.append(f"## {view.title}\n\n" + to_markdown(blocks, "figures"))
            for block in blocks:
                if isinstance(block, Figure):
                    (folder / f"{block.name}.svg").write_text(block.svg, encoding="utf-8")
        options.markdown.write_text("\n".join(parts), encoding="utf-8")
        print(f"report in {options.markdown}")


def read_views(options: argparse.Namespace) -> list[View]:
    """A view of each spec that has results, or one of all."""
    names = {name for entry in split(options.where) for name in spec.expand(entry)}
    methods = split(options.methods)
    loaded = [spec.load(name, full=options.full) for name in options.spec]
    groups = [loaded] if options.together else [[one] for one in loaded]
    views = []
    for group in groups:
        records = [
            record
            for one in group
            for record in one.records()
            if (not names or record.problem in names) and (not methods or record.method in methods)
        ]
        order = [method for one in group for block in one.blocks for method in block.methods]
        results = arrange(records, order)
        if results is not None:
            labels = {key: label for one in group for key, label in one.labels.items()}
            name = "-".join(one.name for one in group)
            title = "; ".join(one.title for one in group)
            groups = {key: members for one in group for key, members in one.groups.items()}
            views.append(View(name, title, results, group[0].reference, labels, groups))
    return views


if __name__ == "__main__":
    main()
