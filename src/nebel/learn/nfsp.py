"""NFSP: both players learn best responses to each other's average play, and their averages.

Heinrich, Silver. Deep Reinforcement Learning from Self-Play in Imperfect-Information Games. 2016

For each game each player draws whether it plays its best response so far (`--anticipate`) or its average; what the best response did
teaches the average. Two things are not as in the paper, unless `--exploring along --memory samples` asks for that. A best response learns
from games in which its player explores and the other does not, so that rare moves are tried, and nobody answers to moves at random. And
transitions that are the same are one, with sums that fade (`dqn.Gathered`): less noise, for the same delay, than the newest have.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from nebel.core.errors import BadSetting
from nebel.core.game import Game
from nebel.core.rng import fold_all
from nebel.core.settings import Settings, setting
from nebel.dark_hex.pruned import refuse_won
from nebel.learn.dqn import Gathered, Q, Transitions, transitions
from nebel.learn.memory import Arrays, Experience, Ring, Weighted
from nebel.learn.nets import Dense, Settled, shares_of_logits
from nebel.learn.spread import Plain, Spread, play_on
from nebel.learn.tallies import Means
from nebel.learn.traverse import Decisions, Floats, Reals, Traverser
from nebel.learn.unit import Unit
from nebel.learn.workers import Workers
from nebel.policy.net import NetPolicy

FADING, SLOWER = 12.0, 40.0
"""Iterations in which sums fade to a third at first, and after which more slowly."""


@dataclass(frozen=True)
class NfspSettings(Settings):
    """How games are played, and how both networks learn."""

    boards: int = setting(512, "games that go on side by side", low=1)
    plies: int = setting(16, "decisions on each of them, in an iteration", low=1)
    anticipate: float = setting(0.4, "eta: how often a player plays its best response in a game", low=0.0, high=1.0)
    exploring: str = setting("apart", "in each game one player explores, and it alone learns to respond (apart); or best responses move at"
                             " random now and then, and everybody learns from every game, as in the papers (along)",
                             choices=("apart", "along"))  # fmt: skip
    stray: float = setting(0.6, "how often an explorer moves at random, at most: in each game a share of it is drawn (apart); or how often"
                           " best responses do (along)", low=0.0, high=1.0)  # fmt: skip
    settling: float = setting(0.0, "it strays less: after so many iterations by a factor of 1.4, after k times as many by the root of k + 1"
                              " (0: it does not)", low=0.0)  # fmt: skip
    hidden: str = setting("128-128", "the networks: sizes of hidden layers, such as conv:16-32/64-64, or a paper's: dark-hex-nfsp")
    steps: int = setting(4, "of gradient descent of each network, in an iteration", low=1)
    batch: int = setting(1024, "information states in a step, or samples", low=1)
    rate: float = setting(3e-3, "of Adam, of best responses, at the beginning", low=1e-8, high=1.0)
    slowing: float = setting(1000.0, "this rate falls: after so many iterations by a factor of 1.4, after k times as many by the root of"
                             " k + 1 (0: it does not)", low=0.0)  # fmt: skip
    average_rate: float = setting(1e-3, "of Adam, of averages", low=1e-8, high=1.0)
    follow: int = setting(30, "steps after which the network that best responses learn towards follows", low=1)
    memory: str = setting("sums", "what is the same is remembered as one, with its sums (sums), or everything one by one (samples)",
                          choices=("sums", "samples"))  # fmt: skip
    replay: int = setting(60_000, "transitions that are remembered", low=1)
    fading: float = setting(FADING, "iterations in which sums of transitions fade to a third, at the beginning; after 40 k as many"
                            " times the root of k + 1", low=1.0)  # fmt: skip
    late: float = setting(1.0, "what best responses did in iteration t counts t to this power in the average", low=0.0)
    room: int = setting(500_000, "information states, or experiences, of what best responses did that are remembered", low=1)
    pone: bool = setting(False, "end games in sure wins (pONE, classic Dark Hex); how to play there is not learned")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.memory == "samples" and self.fading != FADING:
            raise BadSetting("--fading belongs to --memory sums, and the memory is of samples; leave one of them out")


HABIT, LESSON = 1, 2
"""Notes of a decision: a best response that the average learns from; what the mover's best response learns from."""


class Anticipating(Plain):
    """In each game a player plays its best response, so often, or its average. Where exploring is apart, one of the two explores: by
    either, with moves at random between. To the other such a game is no lesson in how to respond."""

    def __init__(self, average: Dense, best: list[Q], exploring: str, anticipate: float, stray: float, seed: int) -> None:
        self.average, self.best, self.apart, self.seed = average, best, exploring == "apart", seed
        self.anticipate, self.stray = anticipate, stray

    def sit(self, games: Traverser) -> None:
        self._games, self._noted = games, np.zeros(0, np.int8)

    def notes(self, decisions: int) -> Any:
        return self._noted[:decisions]

    def _luck(self, use: int) -> Any:
        """Between 0 and 1, by board that is asked about: the same in the whole game."""
        asked = self._games.asked
        luck = fold_all(self._games.tables.games[asked], 4 * asked + use + (self.seed << 32))
        return (luck >> 11 & 0xFFFFFFFF) / 2.0**32

    def __call__(self, player: int, rows: Floats, legal: Any) -> Reals:
        draw = self._luck(player)
        if self.apart:
            explores = (self._luck(2) < 0.5) == (player == 0)
            responds = draw < np.where(explores, 0.5, self.anticipate)
            stray, notes = self.stray * self._luck(3) * explores, np.where(explores, LESSON, HABIT * responds)
        else:
            responds = draw < self.anticipate
            stray, notes = self.stray * responds, LESSON + HABIT * responds
        self._note(notes)
        shares = np.zeros(legal.shape)
        if responds.any():
            shares[responds] = self.best[player].greedy(rows[responds], legal[responds])
        if not responds.all():
            shares[~responds] = shares_of_logits(self.average(rows[~responds]), legal[~responds])
        return (1.0 - stray)[:, None] * shares + (stray / legal.sum(axis=1))[:, None] * legal

    def _note(self, notes: Any) -> None:
        wanted = self._games.at + self._games.boards - len(self._noted)
        self._noted = np.concatenate([self._noted, np.zeros(max(0, wanted), np.int8)])
        self._noted[self._games.at + self._games.asked] = notes


class Nfsp:
    """`iterations` so far; `metrics` of the last one."""

    cadence = 1

    def __init__(self, game: Game, recall: str, settings: NfspSettings, seed: int, workers: Workers) -> None:
        self.game, self.recall, self.settings, self.seed = game, recall, settings, seed
        if settings.pone:
            refuse_won(game)
        s, self.games = settings, Spread(game, recall, seed, workers, settings.pone)
        size = self.games.size
        self._best = [Q(game, recall, s.hidden, s.rate, seed + p, s.follow) for p in range(2)]
        self._average = Settled.of(game, recall, s.hidden, s.average_rate, seed + 2)
        sums = s.memory == "sums"
        self._replay = [(Gathered if sums else Ring)(Transitions.blank(s.replay, size, game.actions)) for _ in range(2)]
        habits = Experience.blank(s.room, size, game.actions)
        self._habits: Any = Means(habits) if sums else Weighted(habits)
        self.iterations, self.metrics = 0, dict[str, float]()
        self._unit = Unit(game)

    def prepare(self) -> None:
        """Compile, or load what was compiled."""
        self.games.prepare(play_on, self._mind(), plies=1)

    def _mind(self) -> Anticipating:
        s = self.settings
        return Anticipating(self._average, self._best, s.exploring, s.anticipate, s.stray * self._fallen(s.settling), self.seed)

    def _fallen(self, pace: float) -> float:
        return (1.0 + self.iterations / pace) ** -0.5 if pace else 1.0

    def iterate(self) -> None:
        s, begun = self.settings, time.perf_counter()
        rng = np.random.default_rng([self.seed, self.iterations])
        found = self.games.segment(s.boards, s.plies, self._mind(), self.iterations)
        d = self._unit.of(found.decisions)
        played = time.perf_counter()
        losses = [self._respond(d, p, found.notes, rng) for p in range(2)]
        average = self._learn_habits(d, np.flatnonzero(found.notes & HABIT), rng)
        self.iterations += 1
        self.metrics = {
            "loss": float(np.mean(losses)), "average_loss": average, "remembered": self._habits.held,
            "decisions": self.iterations * s.boards * s.plies, "nodes_per_second": len(d.move) / (played - begun),
            "sampling_share": (played - begun) / (time.perf_counter() - begun),
        }  # fmt: skip

    def _respond(self, d: Decisions, player: int, notes: Any, rng: np.random.Generator) -> float:
        """A player's best response learns from its transitions. Those of before fade: the other player changes, more slowly with time."""
        s, replay = self.settings, self._replay[player]
        self._best[player].pace(s.rate * self._fallen(s.slowing))
        own, made = transitions(d, player, self.games.size)
        new = Transitions(*(column[(notes[own] & LESSON) > 0] for column in made))
        if isinstance(replay, Gathered):
            replay.add(new, np.exp(-self._fallen(SLOWER) / s.fading))
        else:
            replay.add(new)
        if not replay.held:
            return 0.0
        return float(np.mean([self._best[player].step(replay.draw(s.batch, rng)) for _ in range(s.steps)]))

    def _learn_habits(self, d: Decisions, at: Any, rng: np.random.Generator) -> float:
        """The average learns what best responses did, not what they did at random."""
        s = self.settings
        shares = np.zeros((len(at), self.game.actions), np.float32)
        shares[np.arange(len(at)), d.share[at].argmax(axis=1)] = 1.0
        late = np.full(len(at), s.late * np.log(self.iterations + 1))
        self._habits.add(Experience(d.rows(at), shares, d.legal[at]), late, rng)
        if not self._habits.held:
            return 0.0
        return float(np.mean([self._average.step(self._habits.draw(s.batch, rng)) for _ in range(s.steps)]))

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
