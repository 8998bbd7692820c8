"""Problems to optimise, each with a branching space, a known optimum where there is one, and its branch."""

from benchmarks.problems.base import Problem
from benchmarks.problems.branches import BRANCH_PROBLEMS, branch_problem
from benchmarks.problems.cash import artificial_cash, cash, cash_space
from benchmarks.problems.jenatton import JENATTON, jenatton

__all__ = [
    "BRANCH_PROBLEMS",
    "JENATTON",
    "Problem",
    "artificial_cash",
    "branch_problem",
    "cash",
    "cash_space",
    "jenatton",
]
