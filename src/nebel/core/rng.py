"""Randomness as an argument: a counter-based generator (SplitMix64).

A generator is an int64 array (key, counter). The same key and counter give the same number anywhere: compiled, plain, or
after a checkpoint. Numbers go in and out signed, because Numba turns a mix of signed and unsigned into floats; what is meant
to overflow is computed unsigned, because compiled signed arithmetic may assume that it never does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import int64, uint64
from numpy.typing import NDArray

from nebel.core.rule import rule

GOLDEN = uint64(0x9E3779B97F4A7C15)
FIRST = uint64(0xBF58476D1CE4E5B9)
SECOND = uint64(0x94D049BB133111EB)
THREE, S27, S30, S31 = uint64(3), uint64(27), uint64(30), uint64(31)
UNIT = 2.0**-53


@rule
def mix(z: Any) -> Any:
    """A bijection of 64-bit integers in which every input bit changes about half of the output bits."""
    u = uint64(int64(z))
    u = (u ^ (u >> S30)) * FIRST
    u = (u ^ (u >> S27)) * SECOND
    return int64(u ^ (u >> S31))


@rule
def uniform(rng: NDArray[np.int64]) -> float:
    """The next number in [0, 1)."""
    rng[1] += 1
    return float((mix(uint64(rng[0]) + uint64(rng[1]) * GOLDEN) >> 11) & 0x1FFFFFFFFFFFFF) * UNIT


@rule
def fold(key: Any, token: Any) -> Any:
    """The memory of somebody who remembered `key` and now sees `token`; never 0."""
    folded = mix(uint64(int64(key)) * THREE + uint64(int64(token)) * GOLDEN)
    return folded if folded != 0 else int64(1)


def fold_all(keys: NDArray[np.int64], tokens: NDArray[np.int64]) -> NDArray[np.int64]:
    """`fold` of whole arrays."""
    with np.errstate(over="ignore"):
        u = keys.view(uint64) * THREE + tokens.view(uint64) * GOLDEN
        u = (u ^ (u >> S30)) * FIRST
        u = (u ^ (u >> S27)) * SECOND
    folded = (u ^ (u >> S31)).view(int64)
    return np.where(folded == 0, 1, folded)


def generator(seed: int, stream: int = 0) -> NDArray[np.int64]:
    """A generator for `seed`; streams of one seed are independent of each other."""
    with np.errstate(over="ignore"):
        key = mix(uint64(mix(uint64(seed & 0xFFFFFFFFFFFFFFFF) + GOLDEN)) + uint64(stream) * GOLDEN)
    return np.array([key, 0], np.int64)
