"""The example space on the page for a new study."""

from __future__ import annotations

__all__ = ["SPACE"]

SPACE = """\
model:
  type: choice
  options:
    svm:
      C: {type: float, low: 1e-3, high: 1e3, log: true}
    forest:
      trees: {type: int, low: 10, high: 500, log: true}
    bayes: {}
scale: {type: categorical, options: [none, standard, maxabs]}
"""
