"""Simple rows: probabilities of moves with at most so many moves and one small denominator, listed and recognised.

A row is simple for (b, N) if at most b of its probabilities are positive and they are k/n with one n of at most N: what SIP+ makes,
docs/algorithms/simplify.md.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.policy.table import TablePolicy

Reals = NDArray[np.float64]

MOST_DENOMINATOR = 1000
"""The largest denominator that is recognised in floating-point numbers."""
MOST_COMPARED, MOST_SUPPORTS, MOST_ROUNDED = 2000, 4, 12
"""Simple rows that are all compared with another one, at most; otherwise supports of each size and denominators that are rounded to."""
EXACT = 1e-12
"""How far a floating-point number may be from its fraction."""


def simple_rows(moves: int, actions: int, denominator: int) -> Iterator[tuple[Fraction, ...]]:
    """Yield all simple rows of so many moves, each once.

    >>> [" ".join(map(str, row)) for row in simple_rows(2, 2, 3)]
    ['1 0', '0 1', '1/2 1/2', '1/3 2/3', '2/3 1/3']
    """
    for kept in range(1, min(actions, moves, denominator) + 1):
        for n in range(kept, denominator + 1):
            for cuts in itertools.combinations(range(1, n), kept - 1):
                tops = [b - a for a, b in itertools.pairwise((0, *cuts, n))]
                if math.gcd(*tops) > 1:
                    continue  # it has a smaller denominator
                for places in itertools.combinations(range(moves), kept):
                    row = [Fraction(0)] * moves
                    for place, top in zip(places, tops, strict=True):
                        row[place] = Fraction(top, n)
                    yield tuple(row)


@functools.lru_cache(1 << 10)
def count_rows(moves: int, actions: int, denominator: int) -> int:
    """Return how many simple rows there are, without making them.

    >>> count_rows(2, 2, 3), count_rows(3, 2, 4) == len([*simple_rows(3, 2, 4)])
    (5, True)
    """
    total = 0
    for kept in range(1, min(actions, moves, denominator) + 1):
        lowest = [0] * (denominator + 1)  # by denominator: sums of `kept` positive numbers without a common divisor
        for n in range(kept, denominator + 1):
            lowest[n] = math.comb(n - 1, kept - 1) - sum(lowest[d] for d in range(kept, n // 2 + 1) if n % d == 0)
        total += math.comb(moves, kept) * sum(lowest)
    return total


@functools.lru_cache(256)
def table_of(moves: int, actions: int, denominator: int) -> Reals:
    """Return all simple rows as floating-point numbers, one below the other."""
    table = np.array([[float(p) for p in row] for row in simple_rows(moves, actions, denominator)])
    table.flags.writeable = False
    return table


def near_rows(row: Reals, allowed: NDArray[np.int64], actions: int, denominator: int, count: int) -> Reals:
    """Return simple rows near to a row, the nearest first, and those of a single move; others than the moves `allowed` are not played.

    All simple rows are compared if they are few; else those to which the row is rounded, and their neighbours by one unit.

    >>> near_rows(np.array([0.7, 0.3, 0.0]), np.array([0, 1]), 2, 3, 2).round(3).tolist()
    [[0.667, 0.333, 0.0], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    small = _near(tuple(row[allowed].tolist()), actions, denominator, count)
    table = np.zeros((len(small), len(row)))
    table[:, allowed] = small
    return table


@functools.lru_cache(1 << 14)
def _near(row: tuple[float, ...], actions: int, denominator: int, count: int) -> Reals:
    own = np.array(row)
    if count_rows(len(row), actions, denominator) <= MOST_COMPARED:
        table = table_of(len(row), actions, denominator)
    else:
        table = np.vstack([*_rounded(own, actions, denominator)])
    order = np.argsort(np.abs(table - own).sum(axis=1), kind="stable")
    keep = order[(np.arange(len(order)) < count) | (table[order].max(axis=1) == 1.0)]
    return distinct(table[keep])


def distinct(table: Reals) -> Reals:
    """Return the rows without repeated ones, in their order."""
    _, first = np.unique(table.round(12), axis=0, return_index=True)
    return table[np.sort(first)]


def _rounded(row: Reals, actions: int, denominator: int) -> Iterator[Reals]:
    """Yield roundings of a row with many moves, by support and denominator, with their neighbours."""
    n = len(row)
    yield np.eye(n)
    ranked = np.argsort(-row, kind="stable")
    for kept in range(2, min(actions, n) + 1):
        for support in itertools.islice(itertools.combinations(ranked.tolist(), kept), MOST_SUPPORTS):
            held = row[list(support)]
            total = held.sum()
            goal = held / total if total > 0 else np.full(kept, 1 / kept)
            swap = (np.eye(kept)[:, None] - np.eye(kept)[None]).reshape(-1, kept)  # one unit from a move to another, or none
            for bottom in range(max(kept, denominator - MOST_ROUNDED), denominator + 1):
                tops = np.floor(goal * bottom)
                spare = bottom - int(tops.sum())
                tops[np.argsort(tops - goal * bottom, kind="stable")[:spare]] += 1
                near = tops + swap
                near = near[near.min(axis=1) >= 0]
                table = np.zeros((len(near), n))
                table[:, list(support)] = near / bottom
                yield table


def as_fractions(row: Sequence[float], largest: int = MOST_DENOMINATOR) -> list[Fraction] | None:
    """Return the fractions with denominators up to `largest` that floating-point numbers stand for; None if they do not sum to 1 so.

    >>> as_fractions([1 / 3, 2 / 3])
    [Fraction(1, 3), Fraction(2, 3)]
    >>> as_fractions([0.1234567, 0.8765433])
    """
    fractions = [Fraction(p).limit_denominator(largest) for p in row]
    near = all(abs(float(f) - p) <= EXACT for f, p in zip(fractions, row, strict=True))
    return fractions if near and sum(fractions) == 1 else None


class Simplicity(NamedTuple):
    """The largest number of moves of an information state, and the largest denominator of a row; None: one is no such fraction."""

    actions: int
    denominator: int | None


def simplicity(policy: TablePolicy) -> tuple[Simplicity, Simplicity]:
    """Measure how simple each player's table is."""
    found = []
    for table in policy.shares:
        most, largest = 0, 1
        simple = True
        for begin, end in itertools.pairwise(table.first.tolist()):
            row = table.share[begin:end]
            held = row[row > 0].tolist()
            most = max(most, len(held))
            fractions = as_fractions(held) if len(held) > 1 else [Fraction(1)]
            simple = simple and fractions is not None
            largest = max(largest, math.lcm(*(f.denominator for f in fractions or [])))
        found.append(Simplicity(most, largest if simple else None))
    return found[0], found[1]
