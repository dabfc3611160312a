"""The board of Geister: where ghosts begin, how cells, moves and colourings are called, and pictures.

Each player counts from its own side: a1 is its left corner nearest to it, and a ghost that goes north comes closer to the other player.
The other's cell is the one turned by 180 degrees.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb

from nebel.core.errors import UnknownGame

NORTH, EAST, SOUTH, WEST = range(4)
TOOK_RED, TOOK_BLUE = 1, 2
"""The colour of a ghost that a player took, as that player sees it."""
MOST_CELLS = 64
VARIANT = re.compile(r"x(\d+)y(\d+)g(\d+)([RB]?)b(\d+)")

EMPTY, BLUE, RED, HIDDEN, OTHER_BLUE, OTHER_RED = ".BR?br"
"""Marks of a view: own ghosts in capitals."""


def word(cells: Iterable[int]) -> int:
    """A set of cells as compiled rules hold it: bits of 64, the last of which is the sign."""
    bits = sum(1 << cell for cell in cells)
    return bits - (bits >> MOST_CELLS - 1 << MOST_CELLS)


def brief(text: str) -> dict[str, str]:
    """`geister:x4y3g4b0`: 4 columns, 3 rows, 4 ghosts a side, no buffer; R or B after the ghosts: most of an odd number are red or blue."""
    match = VARIANT.fullmatch(text)
    if not match:
        known = "geister:xCOLUMNSyROWSgGHOSTSbBUFFER, for example geister:x4y3g4b0, with R or B after an odd number of ghosts"
        raise UnknownGame(f"geister:{text} is not understood; write {known}")
    width, height, ghosts, majority, buffer = match.groups()
    if (int(ghosts) % 2 == 1) != bool(majority):
        odd = "an odd number of ghosts has R or B after it" if not majority else "R or B stands after an odd number of ghosts only"
        raise UnknownGame(f"geister:{text} is not understood; {odd}")
    reds = {"reds": str(int(ghosts) // 2 + (majority == "R"))} if majority else {}  # half of an even number
    return {"width": width, "height": height, "ghosts": ghosts, "buffer": buffer} | reds


@dataclass(frozen=True)
class Board:
    """Cells are numbered row by row from the player's own side; a move is 4 * cell + direction."""

    width: int
    height: int
    ghosts: int
    reds: int
    buffer: int

    def __post_init__(self) -> None:
        columns = self.width - 2 * self.buffer
        cells = self.width * self.height
        rows = -(-self.ghosts // columns) if columns > 0 else 0
        wrong = {
            f"a board of {self.width} by {self.height} is not possible; columns are 2 to 26, rows at least 2, cells at most {MOST_CELLS}":
                not 2 <= self.width <= 26 or self.height < 2 or cells > MOST_CELLS,
            f"buffer={self.buffer} leaves no column of {self.width} to begin on; it is 0 to {(self.width - 1) // 2}":
                self.buffer < 0 or columns < 1,
            f"ghosts={self.ghosts} is not possible; each player has at least 2, a red and a blue one": self.ghosts < 2,
            f"reds={self.reds} of {self.ghosts} ghosts is not possible; there are 1 to {self.ghosts - 1}": not 1 <= self.reds < self.ghosts,
            f"{self.ghosts} ghosts a side need {rows} rows each of {columns} columns, and there are only {self.height} rows":
                2 * rows > self.height,
            f"{self.ghosts} ghosts of which {self.reds} are red can be coloured in {self.ways:,} ways; there are at most 5,000":
                self.ways > 5000,
        }  # fmt: skip
        for why, so in wrong.items():
            if so:
                raise UnknownGame(f"geister: {why}")

    @property
    def ways(self) -> int:
        return comb(self.ghosts, self.reds) if 0 <= self.reds <= self.ghosts <= MOST_CELLS else 0

    @property
    def cells(self) -> int:
        return self.width * self.height

    @property
    def blues(self) -> int:
        return self.ghosts - self.reds

    @property
    def most_taken(self) -> tuple[int, int]:
        """How many blue and red ghosts of a player can be taken while a game lasts, but at least 1."""
        return max(self.blues - 1, 1), max(self.reds - 1, 1)

    @property
    def exits(self) -> tuple[int, int]:
        """The corners from which a blue ghost may leave."""
        return self.cells - self.width, self.cells - 1

    @property
    def sides(self) -> tuple[int, int]:
        """The left column and the right one, as words."""
        return word(range(0, self.cells, self.width)), word(range(self.width - 1, self.cells, self.width))

    @property
    def doors(self) -> tuple[int, int]:
        """The cells from which blue ghosts may leave, own ones and the other's, as words."""
        return word(self.exits), word((0, self.width - 1))

    @cached_property
    def homes(self) -> list[int]:
        """Where ghosts A, B, C ... begin: the front row first, each from left to right. Rows fill from the back, an unfinished one from
        outside in."""
        columns = range(self.buffer, self.width - self.buffer)
        full, rest = divmod(self.ghosts, len(columns))
        inwards = sorted(columns, key=lambda x: -abs(2 * x - self.width + 1))
        centred = [columns[len(columns) // 2]] if rest % 2 and len(columns) % 2 else []  # an odd one has the middle
        front = sorted((centred + inwards)[:rest])
        rows = [list(columns)] * full + ([front] if front else [])
        return [self.width * y + x for y in reversed(range(len(rows))) for x in rows[y]]

    @cached_property
    def colourings(self) -> list[int]:
        """The cells of red ghosts at the beginning, as bits."""
        return [sum(1 << self.homes[i] for i in chosen) for chosen in combinations(range(self.ghosts), self.reds)]

    @property
    def start(self) -> int:
        return sum(1 << cell for cell in self.homes)

    def letters(self, colouring: int) -> str:
        """The red ghosts of a colouring, such as ABCD."""
        return "".join(self.letter(i) for i, cell in enumerate(self.homes) if self.colourings[colouring] >> cell & 1)

    def letter(self, ghost: int) -> str:
        return chr(ord("A") + ghost) if ghost < 26 else f"({ghost + 1})"

    def cell_name(self, cell: int) -> str:
        return f"{chr(ord('a') + cell % self.width)}{cell // self.width + 1}"

    def move_name(self, move: int) -> str:
        cell, direction = divmod(move, 4)
        x, y = cell % self.width, cell // self.width
        x += (direction == EAST) - (direction == WEST)
        y += (direction == NORTH) - (direction == SOUTH)
        inside = 0 <= x < self.width and 0 <= y < self.height
        return f"{self.cell_name(cell)}-{self.cell_name(y * self.width + x) if inside else 'out'}"

    def turned(self, move: int) -> int:
        """A move as the other player sees it."""
        return 4 * (self.cells - 1 - move // 4) + (move + 2) % 4

    def text(self, marks: list[str], notes: list[str]) -> str:
        """Rows from the far side to the near one."""
        wide = len(str(self.height))
        lines = [" " * (wide + 1) + " ".join(self.cell_name(x)[0] for x in range(self.width))]
        for y in reversed(range(self.height)):
            lines.append(f"{y + 1:>{wide}} " + " ".join(marks[y * self.width : (y + 1) * self.width]))
        return "\n".join([*lines, *notes])

    def picture(self, marks: list[str], captured: tuple[str, str], ending: str) -> str:
        """`captured`: marks of what the player below has taken, and of what the one above has; `ending`: words below."""
        side, margin, tray = 54, 30, 40
        width = 2 * margin + side * self.width
        bottom = 2 * margin + side * self.height + 2 * tray
        height = bottom + (20 if ending else 0)
        top = margin + tray

        def corner(cell: int) -> tuple[float, float]:
            return margin + side * (cell % self.width), top + side * (self.height - 1 - cell // self.width)

        parts = [f'<rect width="{width}" height="{height}" rx="8" fill="#f4f1ea" stroke="#8a8578"/>']
        for cell, mark in enumerate(marks):
            x, y = corner(cell)
            shade = "#fbfaf6" if (cell % self.width + cell // self.width) % 2 else "#efe9db"
            box = f'x="{x}" y="{y}" width="{side}" height="{side}"'
            parts.append(f'<rect data-cell="{self.cell_name(cell)}" {box} fill="{shade}" stroke="#b9b2a1"/>')
            if mark != EMPTY:
                parts.append(_ghost(x + side / 2, y + side / 2, 19, mark))
        for cell in (*self.exits, 0, self.width - 1):
            x, y = corner(cell)
            far = cell >= self.width
            tip, base = (y - 13, y - 3) if far else (y + side + 13, y + side + 3)
            middle = x + side / 2
            mark = 'data-cell="out" ' if far else ""
            arrow = f'd="M{middle} {tip} L{middle - 7} {base} L{middle + 7} {base} Z" fill="#6a8f5a"'
            parts.append(f"<path {mark}{arrow}><title>exit</title></path>")
        for x in range(self.width):
            parts.append(_label(margin + side * (x + 0.5), bottom - tray - 1, self.cell_name(x)[0]))
        for y in range(self.height):
            parts.append(_label(margin - 16, top + side * (self.height - y - 0.5) + 5, str(y + 1)))
        for taken, y in zip(captured, (bottom - tray / 2, tray / 2 + 4), strict=True):
            parts += [_ghost(margin + 24 + 32 * i, y, 12, mark) for i, mark in enumerate(taken)]
        if ending:
            parts.append(_label(width / 2, height - 8, ending))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'font-family="sans-serif" font-size="13" fill="#5b564a">{"".join(parts)}</svg>'
        )


COLOURS = {BLUE: "#3b6fb5", RED: "#c0392b", HIDDEN: "#a7a39a", OTHER_BLUE: "#9db9df", OTHER_RED: "#e3a49b"}
TITLES = {BLUE: "blue", RED: "red", HIDDEN: "unknown", OTHER_BLUE: "the other's blue", OTHER_RED: "the other's red"}


def _label(x: float, y: float, text: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="middle">{text}</text>'


def _ghost(x: float, y: float, r: float, mark: str) -> str:
    """A head, a wavy hem, two eyes; the other's ghosts look the other way."""
    wave = r / 3
    hem = "".join(f"q{-wave / 2:.1f} {-wave:.1f} {-wave:.1f} 0 t{-wave:.1f} 0" for _ in range(3))
    body = f"M{x - r:.1f} {y + r:.1f} V{y - r / 4:.1f} A{r:.1f} {r:.1f} 0 0 1 {x + r:.1f} {y - r / 4:.1f} V{y + r:.1f} {hem} Z"
    look = 0.12 * r if mark in (HIDDEN, OTHER_BLUE, OTHER_RED) else -0.12 * r
    eyes = "".join(
        f'<circle cx="{x + side * 0.38 * r:.1f}" cy="{y - 0.2 * r:.1f}" r="{0.24 * r:.1f}" fill="#fff"/>'
        f'<circle cx="{x + side * 0.38 * r:.1f}" cy="{y - 0.2 * r + look:.1f}" r="{0.11 * r:.1f}" fill="#222"/>'
        for side in (-1, 1)
    )
    return f'<g><title>{TITLES[mark]}</title><path d="{body}" fill="{COLOURS[mark]}" stroke="#3a372f" stroke-width="1.2"/>{eyes}</g>'
