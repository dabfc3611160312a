"""NFSP: both players learn best responses to each other's average play, and their averages.

Heinrich, Silver. Deep Reinforcement Learning from Self-Play in Imperfect-Information Games. 2016

For each game each player draws whether it plays its best response so far (`--anticipate`) or its average. Transitions of both teach the
best response; what the best response did teaches the average.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from nebel.core.errors import BadSetting
from nebel.core.game import Game
from nebel.core.rng import fold_all, generator
from nebel.core.settings import Settings, setting
from nebel.learn.dqn import Q, Transitions, transitions
from nebel.learn.memory import Arrays, Experience, Reservoir, Ring
from nebel.learn.nets import Dense, shares_of_logits
from nebel.learn.traverse import OVER, Floats, Reals, Traverser
from nebel.learn.workers import Workers
from nebel.policy.net import NetPolicy


@dataclass(frozen=True)
class NfspSettings(Settings):
    """How games are played, and how both networks learn."""

    boards: int = setting(256, "games that go on side by side", low=1)
    plies: int = setting(16, "decisions on each of them, in an iteration", low=1)
    anticipate: float = setting(0.1, "eta: how often a player plays its best response in a game", low=0.0, high=1.0)
    stray: float = setting(0.06, "how often the best response moves at random, at the beginning", low=0.0, high=1.0)
    settling: float = setting(1000.0, "it strays less: after so many iterations by a factor of 1.4, after k times as many by the root of"
                              " k + 1 (0: it does not)", low=0.0)  # fmt: skip
    hidden: str = setting("128-128", "the networks: sizes of hidden layers, such as conv:16-32/64-64, or a paper's: dark-hex-nfsp")
    steps: int = setting(4, "of gradient descent of each network, in an iteration", low=1)
    batch: int = setting(256, "samples in a step", low=1)
    rate: float = setting(1e-3, "of Adam, of best responses", low=1e-8, high=1.0)
    average_rate: float = setting(1e-3, "of Adam, of averages", low=1e-8, high=1.0)
    follow: int = setting(300, "steps after which the network that best responses learn towards follows", low=1)
    replay: int = setting(200_000, "transitions that are remembered", low=1)
    room: int = setting(500_000, "experiences of best responses that are remembered", low=1)


class Nfsp:
    """`iterations` so far; `metrics` of the last one."""

    def __init__(self, game: Game, recall: str, settings: NfspSettings, seed: int, workers: Workers) -> None:
        if workers.count > 1:
            raise BadSetting("this method plays in one process; leave out --workers")
        self.game, self.recall, self.settings, self.seed = game, recall, settings, seed
        s, self._traverser = settings, Traverser(game, recall, settings.boards)
        size = self._traverser.size
        self._best = [Q(game, recall, s.hidden, s.rate, seed + p, s.follow) for p in range(2)]
        self._average = Dense.of(game, recall, s.hidden, s.average_rate, seed + 2)
        self._replay = [Ring(Transitions.blank(s.replay, size, game.actions)) for _ in range(2)]
        self._habits = Reservoir(Experience.blank(s.room, size, game.actions))
        self.iterations, self.metrics = 0, dict[str, float]()
        self._scale = game.most if np.isfinite(game.most) else 0.0
        self._responded = np.zeros(0, np.bool_)  # by decision of the segment

    def prepare(self) -> None:
        """Compile, or load what was compiled."""
        Traverser(self.game, self.recall, 1).segment(1, lambda p, rows, legal: legal / legal.sum(axis=1, keepdims=True), generator(0))

    def _responds(self, player: int) -> Any:
        """By board that is asked about: whether the player plays its best response in the game that is on, however often that is asked."""
        asked = self._traverser.asked
        luck = fold_all(self._traverser.tables.games[asked], 2 * asked + player + (self.seed << 32))
        return (luck >> 11 & 0xFFFFFFFF) / 2.0**32 < self.settings.anticipate

    def _strategy(self, player: int, rows: Floats, legal: Any) -> Reals:
        responds = self._responds(player)
        self._responded[self._traverser.at + self._traverser.asked] = responds
        shares = shares_of_logits(self._average(rows), legal)
        if responds.any():
            shares[responds] = self._best[player].greedy(rows[responds], legal[responds], self._stray())
        return shares

    def _stray(self) -> float:
        s = self.settings
        return s.stray * ((1.0 + self.iterations / s.settling) ** -0.5 if s.settling else 1.0)

    def iterate(self) -> None:
        s, begun = self.settings, time.perf_counter()
        rng = np.random.default_rng([self.seed, self.iterations])
        self._responded = np.zeros(s.boards * s.plies, np.bool_)
        d, _ = self._traverser.segment(s.plies, self._strategy, generator(self.seed, self.iterations))
        played = time.perf_counter()
        self._scale = self._scale or float(np.abs(d.score[d.then == OVER]).max(initial=1e-9))
        losses = []
        for p in range(2):
            _, made = transitions(d, p, self._traverser.size, self._scale)
            self._replay[p].add(made)
            losses += [self._best[p].step(self._replay[p].draw(s.batch, rng)) for _ in range(s.steps) if self._replay[p].held]
        best = np.flatnonzero(self._responded)
        shares = np.zeros((len(best), self.game.actions), np.float32)
        shares[np.arange(len(best)), d.share[best].argmax(axis=1)] = 1.0
        self._habits.add(Experience(d.rows(best), shares, d.legal[best]), rng)
        average = [self._average.step(self._habits.draw(s.batch, rng)) for _ in range(s.steps) if self._habits.held]
        self.iterations += 1
        self.metrics = {
            "loss": float(np.mean(losses)), "average_loss": float(np.mean(average or [0.0])), "experiences": self._habits.seen,
            "decisions": self.iterations * s.boards * s.plies, "nodes_per_second": len(d.move) / (played - begun),
            "sampling_share": (played - begun) / (time.perf_counter() - begun),
        }  # fmt: skip

    def policy(self, facts: dict[str, Any]) -> NetPolicy:
        return self._average.policy(self.game, self.recall, facts)

    def save(self) -> Arrays:
        held: Arrays = {"scale": np.array([self._scale]), **self._traverser.save()}
        held |= self._average.save("average.") | self._habits.save("habits.")
        for p in range(2):
            held |= self._best[p].save(f"best{p}.") | self._replay[p].save(f"replay{p}.")
        return held

    def restore(self, arrays: Arrays, iterations: int) -> None:
        self._traverser.restore(arrays)
        self._average.restore(arrays, "average.")
        self._habits.restore(arrays, "habits.")
        for p in range(2):
            self._best[p].restore(arrays, f"best{p}.")
            self._replay[p].restore(arrays, f"replay{p}.")
        self._scale, self.iterations = float(arrays["scale"][0]), iterations
