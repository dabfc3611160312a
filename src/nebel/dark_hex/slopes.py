"""What a player who remembers the board wins against a pure strategy, and how that changes with each share.

The player's shares stand in a table by board (in base three: 1 own, 2 discovered) and cell. A strategy is a tree
(`dark_hex/forest.py`), so a situation is a board and a node of that tree. Every move, placed or met, makes the board one stone
fuller: situations are listed from empty boards to full ones, with the chance that they come about, and then worth is summed
from the last to the first. Where situations share a board their slopes are added, each weighted with its chance; so the slopes
are the exact derivatives, whatever the player has forgotten.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.rng import mix
from nebel.core.rule import kernel
from nebel.dark_hex.forest import NONE, Board, Forest, enlarge, reply

LOST, WON, IDLE = -1, -2, -3


class Situations(NamedTuple):
    """Room for the situations of one strategy."""

    board: Any
    node: Any
    chance: Any
    worth: Any
    after: Any  # by situation and cell: the next one, or LOST, WON, IDLE
    slot: Any  # a table of their places
    slope: Any  # by board and cell; all 0 between calls
    touched: Any  # boards with slopes


class Slopes(NamedTuple):
    """What a policy wins against one strategy, and the slopes: by place in the table, board * cells + cell."""

    value: float
    place: NDArray[np.int64]
    slope: NDArray[np.float64]


@kernel
def _walk(board: Board, sure: Any, forest: Forest, me: int, start: Any, shares: Any, room: Situations) -> Any:
    """What `me` wins, the number of boards touched, and the number of situations (-1: the forest is out of room, -2: `room` is)."""
    cells, full = board.cells, (np.int64(1) << board.cells) - 1
    mask, count = room.slot.size - 1, 0
    node = np.int64(start)
    if me == 1:
        if forest.count[0] + 2 * cells >= forest.own.size:
            return 0.0, 0, -1
        node, _ = reply(board, sure, forest, 0, node, np.int64(0))
    room.slot[:] = NONE
    room.board[0], room.node[0], room.chance[0], count, at = 0, node, 1.0, 1, 0
    while at < count:
        own, met, node, here = room.board[at] >> cells, room.board[at] & full, np.int64(room.node[at]), room.chance[at]
        row, theirs = board.ternary[own] + 2 * board.ternary[met], np.int64(forest.own[node])
        for c in range(cells):
            stone, share = np.int64(1) << c, shares[row, c]
            room.after[at, c] = IDLE
            if (own | met) & stone or (share <= 0.0 and here <= 0.0):
                continue
            if theirs & stone:
                then, later = own << cells | met | stone, node
            else:
                if forest.count[0] + 2 * cells >= forest.own.size:
                    return 0.0, 0, -1
                then = (own | stone) << cells | met
                if board.joined[me, own | stone]:
                    room.after[at, c] = WON
                    continue
                later, _ = reply(board, sure, forest, 1 - me, node, own | stone)
                if later == NONE:
                    room.after[at, c] = LOST
                    continue
            k = mix(later << 2 * cells | then) & mask
            while room.slot[k] != NONE and (room.board[room.slot[k]] != then or room.node[room.slot[k]] != later):
                k = (k + 1) & mask
            if room.slot[k] == NONE:
                if count == room.board.size:
                    return 0.0, 0, -2
                room.slot[k], room.board[count], room.node[count], room.chance[count] = count, then, later, 0.0
                count += 1
            room.after[at, c] = room.slot[k]
            room.chance[room.slot[k]] += here * share
        at += 1
    boards = 0
    for at in range(count - 1, -1, -1):
        row, worth, fresh = board.ternary[room.board[at] >> cells] + 2 * board.ternary[room.board[at] & full], 0.0, True
        for c in range(cells):
            fresh = fresh and room.slope[row, c] == 0.0
        for c in range(cells):
            after = room.after[at, c]
            if after == WON or after >= 0:
                gain = 1.0 if after == WON else room.worth[after]
                worth += shares[row, c] * gain
                room.slope[row, c] += room.chance[at] * gain
        room.worth[at] = worth
        for c in range(cells):
            if fresh and room.slope[row, c] != 0.0:
                fresh = False
                room.touched[boards] = row
                boards += 1
    return room.worth[0], boards, count


class Slope:
    """Slopes of one player's tables."""

    def __init__(self, board: Board, me: int, sure: Any) -> None:
        """`sure`: the other player's table of sure wins."""
        self.board, self.me, self.sure = board, me, sure
        self._slope = np.zeros((3**board.cells, board.cells))
        self._make_room(1 << 12)

    def _make_room(self, size: int) -> None:
        longs, reals = np.zeros((3, size), np.int64), np.zeros((2, size))
        after, slot = np.zeros((size, self.board.cells), np.int64), np.zeros(4 * size, np.int64)
        self._room = Situations(longs[0], longs[1], reals[0], reals[1], after, slot, self._slope, longs[2])

    def against(self, theirs: Forest, start: int, shares: Any) -> tuple[Slopes, Forest]:
        """What the table wins against the strategy that starts there; and their forest, which may have been enlarged."""
        while True:
            value, boards, count = _walk(self.board, self.sure, theirs, self.me, start, shares, self._room)
            if count >= 0:
                break
            if count == -1:
                theirs = enlarge(theirs)
            else:
                self._make_room(2 * len(self._room.board))
        rows = np.sort(self._room.touched[:boards])
        slopes = self._slope[rows]
        self._slope[rows] = 0.0
        at = np.nonzero(slopes)
        return Slopes(float(value), rows[at[0]] * self.board.cells + at[1], slopes[at]), theirs
