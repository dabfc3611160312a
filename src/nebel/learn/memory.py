"""What learners remember: arrays of one length, laid out beforehand, in which new rows take the place of old ones.

`Reservoir`: every row that ever came is equally likely to be held, or, with a decay, the newer the rather. `LossWeighted`: the same, with
weights for losses. `Weighted`: the heavier the rather. `Ring`: the newest.
"""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadFile

Floats = NDArray[np.float32]
Reals = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]
Rows = TypeVar("Rows", bound=tuple[Any, ...])
"""A NamedTuple of arrays, all of one length."""


def put_back(saved: Arrays, own: Arrays) -> None:
    """Copy saved arrays into those of the same names; raises `BadFile` if their shapes or kinds differ."""
    for name, array in own.items():
        if (saved[name].shape, saved[name].dtype) != (array.shape, array.dtype):
            raise BadFile(f"the checkpoint is damaged: its {name} is not an array of {array.dtype} of shape {array.shape}")
        array[...] = saved[name]


class Experience(NamedTuple):
    """What players knew, and what an expert would do there."""

    rows: Floats  # encodings
    shares: Floats  # by move, 0 of moves that are not legal
    legal: NDArray[np.bool_]

    @classmethod
    def blank(cls, count: int, size: int, actions: int) -> Experience:
        return cls(np.zeros((count, size), np.float32), np.zeros((count, actions), np.float32), np.zeros((count, actions), np.bool_))


class Lessons(NamedTuple):
    """What players knew, and figures by move: gains, or shares of a strategy."""

    rows: Floats
    figures: Floats
    legal: NDArray[np.bool_]

    @classmethod
    def blank(cls, count: int, size: int, actions: int) -> Lessons:
        return cls(*Experience.blank(count, size, actions))


class Memory(Generic[Rows]):
    """Holds at most as many rows as it was given; `seen` is how many there were in all."""

    def __init__(self, blank: Rows) -> None:
        self._kept, self.room, self.held, self.seen = blank, len(blank[0]), 0, 0

    def put(self, new: Rows, source: Any, places: Any) -> None:
        for held, array in zip(self._kept, new, strict=True):
            held[places] = array[source]

    def draw(self, count: int, rng: np.random.Generator) -> Rows:
        """So many of what is held, with repetition."""
        at = rng.integers(0, self.held, count)
        kind: Any = type(self._kept)
        found: Rows = kind(*(array[at] for array in self._kept))
        return found

    def all(self) -> Rows:
        """What is held, not to be changed."""
        kind: Any = type(self._kept)
        found: Rows = kind(*(array[: self.held] for array in self._kept))
        return found

    def save(self, name: str = "") -> Arrays:
        fields: Any = self._kept
        return {**{f"{name}{key}": array[: self.held] for key, array in fields._asdict().items()}, f"{name}seen": np.array([self.seen])}

    def restore(self, arrays: Arrays, name: str = "") -> None:
        fields: Any = self._kept
        self.held, self.seen = len(arrays[f"{name}{fields._fields[0]}"]), int(arrays[f"{name}seen"][0])
        for key, held in fields._asdict().items():
            held[: self.held] = arrays[f"{name}{key}"]


class Reservoir(Memory[Rows]):
    """While there is room everything is kept. Then a new row is kept with probability max(room / all so far, 1 / decay), in the place of
    one drawn at random: with a decay what came in long ago fades exponentially, and more slowly the larger the decay."""

    def __init__(self, blank: Rows, decay: float = np.inf) -> None:
        super().__init__(blank)
        self.decay = decay

    def add(self, new: Rows, rng: np.random.Generator) -> None:
        self.put(new, *_admit(self, len(new[0]), rng, self.decay))


def _admit(memory: Memory[Any], count: int, rng: np.random.Generator, decay: float = np.inf) -> tuple[Any, Any]:
    """Return which of `count` new rows a reservoir keeps, and their places; they are counted as held and seen."""
    free = min(count, memory.room - memory.held)
    places = np.arange(memory.held, memory.held + free)
    rank = memory.seen + 1 + np.arange(free, count)
    kept = rng.random(count - free) < np.maximum(memory.room / rank, 1.0 / decay)
    source = np.concatenate([np.arange(free), np.arange(free, count)[kept]])
    memory.held += free
    memory.seen += count
    return source, np.concatenate([places, rng.integers(0, memory.room, int(kept.sum()))])


class LossWeighted(Memory[Rows]):
    """A reservoir without decay, of rows with weights, given as logarithms. Weights take no part in what is held or drawn: the loss of a
    row is multiplied by its weight, as in the papers on Deep CFR."""

    def __init__(self, blank: Rows) -> None:
        super().__init__(blank)
        self._weights = np.zeros(self.room)

    def add(self, new: Rows, weights: Reals, rng: np.random.Generator) -> None:
        source, places = _admit(self, len(weights), rng)
        self.put(new, source, places)
        self._weights[places] = weights[source]

    def draw_weighted(self, count: int, rng: np.random.Generator, scale: float) -> tuple[Rows, Floats]:
        """Return so many rows, all equally likely, with repetition, and their weights times `scale`."""
        at = rng.integers(0, self.held, count) if self.held else np.zeros(0, np.int64)
        kind: Any = type(self._kept)
        found: Rows = kind(*(array[at] for array in self._kept))
        return found, (scale * np.exp(self._weights[at])).astype(np.float32)

    def effective(self) -> float:
        """Rows of equal weight that would be worth as much as those that are held."""
        if not self.held:
            return 0.0
        logs = self._weights[: self.held]
        weights = np.exp(logs - logs.max())
        return float(weights.sum() ** 2 / np.sum(weights**2))

    def save(self, name: str = "") -> Arrays:
        return super().save(name) | {f"{name}weights": self._weights[: self.held]}

    def restore(self, arrays: Arrays, name: str = "") -> None:
        super().restore(arrays, name)
        self._weights[: self.held] = arrays[f"{name}weights"]


class Weighted(Memory[Rows]):
    """Rows with weights, given as logarithms. The key of a row is its log weight plus Gumbel noise, and the rows with the largest keys are
    held: light ones fall out first. Rows are drawn in proportion to their weights, divided by the chance that such a row is still here.

    Efraimidis, Spirakis. Weighted random sampling with a reservoir. 2006
    """

    def __init__(self, blank: Rows) -> None:
        super().__init__(blank)
        self._keys, self._weights, self._bar = np.zeros(self.room), np.zeros(self.room), -np.inf
        self._sums: Reals | None = None

    def add(self, new: Rows, weights: Reals, rng: np.random.Generator) -> None:
        keys = weights + rng.gumbel(size=len(weights))
        free = min(len(keys), self.room - self.held)
        self._hold(new, weights, keys, np.arange(free), np.arange(self.held, self.held + free))
        self.held += free
        self.seen += len(keys)
        late = np.arange(free, len(keys))
        if len(late):
            both = np.concatenate([self._keys, keys[late]])
            best = np.argpartition(both, len(late))
            self._bar = max(self._bar, float(both[best[: len(late)]].max()))
            out, best = best[: len(late)], best[len(late) :]
            self._hold(new, weights, keys, late[best[best >= self.room] - self.room], out[out < self.room])

    def _hold(self, new: Rows, weights: Reals, keys: Reals, source: Any, places: Any) -> None:
        self.put(new, source, places)
        self._keys[places], self._weights[places] = keys[source], weights[source]
        self._sums = None

    def _odds(self) -> Reals:
        weights = self._weights[: self.held]
        here = -np.expm1(-np.exp(np.minimum(weights - self._bar, 700.0)))
        return np.exp(weights - weights.max()) / np.maximum(here, 1e-300)

    def draw(self, count: int, rng: np.random.Generator) -> Rows:
        if not self.held:
            return self.all()
        if self._sums is None:
            self._sums = np.cumsum(self._odds())
        at = np.minimum(np.searchsorted(self._sums, rng.random(count) * self._sums[-1], side="right"), self.held - 1)
        kind: Any = type(self._kept)
        found: Rows = kind(*(array[at] for array in self._kept))
        return found

    def effective(self) -> float:
        """Rows of equal weight that would be worth as much as those that are held."""
        if not self.held:
            return 0.0
        odds = self._odds()
        return float(odds.sum() ** 2 / np.sum(odds**2))

    def save(self, name: str = "") -> Arrays:
        own = {"keys": self._keys[: self.held], "weights": self._weights[: self.held], "bar": np.array([self._bar])}
        return super().save(name) | {f"{name}{key}": array for key, array in own.items()}

    def restore(self, arrays: Arrays, name: str = "") -> None:
        super().restore(arrays, name)
        self._keys[: self.held], self._weights[: self.held] = arrays[f"{name}keys"], arrays[f"{name}weights"]
        self._bar, self._sums = float(arrays[f"{name}bar"][0]), None


class Ring(Memory[Rows]):
    """The newest rows."""

    def add(self, new: Rows) -> None:
        count = len(new[0])
        source = np.arange(max(0, count - self.room), count)
        self.put(new, source, (self.seen + source) % self.room)
        self.seen += count
        self.held = min(self.room, self.seen)
