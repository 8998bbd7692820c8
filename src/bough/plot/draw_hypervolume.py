"""Figure ``hypervolume``: how the front grew, trial by trial."""

from __future__ import annotations

import numpy as np

from bough.plot.figure import Drawing, NothingToShow, figure
from bough.plot.snapshot import StudySnapshot
from bough.plot.theme import FADED, GOOD, graph_objects, label, number
from bough.plot.traces import add_trials, counted
from bough.study.analysis.fronts import front_of, hypervolume_course, reference_of

__all__ = ["hypervolume"]


@figure("Hypervolume", several=True, measured=False)
def hypervolume(snapshot: StudySnapshot) -> Drawing:
    """The volume between the front and the reference point after each finished trial.

    Every step is measured from the same point: the study's reference, or without one a point slightly worse
    than the worst values of the current front. Marks are the trials on the current front.
    """
    drawn = graph_objects().Figure()
    goals = snapshot.goals
    if len(goals.objectives) < 2:
        raise NothingToShow("one objective has no front: see history")
    if not any(trial.feasible for trial in snapshot.done):
        raise NothingToShow("no trial is on the front yet")
    course = hypervolume_course(goals, snapshot.done)
    drawn.add_scatter(
        x=snapshot.numbers,
        y=course,
        mode="lines",
        name="hypervolume",
        line={"shape": "hv", "color": FADED, "width": 2},
        hovertemplate="after trial %{x}: %{y:.4g}<extra></extra>",
    )
    on_front = {trial.number for trial in front_of(goals, snapshot.done)}
    rows = np.array([row for row, trial in enumerate(snapshot.done) if trial.number in on_front])
    add_trials(
        drawn,
        [snapshot.done[row] for row in rows],
        snapshot.numbers[rows],
        course[rows],
        name="on the front",
        marker={"size": 8, "color": GOOD},
    )
    drawn.update_layout(
        xaxis_title="trial", yaxis_title="hypervolume", hovermode="closest", yaxis_rangemode="tozero"
    )
    point = ", ".join(
        f"{label(name)} {number(value)}" for name, value in reference_of(goals, snapshot.done).items()
    )
    note = f"{number(float(course[-1]))} after {counted(len(course), 'trial')}, from {point}"
    return drawn, note
