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
from nebel.core.tree import Nodes, Side, Tree
from nebel.policy.checked import check_strategies

Reals = NDArray[np.float64]
Known = tuple[NDArray[np.bool_] | None, NDArray[np.bool_] | None]

ANSWERED, EVEN, UNKNOWN = 0, 1, 2
"""What a strategy says in an information state: something, every move alike, or nothing."""


class Worth(NamedTuple):
    """In the game's own utilities, for the player to move.

    value  when it goes on by the policy
    moves  after each move, both players then following the policy
    met    False where the other's policy never leads here
    blind  after each move, how likely a decision follows at which the policy has no answer
    """

    value: float
    moves: dict[int, float]
    met: bool
    blind: dict[int, float]

    def loss(self, move: int) -> float:
        """What the move gives away against the best one."""
        return max(self.moves.values()) - self.moves[move]


@kernel
def _evaluate(nodes: Nodes, spots: Any, strategies: Any, blanks: Any, arrive: Any, luck: Any, value: Any, blind: Any) -> None:
    """By node: the odds that chance and the other of a player lead there, those of chance alone, what player 0 gets from there, and how
    likely a decision without an answer is there or follows."""
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
        blind[node] = 0.0
        for k in range(nodes.breadth[node] if who != END else 0):
            child = nodes.first[node] + k
            odds = nodes.odds[child] if who == CHANCE else strategies[who][spots[who][nodes.point[node]] + k]
            value[node] += odds * value[child]
            blind[node] += odds * blind[child]
        if who != END and who != CHANCE and nodes.breadth[node] > 1:
            blank = blanks[who][spots[who][nodes.point[node]]]
            if blank == UNKNOWN or (blank == EVEN and arrive[1 - who, node] == 0.0 and luck[node] > 0.0):
                blind[node] = 1.0


def blanks_of(side: Side, strategy: Reals, known: NDArray[np.bool_] | None) -> NDArray[np.int8]:
    """By table place, whether the strategy has an answer there: not where it does not know the state, nor where it plays every move alike
    in a state to which it never leads itself. `known` is by information state; None: all are known."""
    width = np.diff(side.row)
    first, last = np.minimum.reduceat(strategy, side.row[:-1]), np.maximum.reduceat(strategy, side.row[:-1])
    blank = np.where(first == last, EVEN, ANSWERED).astype(np.int8)
    if known is not None:
        blank[~known] = UNKNOWN
    return np.repeat(blank, width)


class Values:
    """Of strategies (a vector over table places for each player) on a tree; `known`: by player and information state."""

    def __init__(self, tree: Tree, strategies: tuple[Reals, Reals], known: Known = (None, None)) -> None:
        self.tree = tree
        strategies = check_strategies(tree, strategies)
        self._arrive, self._luck = np.zeros((2, tree.histories)), np.zeros(tree.histories)
        self._value, self._blind = np.zeros(tree.histories), np.zeros(tree.histories)
        spots = (tree.sides[0].spot, tree.sides[1].spot)
        blanks = tuple(blanks_of(side, strategy, here) for side, strategy, here in zip(tree.sides, strategies, known, strict=True))
        _evaluate(tree.nodes, spots, strategies, blanks, self._arrive, self._luck, self._value, self._blind)

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
        after = np.abs(weights) @ self._blind[children]
        blind = {option: min(1.0, float(x)) for option, x in zip(moves, after, strict=True)}
        return Worth(float(weights @ self._value[here]), moves, met, blind)
