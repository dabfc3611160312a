"""A learned best response: how much somebody who learns wins against an agent that stays as it is. A lower bound of exploitability.

Timbers and others. Approximate Exploitability: Learning a Best Response in Large Games. 2022

Of each seat several responders are learned, by deep Q-learning or by PPO, from several seeds. Of all of them, at several ages, a few are
chosen on some games, and the best of these on more; what it wins is measured on others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from nebel.core.game import Game
from nebel.core.recall import PERFECT
from nebel.core.remember import diaries_by_trial
from nebel.core.rng import generator
from nebel.core.settings import Settings, setting
from nebel.core.tree import grow, measure
from nebel.learn.dqn import Gathered, Q, Transitions, best_moves, transitions
from nebel.learn.mmd_ppo import MmdPpo, MmdPpoSettings
from nebel.learn.rivals import Frozen, frozen, in_step
from nebel.learn.traverse import OVER, Strategy, Traverser
from nebel.learn.unit import Unit
from nebel.learn.workers import Alone
from nebel.match.agents import Agent
from nebel.policy.net import encoding_of
from nebel.policy.table import TablePolicy, laid_on

FIRST, LAST = 0.3, 0.02
"""How often a responder that learns by deep Q-learning moves at random, at the beginning and in the end."""
SLOWEST = 0.03
"""The rate of its learning in the end, as a share of that at the beginning: what moves are worth becomes less noisy."""
CHOICE, FINAL, REPORT = 1 << 20, 1 << 22, 1 << 21
"""Streams of games for both choices and for the report: none is used twice."""
FINALISTS = 4
CHECKED = 200_000
"""Histories of a game in which a table is compared with the whole game first; in larger ones it is where it is met."""


@dataclass(frozen=True)
class ResponseSettings(Settings):
    """How responders learn, and how they are measured."""

    responder: str = setting("dqn", "by deep Q-learning (dqn), PPO (ppo), or the better of the two (both)", choices=("dqn", "ppo", "both"))
    seeds: int = setting(3, "responders of each kind and seat", low=1)
    iterations: int = setting(300, "of each responder; each is 16 decisions on every board", low=1)
    boards: int = setting(1024, "games that go on side by side", low=1)
    hidden: str = setting("128-128", "the networks: sizes of hidden layers, or such as conv:16-32/64-64")
    rate: float = setting(3e-3, "of Adam; of deep Q-learning it falls", low=1e-8, high=1.0)
    steps: int = setting(8, "of gradient descent in an iteration, of deep Q-learning", low=1)
    ages: int = setting(5, "of a responder's learning at which it may be chosen", low=1)
    games: int = setting(100_000, "for the report, up to ten times as many until the interval is narrow; a tenth for each choice", low=10)


PLIES, BATCH, REPLAY, FOLLOW = 16, 512, 200_000, 30
WIDE = 1000
"""Numbers that a diary may come to."""
NARROW, CHUNK, ROOM = 0.01, 16_384, 1 << 22
"""Half of an interval that is narrow enough, in the game's own utilities; games that are measured at once; and that times the numbers
that players are told, at most."""
News = Callable[[float, str], None]
"""Told the share of the work that is done, and how it stands."""


class Measured(NamedTuple):
    """What a seat wins on average, with half of a 95 % interval, in how many games."""

    mean: float
    half: float
    games: int


class Response(NamedTuple):
    """What the chosen responder of a seat wins, and which it was."""

    mean: float
    half: float
    games: int
    chosen: str


class _Dqn:
    def __init__(self, game: Game, recall: str, s: ResponseSettings, seed: int, seat: int, rivals: Mapping[int, Frozen]) -> None:
        self.s, self.seat, self._games, self.seed, self.done = s, seat, in_step(game, recall, s.boards, rivals), seed, 0
        self._size = self._games.sizes[seat]
        self._q = Q(game, recall, s.hidden, s.rate, seed, FOLLOW)
        self._replay = Gathered(Transitions.blank(REPLAY, self._size, game.actions))
        self._unit = Unit(game)

    def iterate(self) -> None:
        s, rng = self.s, np.random.default_rng([self.seed, self.done])
        stray = max(LAST, FIRST + (LAST - FIRST) * 1.5 * self.done / s.iterations)
        d, _ = self._games.segment(PLIES, lambda p, rows, legal: self._q.greedy(rows, legal, stray), generator(self.seed, self.done))
        self._replay.add(transitions(self._unit.of(d), self.seat, self._size)[1])
        self._q.pace(s.rate * max(SLOWEST, 1.0 - self.done / s.iterations))
        for _ in range(s.steps if self._replay.held else 0):
            self._q.step(self._replay.draw(BATCH, rng))
        self.done += 1

    def snapshot(self) -> Strategy:
        return self._q.snapshot()


class _Ppo:
    def __init__(self, game: Game, recall: str, s: ResponseSettings, seed: int, seat: int, rivals: Mapping[int, Frozen]) -> None:
        settings = MmdPpoSettings(
            boards=s.boards, plies=PLIES, hidden=s.hidden, critic=s.hidden, rate=s.rate, batch=BATCH, magnet=0.0, even=0.02, mean=0.9
        )
        self._learner = MmdPpo(game, recall, settings, seed, Alone(), rivals)

    def iterate(self) -> None:
        self._learner.iterate()

    def snapshot(self) -> Strategy:
        """The likeliest move of the mean."""
        policy = self._learner.policy({})
        return lambda player, rows, legal: best_moves(policy.logits(rows), legal)


class Told(NamedTuple):
    """A game that puts what responders of a recall know into numbers, and the same in step against the agent."""

    game: Game
    recall: str
    rivals: Mapping[int, Frozen]
    games: Traverser


def tellings(game: Game, recall: str | None) -> list[tuple[Game, str]]:
    """What responders may be told, and in what game: everything, by a diary where the game itself does not put it into numbers and a diary
    comes to few; else, or as well, the most that the game does put into numbers. Or what is said."""
    if recall not in (None, PERFECT) or PERFECT in game.encodings:
        encoding_of(game, recall or PERFECT)
        return [(game, recall or PERFECT)]
    richest = list(game.encodings)[-1] if game.encodings else ""
    diary = diaries_by_trial(game, WIDE, richest)
    found = [(diary, PERFECT)] if diary else []
    if recall is None and richest:
        found.append((game, richest))
    if not found:
        encoding_of(game, PERFECT)
    return found


def respond(
    game: Game, agent: Agent, s: ResponseSettings, seed: int, recall: str | None = None, news: News = lambda share, words: None
) -> list[Response]:
    """Of each seat."""
    if isinstance(agent.policy, TablePolicy) and measure(game, CHECKED).complete:
        laid_on(grow(game, agent.policy.recall, CHECKED), agent.policy)
    ways, kinds = tellings(game, recall), ("dqn", "ppo") if s.responder == "both" else (s.responder,)
    found = []
    for seat in range(2):
        told = [_told(told_in, known, agent, seat, s) for told_in, known in ways]
        tried: list[tuple[float, str, Strategy, Traverser]] = []
        for k, (kind, number) in enumerate((kind, number) for kind in kinds for number in range(s.seeds)):
            own, by = 1000 * seed + 10 * number + seat, told[number % len(told)]
            learner = (_Dqn if kind == "dqn" else _Ppo)(by.game, by.recall, s, own, seat, by.rivals)
            for age in range(s.ages):
                for _ in range(max(1, s.iterations // s.ages)):
                    learner.iterate()
                name, strategy = f"{kind}, seed {number}, {by.recall} recall, {age + 1} of {s.ages}", learner.snapshot()
                tried.append((_measure(by.games, strategy, seat, s.games // 10, CHOICE + seed).mean, name, strategy, by.games))
                done = (seat * len(kinds) * s.seeds + k + (age + 1) / s.ages) / (2 * len(kinds) * s.seeds)
                news(done, f"player {seat}: {name} wins {tried[-1][0]:+.3f}, the best so far {max(each[0] for each in tried):+.3f}")
        few = sorted(tried, key=itemgetter(0))[-FINALISTS:]
        news((seat + 1) / 2, f"player {seat}: the best {len(few)} of {len(tried)} are measured on more games")
        _, name, best, games = max(few, key=lambda one: _measure(one[3], one[2], seat, s.games, FINAL + seed, 10).mean)
        found.append(Response(*_measure(games, best, seat, s.games, REPORT + seed, 10), name))
    return found


def _told(game: Game, recall: str, agent: Agent, seat: int, s: ResponseSettings) -> Told:
    rivals = {1 - seat: frozen(game, agent, 1 - seat)}
    return Told(game, recall, rivals, in_step(game, recall, s.boards, rivals))


def _measure(games: Traverser, strategy: Strategy, seat: int, count: int, stream: int, times: int = 1) -> Measured:
    """In so many games, or in up to so many times as many until what is won is known well."""
    rng, scores, half = generator(stream, seat), np.zeros(0), np.inf
    chunk = min(CHUNK, ROOM // games.size)
    while len(scores) < (times * count if half > NARROW else count):
        d = games.run(min(chunk, times * count - len(scores)), strategy, OVER, 0.0, rng)
        scores = np.concatenate([scores, d.score[d.then == OVER]])
        half = float(1.96 * scores.std() / np.sqrt(len(scores)))
    return Measured(float(scores.mean() * (1.0 if seat == 0 else -1.0)), half, len(scores))
