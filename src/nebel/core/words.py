"""States as 64-bit words, and one number for all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nebel.core.rng import fold
from nebel.core.rule import rule


@rule
def digest(words: Any, row: int) -> Any:
    mark = np.int64(1)
    for k in range(words.shape[1]):
        mark = fold(mark, words[row, k])
    return mark


def words_of(states: Any) -> NDArray[np.int64]:
    """The same memory as 64-bit words, a row a state."""
    return states.view(np.int64).reshape(len(states), -1)
