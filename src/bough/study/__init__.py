"""Studies: ask for trials, tell results, run objectives."""

from __future__ import annotations

from bough.study.catalogue import copy_study, delete_study, export_study, import_study, open_study, studies
from bough.study.events import Event
from bough.study.minimize import maximize, minimize
from bough.study.study import Study

__all__ = [
    "Event",
    "Study",
    "copy_study",
    "delete_study",
    "export_study",
    "import_study",
    "maximize",
    "minimize",
    "open_study",
    "studies",
]
