"""Maximisers: each finds the point where a criterion is largest, and returns it snapped and legal.

A maximiser is a function ``(space, criterion, *, near, avoid, rng) -> Points`` of one row, or of none if
``avoid`` leaves nothing. ``near`` holds tried points, best first; ``avoid`` points that must not be returned.
"""

from bough.acquisition.maximise.candidates import CandidateFilter, best_row, every_point
from bough.acquisition.maximise.local import local_search
from bough.acquisition.maximise.paths import search_boxes, search_paths
from bough.acquisition.maximise.sample import best_of_samples

__all__ = [
    "CandidateFilter",
    "best_of_samples",
    "best_row",
    "every_point",
    "local_search",
    "search_boxes",
    "search_paths",
]
