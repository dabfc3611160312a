"""Counting without unfolding: states that can be reached by several orders of moves are visited once.

Gives the exact number of histories (paths) and of information states at a glance for games whose trees are far too large.
States are told apart by a 64-bit digest of their record: among a hundred million the chance of one mistake is about 1 in 4,000.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from nebel.core.game import END, Game
from nebel.core.recall import PERFECT
from nebel.core.rng import fold
from nebel.core.rule import kernel, rule
from nebel.core.unfold import look_away

LARGEST = np.int64(2**63 - 1)


class Reach(NamedTuple):
    """Distinct states before the end, and what follows from them (no histories if there are too many, or the game can go in circles)."""

    states: int
    histories: int | None
    terminals: int | None
    information_states: list[int] | None


@rule
def find(table: Any, key: Any) -> int:
    """The place of `key` in a hash table, or the free place where it belongs."""
    mask = table.shape[0] - 1
    slot = fold(key, 1) & mask
    while table[slot, 0] != 0 and table[slot, 0] != key:
        slot = (slot + 1) & mask
    return slot


@functools.lru_cache(maxsize=64)
def _explorer(game: Game, recall: str) -> Any:
    start, turn, moves, play, _, _ = game.rules
    glancing = recall != PERFECT
    look = game.glances[recall].look if glancing else look_away
    depth, width = game.depth, game.width

    @kernel
    def explore(states: Any, words: Any, table: Any, sights: Any, paths: Any, ends: Any) -> Any:
        """`table`: digest of a state and its number. `sights`: what is seen at a glance. By number, `paths`: histories from a state
        on (0 while they are being counted), and `ends`. Stops when the tables are nearly full."""
        seen = np.zeros(2, np.int64)
        legal = np.zeros((depth + 1, width), np.int64)
        count = np.zeros(depth + 1, np.int64)
        chosen = np.zeros(depth + 1, np.int64)
        number = np.zeros(depth + 1, np.int64)
        sum_paths, sum_ends = np.zeros(depth + 1, np.int64), np.zeros(depth + 1, np.int64)
        glances = np.zeros(2, np.int64)
        used, cyclic, huge = 0, False, False
        got_paths, got_ends = np.int64(0), np.int64(0)  # of the state just left
        d = 0
        start(states[0])
        entering = True
        while d >= 0 and used + 1 < paths.size:
            if entering:
                who = turn(states[d])
                if who == END:
                    got_paths = got_ends = np.int64(1)
                    d -= 1
                    entering = False
                    continue
                key = np.int64(1)
                for j in range(words.shape[1]):
                    key = fold(key, words[d, j])
                slot = find(table, key)
                if table[slot, 0] == key:
                    got_paths, got_ends = paths[table[slot, 1]], ends[table[slot, 1]]
                    cyclic = cyclic or got_paths == 0
                    d -= 1
                    entering = False
                    continue
                used += 1
                table[slot, 0], table[slot, 1] = key, used
                if glancing and who >= 0:
                    sight = 2 * np.int64(look(states[d], who)) + who + 1
                    slot = find(sights, sight)
                    if sights[slot, 0] == 0:
                        sights[slot, 0] = sight
                        glances[who] += 1
                count[d] = moves(states[d], legal[d])
                number[d], chosen[d], sum_paths[d], sum_ends[d] = used, 0, 1, 0
            else:
                huge = huge or sum_paths[d] > LARGEST - got_paths
                sum_paths[d] += got_paths
                sum_ends[d] += got_ends
            if chosen[d] == count[d]:
                got_paths, got_ends = sum_paths[d], sum_ends[d]
                paths[number[d]], ends[number[d]] = got_paths, got_ends
                d -= 1
                entering = False
                continue
            states[d + 1] = states[d]
            play(states[d + 1], legal[d, chosen[d]], seen)
            chosen[d] += 1
            d += 1
            entering = True
        return used, paths[1], ends[1], glances[0], glances[1], cyclic, huge, d < 0

    return explore


def explore(game: Game, recall: str = PERFECT, slots: int = 1 << 26) -> Reach | None:
    """Visit every distinct state once; None if that takes a table of more than `slots` (a power of two)."""
    room = min(1 << 17, slots)
    while True:
        states = game.blank(game.depth + 2)
        words = states.view(np.int64).reshape(len(states), -1)
        sights = np.zeros((room if recall != PERFECT else 1, 1), np.int64)
        tables = (np.zeros((room, 2), np.int64), sights, np.zeros(room * 3 // 4, np.int64), np.zeros(room * 3 // 4, np.int64))
        with np.errstate(over="ignore"):
            used, paths, ends, first, second, cyclic, huge, complete = _explorer(game, recall)(states, words, *tables)
        if complete:
            break
        if room == slots:
            return None
        room = min(8 * room, slots)  # starting anew costs an eighth, and spares all growing on the way
    countable = not (cyclic or huge)
    return Reach(
        int(used),
        int(paths) if countable else None,
        int(ends) if countable else None,
        None if recall == PERFECT else [int(first), int(second)],
    )
