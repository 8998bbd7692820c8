"""Acquisition functions and the criteria that maximisers maximise; ``maximise`` holds the maximisers."""

from bough.acquisition.criterion import Criterion, Expected, Total
from bough.acquisition.functions import LOG_EI, LOG_PI, Acquisition, Score, lcb
from bough.acquisition.thompson import thompson

__all__ = [
    "LOG_EI",
    "LOG_PI",
    "Acquisition",
    "Criterion",
    "Expected",
    "Score",
    "Total",
    "lcb",
    "thompson",
]
