"""What takes long to compute, computed once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")


class _Turn:
    """Whose turn it is to compute something."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


class Once(Generic[T]):
    """The last results by their names; several threads may ask, and whoever asks for what is being computed waits for it."""

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self._found: dict[Hashable, T] = {}
        self._turns: WeakValueDictionary[Hashable, _Turn] = WeakValueDictionary()
        self._lock = threading.Lock()

    def get(self, name: Hashable, compute: Callable[[], T]) -> T:
        """Return the result of this name, or compute it; nothing is kept of a computation that raises."""
        with self._lock:
            turn = self._turns.setdefault(name, _Turn())
        with turn.lock:
            with self._lock:
                if name in self._found:
                    return self._found[name]
            found = compute()
            with self._lock:
                self._found[name] = found
                for old in list(self._found)[: -self._kept]:
                    del self._found[old]
            return found
