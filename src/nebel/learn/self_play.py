"""Games of OOS against itself, both seats thinking for themselves, by a network's advice; many games at a time.

A task is a few games that are played side by side, so that the network is asked about all their simulations together. What
comes of a task depends on the task alone, not on who works on it.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from nebel.core.game import Game
from nebel.core.registry import load
from nebel.core.regret import pick
from nebel.core.rng import generator, uniform
from nebel.core.state import State
from nebel.learn.memory import Experience
from nebel.policy.net import Layer, NetPolicy, encode, encoding_of
from nebel.search.online import Searches
from nebel.search.oos import OosSettings
from nebel.search.target import in_rules

ROLES = 3
"""Of a game's chances: those of the deal and of moves, and those of each player's search."""

TOGETHER = 16
"""Simulations of a search that wait for the network together; there are as many searches as players."""


@dataclass(frozen=True)
class Task:
    """Games `first` to `first + games - 1` of a run with this seed."""

    game: str
    recall: str
    layers: tuple[Layer, ...]
    settings: OosSettings
    simulations: int
    stride: float
    wander: float
    seed: int
    first: int
    games: int


def play(task: Task) -> Experience:
    """Play the games of a task; the experience of both seats."""
    game = in_rules(load(task.game))
    net = NetPolicy(game.string, game.fingerprint, task.recall, task.layers)
    searches = _searches(game, task.recall, task.settings, task.games)
    searches.guide(net)
    rngs = [generator(task.seed, ROLES * (task.first + g)) for g in range(task.games)]
    for k in range(searches.count):
        searches.forget(k, generator(task.seed, ROLES * (task.first + k // 2) + 1 + k % 2))
    states = [game.start().deal(rng) for rng in rngs]
    book = _Book(game, task.recall)
    while at_work := [g for g, state in enumerate(states) if not state.over]:
        todo = np.zeros(searches.count, np.int64)
        for g in at_work:
            if len(states[g].options()) > 1:
                k = 2 * g + states[g].turn
                searches.aim(states[g], k)
                todo[k] = task.simulations
        searches.simulate(todo)
        for g in at_work:
            state = states[g]
            k = 2 * g + state.turn
            shares = searches.lesson(state, task.stride, k) if task.stride else searches.shares(state, k)
            book.note(state, shares)
            with np.errstate(over="ignore"):
                odds = np.array(list(shares.values())) * (1.0 - task.wander) + task.wander / len(shares)
                chosen = pick(odds, len(shares), uniform(rngs[g]))
            state.push(list(shares)[chosen]).deal(rngs[g])
    return book.closed()


@functools.lru_cache(maxsize=2)
def _searches(game: Game, recall: str, settings: OosSettings, games: int) -> Searches:
    """Kept from task to task; a network without layers stands in for the one to come."""
    return Searches(game, settings, policy=NetPolicy(game.string, game.fingerprint, recall, ()), count=2 * games, together=TOGETHER)


class _Book:
    """Experience as it comes."""

    def __init__(self, game: Game, recall: str) -> None:
        self.game, self.recall = game, recall
        self._notes: list[Experience] = []

    def note(self, state: State, shares: dict[int, float]) -> None:
        if len(shares) < 2:
            return
        new = Experience.blank(1, encoding_of(self.game, self.recall).size, self.game.actions)
        new.rows[0] = encode(state, self.recall)
        new.shares[0, list(shares)] = list(shares.values())
        new.legal[0, list(shares)] = True
        self._notes.append(new)

    def closed(self) -> Experience:
        rows, shares, legal = zip(*self._notes, strict=True)
        return Experience(np.concatenate(rows), np.concatenate(shares), np.concatenate(legal))
