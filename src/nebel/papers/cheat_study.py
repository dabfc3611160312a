"""The agents of the Cheat paper: what each learns from which game, kept for all sections that ask for it."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from nebel.core.game import BaseGame
from nebel.core.registry import load
from nebel.core.tree import Tree, estimate, grow
from nebel.judge.best_response import Judge
from nebel.match.agents import Agent, PolicyAgent
from nebel.match.arena import play_deals
from nebel.match.bots import BotAgent
from nebel.papers.cheat_carried import brought, completed
from nebel.papers.cheat_kept import kept
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
    seeds: int  # that learning is averaged over
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
FULL = USUAL._replace(games=20_000, by_paper=True)
EVERY = 5
"""Iterations between two points of a curve."""

MOST_WATCHED = 4
"""Health points of the largest game in which agents play matches while they learn."""


OURS = ChanceSampling()
PAPERS = ChanceSampling(weights="plain", deals=1)
"""An iteration of the paper is one deal, and all iterations weigh the same."""

BY_PAPER = "as in the paper"

T95 = (12.706, 4.303, 3.182, 2.776)
"""97.5 % quantiles of Student's t, by degrees of freedom from 1."""


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
    """What is measured of an agent: on the way, and after its last iteration."""

    curve: list[Point]
    nodes: int  # histories met
    seconds: float  # of one processor, solving alone
    met: int  # information sets that were reached by anybody's moves, the same for both seats
    played: int  # those that the average strategy of their owner reaches


class Taught(NamedTuple):
    """An agent after its last iteration in a small game: what it plays, and what it hands on to the next game."""

    policy: TablePolicy
    heritage: Heritage


class Study:
    def __init__(self, terms: Terms, scale: Scale | None = None) -> None:
        self.terms = terms
        self.scale = scale or terms.choose(QUICK, USUAL, FULL)
        self._learned: dict[Wanted, Learned] = {}
        self.taught = lru_cache(maxsize=None)(self._taught)
        self.judge = lru_cache(maxsize=None)(self._judge)

    def close(self) -> None:
        self._learned.clear()
        self.taught.cache_clear()
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
        """The agent of Cheat-hp after chance-sampled CFR; kept in the folder of runs, if there is one."""
        wanted = Wanted(hp, recall, self.terms.seed if seed is None else seed, carried, by_paper)
        if wanted not in self._learned:
            iterations = self.scale.carried if carried else ITERATIONS
            name = f"{wanted}, {iterations} iterations, {self.scale.games} games a point from seed {self.terms.seed}"
            with self.terms.timed(str(wanted)):
                held = kept(self.terms.runs, name, lambda: self._learn(wanted)._asdict())
            self._learned[wanted] = Learned(**{**held, "curve": [Point(*point) for point in held["curve"]]})
        return self._learned[wanted]

    def learn_all(self, wanted: Sequence[Wanted]) -> list[Learned]:
        """Two at a time."""
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(lambda which: self.learn(*which), wanted))

    def _learn(self, wanted: Wanted) -> Learned:
        hp, recall, by_paper = wanted.hp, wanted.recall, wanted.by_paper
        before = self.taught(hp - 1, recall, wanted.seed, by_paper).heritage if wanted.carried else None
        solver, iterations, fallback = self._solver(wanted), ITERATIONS, None
        if before:
            solver.inherit(before.average_first().scaled(1.0, 0.0) if by_paper else before)
            iterations = self.scale.carried
            fallback = brought(solver.game, before, iterations, MEMORY, estimate(solver.game, (0, 1)))
        solver.prepare()
        curve, seconds = [], 0.0
        while True:
            if hp <= MOST_WATCHED and (solver.iterations or before):
                agent = PolicyAgent(recall, _policy(solver, fallback))
                curve.append(Point(solver.iterations, solver.nodes, *(self.wins(solver.game, agent, bot) for bot in (RANDOM, HEURISTIC))))
            if solver.iterations >= iterations:
                break
            begin = time.thread_time()
            solver.run(EVERY)
            seconds += time.thread_time() - begin
        first, second = solver.held()
        met = len(np.union1d(first.keys, second.keys))
        played = len(np.union1d(_with_total(first), _with_total(second)))
        return Learned(curve, solver.nodes, seconds, met, played)

    def _solver(self, wanted: Wanted) -> Sampled:
        game = load(f"cheat:{wanted.hp}")
        settings = PAPERS if wanted.by_paper else OURS
        return Sampled(game, wanted.recall, None, settings, wanted.seed, MEMORY, estimate(game, (0, 1)))

    def _taught(self, hp: int, recall: str, seed: int, by_paper: bool = False) -> Taught:
        """The agent of Cheat-hp, of few health points, after learning from nothing."""
        solver = self._solver(Wanted(hp, recall, seed, by_paper=by_paper))
        solver.run(ITERATIONS)
        return Taught(solver.policy({}), left_by(solver, solver.game, recall))

    def curves(self, hp: int, recall: str, carried: bool = False, by_paper: bool = False) -> list[list[Point]]:
        """The curve of each seed."""
        return [run.curve for run in self.learn_all([Wanted(hp, recall, seed, carried, by_paper) for seed in self.seeds])]

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


def mean_of(curves: list[list[Point]]) -> list[Point]:
    """The mean over seeds, point by point."""
    return [Point(*(float(np.mean(column)) for column in zip(*points, strict=True))) for points in zip(*curves, strict=True)]


def with_interval(values: Sequence[float]) -> str:
    """The mean over seeds as a percentage, and half of its 95 % interval by Student's t; of one seed the value alone."""
    half = half_interval(values)
    return percent(float(np.mean(values))) + (f" ± {100 * half:.1f}" if half is not None else "")


def half_interval(values: Sequence[float]) -> float | None:
    """Half of the 95 % interval of the mean by Student's t; None where there is one value, or more than `T95` knows."""
    if not 2 <= len(values) <= len(T95) + 1:
        return None
    return T95[len(values) - 2] * float(np.std(values, ddof=1)) / math.sqrt(len(values))


def over(study: Study) -> str:
    return "One seed of learning" if study.scale.seeds == 1 else f"Means of {study.scale.seeds} seeds of learning"
