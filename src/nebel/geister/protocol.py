"""The competition's protocol: its lines as values, its ghosts and directions as nebel's moves, and a game followed ghost by ghost.

A ghost stands at x, y as its viewer sees the board: x from the left, y = 5 is the viewer's own back row. Ghosts A to H keep their
letters for the whole game. nebel's moves know cells only, so that `Course` remembers which ghost stands where.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from nebel.core.errors import BadFile, IllegalMove, Problem
from nebel.core.game import CHANCE, BaseGame
from nebel.core.kin import variant
from nebel.core.registry import load
from nebel.core.state import State, read_record
from nebel.games.geister import LONG
from nebel.games.geister_board import EAST, NORTH, SOUTH, WEST, Board

SIDE = 6
FIELD = Board(SIDE, SIDE, 8, 4, 1)
PLACING = 4 * FIELD.cells
"""The first move that chooses colours."""

LETTERS = "ABCDEFGH"
WAYS = {"N": NORTH, "E": EAST, "S": SOUTH, "W": WEST, "NORTH": NORTH, "EAST": EAST, "SOUTH": SOUTH, "WEST": WEST}
WORDS = "NESW"
STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0))
"""By direction: what x and y change by."""

DRAW = 2
"""The winner of a draw, in log files."""

SET_LINE = re.compile(r"SET:([A-Ha-h]{4})")
MOVE_LINE = re.compile(r"MOV:([A-Ha-h]),([A-Za-z]{1,5})")
TRIPLE = re.compile(r"([0-5][0-5]|99|88)([RBrbu])")
GAME_LINE = re.compile(r'^\[Game "([^"(:]*)', re.MULTILINE)
LOG_LINE = re.compile(r"player=([01]),(.*)")


class BadLine(Problem):
    """A line that the protocol does not know."""


class Ghost(NamedTuple):
    """A ghost as somebody sees it; R or B: secret, r or b: public, u: unknown."""

    x: int
    y: int
    colour: str

    @property
    def taken(self) -> bool:
        return self.x == 9

    @property
    def escaped(self) -> bool:
        return self.x == 8

    @property
    def on_board(self) -> bool:
        return self.x < SIDE

    @property
    def turned(self) -> Ghost:
        """From the other side of the board."""
        return Ghost(SIDE - 1 - self.x, SIDE - 1 - self.y, self.colour) if self.on_board else self


Ghosts = tuple[Ghost, ...]
"""Sixteen: the viewer's own A to H, then the other's."""


class Order(NamedTuple):
    """What a client wants to move where."""

    ghost: int
    way: int


class Line(NamedTuple):
    """What a server says: SET?, MOV?, OK, NG, WON, LST or DRW."""

    kind: str
    ghosts: Ghosts = ()
    took: str = ""


def read_set(line: str) -> int:
    """The colouring of `SET:ABCD`."""
    match = SET_LINE.fullmatch(line)
    reds = "".join(sorted(match[1].upper())) if match else ""
    if len(set(reds)) != FIELD.reds:
        raise BadLine(f"{line!r} does not name four different ghosts of A to H; write SET:ABCD")
    return next(i for i in range(FIELD.ways) if FIELD.letters(i) == reds)


def write_set(colouring: int) -> str:
    return f"SET:{FIELD.letters(colouring)}"


def read_order(line: str) -> Order:
    """What `MOV:A,N` asks for."""
    match = MOVE_LINE.fullmatch(line)
    if not match or match[2].upper() not in WAYS:
        raise BadLine(f"{line!r} is not a move; write MOV:A,N with a ghost of A to H and a direction N, E, S or W")
    return Order(LETTERS.index(match[1].upper()), WAYS[match[2].upper()])


def write_order(order: Order) -> str:
    return f"MOV:{LETTERS[order.ghost]},{WORDS[order.way]}"


def read_ghosts(text: str) -> Ghosts:
    """The board of 48 characters."""
    triples = [TRIPLE.fullmatch(text[i : i + 3]) for i in range(0, len(text), 3)]
    if len(text) != 48 or not all(triples):
        raise BadLine(f"{text!r} is not a board of 16 ghosts such as 14R, 41u, 99b")
    return tuple(Ghost(int(t[1][0]), int(t[1][1]), t[2]) for t in triples if t)


def write_ghosts(ghosts: Iterable[Ghost]) -> str:
    return "".join(f"{ghost.x}{ghost.y}{ghost.colour}" for ghost in ghosts)


def read_line(line: str) -> Line:
    """What a server said."""
    if line == "SET?":
        return Line(line)
    if line in ("OK ", "OK", "OKR", "OKB"):
        return Line("OK", took=line[2:].strip())
    if line in ("NG ", "NG"):
        return Line("NG")
    kind, board = line[:4], line[4:]
    if kind not in ("MOV?", "WON:", "LST:", "DRW:"):
        raise BadLine(f"{line!r} is not a line of a Geister server")
    return Line(kind.rstrip(":"), read_ghosts(board))


def place_of(cell: int) -> tuple[int, int]:
    return cell % SIDE, SIDE - 1 - cell // SIDE


def cell_of(x: int, y: int) -> int:
    return SIDE * (SIDE - 1 - y) + x


def competition(limit: int = LONG, setup: str = "chosen") -> BaseGame:
    """The game as competitions play it, in which players choose their colours; or with colours at random."""
    game = load(f"geister(setup={setup})")
    return game if limit == LONG else variant(game, "limit", str(limit))


class Course:
    """A game ghost by ghost, as its owner sees each of them, on top of a state."""

    def __init__(self, game: BaseGame, colourings: tuple[int, int]) -> None:
        self.colourings = colourings
        self.state = game.start()
        for colouring in colourings:
            self.state.push(colouring if self.state.turn == CHANCE else PLACING + colouring)
        self.ghosts = [[self._at_home(colouring, ghost) for ghost in range(FIELD.ghosts)] for colouring in colourings]
        self.orders: list[Order] = []

    @property
    def plies(self) -> int:
        return len(self.orders)

    def move_of(self, order: Order) -> int:
        """nebel's move for an order of whoever is to move; both ways out of a corner are one."""
        ghost = self.ghosts[self.state.turn][order.ghost]
        way = order.way
        if ghost.y == 0 and (ghost.x, way) in ((0, WEST), (SIDE - 1, EAST)):
            way = NORTH
        move = 4 * cell_of(ghost.x, ghost.y) + way if ghost.on_board else -1
        if move not in self.state.options():
            raise IllegalMove(f"{write_order(order)} is not legal: {LETTERS[order.ghost]} is {ghost.x}{ghost.y}{ghost.colour}")
        return move

    def order_of(self, move: int) -> Order:
        """Which ghost goes where by nebel's move of whoever is to move."""
        x, y = place_of(move // 4)
        return Order([(g.x, g.y) for g in self.ghosts[self.state.turn]].index((x, y)), move % 4)

    def push(self, order: Order) -> str:
        """Play an order; R or B if that took a ghost."""
        me, move = self.state.turn, self.move_of(order)
        self.state.push(move)
        self.orders.append(order)
        ghost = self.ghosts[me][order.ghost]
        x, y = ghost.x + STEPS[move % 4][0], ghost.y + STEPS[move % 4][1]
        if y < 0:
            self.ghosts[me][order.ghost] = Ghost(8, 8, ghost.colour.lower())
            return ""
        self.ghosts[me][order.ghost] = Ghost(x, y, ghost.colour)
        for i, other in enumerate(self.ghosts[1 - me]):
            if (other.turned.x, other.turned.y) == (x, y):
                self.ghosts[1 - me][i] = Ghost(9, 9, other.colour.lower())
                return other.colour
        return ""

    def seen(self, viewer: int, all_colours: bool = False) -> Ghosts:
        """The board as a player may see it; at the end with all colours."""
        others = []
        for ghost in self.ghosts[1 - viewer]:
            shown = ghost.colour.lower() if all_colours or not ghost.on_board else "u"
            others.append(ghost.turned._replace(colour=shown))
        return (*self.ghosts[viewer], *others)

    @staticmethod
    def _at_home(colouring: int, ghost: int) -> Ghost:
        return Ghost(*place_of(FIELD.homes[ghost]), "R" if LETTERS[ghost] in FIELD.letters(colouring) else "B")


def ending(ghosts: Ghosts) -> str:
    """By what a final board was won: escape, blues or reds (all of somebody's taken), or nothing that the board shows."""
    if any(ghost.escaped for ghost in ghosts):
        return "escape"
    taken = ["".join(ghost.colour for ghost in side if ghost.taken) for side in (ghosts[: FIELD.ghosts], ghosts[FIELD.ghosts :])]
    return next((word for word in ("blues", "reds") if any(side.count(word[0]) == FIELD.reds for side in taken)), "")


def write_log(course: Course, winner: int) -> str:
    """The competition's log file."""
    lines = [f"player={p},{write_set(colouring)}" for p, colouring in enumerate(course.colourings)]
    lines += [f"player={ply % 2},{write_order(order)}" for ply, order in enumerate(course.orders)]
    return "\n".join([*lines, f"winner={winner}", ""])


def read_game(text: str) -> State:
    """The game of a log file or of nebel's record."""
    if not text.startswith("["):
        return read_log(text).state
    named = GAME_LINE.search(text)
    if named and named[1].strip() != "geister":
        raise BadFile(f"a record of {named[1][:100]}, which is not Geister")
    return read_record(text)


def read_log(text: str) -> Course:
    """The game of a log file. Servers also log what they refuse: that is passed over, or is the last line of its game."""
    colourings: dict[int, int] = {}
    course: Course | None = None
    for line in text.splitlines():
        match = LOG_LINE.fullmatch(line)
        if not match:
            if line.strip() and not line.startswith("winner="):
                raise BadFile(f"neither a log file nor a record: {line[:60]!r}")
            continue
        player = int(match[1])
        try:
            if course is None:
                colourings.setdefault(player, read_set(match[2]))
                if len(colourings) == 2:
                    limit = max(LONG, text.count(",MOV:"))
                    course = Course(competition(limit), (colourings[0], colourings[1]))
            elif player == course.state.turn:
                course.push(read_order(match[2]))
        except (BadLine, IllegalMove):
            continue
    if course is None:
        raise BadFile("not a log file of a whole game: both players' SET lines are needed")
    return course
