"""Randomness as an argument: a counter-based generator (SplitMix64) in signed 64-bit arithmetic.

A generator is an int64 array (key, counter). The same key and counter give the same number anywhere: compiled, plain, or
after a checkpoint. Everything stays signed on purpose: Numba turns a mix of signed and unsigned into floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nebel.core.rule import rule

GOLDEN = np.int64(-7046029254386353131)
FIRST = np.int64(-4658895280553007687)
SECOND = np.int64(-7723592293110705685)
UNIT = 2.0**-53


@rule
def mix(z: Any) -> Any:
    """A bijection of 64-bit integers in which every input bit changes about half of the output bits."""
    z = (z ^ ((z >> 30) & 0x3FFFFFFFF)) * FIRST
    z = (z ^ ((z >> 27) & 0x1FFFFFFFFF)) * SECOND
    return z ^ ((z >> 31) & 0x1FFFFFFFF)


@rule
def uniform(rng: NDArray[np.int64]) -> float:
    """The next number in [0, 1)."""
    rng[1] += 1
    return float((mix(rng[0] + rng[1] * GOLDEN) >> 11) & 0x1FFFFFFFFFFFFF) * UNIT


@rule
def fold(key: Any, token: Any) -> Any:
    """The memory of somebody who remembered `key` and now sees `token`; never 0."""
    folded = mix(key * 3 + token * GOLDEN)
    return folded if folded != 0 else np.int64(1)


def generator(seed: int, stream: int = 0) -> NDArray[np.int64]:
    """A generator for `seed`; streams of one seed are independent of each other."""
    with np.errstate(over="ignore"):
        key = mix(mix(np.int64(seed & 0x7FFFFFFFFFFFFFFF) + GOLDEN) + np.int64(stream) * GOLDEN)
    return np.array([key, 0], np.int64)
