"""What a search remembers of the information states it has met: a few numbers a move, found by key.

Several searches can be kept side by side, each in its own row of the arrays, so that compiled code goes through them together.
A row of a searcher's pool holds, for an information state with n moves, n numbers of one kind, then n of the next: regrets,
sums of the average strategy and guesses, or values and visits; more may follow.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.rng import mix
from nebel.core.rule import kernel, rule
from nebel.core.state import State

USED, POOL, REFUSED = 0, 1, 2
"""What is counted: information states, numbers taken from the pool, and information states that found no room."""

NOWHERE = -1
FIRST_SLOTS = 1 << 10


class Memory(NamedTuple):
    table: Any  # by search and slot: key, 1 + place in the pool
    pool: Any  # by search
    counts: Any  # by search


class Own(NamedTuple):
    """One search's part of a memory."""

    table: Any
    pool: Any
    counts: Any


@rule
def own(m: Memory, k: int) -> Own:
    return Own(m.table[k], m.pool[k], m.counts[k])


@rule
def look_up(o: Own, key: Any) -> int:
    """Where a search keeps an information state (its key is never 0), or NOWHERE."""
    table = o.table
    mask = (table.size >> 1) - 1
    slot = mix(key) & mask
    while table[2 * slot] != 0:
        if table[2 * slot] == key:
            return table[2 * slot + 1] - 1
        slot = (slot + 1) & mask
    return NOWHERE


@rule
def enter(o: Own, key: Any, size: int) -> int:
    """Room for so many numbers of an information state that `look_up` did not find; NOWHERE if there is none left."""
    slots = o.table.size >> 1
    place = o.counts[POOL]
    if 4 * o.counts[USED] >= 3 * slots or place + size > o.pool.size:
        o.counts[REFUSED] += 1
        return NOWHERE
    slot = mix(key) & (slots - 1)
    while o.table[2 * slot] != 0:
        slot = (slot + 1) & (slots - 1)
    o.table[2 * slot], o.table[2 * slot + 1] = key, place + 1
    o.counts[USED] += 1
    o.counts[POOL] = place + size
    for i in range(place, place + size):
        o.pool[i] = 0.0
    return place


@kernel
def _move(old: Any, new: Any) -> None:
    mask = (new.shape[1] >> 1) - 1
    for k in range(old.shape[0]):
        for i in range(0, old.shape[1], 2):
            if old[k, i] != 0:
                slot = mix(old[k, i]) & mask
                while new[k, 2 * slot] != 0:
                    slot = (slot + 1) & mask
                new[k, 2 * slot], new[k, 2 * slot + 1] = old[k, i], old[k, i + 1]


def blank(searches: int, width: int, states: int = FIRST_SLOTS // 2) -> Memory:
    """Room for `states` information states a search, of `width` numbers each."""
    slots = 1 << max(6, (4 * states // 3).bit_length())
    return Memory(np.zeros((searches, 2 * slots), np.int64), np.zeros((searches, states * width)), np.zeros((searches, 3), np.int64))


def forget(m: Memory, k: int) -> None:
    """Search k starts afresh."""
    m.table[k] = 0
    m.counts[k] = 0


def make_room(m: Memory, states: int, width: int, most: int) -> Memory:
    """The same memory with room for `states` information states more in each search, as far as `most` bytes allow."""
    used, taken = int(m.counts[:, USED].max()), int(m.counts[:, POOL].max())
    slots, places = m.table.shape[1] >> 1, m.pool.shape[1]
    while 3 * slots < 4 * (used + states):
        slots *= 2
    while places < taken + states * width:
        places *= 2
    searches = len(m.counts)
    if (slots, places) == (m.table.shape[1] >> 1, m.pool.shape[1]) or 8 * searches * (2 * slots + places) > most:
        return m
    table, pool = np.zeros((searches, 2 * slots), np.int64), np.zeros((searches, places))
    with np.errstate(over="ignore"):
        _move(m.table, table)
    pool[:, :taken] = m.pool[:, :taken]
    return Memory(table, pool, m.counts)


@kernel
def _sums(m: Memory, k: int, keys: Any, row: Any, out: Any) -> None:
    o = own(m, k)
    for i in range(keys.size):
        place, n = look_up(o, keys[i]), row[i + 1] - row[i]
        if place != NOWHERE:
            for a in range(n):
                out[row[i] + a] = o.pool[place + n + a]


def sums(m: Memory, k: int, keys: Any, row: Any) -> NDArray[np.float64]:
    """The second numbers in information states whose moves stand at row[i] .. row[i+1]-1; 0 where nothing is known."""
    out = np.zeros(int(row[-1]))
    with np.errstate(over="ignore"):
        _sums(m, k, keys, row, out)
    return out


def numbers(m: Memory, k: int, key: int, *sizes: int) -> list[NDArray[np.float64]] | None:
    """The numbers of an information state in parts of these sizes, or None where it was never met."""
    with np.errstate(over="ignore"):
        place = look_up(own(m, k), np.int64(key))
    return None if place == NOWHERE else np.split(m.pool[k, place : place + sum(sizes)], np.cumsum(sizes[:-1]))


def shares(m: Memory, k: int, state: State) -> dict[int, float] | None:
    """The shares of the second numbers for the moves of whoever is to move; None where nothing is known."""
    options = state.options()
    held = numbers(m, k, state.key(state.turn), len(options), len(options))
    if held is None or held[1].sum() <= 0.0:
        return None
    return dict(zip(options, (held[1] / held[1].sum()).tolist(), strict=True))
