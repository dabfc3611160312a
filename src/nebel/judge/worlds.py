"""Worlds: what may be hidden from a responder to a mixture of pure strategies in Dark Hex, and how a move changes it.

A world is what one strategy of the mixture remembers, a node of its tree, with a bit for its turned image
(`dark_hex/forest.py`). Worlds stand on a stack, in groups that look the same to the responder.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nebel.core.rng import mix
from nebel.core.rule import rule
from nebel.dark_hex.forest import FLASH, NONE, SILENT, Board, Forest, hear, reply, turn_noise

NO, YES, NO_ROOM, FULL, FINE = 0, 1, 2, 3, 4
"""Answers of the search; NO_ROOM: the forest must be enlarged, FULL: the search's own tables."""

SMALL = 1e-12
SALT = 0x5851F42D4C957F2D


class Seen(NamedTuple):
    """Worlds that a responder who sees everything wins or does not: node, stones and answer in one number."""

    table: Any
    used: Any


class Stacks(NamedTuple):
    """Room for the search: worlds (nodes), and groups of them that look the same."""

    world: Any
    sight: Any  # by world: what the responder saw last
    begin: Any  # by group: its worlds
    end: Any
    mass: Any
    own: Any
    tried: Any
    last: Any  # what was seen last


@rule
def winnable(board: Board, sure: Any, forest: Forest, me: int, own: Any, node: Any, seen: Seen, stack: Any) -> int:
    """YES if a responder that sees everything, with the stones `own` and on the move, beats the strategy whose memory is `node`.
    Where a bump hands over the turn, that responder may also pass by bumping."""
    if board.leak != SILENT and not board.abrupt:
        return YES  # noises could be made on purpose, again and again; the bound is not worth it
    mask = seen.table.size - 1
    depth, answer, entering = 0, NO, True
    stack[0, 0], stack[0, 1] = own, node
    while True:
        own, node = stack[depth, 0], stack[depth, 1]
        name = (node << 16 | own) << 1 | 1  # never 0
        if entering:
            entering = False
            slot = mix(name) & mask
            while seen.table[slot] != 0 and seen.table[slot] >> 1 != name:
                slot = (slot + 1) & mask
            if seen.table[slot] != 0:
                answer = seen.table[slot] & 1
                if depth == 0:
                    return answer
                depth -= 1
                continue
            theirs = np.int64(forest.own[node])
            free = ((np.int64(1) << board.cells) - 1) & ~(own | theirs)
            answer = NO
            for c in range(board.cells):
                if free >> c & 1 and board.joined[me, own | np.int64(1) << c]:
                    answer = YES
            passes = theirs if board.abrupt else np.int64(0)
            stack[depth, 2], stack[depth, 3] = free, passes if board.leak == FLASH else passes & -passes
        kind = 2 if stack[depth, 2] != 0 else 3
        if answer == NO and stack[depth, kind] != 0:
            if forest.count[0] + 4 * board.cells >= forest.own.size:
                return NO_ROOM
            stone = stack[depth, kind] & -stack[depth, kind]
            stack[depth, kind] ^= stone
            if kind == 2:
                own |= stone
            else:
                cell = 0
                while stone >> cell != 1:
                    cell += 1
                node = hear(board, forest, node, cell)
            node, _ = reply(board, sure, forest, 1 - me, node, own)
            if node != NONE:
                depth += 1
                stack[depth, 0], stack[depth, 1] = own, node
                entering = True
            continue
        if 4 * seen.used[0] > 3 * seen.table.size:
            seen.table[:] = 0
            seen.used[0] = 0
        slot = mix(name) & mask
        while seen.table[slot] != 0:
            slot = (slot + 1) & mask
        seen.table[slot] = name << 1 | answer
        seen.used[0] += 1
        if depth == 0:
            return answer
        depth -= 1


@rule
def weigh(forest: Forest, weight: Any, stacks: Stacks, own: Any, tried: Any, low: Any, high: Any) -> tuple[float, Any]:
    """The weight of a set of worlds, and its name, which does not depend on their order."""
    total = 0.0
    key = np.uint64(mix(own << 32 | tried << 1 | 1))
    for j in range(low, high):
        total += weight[forest.owner[stacks.world[j] >> 1]]
        key += np.uint64(mix(stacks.world[j] + SALT))
    return total, mix(key) | 1


@rule
def attempt(
    board: Board, sure: Any, forest: Forest, weight: Any, me: int, seen: Seen, stack: Any, stacks: Stacks, own: Any, tried: Any,
    low: Any, high: Any, cell: Any, top: Any, group: Any,
) -> tuple[float, Any, Any, int]:  # fmt: skip
    """Play a cell in a set of worlds. What follows is put on top of the stacks in groups that look the same. Returns the weight
    of the worlds that are won on the spot, the new tops, and whether there was room."""
    stone = np.int64(1) << cell
    wins = board.joined[me, own | stone]
    won = 0.0
    begin = top
    for j in range(low, high):
        if forest.count[0] + 4 * board.cells >= forest.own.size:
            return 0.0, top, group, NO_ROOM
        node, flip, noise = np.int64(stacks.world[j] >> 1), stacks.world[j] & 1, np.int64(0)
        cell_there = board.cells - 1 - cell if flip else cell
        taken = np.int64(forest.own[node]) >> cell_there & 1
        stones = own if taken else own | stone
        if flip:
            stones = board.turned[stones]
        if wins and not taken:
            won += weight[forest.owner[node]]
            continue
        if taken:
            node = hear(board, forest, node, cell_there)
        if board.abrupt or not taken:
            node, noise = reply(board, sure, forest, 1 - me, node, stones)
            if flip:
                noise = turn_noise(board, noise)
        if node == NONE:
            continue
        can = winnable(board, sure, forest, me, stones, node, seen, stack)
        if can == NO_ROOM:
            return 0.0, top, group, NO_ROOM
        if can == YES:
            stacks.world[top], stacks.sight[top] = node << 1 | flip, noise << 1 | taken
            top += 1
    while begin < top:
        sight = stacks.sight[begin]
        end, amount = begin, 0.0
        for j in range(begin, top):
            if stacks.sight[j] == sight:
                world = stacks.world[j]
                stacks.world[j], stacks.sight[j] = stacks.world[end], stacks.sight[end]
                stacks.world[end], stacks.sight[end] = world, sight
                amount += weight[forest.owner[world >> 1]]
                end += 1
        stacks.begin[group], stacks.end[group], stacks.mass[group], stacks.last[group] = begin, end, amount, sight
        stacks.own[group], stacks.tried[group] = own if sight & 1 else own | stone, tried | stone
        group += 1
        begin = end
    return won, top, group, FINE
