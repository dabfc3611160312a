"""The information states of one player of Dark Hex: which can occur, where moves lead, and how they are written."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cached_property, reduce
from typing import NamedTuple

from nebel.core.errors import BadSetting, Problem, TooLarge
from nebel.core.game import BaseGame, Game
from nebel.core.recall import PERFECT
from nebel.core.registry import load
from nebel.policy.hex_table import BOARD, Path_, board_key, memory_key, position
from nebel.policy.initial_board import BoardRules, empty_board
from nebel.policy.syntax import number_text
from nebel.policy.terrain import Terrain

Shares = dict[int, Fraction]
"""Probabilities by cell."""


class BadAnswer(Problem):
    """An answer that is no distribution over free cells, or an information state that is none."""


class Seen(NamedTuple):
    """An information state: own stones, discovered stones, and the own moves in order if they are remembered."""

    own: int
    met: int
    path: Path_ = ()


START = Seen(0, 0)
"""At the start of the game, before any own move."""
MOST_WAYS = 100_000
"""Orders of moves that lead to an initial board."""


class States:
    """Classic and abrupt silent Dark Hex, as Black (0) or White (1) sees it.

    `recall`: "board" (own and discovered stones) or "perfect" (also the order of moves, from the initial board on).
    `board`: the initial board, such as `x./o. hidden 1` ("": the empty board at the start of the game); `BadBoard` if no game comes to it.
    """

    def __init__(self, game: str | BaseGame, player: int, recall: str = BOARD, board: str = "") -> None:
        loaded = load(game) if isinstance(game, str) else game
        if not isinstance(loaded, Game) or loaded.name != "dark_hex":
            raise BadSetting(f"{loaded.string} is not Dark Hex; take for example dark_hex:4x3")
        if loaded.options["leak"] != "silent":
            raise BadSetting(f"{loaded.string}: boards and own moves do not tell what was heard of collisions; take leak=silent")
        if recall not in (BOARD, PERFECT):
            raise BadSetting(f"recall is {BOARD} or {PERFECT}, not {recall}")
        self.game, self.player, self.recall = loaded, player, recall
        self.rows, self.cols, self.abrupt = loaded.options["rows"], loaded.options["cols"], loaded.options["abrupt"]
        self.cells = loaded.actions
        self.names = [loaded.name_of_move(c) for c in range(self.cells)]
        self._terrain = Terrain(self.rows, self.cols, player)
        self.boards = BoardRules(self.rows, self.cols, player, self.abrupt)
        self.initial = self.boards.read(board) if board else empty_board(player)
        self.start = Seen(self.initial.own, self.initial.met)

    @property
    def initial_text(self) -> str:
        """The initial board as `BoardRules.read` reads it; "" if it is the empty board at the start of the game."""
        return "" if self.initial == empty_board(self.player) else self.boards.text(self.initial)

    def continues(self, state: Seen) -> bool:
        """Return whether a state is the initial board or, by its stones, one that can come after it."""
        if self.recall == PERFECT:
            return reduce(lambda reached, move: self.step(reached, *move), state.path, self.start) == state
        return not (self.start.own & ~state.own or self.start.met & ~state.met)

    def hidden(self, state: Seen) -> tuple[int, int]:
        """How many of the other player's stones are not discovered, at least and at most (the same in the classic game).

        In the abrupt game some of the other player's turns may have been collisions, one with each of the player's stones at most.
        """
        own, met = state.own.bit_count(), state.met.bit_count()
        if not self.abrupt:
            return own + self.player - met, own + self.player - met
        room = self.cells - own - met - self._terrain.lacking(state.own, state.met)
        least = max(self.player, self.initial.hidden - (met - self.start.met.bit_count()))
        return least, max(least, min(own + self.player - self.boards.bumps(self.initial), room))

    def occurs(self, state: Seen) -> bool:
        """Whether the player can be to move here, whatever the other one did."""
        if self.abrupt and state.met != self.start.met and not self.initial.hidden + self.initial.waits and state.own == self.start.own:
            return False  # nothing is hidden before the player's first stone
        lacking = self._terrain.lacking(state.own, state.met)
        return lacking > 0 and self._terrain.possible(state.own, state.met, self.hidden(state)[0])

    def free(self, state: Seen) -> list[int]:
        return [c for c in range(self.cells) if not (state.own | state.met) >> c & 1]

    def step(self, state: Seen, cell: int, hit: bool) -> Seen:
        path = (*state.path, (cell, hit)) if self.recall == PERFECT else ()
        return Seen(state.own | (not hit) << cell, state.met | hit << cell, path)

    def after(self, state: Seen, cell: int) -> list[tuple[bool, Seen]]:
        """Where a move can lead: (whether it hit a hidden stone, the next information state). Nowhere if the game is over then."""
        both = [(hit, self.step(state, cell, hit)) for hit in (False, True)]
        return [(hit, then) for hit, then in both if self.occurs(then)]

    def turned(self, state: Seen) -> Seen:
        """The same with the board turned by 180 degrees."""

        def flip(stones: int) -> int:
            return sum(1 << self.cells - 1 - c for c in range(self.cells) if stones >> c & 1)

        return Seen(flip(state.own), flip(state.met), tuple((self.cells - 1 - c, hit) for c, hit in state.path))

    def keys(self, state: Seen) -> list[int]:
        """Return the state's keys in a table of policies: with perfect recall one for each order of moves before the initial board."""
        if self.recall == PERFECT:
            return [memory_key(self.player, (*way, *state.path)) for way in self.ways_to_start]
        return [board_key(self.game, self.player, state.own, state.met)]

    @cached_property
    def ways_to_start(self) -> list[Path_]:
        """Return all orders of own moves that lead from the empty board to the initial one; `TooLarge` if they are too many."""
        before = States(self.game, self.player, PERFECT)
        ways, todo = [], [START]
        while todo:
            state = todo.pop()
            left = [c for c in range(self.cells) if ((self.start.own | self.start.met) & ~(state.own | state.met)) >> c & 1]
            if not left:
                ways.append(state.path)
                if len(ways) > MOST_WAYS:
                    raise TooLarge(f"more than {MOST_WAYS:,} orders of moves lead to {self.initial_text}; take a board with fewer stones")
            for cell in left if before.occurs(state) else ():
                todo.append(before.step(state, cell, bool(self.start.met >> cell & 1)))
        return [way for way in ways if self.abrupt or not (self.initial.waits and way and way[-1][1])]  # a stone ends a classic turn

    def draw(self, state: Seen) -> str:
        return self.game.view_at(position(self.game, self.player, state.own, state.met), self.player) or ""

    def svg(self, state: Seen) -> str:
        return self.game.svg_at(position(self.game, self.player, state.own, state.met), self.player) or ""

    def board(self, state: Seen) -> str:
        """Own stones x, discovered ones o, row by row."""
        marks = "".join("x" if state.own >> c & 1 else "o" if state.met >> c & 1 else "." for c in range(self.cells))
        return "/".join(marks[r : r + self.cols] for r in range(0, self.cells, self.cols))

    def path_text(self, path: Path_) -> str:
        return " ".join(self.names[cell] + " taken" * hit for cell, hit in path) or "-"

    def name(self, state: Seen) -> str:
        """What tells a state from all others: its board, or the moves in order. `read` reads it."""
        return self.path_text(state.path) if self.recall == PERFECT else self.board(state)

    def read(self, text: str) -> Seen:
        if self.recall == PERFECT:
            state = self.start
            for name, taken in re.findall(r"([^\s-]+)( taken)?", text):
                state = self.step(state, self.read_cell(state, name), bool(taken))
            return state
        if not re.fullmatch("/".join([f"[xo.]{{{self.cols}}}"] * self.rows), text):
            raise BadAnswer(f"{text!r} is not a board; write it like {self.board(START)}, own stones x, discovered ones o")
        own, met = (sum(1 << c for c, mark in enumerate(text.replace("/", "")) if mark == sign) for sign in "xo")
        return Seen(own, met)

    def read_on(self, text: str) -> Seen:
        """Read the name of a state that the initial board leads to."""
        state = self.read(text)
        if not self.continues(state):
            raise BadAnswer(f"{text:.80} does not come after the initial board {self.initial_text}")
        return state

    def read_cell(self, state: Seen, name: str) -> int:
        """A free cell by its name."""
        if name not in self.names:
            board = f"the board of {self.rows} rows and {self.cols} columns"
            raise BadAnswer(f"{name!r} is not a cell of {board}; cells are {self.names[0]} to {self.names[-1]}")
        cell = self.names.index(name)
        if (state.own | state.met) >> cell & 1:
            what = "a stone of your own" if state.own >> cell & 1 else "a stone that you have discovered"
            raise BadAnswer(f"{name} holds {what}; free are {' '.join(self.names[c] for c in self.free(state))}")
        return cell

    def read_shares(self, state: Seen, text: str) -> Shares:
        """`b2`, `b2 c1` (equal shares), `b2:0.5 c1:1/2`."""
        words = re.sub(r"\s*([:/])\s*", r"\1", text.replace(",", " ")).split()
        pairs = [word.partition(":") for word in words]
        bare = [name for name, sign, _ in pairs if not sign]
        shares: Shares = {}
        for name, sign, share in pairs:
            cell = self.read_cell(state, name)
            if cell in shares:
                raise BadAnswer(f"{name} is given twice; give each move once")
            shares[cell] = _read_share(name, share) if sign else Fraction(1, len(pairs))
        if bare and len(bare) < len(pairs):
            raise BadAnswer(f"{bare[0]} has no share and others have; give one to all, or to none for equal shares")
        return self.checked(state, shares)

    def checked(self, state: Seen, shares: Shares) -> Shares:
        """The shares above 0, if they are probabilities over free cells."""
        for cell, share in shares.items():
            self.read_cell(state, self.names[cell])
            if share < 0:
                raise BadAnswer(f"{self.names[cell]} has the share {number_text(share)}; shares are not negative")
        total = sum(shares.values(), Fraction(0))
        if total != 1:
            raise BadAnswer(f"the shares sum to {number_text(total)}, not to 1 (fractions such as 1/3 are exact)")
        return {cell: share for cell, share in shares.items() if share}

    def shares_text(self, shares: Shares) -> str:
        if len(shares) == 1:
            return self.names[next(iter(shares))]
        return " ".join(f"{self.names[cell]}:{number_text(share)}" for cell, share in shares.items())


def _read_share(name: str, text: str) -> Fraction:
    try:
        if re.fullmatch(r"-?[\d.]{1,20}(/\d{1,20})?", text):
            return Fraction(text)
    except (ValueError, ZeroDivisionError):
        pass
    raise BadAnswer(f"{text[:40]!r} is no share of {name}; write a number such as 0.3 or 1/3")
