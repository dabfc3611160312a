"""Initial boards: the board in the middle of a game of Dark Hex, as one player knows it, from which a strategy starts.

After the "initial board position" of DSaGe (section 3.2 of Tapkan's thesis). Written as `x./o. hidden 1 turn white`: own stones x and
discovered stones o row by row, the number of hidden stones of the opponent, and the player to move. A board counts only if a game can
come to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from nebel.core.errors import Problem
from nebel.policy.terrain import Terrain

COLOURS = ("black", "white")
WRITTEN = r"([xo./]+)(?:[ \t]+hidden[ \t]+(\d{1,9}))?(?:[ \t]+turn[ \t]+([a-z]+))?"
"""An initial board as a regular expression: its cells, the number of hidden stones and the player to move."""


class BadBoard(Problem):
    """An initial board that cannot be read, or to which no game can come."""


class InitialBoard(NamedTuple):
    """A board from which a strategy starts, as its player knows it.

    own, met  own stones, and the opponent's stones that are discovered, as bits
    hidden    number of the opponent's stones that are not discovered
    waits     whether the opponent is to move
    """

    own: int
    met: int
    hidden: int
    waits: bool


class OpponentsBoard(NamedTuple):
    """An initial board as the opponent knows it: its own stones, and those of the player that it has bumped into."""

    own: int
    met: int


def empty_board(player: int) -> InitialBoard:
    """Return the board at the start of the game, where Black (0) is to move."""
    return InitialBoard(0, 0, 0, bool(player))


class BoardRules:
    """The initial boards of one player (0 is Black) in classic or abrupt Dark Hex."""

    def __init__(self, rows: int, cols: int, player: int, abrupt: bool = False) -> None:
        self.rows, self.cols, self.player, self.abrupt = rows, cols, player, abrupt
        self.me, self.opponent = (COLOURS[p].title() for p in (player, 1 - player))

    @cached_property
    def _terrain(self) -> Terrain:
        return Terrain(self.rows, self.cols, self.player)

    def bumps(self, board: InitialBoard) -> int:
        """Return how often the opponent has bumped into the player's stones where a bump ends the turn: its turns less its stones."""
        return board.own.bit_count() + self.player - board.waits - board.hidden if self.abrupt else 0

    def read(self, text: str) -> InitialBoard:
        """Read a board such as `x./o. hidden 1 turn white`; `BadBoard` if no game comes to it.

        The turn may be left out (the player's own), and the number of hidden stones where only one is possible.

        >>> BoardRules(2, 2, 0).read("x./.o")
        InitialBoard(own=1, met=8, hidden=0, waits=False)
        """
        match = re.fullmatch(WRITTEN, text.strip())
        if not match:
            raise BadBoard(f"{text!r:.80} is not a board; write it like {self._example()}: own stones x, discovered ones o, free cells .")
        marks, given, turn = match.groups()
        widths = [len(row) for row in marks.split("/")]
        if widths != [self.cols] * self.rows:
            raise BadBoard(f"{marks:.80} is not a board of {self.rows} rows of {self.cols} cells; write it like {self._example()}")
        if turn and turn not in COLOURS:
            raise BadBoard(f"turn {turn:.20} is not understood: it is the turn of black or white")
        own, met = (sum(1 << c for c, mark in enumerate(marks.replace("/", "")) if mark == sign) for sign in "xo")
        waits = bool(turn) and turn != COLOURS[self.player]
        self._check_not_won(marks, own, met)
        counts = self._hidden_counts(own, met, waits)
        mover = self.opponent if waits else self.me
        if not counts:
            stones = f"{own.bit_count()} {self.me} and {met.bit_count()} discovered {self.opponent} stones"
            raise BadBoard(f"no game comes to {marks} with {mover} to move: {stones} cannot be there then")
        if given is None and len(counts) > 1:
            least, most = counts[0], counts[-1]
            raise BadBoard(f"{marks} can hide {least} to {most} {self.opponent} stones; say how many: '{marks} hidden {most}'")
        hidden = counts[0] if given is None else int(given)
        if hidden not in counts:
            known = " or ".join(map(str, counts))
            raise BadBoard(f"{marks} with {mover} to move hides {known} {self.opponent} stones, not {hidden}")
        board = InitialBoard(own, met, hidden, waits)
        if not self._terrain.possible(own, met, hidden):
            raise BadBoard(f"no game comes to {marks}: {hidden} hidden {self.opponent} stones have no room, or join both edges")
        return board

    def _example(self) -> str:
        return "/".join(["." * self.cols] * self.rows) + (" hidden 1" if self.player else " hidden 0")

    def _check_not_won(self, marks: str, own: int, met: int) -> None:
        lacking = self._terrain.lacking(own, met)
        if lacking == 0 or lacking > self._terrain.cells:
            raise BadBoard(f"the game is over on {marks}: {self.opponent if lacking else self.me} has joined both edges")

    def _hidden_counts(self, own: int, met: int, waits: bool) -> list[int]:
        """Return possible numbers of hidden stones: each turn so far ended with a stone, or in the abrupt game with a bump."""
        mine, found = own.bit_count(), met.bit_count()
        if not self.abrupt:
            hidden = mine + self.player - waits - found
            return [hidden] if hidden >= 0 else []
        black_moved = mine + found + (self.player - waits if self.player else 0) > 0
        least = 0 if not self.player else max(0, black_moved - found)  # Black's first stone finds its cell free
        if not self.player and black_moved and not mine:
            return []
        most = mine + self.player - waits
        counts = range(max(least, self.player - waits), most + 1)
        return [hidden for hidden in counts if self._terrain.possible(own, met, hidden)] or list(counts)

    def text(self, board: InitialBoard) -> str:
        """Write a board as `read` reads it, with nothing left out but the player's own turn."""
        cells = range(self.rows * self.cols)
        marks = "".join("x" if board.own >> c & 1 else "o" if board.met >> c & 1 else "." for c in cells)
        rows = "/".join(marks[r : r + self.cols] for r in range(0, len(marks), self.cols))
        return f"{rows} hidden {board.hidden}" + (f" turn {COLOURS[1 - self.player]}" if board.waits else "")

    def opponents(self, board: InitialBoard) -> Iterator[OpponentsBoard]:
        """Yield every board that the opponent can have: where its hidden stones stand, and which of the player's it has bumped into.

        In the classic game, where a bump costs nothing and is not noticed, all of the player's stones count as found.
        """
        theirs = Terrain(self.rows, self.cols, 1 - self.player)
        free = [c for c in range(self.rows * self.cols) if not (board.own | board.met) >> c & 1]
        stones = [c for c in range(self.rows * self.cols) if board.own >> c & 1]
        for places in combinations(free, board.hidden):
            own = board.met | sum(1 << c for c in places)
            if theirs.lacking(own, 0):
                for found in combinations(stones, self.bumps(board)) if self.abrupt else [tuple(stones)]:
                    yield OpponentsBoard(own, sum(1 << c for c in found))
