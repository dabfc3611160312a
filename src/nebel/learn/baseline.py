"""A baseline: a network that sees what both players know, and guesses what player 0 gets by each move. It steadies sampled values.

Expected SARSA: it learns towards the score, or towards what the strategy gets from the next decision on by its own guess. It is never begun
anew.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from nebel.core.game import Game
from nebel.learn.nets import Shape, Values, read_shape
from nebel.learn.traverse import OVER, Decisions, Floats
from nebel.policy.net import encoding_of


class Baseline(Values):
    @classmethod
    def of_both(cls, game: Game, recall: str, shape: str, rate: float, seed: int) -> Self:
        """With the dense layers of this shape."""
        return cls(2 * encoding_of(game, recall).size + 1, Shape(read_shape(shape).dense), game.actions, rate, seed)

    def guess(self, d: Decisions) -> Floats:
        """By decision and move."""
        return self(d.table())

    def learn(self, d: Decisions, begun: bool, steps: int, rng: np.random.Generator) -> float:
        """From decisions with scores in the unit of guesses; `begun`: its guesses count. Returns the last loss."""
        then = np.sum(d.share * self.guess(d), axis=1) if begun else np.zeros(len(d.move))
        worth = np.where(d.then == OVER, d.score, then[d.then])
        weight = np.zeros(d.legal.shape, np.float32)
        weight[np.arange(len(worth)), d.move] = 1.0
        return self.fit(d.table(), weight * worth[:, None].astype(np.float32), weight, steps, rng)
