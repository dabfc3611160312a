"""Many networks as one policy: for each player those of all iterations, one of which is drawn for a whole game.

Steinberger. Single Deep Counterfactual Regret Minimization. 2019. In an information state that comes to mixing the networks by how likely
each is, and how likely it would have come there by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadFile
from nebel.core.game import BaseGame, Pieces
from nebel.core.rule import kernel
from nebel.core.state import State
from nebel.core.tree import Tree
from nebel.policy.checked import check_probabilities
from nebel.policy.net import Floats, Layer, Reals, check_encoding, check_layers, encode, encode_side, feed, sizes
from nebel.policy.pieces import by_move
from nebel.policy.table import MadePolicy, OnTree


@kernel
def _match(regrets: Any, legal: Any, shares: Any) -> None:
    for r in range(len(regrets)):
        total, best = 0.0, -1
        for a in range(regrets.shape[1]):
            if legal[r, a]:
                total += max(regrets[r, a], 0.0)
                if best < 0 or regrets[r, a] > regrets[r, best]:
                    best = a
        if total > 1e-12:
            for a in range(regrets.shape[1]):
                if legal[r, a]:
                    shares[r, a] = max(regrets[r, a], 0.0) / total
        elif best >= 0:
            shares[r, best] = 1.0


def match_regrets(regrets: Floats, legal: NDArray[np.bool_]) -> Reals:
    """Moves in proportion to positive regrets; where there are none, the best of the legal ones."""
    shares, rows = np.zeros(regrets.shape), (-1, regrets.shape[-1])
    _match(regrets.reshape(rows), np.broadcast_to(legal, regrets.shape).reshape(rows), shares.reshape(rows))
    return shares


@kernel
def _mix(parent: Any, first: Any, spot: Any, strategy: Any, weight: float, reach: Any, sums: Any) -> None:
    """Add a strategy, as often as its player comes to each decision point by it."""
    reach[0] = weight
    for i in range(parent.size):
        for a in range(first[i + 1] - first[i]):
            reach[first[i] + a] = reach[parent[i]] * strategy[spot[i] + a]
            sums[spot[i] + a] += reach[first[i] + a]


def check_odds(odds: NDArray[Any], player: int) -> None:
    """Raise `BadFile` unless these are weights of networks."""
    if odds.dtype != np.float64 or odds.ndim != 1 or not len(odds):
        raise BadFile(f"odds{player} is not a row of numbers of 64 bits")
    if not (np.all(odds >= 0) and 0 < np.sum(odds) < np.inf):
        raise BadFile(f"the weights of player {player}'s networks are negative, not numbers, or all zero")


@dataclass(frozen=True, eq=False)
class NetsPolicy(MadePolicy):
    """By player: layers whose arrays have one network after another, and the networks' weights."""

    game: str
    fingerprint: str
    recall: str
    layers: tuple[tuple[Layer, ...], tuple[Layer, ...]]
    weights: tuple[Reals, Reals]
    facts: dict[str, Any] = field(default_factory=dict)
    pieces: Pieces | None = None

    def check_game(self, game: BaseGame) -> None:
        super().check_game(game)
        for player, weights in enumerate(self.weights):
            check_odds(weights, player)
            check_layers(self.layers[player], len(weights))
            check_encoding(self.game, self.recall, self.layers[player], game, self.pieces)

    def actions(self, player: int) -> int:
        """Return how many moves there are, legal or not."""
        return self.pieces.actions if self.pieces else sizes(self.layers[player])[1]

    def shares(self, player: int, rows: Floats, legal: NDArray[np.bool_]) -> Reals:
        """By network, row and move: the strategies of all networks."""
        made = np.broadcast_to(rows, (len(self.weights[player]), *rows.shape))
        layers = (layer._replace(biases=layer.biases[:, None, :]) for layer in self.layers[player])
        return match_regrets(by_move(self.pieces, feed(layers, made), rows), legal)

    def probabilities(self, state: State) -> dict[int, float]:
        self.check_state(state)
        me, options, actions = state.turn, state.options(), self.actions(state.turn)
        past, rows, legal, moves = state.game.start(), [], [], []
        for step in [*state.steps, None]:
            if past.turn == me:
                rows.append(encode(past, self.recall))
                legal.append(np.isin(np.arange(actions), past.options()))
                moves.append(step.option if step else -1)
            if step:
                past.push(step.option)
        shares = self.shares(me, np.stack(rows), np.stack(legal))
        reach = self.weights[me] * np.prod([shares[:, i, move] for i, move in enumerate(moves[:-1])], axis=0)
        if reach.sum() <= 0.0:  # nobody would have come here
            reach = self.weights[me]
        mixed = reach @ shares[:, -1, options] / reach.sum()
        found = dict(zip(options, mixed.tolist(), strict=True))
        check_probabilities(state, found, "the networks' mixture")
        return found

    def of_one(self, number: int, state: State) -> dict[int, float]:
        """Return what one network plays, by number: a player who draws one for a whole game, by the weights, plays as all of them do."""
        me, options = state.turn, state.options()
        rows = encode(state, self.recall)[None]
        one = [Layer(layer.weights[number], layer.biases[number], *layer.kind) for layer in self.layers[me]]
        legal = np.zeros((1, self.actions(me)), np.bool_)
        legal[0, options] = True
        regrets = by_move(self.pieces, feed(one, rows), rows)
        return dict(zip(options, match_regrets(regrets, legal)[0, options].tolist(), strict=True))

    def on_tree(self, tree: Tree) -> OnTree:
        self.check_game(tree.game)
        first, second = (self._on_side(tree, p) for p in range(2))
        return OnTree((first, second), (0, 0))

    def _on_side(self, tree: Tree, player: int) -> Reals:
        side = tree.sides[player]
        state = np.repeat(np.arange(side.states), np.diff(side.row))
        legal = np.zeros((side.states, self.actions(player)), np.bool_)
        legal[state, side.move] = True
        rows, reach = encode_side(tree, player, self.recall), np.zeros(side.sequences)
        sums, blind = np.zeros(len(side.move)), np.zeros(len(side.move))
        for k, weight in enumerate(self.weights[player]):
            one = [Layer(layer.weights[k], layer.biases[k], *layer.kind) for layer in self.layers[player]]
            strategy = match_regrets(by_move(self.pieces, feed(one, rows), rows), legal)[state, side.move]
            blind += weight * strategy
            _mix(side.points.parent, side.points.first, side.spot, strategy, weight, reach, sums)
        total = np.add.reduceat(sums, side.row[:-1])[state]
        return np.where(total > 0.0, sums / np.where(total > 0.0, total, 1.0), blind / self.weights[player].sum())
