"""All positions of a small Geister variant, each once: as the player to move counts, without the ply.

A position is (my ghosts, my reds, their ghosts, their reds), each side's bits as that side counts; after a move the sides change places. A
*view* is what the player to move knows of it, an *away* what the other knows: positions of one view differ in their reds alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import TooLarge
from nebel.games.geister_board import NORTH, Board

OUT, LAST_BLUE, LAST_RED = -1, -2, -3
"""Ends instead of a next position: my ghost is out, I took their last blue ghost, or their last red one, which loses."""

MOST_POSITIONS = 400_000
"""Unless told otherwise: a strategy has numbers for each of them at every ply."""

Longs = NDArray[np.int64]
Position = tuple[int, int, int, int]


class Groups(NamedTuple):
    """Positions that look alike: those of group g are members[first[g]:first[g+1]]; `of` and `rank` say where each position is."""

    first: Longs
    members: Longs
    of: Longs
    rank: Longs


def moves_of(board: Board, position: Position) -> list[tuple[int, int | Position]]:
    """In the order of the rules: by cell, then north, east, south, west."""
    mine, my_reds, theirs, their_reds = position
    width, last = board.width, board.cells - 1
    found: list[tuple[int, int | Position]] = []
    for cell in range(board.cells):
        here = 1 << cell
        if not mine & here:
            continue
        x = cell % width
        inside = (cell + width <= last, x + 1 < width, cell >= width, x > 0)
        for way, step in enumerate((width, 1, -width, -1)):
            if way == NORTH and cell in board.exits and not my_reds & here:
                found.append((4 * cell, OUT))
            if not inside[way] or mine >> (cell + step) & 1:
                continue
            there, enemy = 1 << (cell + step), 1 << (last - cell - step)
            reds = my_reds ^ (here | there) if my_reds & here else my_reds
            ghosts, left, left_reds = mine ^ (here | there), theirs & ~enemy, their_reds & ~enemy
            after: int | Position = (left, left_reds, ghosts, reds)
            if theirs & enemy and not left_reds:
                after = LAST_RED
            elif theirs & enemy and left == left_reds:
                after = LAST_BLUE
            found.append((4 * cell + way, after))
    return found


def histories(board: Board, most: int) -> Iterator[int]:
    """How many histories a game of 1, 2, 3 ... plies has, until there are more than `most`."""
    counts: dict[Position, int] = {(board.start, a, board.start, b): 1 for a in board.colourings for b in board.colourings}
    total = 1 + board.ways + board.ways**2
    while counts and total <= most:
        later: dict[Position, int] = {}
        for position, count in counts.items():
            for _, after in moves_of(board, position):
                total += count
                if not isinstance(after, int):
                    later[after] = later.get(after, 0) + count
        counts = later
        yield total


class Positions:
    """The graph: moves first[n]:first[n+1] lead from position n to `child`; `starts` are the beginnings, all equally likely."""

    def __init__(self, board: Board, most: int = MOST_POSITIONS) -> None:
        self.board = board
        keys: dict[Position, int] = {}
        queue: deque[Position] = deque()

        def number(position: Position) -> int:
            if position not in keys:
                if len(keys) == most:
                    what = f"Geister on {board.width} by {board.height} with {board.ghosts} ghosts a side"
                    raise TooLarge(f"{what} has more than {most:,} positions; take a smaller board, or fewer ghosts")
                keys[position] = len(keys)
                queue.append(position)
            return keys[position]

        self.starts = np.array([number((board.start, a, board.start, b)) for a in board.colourings for b in board.colourings])
        first, child, move = [0], [], []
        while queue:
            position = queue.popleft()
            for option, after in moves_of(board, position):
                child.append(after if isinstance(after, int) else number(after))
                move.append(option)
            first.append(len(child))
        self.positions = list(keys)
        self.first, self.child, self.move = (np.array(longs, np.int64) for longs in (first, child, move))

    @cached_property
    def views(self) -> Groups:
        return _group([(mine, reds, theirs, their_reds.bit_count()) for mine, reds, theirs, their_reds in self.positions])

    @cached_property
    def aways(self) -> Groups:
        return _group([(mine, reds.bit_count(), theirs, their_reds) for mine, reds, theirs, their_reds in self.positions])

    @cached_property
    def place(self) -> Longs:
        """Where a view's moves begin among the moves of all views; positions of a view have the same moves."""
        widths = np.diff(self.first)[self.views.members[self.views.first[:-1]]]
        return np.concatenate([[0], np.cumsum(widths)])


def _group(keys: list[Position]) -> Groups:
    numbers: dict[Position, int] = {}
    of = np.array([numbers.setdefault(key, len(numbers)) for key in keys])
    members = np.argsort(of, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(of))])
    rank = np.empty(len(keys), np.int64)
    rank[members] = np.arange(len(keys)) - first[of[members]]
    return Groups(first, members, of, rank)
