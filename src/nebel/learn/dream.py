"""DREAM: outcome-sampling Deep CFR with a baseline that is learned and sees both sides.

Steinberger, Lerer, Brown. DREAM: Deep Regret Minimization with Advantage Baselines and Model-free Learning. 2020
Troillet and Matsuzaki, Analyzing simplified Geister using DREAM, are `--preset geister`

Where it departs: samples are summed up by information state, or held and drawn by their weights, instead of weighing the loss.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nebel.core.game import Game
from nebel.core.settings import setting
from nebel.learn.baseline import Baseline
from nebel.learn.deep_cfr import RegretLearner, RegretSettings, Samples
from nebel.learn.memory import Arrays, Lessons
from nebel.learn.spread import play_games
from nebel.learn.traverse import Decisions, pass_back
from nebel.learn.workers import Workers


@dataclass(frozen=True)
class DreamSettings(RegretSettings):
    """How gains are sampled and learned."""

    explore: float = setting(0.5, "how often the traverser moves at random", low=1e-3, high=1.0)
    baseline_steps: int = setting(50, "of gradient descent for the baseline, after each player's traversals", low=1)


class Dream(RegretLearner):
    """`iterations` so far; `metrics` of the last one."""

    def __init__(self, game: Game, recall: str, settings: DreamSettings, seed: int, workers: Workers) -> None:
        super().__init__(game, recall, settings, seed, workers)
        self._baseline = Baseline.of_both(game, recall, settings.hidden, settings.rate, seed + 2)
        self._last: Decisions | None = None

    def prepare(self) -> None:
        """Compile, or load what was compiled."""
        self.games.prepare(play_games, self.mind())

    def sample(self, player: int, stream: int) -> Samples:
        s = self.settings
        self._last = d = self._unit.of(self.games.run(s.traversals, self.mind(), stream, player, s.explore))
        self.nodes += len(d.move)
        guess = self._baseline.guess(d) if self.iterations else np.zeros(d.legal.shape, np.float32)
        gains = np.zeros(d.legal.shape)
        pass_back(d, guess, 1.0 if player == 0 else -1.0, np.zeros(len(d.move)), gains)
        own = np.flatnonzero(d.player == player)
        lessons = Lessons(d.rows(own), gains[own].astype(np.float32), d.legal[own])
        return Samples(lessons, -d.reach[own], *d.strategies_of(1 - player))

    def extra(self, player: int, rng: np.random.Generator) -> dict[str, float]:
        assert self._last
        return {f"baseline_loss_{player}": self._baseline.learn(self._last, self.iterations > 0, self.settings.baseline_steps, rng)}

    def save(self) -> Arrays:
        return {**super().save(), **self._baseline.save("baseline.")}

    def restore(self, arrays: Arrays, iterations: int) -> None:
        super().restore(arrays, iterations)
        self._baseline.restore(arrays, "baseline.")
