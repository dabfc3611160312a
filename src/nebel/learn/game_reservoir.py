"""A reservoir that counts games: the experiences of a game are kept together, and make room together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.learn.memory import Experience, Floats, Reservoir


class Games(NamedTuple):
    """The experiences of whole games, by game and number; what stands behind the last one of a game counts for nothing."""

    rows: Floats
    shares: Floats
    legal: NDArray[np.bool_]
    length: NDArray[np.int64]

    @classmethod
    def blank(cls, games: int, longest: int, size: int, actions: int) -> Games:
        shape = games, longest
        return cls(
            np.zeros((*shape, size), np.float32), np.zeros((*shape, actions), np.float32), np.zeros((*shape, actions), np.bool_),
            np.zeros(games, np.int64),
        )  # fmt: skip


class GameReservoir:
    """Holds at most so many games, of at most `longest` experiences each. A game is kept with the probability of a row of `Reservoir`; all
    experiences that are held are equally likely to be drawn."""

    def __init__(self, games: int, longest: int, size: int, actions: int, decay: float) -> None:
        self._shape = longest, size, actions
        self._games = Reservoir(Games.blank(games, *self._shape), decay)
        self.seen = 0

    def add(self, new: Experience, game: NDArray[np.int64], rng: np.random.Generator) -> None:
        """Add experiences in the order of time; `game` tells for each to which game it belongs."""
        _, which, count = np.unique(game, return_inverse=True, return_counts=True)
        order = np.argsort(which, kind="stable")
        place = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
        whole = Games.blank(len(count), *self._shape)
        at = which[order], place
        whole.rows[at], whole.shares[at], whole.legal[at] = new.rows[order], new.shares[order], new.legal[order]
        whole.length[:] = count
        self._games.add(whole, rng)
        self.seen += len(new.rows)

    def draw(self, count: int, rng: np.random.Generator) -> Experience:
        """So many of the experiences that are held, with repetition."""
        held = self._games.all()
        ends = np.cumsum(held.length)
        at = rng.integers(0, int(ends[-1]), count)
        game = np.searchsorted(ends, at, side="right")
        place = at - (ends - held.length)[game]
        return Experience(held.rows[game, place], held.shares[game, place], held.legal[game, place])

    def save(self) -> dict[str, NDArray[Any]]:
        return {**self._games.save(), "experiences": np.array([self.seen])}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        self._games.restore(arrays)
        self.seen = int(arrays["experiences"][0])
