"""Studies: ask for trials, tell results, run objectives.

Names are loaded on first use, so a worker process, which needs only ``objective``, starts quickly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bough.study.catalogue import copy_study as copy_study
    from bough.study.catalogue import delete_study as delete_study
    from bough.study.catalogue import export_study as export_study
    from bough.study.catalogue import import_study as import_study
    from bough.study.catalogue import open_study as open_study
    from bough.study.catalogue import studies as studies
    from bough.study.formats.files import study_lines as study_lines
    from bough.study.formats.table_import import add_results as add_results
    from bough.study.results import failure as failure
    from bough.study.results import outcome as outcome
    from bough.study.running.loop import run_trials as run_trials
    from bough.study.running.progress import Event as Event
    from bough.study.running.runnable import RunnableStudy as RunnableStudy
    from bough.study.shortcuts import maximize as maximize
    from bough.study.shortcuts import minimize as minimize
    from bough.study.shortcuts import optimize as optimize
    from bough.study.study import Study as Study

_HOME = {
    "Event": "running.progress",
    "RunnableStudy": "running.runnable",
    "Study": "study",
    "add_results": "formats.table_import",
    "copy_study": "catalogue",
    "delete_study": "catalogue",
    "export_study": "catalogue",
    "failure": "results",
    "import_study": "catalogue",
    "maximize": "shortcuts",
    "minimize": "shortcuts",
    "open_study": "catalogue",
    "optimize": "shortcuts",
    "outcome": "results",
    "run_trials": "running.loop",
    "studies": "catalogue",
    "study_lines": "formats.files",
}

__all__ = [
    "Event", "RunnableStudy", "Study", "add_results", "copy_study", "delete_study", "export_study", "failure",
    "import_study", "maximize", "minimize", "open_study", "optimize", "outcome", "run_trials", "studies",
    "study_lines",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'bough.study' has no attribute {name!r}")
    return getattr(import_module(f"bough.study.{_HOME[name]}"), name)
