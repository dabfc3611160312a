"""What a player remembers: observations folded into one integer.

A player's memory starts at a number of the seat and is folded with every own move and everything seen. Two histories that a
player cannot tell apart give the same memory, and (but for a chance of about n*n / 2**65 among n information states) no
others do. Trees do not rely on that: they compare the observations themselves.
"""

from __future__ import annotations

import numpy as np

from nebel.core.rng import fold
from nebel.core.rule import rule

PERFECT = "perfect"


@rule
def blank_memory(player: int) -> np.int64:
    return np.int64(player + 1)


@rule
def remember_move(memory: np.int64, move: int) -> np.int64:
    return fold(memory, np.int64(2 * move + 1))


@rule
def remember_sight(memory: np.int64, token: int) -> np.int64:
    return fold(memory, np.int64(2 * token)) if token != 0 else memory
