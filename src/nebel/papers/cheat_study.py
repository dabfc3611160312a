"""The agents of the Cheat paper: what each learns from which game, kept for all sections that ask for it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from nebel.core.game import BaseGame, Game
from nebel.core.registry import load
from nebel.core.tree import Tree, estimate, grow
from nebel.judge.best_response import Judge
from nebel.match.agents import Agent, PolicyAgent
from nebel.match.arena import play_deals
from nebel.match.bots import BotAgent
from nebel.papers.cheat_carried import brought, completed
from nebel.papers.paper import Terms
from nebel.policy.adopt import adopt
from nebel.policy.table import TablePolicy, Uniform
from nebel.solve.heritage import Held, Heritage, left_by
from nebel.solve.sampled import Sampled
from nebel.solve.settings import ChanceSampling
from nebel.solve.size import GIGABYTE

AGENTS = {"Memoryless": "memoryless", "HP-Aware": "hp-aware", "History-Aware": "history-aware", "General": "general"}
"""The paper's names of agents, and how nebel calls what they remember."""

ITERATIONS = 100
RANDOM, HEURISTIC = "Random", "Heuristic"
MEMORY = GIGABYTE


class Scale(NamedTuple):
    """How much is computed."""

    games: int  # of each pair
    seeds: int  # that learning in Cheat-3 is averaged over
    table: Sequence[int]  # health points of Table 1
    health: Sequence[str]  # of Fig. 2
    carried: int  # iterations in Cheat-4 of agents that come from Cheat-3
    tops: Sequence[int]  # health points of games in which a curriculum is judged exactly
    longest: int  # iterations there
    limit: int  # iterations of CFR+
    exact: int = 3  # health points of the largest game that is solved and judged exactly
    by_paper: bool = False  # whether agents learn as in the paper as well


QUICK = Scale(2_000, 1, (3, 4), ("2", "3", "4", "10", "100", "none"), 20, (2,), 1000, 30)
USUAL = Scale(100_000, 3, (3, 4, 5), ("2", "3", "4", "5", "10", "20", "100", "none"), 100, (2, 3), 1000, 300)
FULL = USUAL._replace(by_paper=True)
EVERY = 5
"""Iterations between two points of a curve."""

MOST_WATCHED = 4
"""Health points of the largest game in which agents play matches while they learn."""


OURS = ChanceSampling()
PAPERS = ChanceSampling(weights="plain", deals=1)
"""An iteration of the paper is one deal, and all iterations weigh the same."""

BY_PAPER = "as in the paper"


class Wanted(NamedTuple):
    """An agent: where it learns and what it remembers; from nothing or from itself in the game with one point less; and whether as in the
    paper: plain weights, one deal an iteration, and a first strategy that is the carried average."""

    hp: int
    recall: str
    seed: int
    carried: bool = False
    by_paper: bool = False

    def __str__(self) -> str:
        how = f"{'carried on' if self.carried else 'from nothing'}{f', {BY_PAPER}' if self.by_paper else ''}"
        return f"Cheat-{self.hp}, {self.recall}, seed {self.seed}, {how}"


class Point(NamedTuple):
    """How far an agent has come: iterations, histories met, and shares of games won."""

    iterations: float
    nodes: float
    random: float
    heuristic: float


class Learned(NamedTuple):
    """An agent after its last iteration, and on the way there."""

    curve: list[Point]
    nodes: int  # histories met
    policy: TablePolicy
    heritage: Heritage
    seconds: float  # of one processor, solving alone
    met: int  # information sets that were reached by anybody's moves, the same for both seats
    played: int  # those that the average strategy of their owner reaches


class Study:
    def __init__(self, terms: Terms, scale: Scale | None = None) -> None:
        self.terms = terms
        self.scale = scale or terms.choose(QUICK, USUAL, FULL)
        self._learned: dict[Wanted, Learned] = {}
        self.judge = lru_cache(maxsize=None)(self._judge)

    def close(self) -> None:
        self._learned.clear()
        self.judge.cache_clear()

    @property
    def seeds(self) -> range:
        return range(self.terms.seed, self.terms.seed + self.scale.seeds)

    def _judge(self, game: str, recall: str) -> Judge:
        """Of a whole game, enumerated once."""
        return Judge(grow(load(game), recall))

    def tree(self, hp: int, recall: str) -> Tree:
        return self.judge(f"cheat:{hp}", recall).tree

    def exploitability(self, hp: int, policy: TablePolicy) -> float:
        """In the full game with so many health points, which need not be the policy's own."""
        game, policy = adopt(load(f"cheat:{hp}"), policy)
        own = policy.recall in load(f"cheat:{hp}").glances
        judge = self.judge(f"cheat:{hp}", policy.recall) if own else Judge(grow(game, policy.recall))
        return judge.verdict(policy.on_tree(judge.tree).strategies).exploitability

    def learn(self, hp: int, recall: str, seed: int | None = None, carried: bool = False, by_paper: bool = False) -> Learned:
        """The agent of Cheat-hp after chance-sampled CFR."""
        wanted = Wanted(hp, recall, self.terms.seed if seed is None else seed, carried, by_paper)
        if wanted not in self._learned:
            before = self.learn(hp - 1, recall, wanted.seed, by_paper=by_paper).heritage if carried else None
            with self.terms.timed(str(wanted)):
                self._learned[wanted] = self._learn(wanted, before)
        return self._learned[wanted]

    def learn_all(self, wanted: Sequence[Wanted]) -> list[Learned]:
        """Two at a time."""
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(lambda which: self.learn(*which), wanted))

    def _learn(self, wanted: Wanted, before: Heritage | None) -> Learned:
        hp, recall, by_paper = wanted.hp, wanted.recall, wanted.by_paper
        game = load(f"cheat:{hp}")
        assert isinstance(game, Game)
        walked = estimate(game, (0, 1))
        solver = Sampled(game, recall, None, PAPERS if by_paper else OURS, wanted.seed, MEMORY, walked)
        iterations, fallback = ITERATIONS, None
        if before:
            solver.inherit(before.average_first().scaled(1.0, 0.0) if by_paper else before)
            iterations, fallback = self.scale.carried, brought(game, before, self.scale.carried, MEMORY, walked)
        solver.prepare()
        curve, seconds = [], 0.0
        while True:
            if hp <= MOST_WATCHED and (solver.iterations or before):
                agent = PolicyAgent(recall, _policy(solver, fallback))
                curve.append(Point(solver.iterations, solver.nodes, *(self.wins(game, agent, bot) for bot in (RANDOM, HEURISTIC))))
            if solver.iterations >= iterations:
                break
            begin = time.thread_time()
            solver.run(EVERY)
            seconds += time.thread_time() - begin
        heritage = left_by(solver, game, recall)
        first, second = heritage.held
        met = len(np.union1d(first.keys, second.keys))
        played = len(np.union1d(_with_total(first), _with_total(second)))
        return Learned(curve, solver.nodes, _policy(solver, fallback), heritage, seconds, met, played)

    def curve(self, hp: int, recall: str, carried: bool = False, by_paper: bool = False) -> list[Point]:
        """The mean over seeds; of Cheat-4 and larger games one seed, and all seeds if it is as in the paper."""
        seeds = self.seeds if hp <= 3 or by_paper else [self.terms.seed]
        runs = self.learn_all([Wanted(hp, recall, seed, carried, by_paper) for seed in seeds])
        return [
            Point(*(float(np.mean(column)) for column in zip(*points, strict=True)))
            for points in zip(*(run.curve for run in runs), strict=True)
        ]

    def wins(self, game: BaseGame, agent: Agent, bot: str) -> float:
        """The share of games, half of them in each seat, that an agent wins against one of the paper's bots."""
        deals, other = self.scale.games // 2, player(bot)
        there = play_deals(game, (agent, other), deals, self.terms.seed).scores
        back = play_deals(game, (other, agent), deals, self.terms.seed).scores
        return (np.count_nonzero(there > 0) + np.count_nonzero(back < 0)) / (2 * deals)

    def baseline(self, game: BaseGame) -> float:
        """Heuristic against Random."""
        return self.wins(game, player(HEURISTIC), RANDOM)


def player(bot: str) -> Agent:
    return BotAgent(HEURISTIC, "heuristic") if bot == HEURISTIC else PolicyAgent(RANDOM, Uniform())


def _policy(solver: Sampled, fallback: TablePolicy | None) -> TablePolicy:
    """What was learned so far, and where nothing was, what was brought along."""
    return completed(solver.policy({}), fallback) if fallback else solver.policy({})


def _with_total(held: Held) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Keys of information sets that the owner's average strategy reaches."""
    row = np.repeat(np.arange(len(held.keys)), np.diff(held.first))
    return held.keys[np.bincount(row, held.total, len(held.keys)) > 0]


def manners(study: Study) -> dict[bool, str]:
    """Whether agents learn as in the paper, and what that is called in titles: the paper's own way first, if it is asked for."""
    return {True: f", {BY_PAPER}", False: ""} if study.scale.by_paper else {False: ""}


def percent(x: float) -> str:
    return f"{100 * x:.1f} %"


def over(study: Study) -> str:
    return "One seed of learning" if study.scale.seeds == 1 else f"Means of {study.scale.seeds} seeds of learning"
