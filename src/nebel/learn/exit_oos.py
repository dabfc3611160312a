"""ExIt-OOS: a network learns what Online Outcome Sampling would play, and moves in its playouts.

Kitchen, Benedetti. ExIt-OOS: Towards Learning from Planning in Imperfect Information Games. 2018. Where it departs: outcomes
are encoded as the player to move sees them; samples are weighted by the steadier estimate; new information states of the
search begin with the network's advice, and lessons are steps from it (docs/algorithms/exit_oos.md). The expert iteration is
synchronous, so a run is the same whoever works on it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from nebel.core.game import Game
from nebel.core.settings import setting
from nebel.learn.memory import Arrays, Experience, Reservoir
from nebel.learn.nets import Dense
from nebel.learn.self_play import Task, play
from nebel.learn.workers import Workers
from nebel.policy.net import NetPolicy, encoding_of
from nebel.search.oos import OosSettings

SIDE_BY_SIDE = 16
"""Games of a task."""


@dataclass(frozen=True)
class ExitOosSettings(OosSettings):
    """How the expert searches, and how the network learns."""

    simulations: int = setting(1000, "of the expert, before each move", low=1)
    stride: float = setting(4.0, "how far a lesson goes: the network's odds of a move times exp(this * what the move is worth more); 0: the"
                            " lesson is the average strategy of the search", low=0.0)  # fmt: skip
    settling: float = setting(10.0, "strides get shorter: after so many iterations by a factor of 1.4, after k times as many by the root of"
                              " k + 1 (0: they do not)", low=0.0)  # fmt: skip
    wander: float = setting(0.0, "how often a move of self-play is taken at random, so that lines that nobody plays are learned, too",
                            low=0.0, high=1.0)  # fmt: skip
    games: int = setting(32, "of self-play in an iteration", low=1)
    steps: int = setting(32, "of gradient descent in an iteration", low=1)
    batch: int = setting(256, "experiences in a step", low=1)
    learning_rate: float = setting(1e-3, "of Adam", low=1e-8, high=1.0)
    hidden: str = setting("128-128-64", "the network: sizes of hidden layers, or such as conv:16-32/64-64")
    room: int = setting(8000, "experiences that the reservoir holds", low=1)
    decay: float = setting(2.0, "when the reservoir is full a new experience is kept with probability 1/decay at least", low=1.0)


class ExitOos:
    """`iterations` so far; `metrics` of the last one."""

    def __init__(self, game: Game, recall: str, settings: ExitOosSettings, seed: int, workers: Workers) -> None:
        self.game, self.recall, self.settings, self.seed, self.workers = game, recall, settings, seed, workers
        self.net = Dense.of(game, recall, settings.hidden, settings.learning_rate, seed)
        self.reservoir = Reservoir(Experience.blank(settings.room, encoding_of(game, recall).size, game.actions), settings.decay)
        self.iterations = 0
        self.metrics: dict[str, float] = {}

    def prepare(self) -> None:
        """Have the workers compile, or load what was compiled."""
        self.workers.map(play, [replace(self._tasks()[0], simulations=1)] * self.workers.count)

    def iterate(self) -> None:
        """Play, remember, learn."""
        s, begun = self.settings, time.perf_counter()
        new = self.workers.map(play, self._tasks())
        played, rng = time.perf_counter(), np.random.default_rng([self.seed, self.iterations])
        for part in new:
            self.reservoir.add(part, rng)
        losses = [self.net.step(self.reservoir.draw(s.batch, rng)) for _ in range(s.steps)]
        self.iterations += 1
        self.metrics = {
            "loss": float(np.mean(losses)),
            "sharpness": _sharpness(new),
            "games": self.iterations * s.games,
            "experiences": self.reservoir.seen,
            "simulations_per_second": s.simulations * sum(len(part.rows) for part in new) / (played - begun),
            "learning_share": (time.perf_counter() - played) / (time.perf_counter() - begun),
        }

    def _tasks(self) -> list[Task]:
        s, first = self.settings, self.iterations * self.settings.games
        search = OosSettings(**{field.name: getattr(s, field.name) for field in fields(OosSettings)})
        starts = range(0, s.games, SIDE_BY_SIDE)
        layers = self.net.layers()
        stride = s.stride / (1.0 + self.iterations / s.settling) ** 0.5 if s.settling else s.stride
        lessons = (search, s.simulations, stride, s.wander)
        return [
            Task(self.game.string, self.recall, layers, *lessons, self.seed, first + at, min(SIDE_BY_SIDE, s.games - at)) for at in starts
        ]

    def policy(self, facts: dict[str, Any]) -> NetPolicy:
        return self.net.policy(self.game, self.recall, facts)

    def save(self) -> Arrays:
        return {**self.net.save(), **self.reservoir.save()}

    def restore(self, arrays: Arrays, iterations: int) -> None:
        self.net.restore(arrays)
        self.reservoir.restore(arrays)
        self.iterations = iterations


def _sharpness(parts: list[Experience]) -> float:
    """The share of the likeliest move in a lesson, on average."""
    return float(np.mean(np.concatenate([part.shares.max(axis=1) for part in parts])))
