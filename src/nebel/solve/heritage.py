"""What a solver of a larger game takes over from one of a smaller game of the same family: regrets, sums of the average and, if wanted,
the average as the first strategy.

Each information state of the larger game has one of the smaller in which it lies, found by the smaller game's glance (of
perfect recall: the same observations). Moves are matched by their numbers; what has no counterpart begins with nothing.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nebel.core.game import BaseGame
from nebel.core.kin import borrow
from nebel.core.recall import PERFECT
from nebel.core.tree import Side, Tree, grow
from nebel.policy.table import Longs, Reals, sort_rows


class Held(NamedTuple):
    """One player's rows, keys in ascending order; the moves of key i stand at first[i] .. first[i+1]-1."""

    keys: Longs
    first: Longs
    move: Longs
    regret: Reals
    total: Reals  # of the average strategy
    strategy: Reals = np.zeros(0)  # the average strategy, where it is to be the first one; empty: the first one follows from the regrets


class Heritage(NamedTuple):
    """What a solver of `game` has learned under a recall, for both players."""

    game: BaseGame
    recall: str
    held: tuple[Held, Held]
    ages: tuple[int, int] = (0, 0)  # iterations that led to the regrets and to the sums: weights that change with time go on from these

    @property
    def bytes(self) -> int:
        """How much memory it takes."""
        return sum(column.nbytes for held in self.held for column in held)

    def scaled(self, regrets: float, average: float) -> Heritage:
        first, second = (held._replace(regret=held.regret * regrets, total=held.total * average) for held in self.held)
        return self._replace(held=(first, second), ages=(self.ages[0] if regrets else 0, self.ages[1] if average else 0))

    def average_first(self) -> Heritage:
        """The same, and an information state plays the average strategy until its regrets change for the first time."""
        first, second = (held._replace(strategy=_averaged(held)) for held in self.held)
        return self._replace(held=(first, second))

    @property
    def begins_with_average(self) -> bool:
        """Whether the average strategy is to be the first one."""
        return any(held.strategy.size > 0 for held in self.held)


class Learner(Protocol):
    """A solver that can leave something behind."""

    iterations: int
    ages: tuple[int, int]

    def held(self) -> tuple[Held, Held]: ...


def left_by(solver: Learner, game: BaseGame, recall: str) -> Heritage:
    regrets, sums = solver.ages
    return Heritage(game, recall, solver.held(), (regrets + solver.iterations, sums + solver.iterations))


def _averaged(held: Held) -> Reals:
    """The shares of the sums, 0 where an information state has none."""
    row = np.repeat(np.arange(len(held.keys)), np.diff(held.first))
    sums = np.bincount(row, held.total, len(held.keys))[row]
    return np.divide(held.total, sums, out=np.zeros(len(row)), where=sums > 0.0)


NOTHING = Held(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0))


def sorted_held(keys: Longs, width: NDArray[np.integer], move: Longs, regret: Reals, total: Reals) -> Held:
    """From rows in any order."""
    keys, first, source = sort_rows(keys, width)
    return Held(keys.astype(np.int64), first, move[source].astype(np.int64), regret[source], total[source])


def lifted(held: Held, source: Longs, side: Side) -> Held:
    """What is held as rows of a larger game's side; `source` is one of `origins`."""
    found = sorted_held(side.keys, np.diff(side.row), side.move, np.append(held.regret, 0.0)[source], np.append(held.total, 0.0)[source])
    if not held.strategy.size:
        return found
    _, _, order = sort_rows(side.keys, np.diff(side.row))
    return found._replace(strategy=_first_strategy(held, source)[order])


def lay_down(heritage: Heritage, tree: Tree) -> list[tuple[Reals, Reals, Reals]]:
    """For each player, by table place of the tree: the regrets and sums that are taken over, and the first strategy (in any scale) where it
    is the carried average; 0 where there are none."""
    return [
        (np.append(held.regret, 0.0)[source], np.append(held.total, 0.0)[source], _first_strategy(held, source))
        for held, source in zip(heritage.held, origins(heritage, tree), strict=True)
    ]


def _first_strategy(held: Held, source: Longs) -> Reals:
    return np.append(held.strategy, 0.0)[source] if held.strategy.size else np.zeros(len(source))


def origins(heritage: Heritage, tree: Tree) -> list[Longs]:
    """For each player, by table place of the tree: the place in what is held that it takes over, -1 if there is none."""
    found = []
    for p, keys in enumerate(_old_keys(heritage, tree)):
        held, side = heritage.held[p], tree.sides[p]
        row = np.repeat(np.arange(side.states), np.diff(side.row))
        at = np.searchsorted(held.keys, keys)
        known = np.zeros(side.states, np.bool_)
        inside = at < len(held.keys)
        known[inside] = held.keys[at[inside]] == keys[inside]
        span = 1 + int(max(side.move.max(initial=0), held.move.max(initial=0)))
        codes = np.repeat(np.arange(len(held.keys)), np.diff(held.first)) * span + held.move
        order = np.argsort(codes)
        wanted = at[row] * span + side.move
        spot = np.minimum(np.searchsorted(codes[order], wanted), max(0, len(codes) - 1))
        hit = known[row] & (codes[order[spot]] == wanted) if len(codes) else np.zeros(len(row), np.bool_)
        source = np.full(len(row), -1, np.int64)
        source[hit] = order[spot[hit]]
        found.append(source)
    return found


def _old_keys(heritage: Heritage, tree: Tree) -> list[Longs]:
    """For each player, by information state: the key of the smaller game's information state in which it lies."""
    game, recall = borrow(tree.game, heritage.game, heritage.recall)
    if recall in (PERFECT, tree.recall):
        return [side.keys for side in tree.sides]
    found = []
    for side, seen in zip(tree.sides, grow(game, recall, tree.histories).sides, strict=True):
        keys = np.zeros(side.states, np.int64)
        keys[side.state] = seen.points.glance
        found.append(keys)
    return found
