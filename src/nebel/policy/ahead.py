"""Whether information states lie ahead of others: the same stones and more, after the same moves if their order is remembered."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from nebel.policy.states import Seen


class Ahead:
    """Information states to be looked up: `ahead(state)` tells whether one of them is `state`, or can come after it."""

    def __init__(self, states: Collection[Seen]) -> None:
        self._own = np.array([state.own for state in states], np.int64)
        self._met = np.array([state.met for state in states], np.int64)
        self._ways = {state.path[:count] for state in states for count in range(1, len(state.path) + 1)}

    def __call__(self, state: Seen) -> bool:
        if state.path:
            return state.path in self._ways
        return bool(np.any((state.own & ~self._own | state.met & ~self._met) == 0))
