"""The networks of the ExIt-OOS paper: trained once, kept at several ages, for all sections that ask for them."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

from nebel.core.game import Game
from nebel.core.recall import PERFECT
from nebel.core.registry import load
from nebel.learn.exit_oos import ExitOos, ExitOosSettings
from nebel.learn.workers import hire
from nebel.match.agents import Agent, PolicyAgent, read
from nebel.match.arena import Arena, Result
from nebel.match.arena import Terms as Match
from nebel.match.thinkers import Thinker
from nebel.papers.exit_oos_replica import LARGE, PUBLISHED, SMALL
from nebel.papers.paper import Terms
from nebel.policy.net import NetPolicy
from nebel.search.oos import OosSettings
from nebel.search.target import in_rules


class Plan(NamedTuple):
    """How a network is trained: settings of ExIt-OOS, seconds, the iterations after which it is kept besides the end, and which end it."""

    settings: dict[str, Any]
    seconds: float
    kept: Sequence[int]
    iterations: int = 10**9


class Scale(NamedTuple):
    """How much is computed."""

    steps: Sequence[int]  # simulations of a move in Leduc
    leduc: int  # iterations of training for each
    plans: dict[str, Plan]  # of Goofspiels
    games: int  # of the last network against each opponent
    younger: int  # of networks that are not the last
    rated: int  # of each pair of the table of ratings
    rival: str  # how long OOS and ISMCTS think
    advised: str  # how long a search by a network's advice thinks, and the OOS that it is set beside
    workers: str = str(os.cpu_count() or 1)


KEPT = {game: tuple(ages) for game, ages in PUBLISHED.items()}
"""The iterations of the paper's tables."""

SETTINGS: dict[str, dict[str, Any]] = {
    SMALL: {"simulations": 500, "hidden": "128-64", "trust": 200.0, "stride": 5.0},
    LARGE: {"simulations": 1000, "hidden": "128-128-64", "trust": 1000.0, "stride": 5.0},
}
OUR_LEDUC: dict[str, Any] = {"hidden": "128-64", "stride": 0.0, "trust": 0.0, "room": 400_000, "wander": 0.3, "steps": 128, "delta": 0.2}
"""Ours, whatever the expert's simulations: lessons are what the search would play, as in the paper."""

TRUST = 2000.0
"""Of a search by a network's advice at the board, which is longer than those that it learned from."""

STEPS = (1000, 5000, 10_000, 100_000)
AGES = {SMALL: Plan(SETTINGS[SMALL], 150.0, KEPT[SMALL]), LARGE: Plan(SETTINGS[LARGE], 400.0, (10, *KEPT[LARGE]))}
USUAL = Scale(STEPS, 40, AGES, 2000, 200, 100, "10k", "2k")
FULL = Scale(STEPS, 200, {game: plan._replace(seconds=8 * plan.seconds) for game, plan in AGES.items()}, 5000, 5000, 1000, "10k", "10k")
QUICK = Scale((50, 500), 5, {game: Plan({**SETTINGS[game], "simulations": 50}, 10.0, (2,)) for game in KEPT}, 200, 100, 20, "200", "100")


class Aged(NamedTuple):
    """A network after so many iterations and seconds."""

    iterations: int
    seconds: float
    policy: NetPolicy


class Study:
    def __init__(self, terms: Terms, scale: Scale | None = None) -> None:
        self.terms = terms
        self.scale = scale or terms.choose(QUICK, USUAL, FULL)
        self.trained = lru_cache(maxsize=None)(self._trained)
        self.arena = lru_cache(maxsize=None)(self._arena)

    def close(self) -> None:
        self.trained.cache_clear()
        self.arena.cache_clear()

    def train(self, game: Game, plan: Plan) -> list[Aged]:
        """From nothing; the last one is what the time allowed."""
        crew, found = hire(self.scale.workers), []
        try:
            learner = ExitOos(game, PERFECT, ExitOosSettings(**plan.settings), self.terms.seed, crew)
            learner.prepare()
            begun, spent = time.perf_counter(), 0.0
            while not learner.iterations or (spent < plan.seconds and learner.iterations < plan.iterations):
                learner.iterate()
                spent = time.perf_counter() - begun
                if learner.iterations in plan.kept:
                    found.append(Aged(learner.iterations, spent, learner.policy({})))
            if not found or found[-1].iterations < learner.iterations:
                found.append(Aged(learner.iterations, spent, learner.policy({})))
        finally:
            crew.close()
        return found

    def _trained(self, game: str) -> list[Aged]:
        with self.terms.timed(f"{game}: training"):
            return self.train(in_rules(load(game)), self.scale.plans[game])

    def _arena(self, game: str) -> Arena:
        return Arena(load(game))

    def match(self, game: str, a: Agent, b: Agent, games: int) -> Result:
        with self.terms.timed(f"{game}: {a.name} against {b.name}, {games:,} games"):
            return self.arena(game).play(a, b, Match(games, self.terms.seed))

    def network(self, aged: Aged) -> Agent:
        return PolicyAgent(f"network after {aged.iterations:,}", aged.policy)

    def searching(self, aged: Aged) -> Agent:
        """A search by the network's advice."""
        rival = read(f"oos:{self.scale.advised}")
        assert isinstance(rival, Thinker)
        return Thinker(f"network + oos:{self.scale.advised}", rival.budget, OosSettings(trust=TRUST), aged.policy)

    def round_robin(self, game: str, agents: Sequence[Agent], games: int) -> list[Result]:
        return [self.match(game, a, b, games) for a, b in combinations(agents, 2)]
