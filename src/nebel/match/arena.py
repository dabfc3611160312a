"""Matches: two agents play the same deals in both seats, and what came of it."""

from __future__ import annotations

import math
import os
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import TooLarge, UnknownInformationState
from nebel.core.game import BaseGame, Game
from nebel.core.recall import PERFECT
from nebel.core.settings import Settings, setting
from nebel.core.tree import Side, grow
from nebel.judge.best_response import Judge
from nebel.match.agents import Agent
from nebel.match.deals import Played, Seats, Tick, play_by_hand
from nebel.match.lockstep import compilable, play_compiled
from nebel.policy.table import Policy, TablePolicy, Uniform, laid_on

Reals = NDArray[np.float64]

Z95 = 1.959963984540054
EXACT_LIMIT, EXACT_LIMIT_PLAIN = 5_000_000, 100_000
"""Histories of games in rules, and in plain Python, up to which a pairing is also enumerated."""


@dataclass(frozen=True)
class Terms(Settings):
    """What a match is played for."""

    games: int = setting(1000, "games of each pair, half of them in each seat order", low=1)
    seed: int = setting(1, "of chance and of the agents")
    threads: int = setting(0, "games of agents that think go on side by side in so many threads (0: one a core); the result is the same",
                           low=0, high=1024)  # fmt: skip


@dataclass(frozen=True)
class Result:
    """How `a` fared against `b`."""

    a: str
    b: str
    games: int
    wins: int
    draws: int
    losses: int
    score: float  # the mean of what a got, in the game's own utilities
    interval: tuple[float, float] | None  # 95 %, by normal approximation over deals; None of a single deal
    exact: float | None  # the expected score, half of the games in each seat; None where it cannot be enumerated
    unknown: tuple[int, int]  # how often a and b played uniformly because their tables said nothing
    seconds: tuple[float | None, float | None] = (None, None)  # the mean time of a move of a and b; None where it is not measured

    @property
    def points(self) -> float:
        """The share of games that a won, a draw being half of one."""
        return (self.wins + self.draws / 2) / self.games

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def play_deals(game: BaseGame, seats: Seats, deals: int, seed: int, tick: Tick | None = None, threads: int = 1) -> Played:
    """Deals 0, 1, ... with these agents in seats 0 and 1: compiled if both are policies or bots, else through `State`."""
    game.try_out()
    if isinstance(game, Game) and all(compilable(agent) for agent in seats):
        return play_compiled(game, seats, deals, seed, tick)
    return play_by_hand(game, seats, deals, seed, tick, threads if any(agent.thinks for agent in seats) else 1)


class Arena:
    """Where agents of one game meet; keeps the game's trees between matches."""

    def __init__(self, game: BaseGame) -> None:
        self.game = game
        self._judges: dict[str, Judge | None] = {}

    def play(self, a: Agent, b: Agent, terms: Terms, tick: Tick | None = None) -> Result:
        for agent in (a, b):
            joined = agent.join(self.game)
            if joined is not self.game:
                self.game, self._judges = joined, {}
        threads = terms.threads or os.cpu_count() or 1
        there = play_deals(self.game, (a, b), (terms.games + 1) // 2, terms.seed, tick, threads)
        back = play_deals(self.game, (b, a), terms.games // 2, terms.seed, tick, threads)
        scores = np.concatenate([there.scores, -back.scores])
        unknown = there.unknown + back.unknown[::-1]
        moves, seconds = there.moves + back.moves[::-1], there.seconds + back.seconds[::-1]
        return Result(
            a=a.name,
            b=b.name,
            games=terms.games,
            wins=int(np.count_nonzero(scores > 0)),
            draws=int(np.count_nonzero(scores == 0)),
            losses=int(np.count_nonzero(scores < 0)),
            score=float(scores.mean()),
            interval=_interval(there.scores, -back.scores),
            exact=self.expected(a, b),
            unknown=(int(unknown[0]), int(unknown[1])),
            seconds=(_mean(seconds[0], moves[0]), _mean(seconds[1], moves[1])),
        )

    def expected(self, a: Agent, b: Agent) -> float | None:
        """What a gets on average against b over both seats, exactly; None where that cannot be enumerated."""
        if a.policy is None or b.policy is None or any(self._strange(agent) for agent in (a, b)):
            return None
        recalls = {policy.recall for policy in (a.policy, b.policy) if not isinstance(policy, Uniform)} or {PERFECT}
        shared = next(iter(recalls)) if len(recalls) == 1 else PERFECT
        judge = self._judge(shared)
        if judge is None:
            return None
        try:
            mine, theirs = self._lay(a.policy, shared), self._lay(b.policy, shared)
        except UnknownInformationState:  # a table need only know what it meets
            return None
        return (judge.verdict((mine[0], theirs[1])).value - judge.verdict((theirs[0], mine[1])).value) / 2

    def _strange(self, agent: Agent) -> bool:
        """Whether it plays by likeness to another game: then its information states are none of this game's."""
        glance = self.game.glances.get(agent.policy.recall) if isinstance(agent.policy, TablePolicy) else None
        return getattr(glance, "mean", None) is not None

    def _judge(self, recall: str) -> Judge | None:
        if recall not in self._judges:
            limit = EXACT_LIMIT if isinstance(self.game, Game) else EXACT_LIMIT_PLAIN
            try:
                self._judges[recall] = Judge(grow(self.game, recall, limit))
            except TooLarge:
                self._judges[recall] = None
        return self._judges[recall]

    def _lay(self, policy: Policy, recall: str) -> tuple[Reals, Reals]:
        """A policy on the tree of a recall: its own, or perfect recall."""
        own = self._judge(recall if isinstance(policy, Uniform) else policy.recall)
        assert own is not None  # trees of all recalls have the same histories
        laid = laid_on(own.tree, policy).strategies
        if own.tree.recall == recall:
            return laid
        return _by_point(own.tree.sides[0], laid[0]), _by_point(own.tree.sides[1], laid[1])


def _by_point(side: Side, strategy: Reals) -> Reals:
    """A forgetful strategy as one of perfect recall, whose information states are the decision points in their order."""
    first = side.points.first
    return strategy[np.repeat(side.spot - (first[:-1] - first[0]), np.diff(first)) + np.arange(first[-1] - first[0])]


def _mean(seconds: float, moves: int) -> float | None:
    return float(seconds / moves) if moves else None


def _interval(there: Reals, back: Reals) -> tuple[float, float] | None:
    """95 % around the mean of all games. Deals are independent, the two games of a deal are not: their errors add up first."""
    if len(there) < 2:
        return None
    games = len(there) + len(back)
    mean = (there.sum() + back.sum()) / games
    errors = there - mean
    errors[: len(back)] += back - mean
    spread = Z95 * math.sqrt(len(there) / (len(there) - 1) * float(errors @ errors)) / games
    return float(mean - spread), float(mean + spread)


def play_pair(game: BaseGame, a: Agent, b: Agent, games: int, seed: int) -> Result:
    """How a fares against b in `games` games, half of them in each seat order (an odd one: a in seat 0)."""
    return Arena(game).play(a, b, Terms(games, seed))
