"""Games of a teacher against itself, both seats thinking for themselves; many games at a time.

What a teacher would play at the board is the lesson, and is played. OOS thinks by the network's advice, side by side in all games of a
task, so that the network is asked about all their simulations together. ISMCTS thinks for itself; its lesson is the shares of its visits
or, by regret matching, its average strategy. What comes of a task depends on the task alone, not on who works on it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nebel.core.game import Game
from nebel.core.registry import load
from nebel.core.regret import pick
from nebel.core.rng import generator, uniform
from nebel.core.state import State
from nebel.learn.memory import Experience
from nebel.policy.net import Layer, NetPolicy, encode, encoding_of
from nebel.search.ismcts import Ismcts, IsmctsSettings
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
    settings: OosSettings | IsmctsSettings  # of the teacher: they say which it is
    simulations: int
    stride: float
    wander: float
    seed: int
    first: int
    games: int


class Played(NamedTuple):
    """What was noted in games, in the order of time, and in which game of the run."""

    experience: Experience
    game: NDArray[np.int64]


class Teacher(Protocol):
    """Thinks in all seats of the games of a task; starts afresh when it is made."""

    def lessons(self, states: Mapping[int, State]) -> Sequence[dict[int, float]]:
        """How often each move should be played in these states, by the number of the game in the task."""
        ...


def play(task: Task) -> Played:
    """Play the games of a task; the experience of both seats."""
    game = in_rules(load(task.game))
    teacher = TEACHERS[type(task.settings)](game, task)
    rngs = [generator(task.seed, ROLES * (task.first + g)) for g in range(task.games)]
    states = [game.start().deal(rng) for rng in rngs]
    book = _Book(game, task.recall)
    while at_work := {g: state for g, state in enumerate(states) if not state.over}:
        for (g, state), shares in zip(at_work.items(), teacher.lessons(at_work), strict=True):
            book.note(task.first + g, state, shares)
            with np.errstate(over="ignore"):
                odds = np.array(list(shares.values())) * (1.0 - task.wander) + task.wander / len(shares)
                chosen = pick(odds, len(shares), uniform(rngs[g]))
            state.push(list(shares)[chosen]).deal(rngs[g])
    return book.closed()


def _luck(task: Task, game: int, seat: int) -> NDArray[np.int64]:
    """The chances of a player's search in a game of the task."""
    return generator(task.seed, ROLES * (task.first + game) + 1 + seat)


class OosTeacher:
    """OOS by the network's advice; a lesson is a step from the advice or, with a stride of 0, what the search would play."""

    def __init__(self, game: Game, task: Task) -> None:
        assert isinstance(task.settings, OosSettings)
        self._task, self._searches = task, _searches(game, task.recall, task.settings, task.games)
        self._searches.guide(NetPolicy(game.string, game.fingerprint, task.recall, task.layers))
        for k in range(self._searches.count):
            self._searches.forget(k, _luck(task, k // 2, k % 2))

    def lessons(self, states: Mapping[int, State]) -> Sequence[dict[int, float]]:
        searches, stride = self._searches, self._task.stride
        todo = np.zeros(searches.count, np.int64)
        at = {2 * g + state.turn: state for g, state in states.items()}
        for k, state in at.items():
            if len(state.options()) > 1:
                searches.aim(state, k)
                todo[k] = self._task.simulations
        searches.simulate(todo)
        return [searches.lesson(state, stride, k) if stride else searches.shares(state, k) for k, state in at.items()]


class IsmctsTeacher:
    """ISMCTS, which takes no advice."""

    def __init__(self, game: Game, task: Task) -> None:
        self._task, self._game = task, game
        self._searches: dict[tuple[int, int], Ismcts] = {}  # by game and seat

    def lessons(self, states: Mapping[int, State]) -> Sequence[dict[int, float]]:
        return [self._lesson(g, state) for g, state in states.items()]

    def _lesson(self, g: int, state: State) -> dict[int, float]:
        search = self._search(g, state.turn)
        if len(state.options()) > 1:
            search.think(state, self._task.simulations)
        return search.tendency(state)

    def _search(self, g: int, seat: int) -> Ismcts:
        if (g, seat) not in self._searches:
            assert isinstance(self._task.settings, IsmctsSettings)
            with np.errstate(over="ignore"):
                seed = int(uniform(_luck(self._task, g, seat)) * 2**53)
            self._searches[g, seat] = Ismcts(self._game, self._task.settings, seed)
        return self._searches[g, seat]


TEACHERS: dict[type[OosSettings | IsmctsSettings], Callable[[Game, Task], Teacher]] = {
    OosSettings: OosTeacher, IsmctsSettings: IsmctsTeacher,
}  # fmt: skip


@functools.lru_cache(maxsize=2)
def _searches(game: Game, recall: str, settings: OosSettings, games: int) -> Searches:
    """Kept from task to task; a network without layers stands in for the one to come."""
    return Searches(game, settings, policy=NetPolicy(game.string, game.fingerprint, recall, ()), count=2 * games, together=TOGETHER)


class _Book:
    """Experience as it comes."""

    def __init__(self, game: Game, recall: str) -> None:
        self.game, self.recall = game, recall
        self._notes: list[Experience] = []
        self._games: list[int] = []

    def note(self, number: int, state: State, shares: dict[int, float]) -> None:
        if len(shares) < 2:
            return
        new = Experience.blank(1, encoding_of(self.game, self.recall).size, self.game.actions)
        new.rows[0] = encode(state, self.recall)
        new.shares[0, list(shares)] = list(shares.values())
        new.legal[0, list(shares)] = True
        self._notes.append(new)
        self._games.append(number)

    def closed(self) -> Played:
        rows, shares, legal = zip(*self._notes, strict=True)
        return Played(Experience(np.concatenate(rows), np.concatenate(shares), np.concatenate(legal)), np.array(self._games, np.int64))
