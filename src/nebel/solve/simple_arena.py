"""What a search for simple strategies asks of a game: the exact guarantee of a table, the response that limits it, and its slopes.

On a tree the table is a vector by place and responses are plans over sequences; in classic Dark Hex the table is by board and cell and
responses are strategies written down as trees (`judge/board_response.py`), so that no tree of the game is needed.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nebel.core.rule import kernel
from nebel.core.sequence import Half, halves, spread, weigh
from nebel.core.tree import Tree
from nebel.dark_hex.forest import Board, plant
from nebel.dark_hex.slopes import Slope
from nebel.judge.board_response import BoardResponder

Reals = NDArray[np.float64]
Longs = NDArray[np.int64]


class Slopes(NamedTuple):
    """What a table gets against one response, and the derivative by each share where it is not 0."""

    value: float
    place: Longs
    slope: Reals


class Arena(Protocol):
    """One player of a game; tables are flat vectors of shares."""

    def row_of(self, place: Longs) -> Longs:
        """Return where the rows begin that hold these places."""
        ...

    def width(self, row: int) -> int: ...
    def legal(self, row: int) -> Longs:
        """Return the places of the legal moves, counted from the beginning of the row."""
        ...

    def respond(self, table: Reals) -> tuple[float, Any]:
        """Return what a table guarantees exactly, and the response that it has to fear."""
        ...

    def slopes(self, response: Any, table: Reals) -> Slopes: ...


@kernel
def _answer(mine: Half, theirs: Half, strategy: Any, reach: Any, value: Any, plan: Any) -> float:
    """Fill `plan` with the reach of the opponent's sequences in a best response to a strategy; return what the opponent gets."""
    spread(mine, strategy, reach)
    weigh(theirs.pay_first, theirs.pay_other, theirs.pay_value, reach, value, 0, 1)
    plan[:] = 0.0
    for i in range(theirs.parent.size - 1, -1, -1):
        top = theirs.first[i]
        for q in range(top + 1, theirs.first[i + 1]):
            if value[q] > value[top]:
                top = q
        plan[top] = 1.0
        value[theirs.parent[i]] += value[top]
    plan[0] = 1.0
    for i in range(theirs.parent.size):
        for q in range(theirs.first[i], theirs.first[i + 1]):
            plan[q] *= plan[theirs.parent[i]]
    return value[0]


@kernel
def _slopes(mine: Half, strategy: Any, plan: Any, reach: Any, value: Any, slope: Any) -> float:
    """Fill `slope` with what each share of a strategy is worth against the opponent's plan; return what the strategy gets."""
    spread(mine, strategy, reach)
    weigh(mine.pay_first, mine.pay_other, mine.pay_value, plan, value, 0, 1)
    slope[:] = 0.0
    for i in range(mine.parent.size - 1, -1, -1):
        for a in range(mine.first[i + 1] - mine.first[i]):
            worth = value[mine.first[i] + a]
            slope[mine.spot[i] + a] += reach[mine.parent[i]] * worth
            value[mine.parent[i]] += strategy[mine.spot[i] + a] * worth
    return value[0]


class TreeArena:
    """A player on a tree; figures are in the game's own utilities."""

    def __init__(self, tree: Tree, player: int) -> None:
        self._mine, self._theirs = halves(tree)[player], halves(tree)[1 - player]
        self._row = tree.sides[player].row.astype(np.int64)
        self._reach, self._value = np.zeros(self._mine.sequences), np.zeros(self._mine.sequences)
        self._their_value = np.zeros(self._theirs.sequences)

    def row_of(self, place: Longs) -> Longs:
        return self._row[np.searchsorted(self._row, place, "right") - 1]

    def width(self, row: int) -> int:
        return int(self._row[np.searchsorted(self._row, row) + 1]) - row

    def legal(self, row: int) -> Longs:
        return np.arange(self.width(row))

    def respond(self, table: Reals) -> tuple[float, Reals]:
        plan = np.zeros(self._theirs.sequences)
        return -float(_answer(self._mine, self._theirs, table, self._reach, self._their_value, plan)), plan

    def slopes(self, response: Reals, table: Reals) -> Slopes:
        slope = np.zeros(len(table))
        value = float(_slopes(self._mine, table, response, self._reach, self._value, slope))
        place = np.flatnonzero(slope)
        return Slopes(value, place, slope[place])


class BoardArena:
    """A player of classic silent Dark Hex who remembers the board; figures are winning probabilities."""

    def __init__(self, board: Board, player: int, sure: tuple[Any, Any]) -> None:
        """`sure`: both players' tables of sure wins."""
        self._cells = board.cells
        self._responder = BoardResponder(board, 1 - player, sure[1 - player])
        self._slope = Slope(board, player, sure[1 - player])
        self._forest = plant()

    def row_of(self, place: Longs) -> Longs:
        return place // self._cells * self._cells

    def width(self, row: int) -> int:
        return self._cells

    def legal(self, row: int) -> Longs:
        return np.flatnonzero(row // self._cells // 3 ** np.arange(self._cells) % 3 == 0)

    def respond(self, table: Reals) -> tuple[float, int]:
        shares = table.reshape(-1, self._cells)
        guarantee = 1.0 - self._responder.judge(shares)
        start, self._forest = self._responder.write_down(shares, self._forest, 0)
        return guarantee, start

    def slopes(self, response: int, table: Reals) -> Slopes:
        found, self._forest = self._slope.against(self._forest, response, table.reshape(-1, self._cells))
        return Slopes(found.value, found.place, found.slope)
