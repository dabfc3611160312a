"""Exact and sampled tabular solving: `solve(Job("leduc", "cfr+"), Budget(iterations=1000))`."""

from nebel.solve.drive import Result, solve
from nebel.solve.run import Budget, Job

__all__ = ["Budget", "Job", "Result", "solve"]
