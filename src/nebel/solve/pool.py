"""Kernels that read and change the tables of sampling solvers in place, so that nothing as large as a table is copied.

A pool holds rows: for each information state its n regrets, then its n sums of the average strategy. Its half is where a row begins,
divided by two: rows of n moves are n apart there. `starts` says by half whether a row begins there, and ends with one True more.
A table is a hash table of pairs: key, 1 + place in the pool. `mixed` says whether its slots are hashes of the keys, or the keys.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nebel.core.rng import mix
from nebel.core.rule import kernel, rule
from nebel.core.sequence import shares_of

BLOCK = 1 << 13
"""Information states whose shares are computed at once."""


@rule
def place_of(table: Any, mixed: bool, key: Any) -> int:
    """Return where the row of a key that is in the table begins."""
    mask = (table.size >> 1) - 1
    slot = (mix(key) if mixed else key) & mask
    while table[2 * slot] != key:
        slot = (slot + 1) & mask
    return table[2 * slot + 1] - 1


@rule
def width_at(starts: Any, half: Any) -> int:
    """Return how many moves the row that begins here has."""
    end = half + 1
    while not starts[end]:
        end += 1
    return end - half


@kernel
def rehash(old: Any, new: Any, mixed: bool) -> None:
    """Write all that is in a table into a larger one."""
    mask = (new.size >> 1) - 1
    for i in range(0, old.size, 2):
        if old[i] != 0:
            slot = (mix(old[i]) if mixed else old[i]) & mask
            while new[2 * slot] != 0:
                slot = (slot + 1) & mask
            new[2 * slot], new[2 * slot + 1] = old[i], old[i + 1]


@kernel
def mark_starts(table: Any, starts: Any) -> None:
    """Fill `starts`."""
    for i in range(0, table.size, 2):
        if table[i] != 0:
            starts[(table[i + 1] - 1) >> 1] = True
    starts[starts.size - 1] = True


def check_pool(table: NDArray[np.int64], counts: NDArray[np.int64], owner: NDArray[np.int8], used: int) -> None:
    """Raise `ValueError` unless a table that was read from a file has room, and all its rows begin within `used` places of the pool."""
    slots = table.size >> 1
    if table.size < 4 or table.size != 1 << (table.size.bit_length() - 1):
        raise ValueError(f"a table of {table.size:,} numbers")
    held = table[0::2] != 0
    place, count = table[1::2][held] - 1, int(np.count_nonzero(held))
    if count >= slots or used % 2 or counts[:2].tolist() != [count, used]:
        raise ValueError("the table does not hold as many information states as it says")
    if np.any((place < 0) | (place >= used) | (place & 1)) or np.any((owner < 0) | (owner > 1)):
        raise ValueError("rows of the table are outside of its pool")


@kernel
def keys_of(table: Any, owner: Any, player: int, keys: Any) -> int:
    """Write down a player's keys, in no order, as far as there is room; return how many there are."""
    found = 0
    for i in range(0, table.size, 2):
        if table[i] != 0 and owner[(table[i + 1] - 1) >> 1] == player:
            if found < keys.size:
                keys[found] = table[i]
            found += 1
    return found


@kernel
def widths_of(table: Any, mixed: bool, starts: Any, keys: Any, first: Any) -> None:
    """Write down where the moves of each key begin if they stand one after the other."""
    first[0] = 0
    for i in range(keys.size):
        first[i + 1] = first[i] + width_at(starts, place_of(table, mixed, keys[i]) >> 1)


@kernel
def rows_of(
    table: Any, mixed: bool, moves: Any, pool: Any, keys: Any, first: Any, move: Any, regret: Any, total: Any, current: bool
) -> None:
    """Copy the moves, regrets (if there is room for them) and sums of these keys; `current`: where all sums are 0, positive regrets in
    place of sums."""
    for i in range(keys.size):
        place, n = place_of(table, mixed, keys[i]), first[i + 1] - first[i]
        summed = not current
        for j in range(n):
            move[first[i] + j] = moves[(place >> 1) + j]
            total[first[i] + j] = pool[place + n + j]
            summed = summed or pool[place + n + j] != 0.0
            if regret.size > 0:
                regret[first[i] + j] = pool[place + j]
        if not summed:
            for j in range(n):
                total[first[i] + j] = max(pool[place + j], 0.0)


@kernel
def gather(pool: Any, starts: Any, sums: bool, out: Any) -> None:
    """Copy the regrets or the sums of all rows, in the order of the pool."""
    half = 0
    while half < out.size:
        n = width_at(starts, half)
        for j in range(n):
            out[half + j] = pool[2 * half + (n if sums else 0) + j]
        half += n


@kernel
def scatter(pool: Any, starts: Any, sums: bool, values: Any) -> None:
    """Put values in the place of the regrets or the sums of all rows."""
    half = 0
    while half < values.size:
        n = width_at(starts, half)
        for j in range(n):
            pool[2 * half + (n if sums else 0) + j] = values[half + j]
        half += n


@kernel
def discount(pool: Any, starts: Any, gain: float, loss: float, keep: float) -> None:
    """Multiply the regrets, positive or not, and the sums of all rows."""
    half = 0
    while half < starts.size - 1:
        if not starts[half]:  # before the first row
            half += 1
            continue
        n = width_at(starts, half)
        for j in range(2 * half, 2 * half + n):
            pool[j] *= gain if pool[j] > 0.0 else loss
            pool[j + n] *= keep
        half += n


def to_shares(first: NDArray[np.int64], sums: NDArray[np.float64]) -> None:
    """Put shares in the place of sums."""
    for begin in range(0, len(first) - 1, BLOCK):
        row = first[begin : begin + BLOCK + 1]
        here = slice(int(row[0]), int(row[-1]))
        sums[here] = shares_of(row - row[0], sums[here])
