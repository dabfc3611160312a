"""A mixture of pure strategies as one policy: in each information state, the share of the strategies still possible that play a move."""

from __future__ import annotations

from typing import Any

import numpy as np

from nebel.core.recall import blank_memory, remember_move, remember_sight
from nebel.core.rule import kernel
from nebel.dark_hex.forest import FLASH, HEARD, NONE, TAKEN, Board, Forest
from nebel.policy.table import Reals, Shares

BUMPED, NOISE = 1, 2
"""Sights of `games/dark_hex.py`; in flash the cell is added to NOISE + 1."""


@kernel
def _memories(board: Board, forest: Forest, player: int, turned: bool, starts: Any, memory: Any) -> None:
    """What the player remembers at each node of the trees at `starts`, as the library folds it; 0 at all others."""
    for i in range(starts.size):
        memory[starts[i]] = blank_memory(player)
    for node in range(forest.count[0]):
        if memory[node] == 0:
            continue
        child = forest.child[node]
        while child != NONE:
            event = forest.event[child]
            held = memory[node]
            if event < HEARD:
                cell = board.cells - 1 - forest.move[node] if turned else forest.move[node]
                held = remember_move(held, cell)
                if event == TAKEN:
                    held = remember_sight(held, BUMPED)
            elif board.leak == FLASH:
                cell = board.cells - 1 - (event - HEARD) if turned else event - HEARD
                held = remember_sight(held, NOISE + 1 + cell)
            else:
                held = remember_sight(held, NOISE)
            memory[child] = held
            child = forest.sibling[child]


def behaviour(board: Board, forest: Forest, player: int, starts: Any, chances: Reals) -> Shares:
    """The player's table. Each strategy at `starts` has half of its chance, its turned image the other half."""
    chance = np.zeros(len(forest.seeds))
    chance[forest.owner[starts]] = chances / 2
    rows = []
    for turned in (False, True):
        memory = np.zeros(len(forest.own), np.int64)
        with np.errstate(over="ignore"):
            _memories(board, forest, player, turned, starts, memory)
        nodes = np.flatnonzero((memory != 0) & (forest.move[: len(memory)] != NONE))
        move, tried = forest.move[nodes].astype(np.int64), forest.tried[nodes].astype(np.int64)
        if turned:
            move, tried = board.cells - 1 - move, board.turned[tried]
        rows.append((memory[nodes], tried, move, chance[forest.owner[nodes]]))
    memory, tried, move, weight = (np.concatenate(column) for column in zip(*rows, strict=True))
    keys, at, where = np.unique(memory, return_index=True, return_inverse=True)
    played = np.zeros((len(keys), board.cells))
    np.add.at(played, (where, move), weight)
    played /= played.sum(axis=1, keepdims=True)
    free = (tried[at][:, None] >> np.arange(board.cells) & 1) == 0
    first = np.concatenate([[0], np.cumsum(free.sum(axis=1))]).astype(np.int64)
    return Shares(keys, first, np.nonzero(free)[1].astype(np.int64), played[free])
