"""Exact best responses, exploitability and values on a tree.

The responder has perfect recall whatever the policy remembers, so the figures hold in the full game: one sparse product
with the policy's reach, then one backward pass that takes the best move at each of the responder's decision points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nebel.core.rule import kernel
from nebel.core.sequence import Half, halves, spread, weigh, with_choice
from nebel.core.tree import Tree
from nebel.policy.checked import check_strategies

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Verdict:
    """How good a pair of strategies is, in the game's own utilities."""

    value: float  # what player 0 gets when both follow the policy
    best_response: tuple[float, float]  # what each player gets at best against the other's policy

    @property
    def nash_conv(self) -> float:
        return self.best_response[0] + self.best_response[1]

    @property
    def exploitability(self) -> float:
        return self.nash_conv / 2

    @property
    def gains(self) -> tuple[float, float]:
        """What each player would gain by changing to the best response."""
        return self.best_response[0] - self.value, self.best_response[1] + self.value


@kernel
def _respond(side: Half, reach: Any, value: Any, best: Any) -> float:
    weigh(side.pay_first, side.pay_other, side.pay_value, reach, value, 0, 1)
    for i in range(side.parent.size - 1, -1, -1):
        first = side.first[i]
        top = first
        for q in range(first + 1, side.first[i + 1]):
            if value[q] > value[top]:
                top = q
        best[i] = top - first
        value[side.parent[i]] += value[top]
    return value[0]


@kernel
def _follow(side: Half, strategy: Any, reach: Any) -> None:
    spread(side, strategy, reach)


@kernel
def _meet(side: Half, own: Any, other: Any, value: Any) -> float:
    weigh(side.pay_first, side.pay_other, side.pay_value, other, value, 0, 1)
    total = 0.0
    for q in range(value.size):
        total += own[q] * value[q]
    return total


class Judge:
    """Judges strategies (a vector over table places for each player) on one tree."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.halves = halves(tree)
        self._reach = tuple(np.empty(side.sequences) for side in self.halves)
        self._value = tuple(np.empty(side.sequences) for side in self.halves)
        self._best = tuple(np.empty(len(side.parent), np.int64) for side in self.halves)

    def verdict(self, strategies: tuple[Reals, Reals]) -> Verdict:
        """Return what both players get by these strategies, and at best against them; `BadPolicy` if shares are not probabilities."""
        strategies = check_strategies(self.tree, strategies)
        for p in range(2):
            _follow(self.halves[p], strategies[p], self._reach[p])
        value = float(_meet(self.halves[0], self._reach[0], self._reach[1], self._value[0]))
        best = [float(_respond(self.halves[p], self._reach[1 - p], self._value[p], self._best[p])) for p in range(2)]
        return Verdict(value, (best[0], best[1]))

    def best_response(self, player: int, strategies: tuple[Reals, Reals]) -> NDArray[np.int64]:
        """By decision point of `player`: the place of the best move among the legal ones."""
        strategies = check_strategies(self.tree, strategies)
        _follow(self.halves[1 - player], strategies[1 - player], self._reach[1 - player])
        _respond(self.halves[player], self._reach[1 - player], self._value[player], self._best[player])
        best = np.zeros(len(self.tree.sides[player].points.key), np.int64)
        best[with_choice(self.tree.sides[player])] = self._best[player]
        return best
