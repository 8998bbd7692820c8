"""Results together with their names and labels in a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.report.blocks import Cell
from benchmarks.report.data import Results
from benchmarks.report.style import Look, looks


@dataclass(frozen=True)
class View:
    """Results with their labels in a report; ``name`` is the prefix of the names of its figures.

    groups: name -> methods; the best of them on each problem is also compared with the reference.
    """

    name: str
    title: str
    results: Results
    reference: str = "auto"
    labels: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def looks(self) -> dict[str, Look]:
        return looks((*self.results.methods, *self.results.partial), self.reference, self.labels)

    @property
    def at(self) -> int | None:
        """The index of the reference among the methods, None if it was not run on all problems."""
        methods = self.results.methods
        return methods.index(self.reference) if self.reference in methods else None

    def others(self) -> list[tuple[str, Results]]:
        """Every other method, with its results and the reference's, in this order of methods."""
        methods = [m for m in (*self.results.methods, *self.results.partial) if m != self.reference]
        pairs = [(method, self.results.pair(self.reference, method)) for method in methods]
        return [(method, pair) for method, pair in pairs if pair is not None and len(pair.methods) == 2]

    def label(self, method: str) -> str:
        return self.labels.get(method, method)

    def row_name(self, method: str) -> Cell:
        return Cell(self.label(method), bold=method == self.reference)
