"""The sequence form: what both solving and judging compute on a tree's arrays.

A player's strategy is a vector over the own sequences ("reach": the product of the own probabilities along the sequence).
What a sequence is worth against the opponent is one sparse product of payoffs and the opponent's reach.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.rule import rule
from nebel.core.tree import Side, Tree


class Half(NamedTuple):
    """The arrays of a `Side` that compiled code reads."""

    parent: Any
    first: Any
    spot: Any
    visits: Any
    row: Any
    pay_first: Any
    pay_other: Any
    pay_value: Any


def half(side: Side, sign: float) -> Half:
    """One player's arrays, payoffs seen from that player."""
    points, payoffs = side.points, side.payoffs
    visits = points.visits.astype(np.float64)
    return Half(points.parent, points.first, side.spot, visits, side.row, payoffs.first, payoffs.other, sign * payoffs.value)


def halves(tree: Tree) -> tuple[Half, Half]:
    return half(tree.sides[0], 1.0), half(tree.sides[1], -1.0)


@rule
def spread(side: Half, strategy: Any, reach: Any) -> None:
    """Own reach of every sequence under `strategy`, a vector over table places."""
    reach[0] = 1.0
    for i in range(side.parent.size):
        here = reach[side.parent[i]]
        first, spot = side.first[i], side.spot[i]
        for a in range(side.first[i + 1] - first):
            reach[first + a] = here * strategy[spot + a]


@rule
def weigh(pay_first: Any, pay_other: Any, pay_value: Any, reach: Any, value: Any, part: int, parts: int) -> None:
    """What ends with each own sequence are worth against the opponent's reach, for one of several equal parts of the payoffs."""
    begin = np.searchsorted(pay_first[:-1], part * pay_value.size // parts) if part > 0 else 0
    end = np.searchsorted(pay_first[:-1], (part + 1) * pay_value.size // parts) if part + 1 < parts else value.size
    j = pay_first[begin]
    for q in range(begin, end):
        last = pay_first[q + 1]
        even, odd = 0.0, 0.0  # two sums keep the processor busy
        while j + 1 < last:
            even += pay_value[j] * reach[pay_other[j]]
            odd += pay_value[j + 1] * reach[pay_other[j + 1]]
            j += 2
        if j < last:
            even += pay_value[j] * reach[pay_other[j]]
            j += 1
        value[q] = even + odd


def uniform_strategy(side: Side) -> NDArray[np.float64]:
    """Equal shares in every information state."""
    width = np.diff(side.row)
    return np.repeat(1.0 / width, width)
