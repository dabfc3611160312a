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

from nebel.core.game import Game
from nebel.core.rng import fold_all
from nebel.core.settings import Settings, setting
from nebel.learn.dqn import Q, Transitions, transitions
from nebel.learn.memory import Arrays, Experience, Ring, Weighted
from nebel.learn.nets import Dense, Settled, shares_of_logits
from nebel.learn.spread import Plain, Spread, play_on
from nebel.learn.tallies import Means
from nebel.learn.traverse import Floats, Reals, Traverser
from nebel.learn.unit import Unit
from nebel.learn.workers import Workers
from nebel.policy.net import NetPolicy


@dataclass(frozen=True)
class NfspSettings(Settings):
    """How games are played, and how both networks learn."""

    boards: int = setting(128, "games that go on side by side", low=1)
    plies: int = setting(16, "decisions on each of them, in an iteration", low=1)
    anticipate: float = setting(0.1, "eta: how often a player plays its best response in a game", low=0.0, high=1.0)
    stray: float = setting(0.06, "how often the best response moves at random, at the beginning", low=0.0, high=1.0)
    settling: float = setting(1000.0, "it strays less: after so many iterations by a factor of 1.4, after k times as many by the root of"
                              " k + 1 (0: it does not)", low=0.0)  # fmt: skip
    hidden: str = setting("128-128", "the networks: sizes of hidden layers, such as conv:16-32/64-64, or a paper's: dark-hex-nfsp")
    steps: int = setting(4, "of gradient descent of each network, in an iteration", low=1)
    batch: int = setting(1024, "samples in a step", low=1)
    rate: float = setting(3e-3, "of Adam, of best responses, at the beginning", low=1e-8, high=1.0)
    slowing: float = setting(1000.0, "this rate falls: after so many iterations by a factor of 1.4, after k times as many by the root of"
                             " k + 1 (0: it does not)", low=0.0)  # fmt: skip
    average_rate: float = setting(1e-3, "of Adam, of averages", low=1e-8, high=1.0)
    follow: int = setting(30, "steps after which the network that best responses learn towards follows", low=1)
    replay: int = setting(30_000, "transitions that are remembered", low=1)
    memory: str = setting("sums", "what best responses did is remembered as sums by information state (sums), or one by one (samples)",
                          choices=("sums", "samples"))  # fmt: skip
    late: float = setting(1.0, "what best responses did in iteration t counts t to this power in the average", low=0.0)
    room: int = setting(500_000, "information states, or experiences, that are remembered", low=1)


class Anticipating(Plain):
    """In each game a player plays its best response, so often, or its average; the notes say by decision whether it was the former."""

    def __init__(self, average: Dense, best: list[Q], anticipate: float, stray: float, seed: int) -> None:
        self.average, self.best, self.anticipate, self.stray, self.seed = average, best, anticipate, stray, seed

    def sit(self, games: Traverser) -> None:
        self._games, self._responded = games, np.zeros(0, np.bool_)

    def notes(self, decisions: int) -> Any:
        return self._responded[:decisions]

    def _responds(self, player: int) -> Any:
        """By board that is asked about: the same in the whole game."""
        asked = self._games.asked
        luck = fold_all(self._games.tables.games[asked], 2 * asked + player + (self.seed << 32))
        return (luck >> 11 & 0xFFFFFFFF) / 2.0**32 < self.anticipate

    def __call__(self, player: int, rows: Floats, legal: Any) -> Reals:
        responds = self._responds(player)
        wanted = self._games.at + self._games.boards - len(self._responded)
        self._responded = np.concatenate([self._responded, np.zeros(max(0, wanted), np.bool_)])
        self._responded[self._games.at + self._games.asked] = responds
        shares = shares_of_logits(self.average(rows), legal)
        if responds.any():
            shares[responds] = self.best[player].greedy(rows[responds], legal[responds], self.stray)
        return shares


class Nfsp:
    """`iterations` so far; `metrics` of the last one."""

    def __init__(self, game: Game, recall: str, settings: NfspSettings, seed: int, workers: Workers) -> None:
        self.game, self.recall, self.settings, self.seed = game, recall, settings, seed
        s, self.games = settings, Spread(game, recall, seed, workers)
        size = self.games.size
        self._best = [Q(game, recall, s.hidden, s.rate, seed + p, s.follow) for p in range(2)]
        self._average = Settled.of(game, recall, s.hidden, s.average_rate, seed + 2)
        self._replay = [Ring(Transitions.blank(s.replay, size, game.actions)) for _ in range(2)]
        habits = Experience.blank(s.room, size, game.actions)
        self._habits: Any = Means(habits) if s.memory == "sums" else Weighted(habits)
        self.iterations, self.metrics = 0, dict[str, float]()
        self._unit = Unit(game)

    def prepare(self) -> None:
        """Compile, or load what was compiled."""
        self.games.prepare(play_on, self._mind(), plies=1)

    def _mind(self) -> Anticipating:
        s = self.settings
        return Anticipating(self._average, self._best, s.anticipate, s.stray * self._fallen(s.settling), self.seed)

    def _fallen(self, pace: float) -> float:
        return (1.0 + self.iterations / pace) ** -0.5 if pace else 1.0

    def iterate(self) -> None:
        s, begun = self.settings, time.perf_counter()
        rng = np.random.default_rng([self.seed, self.iterations])
        found = self.games.segment(s.boards, s.plies, self._mind(), self.iterations)
        d = self._unit.of(found.decisions)
        played = time.perf_counter()
        losses = []
        for p in range(2):
            self._best[p].pace(s.rate * self._fallen(s.slowing))
            _, made = transitions(d, p, self.games.size)
            self._replay[p].add(made)
            losses += [self._best[p].step(self._replay[p].draw(s.batch, rng)) for _ in range(s.steps) if self._replay[p].held]
        best = np.flatnonzero(found.notes)
        shares = np.zeros((len(best), self.game.actions), np.float32)
        shares[np.arange(len(best)), d.share[best].argmax(axis=1)] = 1.0
        late = np.full(len(best), s.late * np.log(self.iterations + 1))
        self._habits.add(Experience(d.rows(best), shares, d.legal[best]), late, rng)
        average = [self._average.step(self._habits.draw(s.batch, rng)) for _ in range(s.steps) if self._habits.held]
        self.iterations += 1
        self.metrics = {
            "loss": float(np.mean(losses or [0.0])), "average_loss": float(np.mean(average or [0.0])), "remembered": self._habits.held,
            "decisions": self.iterations * s.boards * s.plies, "nodes_per_second": len(d.move) / (played - begun),
            "sampling_share": (played - begun) / (time.perf_counter() - begun),
        }  # fmt: skip

    def policy(self, facts: dict[str, Any]) -> NetPolicy:
        return self._average.policy(self.game, self.recall, facts)

    def save(self) -> Arrays:
        held: Arrays = {**self._unit.save(), **self.games.save()}
        held |= self._average.save("average.") | self._habits.save("habits.")
        for p in range(2):
            held |= self._best[p].save(f"best{p}.") | self._replay[p].save(f"replay{p}.")
        return held

    def restore(self, arrays: Arrays, iterations: int) -> None:
        self.games.restore(arrays)
        self._average.restore(arrays, "average.")
        self._habits.restore(arrays, "habits.")
        for p in range(2):
            self._best[p].restore(arrays, f"best{p}.")
            self._replay[p].restore(arrays, f"replay{p}.")
        self._unit.restore(arrays)
        self.iterations = iterations
