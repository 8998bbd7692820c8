"""A figure of one study: how it is drawn, and what reports and the dashboard need to know about it.

A figure is a function of a ``StudySnapshot`` with the decorator ``figure``, and a line in ``figures.py``.
The package, the report and the service all read that list. The function returns the drawing and a note for
below the title, or raises ``NothingToShow``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bough.errors import ConfigError
from bough.plot.snapshot import StudyLike, StudySnapshot
from bough.plot.theme import checked_template
from bough.plot.traces import empty_figure, titled

__all__ = ["Drawing", "Figure", "NothingToShow", "figure"]

Drawing = tuple[Any, str]
"""A Plotly figure, and a note for below its title."""


class NothingToShow(Exception):
    """Raised if a figure would be empty; the figure then shows its text, which says why."""


@dataclass(frozen=True, eq=False)
class Figure:
    """A drawing with its title.

    wide: takes a whole row of a page. branching: needs a space with branches.
    several: needs several objectives. measured: shows one measure of the trials, so it takes ``measure``.
    """

    title: str
    draw: Callable[..., Drawing]
    wide: bool
    branching: bool
    several: bool = False
    measured: bool = True

    def __post_init__(self) -> None:
        for attribute in ("__doc__", "__name__", "__qualname__", "__module__"):
            object.__setattr__(self, attribute, getattr(self.draw, attribute))

    @property
    def name(self) -> str:
        return self.draw.__name__

    def fits(self, snapshot: StudySnapshot) -> bool:
        """Whether the study has what the figure shows."""
        branching = bool(snapshot.space.layout.switch.any())
        return (branching or not self.branching) and (len(snapshot.goals.objectives) > 1 or not self.several)

    def of(self, snapshot: StudySnapshot, *args: Any, measure: str | None = None, **options: Any) -> Any:
        """Draw a snapshot; measure: the measure to show, by default the value or the first objective."""
        if measure is not None and not self.measured:
            raise ConfigError(f"figure {self.name!r} takes no measure")
        shown = snapshot.showing(measure) if self.measured else snapshot
        try:
            drawn, note = self.draw(shown, *args, **options)
        except NothingToShow as why:
            drawn, note = empty_figure(str(why)), ""
        return titled(drawn, shown, self.title, note)

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the options beside ``branch``, ``measure`` and ``dark``."""
        return tuple(inspect.signature(self.draw).parameters)[1:]

    def __call__(
        self,
        study: StudyLike | StudySnapshot,
        *args: Any,
        branch: Mapping[str, Any] | None = None,
        measure: str | None = None,
        dark: bool = False,
        **options: Any,
    ) -> Any:
        """Draw the figure of a study, or of one of its branches; measure: as for ``of``."""
        drawn = self.of(StudySnapshot.of(study).within(branch), *args, measure=measure, **options)
        drawn.layout.template = checked_template(dark)
        return drawn


def figure(
    title: str,
    *,
    wide: bool = False,
    branching: bool = False,
    several: bool = False,
    measured: bool = True,
) -> Callable[[Callable[..., Drawing]], Figure]:
    """A decorator that makes a ``Figure`` from a function that draws a ``StudySnapshot``."""
    return lambda draw: Figure(title, draw, wide, branching, several, measured)
