"""Sorted keys."""

from __future__ import annotations

from typing import Any

from nebel.core.rule import rule


@rule
def find(keys: Any, key: int) -> int:
    """Where `key` stands in ascending `keys`; -1 if nowhere."""
    low, high = 0, keys.size
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < keys.size and keys[low] == key else -1
