"""Text for the terminal: aligned tables, configs, and the space as a tree with its trials."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bough.cli.style import bold, dim, printable
from bough.plot.outline import Branch, shortened
from bough.plot.snapshot import StudySnapshot
from bough.plot.theme import number
from bough.plot.traces import counted
from bough.trial import Config, Trial

__all__ = ["branch_tree", "config_text", "counted", "number", "table", "value_text"]

SHOWN_PARAMETERS = 40
BRANCH_CHARACTERS = 36


def table(head: Sequence[str], rows: Iterable[Sequence[str]], right: str = "") -> str:
    """Columns as wide as their widest cell; ``right``: letters r and l, one per column."""
    cells = [tuple(head), *(tuple(map(str, row)) for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = []
    for row in cells:
        parts = [
            cell.rjust(width) if i < len(right) and right[i] == "r" else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths))
        ]
        lines.append("  ".join(parts).rstrip())
    lines[0] = bold(lines[0])
    return "\n".join(lines)


def value_text(value: object) -> str:
    """A parameter's value in a line of text."""
    return number(value) if isinstance(value, float) else printable(str(value))


def config_text(config: Config) -> str:
    """A config in a line: ``model=svm C=3.1``; the first parameters of a very long one."""
    texts = [f"{printable(name)}={value_text(value)}" for name, value in config.items()]
    left_out = len(texts) - SHOWN_PARAMETERS
    return " ".join(texts[:SHOWN_PARAMETERS]) + (f" and {left_out} more" if left_out > 0 else "")


def branch_tree(snapshot: StudySnapshot) -> str:
    """The space with trials and best values per branch, as ``bough show`` prints it."""
    names = snapshot.goals.names if len(snapshot.goals.names) > 1 else ()
    heads = [f"best {printable(name)}" for name in names] or ["best"]
    roots = [snapshot.showing(name).root for name in names] or [snapshot.root]
    lines: list[tuple[str, Branch | None]] = [("all trials", roots[0])]
    _below(roots[0], "", lines)
    width = max(len(text) for text, _ in lines) + 2
    tallies = [{branch.path: branch.tally for branch in root.walk()} for root in roots]
    columns = [(max(12, len(head) + 2), root.tally.best) for head, root in zip(heads, roots)]
    bests = "  ".join(f"{head:>{wide}}" for head, (wide, _) in zip(heads, columns))
    out = [bold(f"{'':<{width}}{'trials':>7}{'failed':>8}{bests}")]
    for text, branch in lines:
        if branch is None:
            out.append(dim(text))
            continue
        cells = [_best(tally[branch.path].best, wide, best) for tally, (wide, best) in zip(tallies, columns)]
        tally = branch.tally
        line = f"{text:<{width}}{tally.trials:>7}{tally.failed or '':>8}{''.join(cells)}".rstrip()
        out.append(dim(line) if not tally.trials else line)
    return "\n".join(out)


def _below(branch: Branch, indent: str, lines: list[tuple[str, Branch | None]]) -> None:
    for switch in branch.switches:
        condition = f"  (when {switch.condition})" if switch.condition else ""
        lines.append((f"{indent}{switch.name}{condition}", None))
        for i, child in enumerate(switch.branches):
            last = i == len(switch.branches) - 1
            names = [parameter.name for parameter, _ in child.parameters]
            text = f"{indent}{'└─' if last else '├─'} {child.label}" + (
                f"  [{printable(shortened(names, BRANCH_CHARACTERS))}]" if names else ""
            )
            lines.append((text, child))
            _below(child, indent + ("   " if last else "│  "), lines)


def _best(trial: Trial | None, width: int, best: Trial | None) -> str:
    """The value of a branch's best trial, with a star if it is the best trial of the study."""
    if trial is None:
        return " " * (width + 2)
    return (
        f"{number(trial.value):>{width}}{' *' if best is not None and trial.number == best.number else '  '}"
    )
