"""Tables of shares by board, as the climbs of classic Dark Hex hold them: from a policy, and back to one.

A board is numbered in base three, cell by cell: 1 own, 2 discovered.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nebel.dark_hex.forest import Board
from nebel.policy.table import Shares, sorted_shares
from nebel.solve.best_step import IMPOSSIBLE

Reals = NDArray[np.float64]
Longs = NDArray[np.int64]


def board_table(board: Board, held: Shares, sure: Any) -> Reals:
    """Return a policy's shares by board and cell, with sure wins; boards that the policy does not know are 0."""
    cells = board.cells
    table = np.zeros((3**cells, cells))
    rows = board.ternary[held.keys >> cells] + 2 * board.ternary[held.keys & ((1 << cells) - 1)]
    table[np.repeat(rows, np.diff(held.first)), held.move] = held.share
    won = np.flatnonzero(sure >= 0)
    table[won] = 0.0
    table[won, sure[won]] = 1.0
    return table


def reachable(board: Board, table: Reals, sure: Any) -> Shares:
    """Return the rows of all boards that a player's table can lead to, whatever the opponent does."""
    cells = board.cells
    found, waiting = {(0, 0)}, [(0, 0)]
    rows: list[tuple[int, Longs, Reals]] = []
    while waiting:
        own, met = waiting.pop()
        row = int(board.ternary[own] + 2 * board.ternary[met])
        legal = np.array([c for c in range(cells) if not (own | met) >> c & 1], np.int64)
        rows.append((own << cells | met, legal, table[row, legal]))
        for c in np.flatnonzero(table[row]).tolist():
            for after in ((own | 1 << c, met), (own, met | 1 << c)):
                possible = sure[board.ternary[after[0]] + 2 * board.ternary[after[1]]] != IMPOSSIBLE
                if possible and after not in found:
                    found.add(after)
                    waiting.append(after)
    keys, width = np.array([key for key, _, _ in rows], np.int64), np.array([len(legal) for _, legal, _ in rows], np.int64)
    return sorted_shares(keys, width, np.concatenate([row[1] for row in rows]), np.concatenate([row[2] for row in rows]))
