"""Sure wins in classic Dark Hex: information states from which a player wins with probability one, whatever is hidden.

Probability-one wins ("pONE"): Tapkan. Dark Hex: A Large Scale Imperfect Information Game. 2022. Here they are complete, found
by working backwards over all pairs of own and discovered stones, a board in base three: 0 unknown, 1 own, 2 discovered.

Where the paper searches over placements of hidden stones, two distances decide. With h stones hidden among the unknown
cells, the opponent may win with the next stone exactly if some path needs at most h + 1 unknown cells; and some placement
that has not won yet exists exactly if h unknown cells can be given away so that the player's own sides can still be
joined through the rest, for in Hex exactly one side is joined when all cells are filled.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadSetting, TooLarge
from nebel.core.game import BaseGame
from nebel.core.rule import kernel, rule

FAR = 99
MOST_CELLS = 16


class Board(NamedTuple):
    """A board's cells as bits, and its edges: those that player 0 joins, those that player 1 joins."""

    cols: int
    cells: int
    left: int
    right: int
    sides: Any  # by player: source and target


@rule
def spread(stones: Any, cols: int, left: int, right: int) -> Any:
    """Stones and their neighbours."""
    west, east = stones & ~left, stones & ~right
    return stones | stones << cols | stones >> cols | east << 1 | west >> 1 | west << (cols - 1) | east >> (cols - 1)


@rule
def distance(stones: Any, free: Any, source: Any, target: Any, cols: int, left: int, right: int) -> int:
    """How many free cells are needed to join source and target with `stones`."""
    reach = stones & source
    edge = source
    for steps in range(FAR):
        while True:
            more = (reach | spread(reach, cols, left, right)) & stones | reach
            if more == reach:
                break
            reach = more
        if reach & target:
            return steps
        grown = reach | ((spread(reach, cols, left, right) | edge) & free)
        if grown == reach:
            return FAR
        reach = grown
    return FAR


class View(NamedTuple):
    """What a player knows on the own turn; `index` is the same in base three."""

    own: Any
    met: Any
    hidden: int
    unknown: Any
    unknown_count: int
    index: Any


@rule
def view_of(index: Any, cells: int, player: int) -> View:
    own, met, own_count, met_count = np.int64(0), np.int64(0), 0, 0
    rest = index
    for c in range(cells):
        digit = rest % 3
        rest //= 3
        if digit == 1:
            own |= np.int64(1) << c
            own_count += 1
        elif digit == 2:
            met |= np.int64(1) << c
            met_count += 1
    unknown = ((np.int64(1) << cells) - 1) & ~(own | met)
    return View(own, met, own_count + player - met_count, unknown, cells - own_count - met_count, index)


@rule
def wins_with(board: Board, player: int, view: View, c: int, power: Any, move: Any) -> bool:
    """Does this unknown cell win for sure? `move` must be known of all views with fewer unknown cells."""
    cols, _, left, right, sides = board
    own, met, hidden, unknown, unknown_count, index = view
    stone = np.int64(1) << c
    # if the cell is free
    placed = distance(own | stone, unknown & ~stone, sides[player, 0], sides[player, 1], cols, left, right)
    if hidden <= unknown_count - 1 - placed and placed > 0:
        theirs = distance(met, unknown & ~stone, sides[1 - player, 0], sides[1 - player, 1], cols, left, right)
        unsafe = theirs <= hidden + 1 and hidden + 1 <= unknown_count - 1
        if unsafe or move[index + power] < 0:
            return False
    # if a hidden stone is there
    return hidden == 0 or move[index + 2 * power] != -1


@kernel
def _work_back(board: Board, player: int, power: Any, move: Any, counts: Any) -> None:
    """For every pair of own and discovered stones, from full boards to the empty one: a winning cell, -1 if there is none, -2 if
    the pair cannot occur on the own turn. `counts` by hidden stones: possible pairs, and sure wins among them."""
    for index in range(move.size - 1, -1, -1):
        view = view_of(index, board.cells, player)
        move[index] = -2
        if view.hidden < 0:
            continue
        mine = distance(view.own, view.unknown, board.sides[player, 0], board.sides[player, 1], board.cols, board.left, board.right)
        if mine == 0 or view.hidden > view.unknown_count - mine:  # won already, or no placement of hidden stones leaves the game open
            continue
        move[index] = -1
        counts[0, view.hidden] += 1
        for c in range(board.cells):
            if view.unknown >> c & 1 and wins_with(board, player, view, c, power[c], move):
                move[index] = c
                counts[1, view.hidden] += 1
                break


@kernel
def _all_winning(board: Board, player: int, power: Any, move: Any, indices: Any, masks: Any) -> None:
    """All winning cells of each of these views, as bits."""
    for i in range(indices.size):
        view = view_of(indices[i], board.cells, player)
        for c in range(board.cells):
            if view.unknown >> c & 1 and wins_with(board, player, view, c, power[c], move):
                masks[i] |= np.int64(1) << c


class SureWins:
    """Both players' sure wins on one board."""

    def __init__(self, rows: int, cols: int) -> None:
        cells = rows * cols
        if cells > MOST_CELLS:
            raise TooLarge(f"sure wins on {rows}x{cols} would take {3**cells:,} bytes a player; up to {MOST_CELLS} cells are possible")
        self.rows, self.cols, self.cells = rows, cols, cells
        left = sum(1 << (r * cols) for r in range(rows))
        top = (1 << cols) - 1
        right, bottom = left << (cols - 1), top << (cells - cols)
        self.board = Board(cols, cells, left, right, np.array([[top, bottom], [left, right]], np.int64))
        self.power = 3 ** np.arange(cells, dtype=np.int64)
        self.moves = tuple(np.empty(3**cells, np.int8) for _ in range(2))
        self.counts: tuple[NDArray[np.int64], NDArray[np.int64]] = (np.zeros((2, cells + 1), np.int64), np.zeros((2, cells + 1), np.int64))
        for player in range(2):
            _work_back(self.board, player, self.power, self.moves[player], self.counts[player])

    def move(self, player: int, own: int, met: int) -> int | None:
        """A cell that wins for sure, for the player to move with these own and discovered stones."""
        index = sum(3**c * ((own >> c & 1) + 2 * (met >> c & 1)) for c in range(self.cells))
        cell = int(self.moves[player][index])
        return cell if cell >= 0 else None

    def winning(self, player: int, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """All cells that win for sure, as bits, for views given as numbers in base three."""
        masks = np.zeros(len(indices), np.int64)
        _all_winning(self.board, player, self.power, self.moves[player], indices, masks)
        return masks

    def by_hidden(self, player: int) -> list[int]:
        """How many sure wins there are with 0, 1, 2 ... hidden stones."""
        return np.trim_zeros(self.counts[player][1], "b").tolist()

    def winner(self) -> int | None:
        """Who wins the whole game for sure, if anybody: player 0 from the empty board, or player 1 whatever player 0 begins with."""
        return next((player for player in range(2) if self.moves[player][0] >= 0), None)


@functools.cache
def on_board(rows: int, cols: int) -> SureWins:
    """The sure wins of a board, worked out once in a process."""
    return SureWins(rows, cols)


def sure_wins(game: BaseGame) -> SureWins:
    """The sure wins of a classic Dark Hex game."""
    options = game.options
    if game.name != "dark_hex" or options["abrupt"]:
        raise BadSetting(f"sure wins are known for classic Dark Hex, for example dark_hex:4x3, not for {game.string}")
    return on_board(options["rows"], options["cols"])
