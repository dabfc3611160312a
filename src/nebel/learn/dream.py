"""DREAM: outcome-sampling Deep CFR with a baseline that is learned and sees both sides.

Steinberger, Lerer, Brown. DREAM: Deep Regret Minimization with Advantage Baselines and Model-free Learning. 2020
Troillet and Matsuzaki, Analyzing simplified Geister using DREAM, are `--preset geister`

Where it departs: samples are summed up by information state, or held and drawn by their weights, instead of weighing the loss; one baseline
learns for both players, from the last traversals. `--memory reservoir --baseline each --baseline-room 1280000` are as in the papers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nebel.core.game import Game
from nebel.core.settings import setting
from nebel.learn.baseline import Baseline, Buffered, TwoViewBaseline
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
    baseline: str = setting("shared", "one baseline of dense layers for the traversals of both players (shared), or one for each"
                            " player's, with the convolutions of --hidden for each player's view (each)",
                            choices=("shared", "each"))  # fmt: skip
    baseline_room: int = setting(0, "decisions that each baseline's buffer holds (0: it learns from the last traversals)", low=0)


class Dream(RegretLearner):
    """`iterations` so far; `metrics` of the last one."""

    def __init__(self, game: Game, recall: str, settings: DreamSettings, seed: int, workers: Workers) -> None:
        super().__init__(game, recall, settings, seed, workers)
        kind, count = (Baseline, 1) if settings.baseline == "shared" else (TwoViewBaseline, 2)
        seeds = [seed + 2, seed + 4][:count]  # those between are of other networks
        self._baselines = [kind.of_both(game, recall, settings.hidden, settings.rate, each) for each in seeds]
        room = settings.baseline_room
        self._buffered = [Buffered(net, room, self.games.size, game.actions) for net in self._baselines if room]
        self._last: Decisions | None = None

    def prepare(self) -> None:
        """Compile, or load what was compiled."""
        self.games.prepare(play_games, self.mind())

    def sample(self, player: int, stream: int) -> Samples:
        s = self.settings
        self._last = d = self._unit.of(self.games.run(s.traversals, self.mind(), stream, player, s.explore))
        self.nodes += len(d.move)
        guess = self._baselines[player % len(self._baselines)].guess(d) if self.iterations else np.zeros(d.legal.shape, np.float32)
        gains = np.zeros(d.legal.shape)
        pass_back(d, guess, 1.0 if player == 0 else -1.0, np.zeros(len(d.move)), gains)
        own = np.flatnonzero(d.player == player)
        lessons = Lessons(d.rows(own), gains[own].astype(np.float32), d.legal[own])
        return Samples(lessons, -d.reach[own], *d.strategies_of(1 - player))

    def extra(self, player: int, rng: np.random.Generator) -> dict[str, float]:
        assert self._last
        s, at = self.settings, player % len(self._baselines)
        if self._buffered:
            loss = self._buffered[at].learn(self._last, self.iterations, s.baseline_steps, s.batch, rng)
        else:
            loss = self._baselines[at].learn(self._last, self.iterations > 0, s.baseline_steps, rng)
        return {f"baseline_loss_{player}": loss}

    def _named(self) -> dict[str, Baseline | Buffered]:
        """Baselines by the names that they are saved under."""
        kept: list[Any] = self._buffered or self._baselines
        return {"baseline.": kept[0]} if len(kept) == 1 else {f"baseline{p}.": each for p, each in enumerate(kept)}

    def save(self) -> Arrays:
        held = super().save()
        for name, baseline in self._named().items():
            held |= baseline.save(name)
        return held

    def restore(self, arrays: Arrays, iterations: int) -> None:
        super().restore(arrays, iterations)
        for name, baseline in self._named().items():
            baseline.restore(arrays, name)
