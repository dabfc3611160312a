"""What moves are worth at each decision point while both players follow a policy, exactly, on a tree.

A decision point's value is the mean over its histories, each as likely as chance and the other player's policy make it; what the player
itself did on the way is given. Where the other's policy never leads, histories count by chance alone, and that is said.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.game import CHANCE, END
from nebel.core.rule import kernel
from nebel.core.state import State
from nebel.core.tree import Nodes, Tree
from nebel.policy.checked import check_strategies

Reals = NDArray[np.float64]


class Worth(NamedTuple):
    """In the game's own utilities, for the player to move.

    value  when it goes on by the policy
    moves  after each move, both players then following the policy
    met    False where the other's policy never leads here
    """

    value: float
    moves: dict[int, float]
    met: bool

    def loss(self, move: int) -> float:
        """What the move gives away against the best one."""
        return max(self.moves.values()) - self.moves[move]


@kernel
def _evaluate(nodes: Nodes, spots: Any, strategies: Any, arrive: Any, luck: Any, value: Any) -> None:
    """By node: the odds that chance and the other of a player lead there, those of chance alone, and what player 0 gets from there."""
    arrive[0, 0] = arrive[1, 0] = luck[0] = 1.0
    for node in range(nodes.turn.size):
        who = nodes.turn[node]
        for k in range(nodes.breadth[node] if who != END else 0):
            child = nodes.first[node] + k
            odds = nodes.odds[child] if who == CHANCE else strategies[who][spots[who][nodes.point[node]] + k]
            luck[child] = luck[node] * (odds if who == CHANCE else 1.0)
            for p in range(2):
                arrive[p, child] = arrive[p, node] * (1.0 if who == p else odds)
    for node in range(nodes.turn.size - 1, -1, -1):
        who = nodes.turn[node]
        value[node] = nodes.score[node] if who == END else 0.0
        for k in range(nodes.breadth[node] if who != END else 0):
            child = nodes.first[node] + k
            odds = nodes.odds[child] if who == CHANCE else strategies[who][spots[who][nodes.point[node]] + k]
            value[node] += odds * value[child]


class Values:
    """Of strategies (a vector over table places for each player) on a tree."""

    def __init__(self, tree: Tree, strategies: tuple[Reals, Reals]) -> None:
        self.tree = tree
        self._arrive, self._luck, self._value = np.zeros((2, tree.histories)), np.zeros(tree.histories), np.zeros(tree.histories)
        strategies = check_strategies(tree, strategies)
        spots = (tree.sides[0].spot, tree.sides[1].spot)
        _evaluate(tree.nodes, spots, strategies, self._arrive, self._luck, self._value)

    @property
    def value(self) -> float:
        """What player 0 gets when both follow the policy."""
        return float(self._value[0])

    def at(self, state: State) -> Worth:
        """For the player to move."""
        me, nodes = state.turn, self.tree.nodes
        point = int(np.argmax(self.tree.sides[me].points.key == state.key(me)))
        here = np.flatnonzero((nodes.turn == me) & (nodes.point == point))
        weights = self._arrive[me, here]
        met = bool(weights.sum() > 0.0)
        weights = weights if met else self._luck[here]
        weights = weights / weights.sum() * (1 if me == 0 else -1)
        children = nodes.first[here][:, None] + np.arange(nodes.breadth[here[0]])
        worth = weights @ self._value[children]
        moves = {int(option): float(x) for option, x in zip(nodes.option[children[0]], worth, strict=True)}
        return Worth(float(weights @ self._value[here]), moves, met)
