"""Classic Dark Hex against a player who remembers the board only: that player's turns, and what a responder who sees everything wins."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nebel.core.rng import mix
from nebel.core.rule import rule
from nebel.dark_hex.forest import Board
from nebel.policy.checked import TOLERANCE

SMALL = 1e-12
OWN, WORLD, LEFT, LOW, AT, HIGH, THEN = range(7)
"""Of a frame of `Informed`: own stones and world, cells left to try, the range of worlds that may follow, and own stones there."""


class Informed(NamedTuple):
    """What a responder who sees everything wins, by own stones and world; and room to find it out."""

    key: Any
    value: Any
    used: Any
    frame: Any  # by depth
    sums: Any  # by depth: the best so far, and what the present move has won
    world: Any
    chance: Any
    todo: Any
    odds: Any


@rule
def answers(
    board: Board, shares: Any, player: int, world: Any, theirs: Any, p: Any, out: Any, chance: Any, top: Any, todo: Any, odds: Any
) -> Any:
    """A turn of the player who remembers the board, against the stones `theirs`. What the board may be afterwards is put on top
    of `out`, unless that player has won; returns the new top, or -1 - row where the shares of a row are not probabilities of free cells."""
    own = world >> board.cells
    todo[0], odds[0] = world & ((np.int64(1) << board.cells) - 1), p
    count, at = 1, 0
    while at < count:
        met, here = todo[at], odds[at]
        at += 1
        row = board.ternary[own] + 2 * board.ternary[met]
        total, sound = 0.0, True
        for c in range(board.cells):
            share = shares[row, c]
            total += share
            if share <= 0.0:
                sound = sound and share == 0.0
                continue
            stone = np.int64(1) << c
            sound = sound and not (own | met) & stone
            if theirs & stone:
                k = at
                while k < count and todo[k] != met | stone:
                    k += 1
                if k == count:
                    todo[k], odds[k] = met | stone, 0.0
                    count += 1
                odds[k] += here * share
            elif not board.joined[player, own | stone]:
                out[top], chance[top] = (own | stone) << board.cells | met, here * share
                top += 1
        if not (sound and abs(total - 1.0) <= TOLERANCE):
            return -1 - row
    return top


@rule
def find(keys: Any, key: Any) -> Any:
    """Where a key stands in a table of keys, or the empty place where it would."""
    slot = mix(key) & (keys.size - 1)
    while keys[slot] != 0 and keys[slot] != key:
        slot = (slot + 1) & (keys.size - 1)
    return slot


@rule
def informed(board: Board, shares: Any, me: int, own: Any, world: Any, seen: Informed) -> float:
    """What a responder on the move wins at most, who sees everything; -1: the table is full, -2 - row: that row is not sound."""
    frame, sums = seen.frame, seen.sums
    depth, value, entering = 0, 0.0, True
    frame[0, OWN], frame[0, WORLD], frame[0, LOW] = own, world, 0
    while True:
        own, world = frame[depth, OWN], frame[depth, WORLD]
        name = (own << 2 * board.cells | world) + 1
        done = False
        if entering:
            entering = False
            slot = find(seen.key, name)
            done = seen.key[slot] != 0
            value = seen.value[slot]
            if not done:
                free = ((np.int64(1) << board.cells) - 1) & ~(own | world >> board.cells)
                sums[depth, 0] = sums[depth, 1] = 0.0
                for c in range(board.cells):
                    if free >> c & 1 and board.joined[me, own | np.int64(1) << c]:
                        sums[depth, 0] = 1.0
                frame[depth, LEFT], frame[depth, AT], frame[depth, HIGH] = free, frame[depth, LOW], frame[depth, LOW]
        else:
            sums[depth, 1] += seen.chance[frame[depth, AT]] * value
            frame[depth, AT] += 1
        while not done:
            if frame[depth, AT] < frame[depth, HIGH]:
                frame[depth + 1, OWN], frame[depth + 1, WORLD] = frame[depth, THEN], seen.world[frame[depth, AT]]
                frame[depth + 1, LOW] = frame[depth, HIGH]
                entering = True
                break
            sums[depth, 0] = max(sums[depth, 0], sums[depth, 1])
            if frame[depth, LEFT] == 0 or sums[depth, 0] > 1.0 - SMALL:
                value, done = sums[depth, 0], True
                seen.used[0] += 1
                if 4 * seen.used[0] > 3 * seen.key.size:
                    return -1.0
                slot = find(seen.key, name)
                seen.key[slot], seen.value[slot] = name, value
                break
            stone = frame[depth, LEFT] & -frame[depth, LEFT]
            frame[depth, LEFT] ^= stone
            frame[depth, THEN], frame[depth, AT], sums[depth, 1] = own | stone, frame[depth, LOW], 0.0
            frame[depth, HIGH] = answers(
                board, shares, 1 - me, world, own | stone, 1.0, seen.world, seen.chance, frame[depth, LOW], seen.todo, seen.odds
            )
            if frame[depth, HIGH] < 0:
                return float(frame[depth, HIGH] - 1)
        if entering:
            depth += 1
        elif depth == 0:
            return value
        else:
            depth -= 1
