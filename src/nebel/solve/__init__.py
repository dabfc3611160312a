"""Exact and sampled tabular solving: `solve(Job("leduc", "cfr+"), Budget(iterations=1000))`."""

from nebel.solve.drive import Budget, Job, Result, solve

__all__ = ["Budget", "Job", "Result", "solve"]
