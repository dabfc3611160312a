"""Running means of figures by information state: a memory whose size does not grow with the number of samples."""

from __future__ import annotations

from typing import Any, Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.learn.memory import Arrays, Rows

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
    return Groups(found, first, count, _sums(inverse, count, figures) / count[:, None])


def _sums(inverse: Longs, count: Longs, figures: NDArray[Any]) -> NDArray[np.float64]:
    """By group, of which each sample belongs to `inverse`."""
    order = np.argsort(inverse, kind="stable")
    found: NDArray[np.float64] = np.add.reduceat(figures[order], np.cumsum(count) - count, axis=0)
    return found


class Means(Generic[Rows]):
    """Weighted means of figures by move, of all that was ever added, for at most as many information states as `blank` has rows.

    Rows that are the same are one. When there is no place left, a new one takes the place of one drawn at random. Weights are kept
    relative to the largest of their information state: in long games they are far apart. Called as `memory.Weighted` is.
    """

    def __init__(self, blank: Rows) -> None:
        rows, _, legal = blank
        self.room, self.held = len(rows), 0
        self._kind, self._at = type(blank), dict[int, int]()
        self._keys = np.zeros(self.room, np.int64)
        self._rows, self._legal = np.zeros(rows.shape, np.float32), np.zeros(legal.shape, np.bool_)
        self._sums, self._weights, self._tops = np.zeros(legal.shape), np.zeros(self.room), np.full(self.room, -np.inf)

    def add(self, new: Rows, weights: Any, rng: np.random.Generator) -> None:
        """Add figures by move to the means of their rows; `weights` are logarithms."""
        rows, figures, legal = new
        if not len(rows):
            return
        found, first, inverse, count = np.unique(row_keys(rows), return_index=True, return_inverse=True, return_counts=True)
        places = np.array([self._place(key, rng) for key in found.tolist()], np.int64)
        self._rows[places], self._legal[places] = rows[first], legal[first]
        tops = self._tops[places].copy()
        np.maximum.at(tops, inverse, weights)
        kept, weight = np.exp(self._tops[places] - tops), np.exp(weights - tops[inverse])
        total = _sums(inverse, count, np.column_stack([figures * weight[:, None], weight]))
        self._sums[places] = self._sums[places] * kept[:, None] + total[:, :-1]
        self._weights[places] = self._weights[places] * kept + total[:, -1]
        self._tops[places] = tops

    def _place(self, key: int, rng: np.random.Generator) -> int:
        at = self._at.get(key)
        if at is None:
            at = self.held if self.held < self.room else int(rng.integers(self.room))
            if self.held == self.room:
                del self._at[int(self._keys[at])]
                self._sums[at], self._weights[at], self._tops[at] = 0.0, 0.0, -np.inf
            self.held = min(self.held + 1, self.room)
            self._keys[at], self._at[key] = key, at
        return at

    def draw(self, count: int, rng: np.random.Generator) -> Rows:
        """Return the means of `count` information states, or of all if there are fewer."""
        at = slice(self.held) if self.held <= count else rng.integers(0, self.held, count)
        kind: Any = self._kind
        found: Rows = kind(self._rows[at], (self._sums[at] / self._weights[at][:, None]).astype(np.float32), self._legal[at])
        return found

    def effective(self) -> float:
        """Rows of equal weight that would be worth as much as those that are held."""
        if not self.held:
            return 0.0
        logs = self._tops[: self.held] + np.log(self._weights[: self.held])
        weights = np.exp(logs - logs.max())
        return float(weights.sum() ** 2 / np.sum(weights**2))

    def _arrays(self) -> Arrays:
        return {
            "keys": self._keys, "rows": self._rows, "legal": self._legal, "sums": self._sums, "weights": self._weights, "tops": self._tops,
        }  # fmt: skip

    def save(self, name: str = "") -> Arrays:
        return {f"{name}{part}": array[: self.held] for part, array in self._arrays().items()}

    def restore(self, arrays: Arrays, name: str = "") -> None:
        self.held = len(arrays[f"{name}keys"])
        for part, array in self._arrays().items():
            array[: self.held] = arrays[f"{name}{part}"]
        self._at = {key: i for i, key in enumerate(self._keys[: self.held].tolist())}


def row_keys(rows: Any) -> Longs:
    """The same number for rows that are the same, and hardly for others."""
    bits = np.ascontiguousarray(rows, np.float32).view(np.int32).astype(np.int64)
    factors = np.random.default_rng(0).integers(-(2**62), 2**62, rows.shape[1]) | 1
    with np.errstate(over="ignore"):
        found: Longs = np.sum(bits * factors, axis=1)
    return found
