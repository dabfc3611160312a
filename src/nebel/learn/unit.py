"""The unit in which networks learn what games are worth, so that figures are of about 1 in every game."""

from __future__ import annotations

from typing import Any

import numpy as np

from nebel.core.game import Game
from nebel.learn.memory import Arrays
from nebel.learn.traverse import OVER, Decisions


class Unit:
    """The most that a player can win, if the game says; else the largest score among the first that are not all 0."""

    def __init__(self, game: Game) -> None:
        self.size = game.most if np.isfinite(game.most) else 0.0

    def of(self, d: Decisions) -> Decisions:
        """Decisions with scores in this unit. Of games that go on nothing is learned about it."""
        return d._replace(score=self.scaled(d.score, d.then == OVER))

    def scaled(self, figures: Any, known: Any = ...) -> Any:
        """Figures in this unit, which is learned from those that are known."""
        self.size = self.size or float(np.abs(figures[known]).max(initial=0.0))
        return figures / (self.size or 1.0)

    def save(self) -> Arrays:
        return {"scale": np.array([self.size])}

    def restore(self, arrays: Arrays) -> None:
        self.size = float(arrays["scale"][0])
