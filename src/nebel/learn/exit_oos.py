"""ExIt-OOS: a network learns what Online Outcome Sampling would play, and moves in its playouts. Other searches can teach, too.

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

from nebel.core.errors import BadSetting
from nebel.core.game import Game
from nebel.core.settings import flag_of, setting
from nebel.learn.game_reservoir import GameReservoir
from nebel.learn.memory import Arrays, Experience, Reservoir
from nebel.learn.nets import Dense
from nebel.learn.self_play import Played, Task, play
from nebel.learn.workers import Workers
from nebel.policy.net import NetPolicy, encoding_of
from nebel.search.ismcts import IsmctsSettings
from nebel.search.oos import OosSettings

SIDE_BY_SIDE = 16
"""Games of a task where a network is asked about all their simulations together."""

EXPERIENCES, GAMES = "experiences", "games"
OF_OOS = (*(field.name for field in fields(OosSettings)), "stride", "settling")
OF_ISMCTS = ("selection",)
"""Settings that only this teacher has."""


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
    room: int = setting(8000, "experiences that the reservoir holds, or games", low=1)
    room_of: str = setting(EXPERIENCES, "what the room is counted in: experiences, or games with all their experiences",
                           choices=(EXPERIENCES, GAMES))  # fmt: skip
    decay: float = setting(2.0, "when the reservoir is full a new experience is kept with probability 1/decay at least", low=1.0)
    teacher: str = setting("oos", "the search whose shares at the board are the lessons; ismcts takes no advice from the network",
                           choices=("oos", "ismcts"))  # fmt: skip
    selection: str = setting("uct", "of ismcts: upper confidence bounds (lessons are shares of visits) or regret matching (the average"
                             " strategy)", choices=("uct", "rm"))  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        usual = {field.name: field.default for field in fields(self)}
        for name in OF_ISMCTS if self.teacher == "oos" else OF_OOS:
            if getattr(self, name) != usual[name]:
                other = "ismcts" if self.teacher == "oos" else "oos"
                raise BadSetting(f"{flag_of(name)} is for --teacher {other}, not for {self.teacher}; leave it out")

    def of_teacher(self) -> OosSettings | IsmctsSettings:
        """The settings of the search."""
        if self.teacher == "ismcts":
            return IsmctsSettings(selection=self.selection)
        return OosSettings(**{field.name: getattr(self, field.name) for field in fields(OosSettings)})


class ExitOos:
    """`iterations` so far; `metrics` of the last one."""

    cadence = 1

    def __init__(self, game: Game, recall: str, settings: ExitOosSettings, seed: int, workers: Workers) -> None:
        self.game, self.recall, self.settings, self.seed, self.workers = game, recall, settings, seed, workers
        self.net = Dense.of(game, recall, settings.hidden, settings.learning_rate, seed)
        size = encoding_of(game, recall).size
        self.reservoir: Reservoir[Experience] | GameReservoir = (
            GameReservoir(settings.room, game.depth, size, game.actions, settings.decay)
            if settings.room_of == GAMES
            else Reservoir(Experience.blank(settings.room, size, game.actions), settings.decay)
        )
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
            self._remember(part, rng)
        losses = [self.net.step(self.reservoir.draw(s.batch, rng)) for _ in range(s.steps)]
        self.iterations += 1
        self.metrics = {
            "loss": float(np.mean(losses)),
            "sharpness": _sharpness(new),
            "games": self.iterations * s.games,
            "experiences": self.reservoir.seen,
            "simulations_per_second": s.simulations * sum(len(part.game) for part in new) / (played - begun),
            "learning_share": (time.perf_counter() - played) / (time.perf_counter() - begun),
        }

    def _remember(self, part: Played, rng: np.random.Generator) -> None:
        if isinstance(self.reservoir, GameReservoir):
            self.reservoir.add(part.experience, part.game, rng)
        else:
            self.reservoir.add(part.experience, rng)

    def _tasks(self) -> list[Task]:
        s, first = self.settings, self.iterations * self.settings.games
        search = s.of_teacher()
        together = SIDE_BY_SIDE if isinstance(search, OosSettings) else 1
        starts = range(0, s.games, together)
        layers = self.net.layers()
        stride = s.stride / (1.0 + self.iterations / s.settling) ** 0.5 if s.settling else s.stride
        lessons = (search, s.simulations, stride, s.wander)
        return [Task(self.game.string, self.recall, layers, *lessons, self.seed, first + at, min(together, s.games - at)) for at in starts]

    def policy(self, facts: dict[str, Any]) -> NetPolicy:
        return self.net.policy(self.game, self.recall, facts)

    def save(self) -> Arrays:
        return {**self.net.save(), **self.reservoir.save()}

    def restore(self, arrays: Arrays, iterations: int) -> None:
        self.net.restore(arrays)
        self.reservoir.restore(arrays)
        self.iterations = iterations


def _sharpness(parts: list[Played]) -> float:
    """The share of the likeliest move in a lesson, on average."""
    return float(np.mean(np.concatenate([part.experience.shares.max(axis=1) for part in parts])))
