"""What is known of information states, summed up: of each the encoding, the legal moves and sums by move. Far less than the samples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.learn.memory import Arrays, Experience

Longs = NDArray[np.int64]


class Groups(NamedTuple):
    """Samples by information state: `first` has one of each, `size` how many there were, `mean` of some figures by move."""

    key: Longs
    first: Longs
    size: Longs
    mean: NDArray[np.float64]


def group(keys: Longs, figures: NDArray[Any]) -> Groups:
    """Sort samples by their information states."""
    found, first, inverse, count = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(inverse, kind="stable")
    sums = np.add.reduceat(figures[order], np.cumsum(count) - count, axis=0)
    return Groups(found, first, count, sums / count[:, None])


class Tallies:
    """Sums for at most `room` information states; beyond that a new one takes the place of one drawn at random."""

    def __init__(self, room: int, size: int, actions: int) -> None:
        self.room, self.held = room, 0
        self._at: dict[int, int] = {}
        self._keys = np.zeros(room, np.int64)
        self._rows, self._legal = np.zeros((room, size), np.float32), np.zeros((room, actions), np.bool_)
        self._sums = np.zeros((room, actions))

    def add(self, keys: Longs, rows: Any, legal: Any, amounts: Any, rng: np.random.Generator) -> None:
        """Each key is there once."""
        places = np.array([self._place(key, rng) for key in keys.tolist()], np.int64)
        self._rows[places], self._legal[places] = rows, legal
        self._sums[places] += amounts

    def _place(self, key: int, rng: np.random.Generator) -> int:
        at = self._at.get(key)
        if at is None:
            at = self.held if self.held < self.room else int(rng.integers(self.room))
            if self.held == self.room:
                del self._at[int(self._keys[at])]
                self._sums[at] = 0.0
            self.held = min(self.held + 1, self.room)
            self._keys[at], self._at[key] = key, at
        return at

    def draw(self, count: int, rng: np.random.Generator) -> Experience:
        """Shares of so many information states, or of all if there are fewer."""
        at: Any = slice(self.held) if self.held <= count else rng.integers(0, self.held, count)
        sums = self._sums[at]
        return Experience(self._rows[at], (sums / sums.sum(axis=1, keepdims=True)).astype(np.float32), self._legal[at])

    def _arrays(self) -> Arrays:
        return {"keys": self._keys, "rows": self._rows, "legal": self._legal, "sums": self._sums}

    def save(self) -> Arrays:
        return {f"tallies.{name}": array[: self.held] for name, array in self._arrays().items()}

    def restore(self, arrays: Arrays) -> None:
        self.held = len(arrays["tallies.keys"])
        for name, array in self._arrays().items():
            array[: self.held] = arrays[f"tallies.{name}"]
        self._at = {key: i for i, key in enumerate(self._keys[: self.held].tolist())}
