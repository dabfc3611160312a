"""Regret matching, and drawing in proportion."""

from __future__ import annotations

from typing import Any

from nebel.core.rule import rule


@rule
def match_regrets(pool: Any, place: int, n: int, gains: Any) -> float:
    """The strategy that follows from n regrets is proportional to `gains`, their positive parts (or all 1); returns the sum."""
    total = 0.0
    for i in range(n):
        regret = pool[place + i]
        gains[i] = regret if regret > 0.0 else 0.0
        total += gains[i]
    if total > 0.0:
        return total
    for i in range(n):
        gains[i] = 1.0
    return float(n)


@rule
def match_kept(pool: Any, place: int, n: int, gains: Any) -> float:
    """Do as `match_regrets`, among the moves that were not dropped: where the n sums after the regrets are not negative."""
    total = 0.0
    for i in range(n):
        regret = pool[place + i]
        gains[i] = regret if regret > 0.0 and pool[place + n + i] >= 0.0 else 0.0
        total += gains[i]
    if total > 0.0:
        return total
    for i in range(n):
        gains[i] = 1.0 if pool[place + n + i] >= 0.0 else 0.0
        total += gains[i]
    return total


@rule
def pick(gains: Any, n: int, u: float) -> int:
    """A move drawn in proportion to `gains`, with u uniform below their sum."""
    for i in range(n - 1):
        u -= gains[i]
        if u < 0.0:
            return i
    return n - 1
