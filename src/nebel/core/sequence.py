"""The sequence form: what both solving and judging compute on a tree's arrays.

A player's strategy is a vector over the own sequences ("reach": the product of the own probabilities along the sequence).
What a sequence is worth against the opponent is one sparse product of payoffs and the opponent's reach. Decision points
with a single legal move decide nothing: here their sequence is the one that leads to them.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from nebel.core.rule import kernel, rule
from nebel.core.tree import Side, Tree


class Half(NamedTuple):
    """One player's decision points with a choice, and payoffs as that player sees them."""

    parent: Any  # by point: the own sequence that leads there
    first: Any  # by point, one more than there are: its sequences
    spot: Any  # by point: where its moves stand in a table
    visits: Any  # by point: how many histories are there
    row: Any  # by information state with a choice: the first and last-plus-one place in a table
    pay_first: Any  # by sequence, one more than there are: its payoffs
    pay_other: Any
    pay_value: Any

    @property
    def sequences(self) -> int:
        return len(self.pay_first) - 1


@kernel
def _number(parent: Any, first: Any, number: Any) -> int:
    """New numbers of sequences when single moves are left out; returns how many there are."""
    number[0] = 0
    used = 1
    for i in range(parent.size):
        if first[i + 1] - first[i] == 1:
            number[first[i]] = number[parent[i]]
        else:
            for q in range(first[i], first[i + 1]):
                number[q] = used
                used += 1
    return used


_HALVES: WeakKeyDictionary[Tree, tuple[Half, Half]] = WeakKeyDictionary()


def halves(tree: Tree) -> tuple[Half, Half]:
    """Both players' halves of a tree, made once for all who ask; nobody may write to them."""
    found = _HALVES.get(tree)
    if found is None:
        found = _HALVES[tree] = _made(tree)
    return found


def _made(tree: Tree) -> tuple[Half, Half]:
    numbers = [np.empty(side.sequences, np.int32) for side in tree.sides]
    used = [int(_number(side.points.parent, side.points.first, number)) for side, number in zip(tree.sides, numbers, strict=True)]
    return (
        _half(tree.sides[0], numbers[0], numbers[1], used[0], 1.0),
        _half(tree.sides[1], numbers[1], numbers[0], used[1], -1.0),
    )


def with_choice(side: Side) -> NDArray[np.bool_]:
    """By decision point: is there more than one legal move? `Half` has only those."""
    return np.diff(side.points.first) > 1


def _half(side: Side, number: NDArray[np.int32], others: NDArray[np.int32], used: int, sign: float) -> Half:
    points, payoffs, kept = side.points, side.payoffs, with_choice(side)
    own = np.repeat(number, np.diff(payoffs.first))
    order = slice(None) if np.all(own[1:] >= own[:-1]) else np.argsort(own, kind="stable")
    pay_first = np.zeros(used + 1, np.int64)
    np.cumsum(np.bincount(own, minlength=used), out=pay_first[1:])
    first = np.append(1, 1 + np.cumsum(np.diff(points.first)[kept])).astype(np.int32)
    row = np.stack([side.row[:-1], side.row[1:]], axis=1)[np.diff(side.row) > 1]
    return Half(
        parent=number[points.parent[kept]],
        first=first,
        spot=side.spot[kept],
        visits=points.visits[kept].astype(np.float64),
        row=np.ascontiguousarray(row),
        pay_first=pay_first,
        pay_other=others[payoffs.other[order]],
        pay_value=sign * payoffs.value[order],
    )


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


def shares_of(row: Any, sums: NDArray[np.float64], elsewhere: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Shares from sums, where the moves of an information state stand at row[i] .. row[i+1]-1; where nothing was added up, those
    `elsewhere`, or equal ones."""
    width = np.diff(row)
    if not len(width):
        return np.zeros(0)
    total = np.repeat(np.add.reduceat(sums, row[:-1]), width)
    return np.divide(sums, total, out=np.repeat(1.0 / width, width) if elsewhere is None else elsewhere.copy(), where=total > 0)
