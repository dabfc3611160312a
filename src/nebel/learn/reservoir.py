"""A reservoir of experience: the newest counts most, and the oldest is not all forgotten.

While there is room everything is kept. Then a new experience is kept with probability max(room / all so far, 1 / decay), in the
place of one drawn at random: what came in long ago fades exponentially, and more slowly the larger the decay.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Arrays = dict[str, NDArray[Any]]


class Experience(NamedTuple):
    """What players knew, and what an expert would do there."""

    rows: Floats  # encodings
    shares: Floats  # by move, 0 of moves that are not legal
    legal: NDArray[np.bool_]

    @classmethod
    def blank(cls, count: int, size: int, actions: int) -> Experience:
        return cls(np.zeros((count, size), np.float32), np.zeros((count, actions), np.float32), np.zeros((count, actions), np.bool_))


class Reservoir:
    """Holds at most `room` experiences; `seen` is how many there were in all."""

    def __init__(self, room: int, decay: float, size: int, actions: int) -> None:
        self.room, self.decay, self.held, self.seen = room, decay, 0, 0
        self._kept = Experience.blank(room, size, actions)

    def add(self, new: Experience, rng: np.random.Generator) -> None:
        count = len(new.rows)
        free = min(count, self.room - self.held)
        places = np.arange(self.held, self.held + free)
        rank = self.seen + 1 + np.arange(free, count)
        kept = rng.random(count - free) < np.maximum(self.room / rank, 1.0 / self.decay)
        source = np.concatenate([np.arange(free), np.arange(free, count)[kept]])
        places = np.concatenate([places, rng.integers(0, self.room, int(kept.sum()))])
        for held, array in zip(self._kept, new, strict=True):
            held[places] = array[source]
        self.held += free
        self.seen += count

    def draw(self, count: int, rng: np.random.Generator) -> Experience:
        """So many of what is held, with repetition."""
        at = rng.integers(0, self.held, count)
        kept = self._kept
        return Experience(kept.rows[at], kept.shares[at], kept.legal[at])

    def save(self) -> Arrays:
        return {**{name: array[: self.held] for name, array in self._kept._asdict().items()}, "seen": np.array([self.seen])}

    def restore(self, arrays: Arrays) -> None:
        self.held, self.seen = len(arrays["rows"]), int(arrays["seen"][0])
        for name, held in self._kept._asdict().items():
            held[: self.held] = arrays[name]
