"""Dark Hex: Hex in which you see only your own stones and those you bump into (rules, six versions, notation, picture)."""

from __future__ import annotations

import re
from math import cos, pi, sin, sqrt
from typing import Any, Literal

from numpy import int64

from nebel.core.errors import UnknownGame
from nebel.core.game import END, Clues, Encoding, Game, Glance, Hints, Record, Rules, key_text, record
from nebel.core.remember import keeping_diaries
from nebel.core.rng import fold
from nebel.core.rule import rule

BUMPED, NOISE, FLASH = 1, 2, 3
TURN = 1
"""What can be seen: my stone hit a hidden one; the other's stone hit one of mine, somewhere or (FLASH + cell) there.
All notice that a TURN has passed."""


def brief(text: str) -> dict[str, str]:
    """`dark_hex:4x3` is 4 rows and 3 columns."""
    match = re.fullmatch(r"(\d+)x(\d+)", text)
    if not match:
        raise UnknownGame(f"dark_hex:{text} is not understood; write dark_hex:ROWSxCOLUMNS, for example dark_hex:4x3")
    return {"rows": match[1], "cols": match[2]}


def dark_hex(
    rows: int = 3, cols: int = 3, abrupt: bool = False, leak: Literal["silent", "noisy", "flash"] = "silent", diary: bool = False
) -> Game:
    """Hex in which you see only your own stones and those you bump into."""
    cells = rows * cols
    if rows < 1 or not 1 <= cols <= 26 or cells > 62:
        limits = "rows and columns are at least 1, columns at most 26, cells at most 62"
        raise UnknownGame(f"dark_hex: a board of {rows}x{cols} is not possible; {limits}")
    board = (1 << cells) - 1
    top, bottom = (1 << cols) - 1, ((1 << cols) - 1) << (cells - cols)
    left = sum(1 << (r * cols) for r in range(rows))
    right = left << (cols - 1)
    noisy, flash = leak == "noisy", leak == "flash"
    wide = cells > 31

    @rule
    def start(s: Record) -> None:
        s.stones[:] = 0
        s.met[:] = 0
        s.turn = 0
        s.winner = -1

    @rule
    def turn(s: Record) -> int:
        return s.turn

    @rule
    def moves(s: Record, out: Any) -> int:
        free = board & ~(s.stones[s.turn] | s.met[s.turn])
        count = 0
        for cell in range(cells):
            out[count] = cell  # without a branch: which cells are free is hard to predict
            count += free >> cell & 1
        return count

    @rule
    def with_neighbours(reach: Any) -> Any:
        west, east = reach & ~left, reach & ~right
        return reach | reach << cols | reach >> cols | east << 1 | west >> 1 | west << (cols - 1) | east >> (cols - 1)

    @rule
    def joined(stones: Any, source: int, target: int) -> bool:
        reach = stones & source
        while not reach & target:
            near = with_neighbours(reach)
            if near & stones == reach:
                return False
            reach = near & stones
        return True

    @rule
    def play(s: Record, cell: int, seen: Any) -> None:
        me = s.turn
        other = 1 - me
        stone = int64(1) << cell
        seen[0] = seen[1] = 0
        if s.stones[other] & stone:
            s.met[me] |= stone
            seen[me] = BUMPED
            if flash:
                seen[other] = FLASH + cell
            elif noisy:
                seen[other] = NOISE
            if abrupt:
                s.turn = other
            return
        s.stones[me] |= stone
        if joined(s.stones[me], top if me == 0 else left, bottom if me == 0 else right):
            s.winner = me
            s.turn = END
        else:
            s.turn = other

    @rule
    def score(s: Record) -> float:
        return 1.0 if s.winner == 0 else -1.0

    @rule
    def own_and_met(s: Record, player: int) -> Any:
        if wide:
            return fold(fold(int64(0), s.stones[player]), s.met[player]) & 0x3FFFFFFFFFFFFFFF
        return s.stones[player] << cells | s.met[player]

    @rule
    def encode(s: Record, player: int, out: Any) -> None:
        """By cell: my stone, a discovered stone of the other, neither; the seat."""
        for cell in range(cells):
            own, met = s.stones[player] >> cell & 1, s.met[player] >> cell & 1
            out[cell], out[cells + cell], out[2 * cells + cell] = own, met, 1 - own - met
        out[3 * cells] = player

    @rule
    def within_reach(stones: Any, source: int) -> Any:
        """Cells from which a stone would be joined to the edge `source`."""
        reach = stones & source
        near = with_neighbours(reach)
        while near & stones != reach:
            reach = near & stones
            near = with_neighbours(reach)
        return near | source

    @rule
    def winning_cell(s: Record) -> int:
        """A cell that completes the chain unless it is taken: trying it costs nothing, except when a bump ends the turn."""
        if abrupt:
            return -1
        own = s.stones[s.turn]
        free = board & ~(own | s.met[s.turn])
        wins = free & within_reach(own, top if s.turn == 0 else left) & within_reach(own, bottom if s.turn == 0 else right)
        for cell in range(cells):
            if wins >> cell & 1:
                return cell
        return -1

    @rule
    def reveal(s: Record, player: int) -> None:
        """All hidden stones are discovered, but for one where a bump would be a way to pass."""
        hidden = s.stones[1 - player]
        s.met[player] = hidden & (hidden - 1) if abrupt else hidden

    def cell_name(cell: int) -> str:
        return f"{chr(ord('a') + cell % cols)}{cell // cols + 1}"

    def sight(token: int) -> str:
        return {BUMPED: "taken", NOISE: "noise"}.get(token) or f"noise@{cell_name(token - FLASH)}"

    def board_text(key: int) -> str:
        """Own stones x, discovered ones o, row by row."""
        own, met = key >> cells, key & board
        marks = ["x" if own >> c & 1 else "o" if met >> c & 1 else "." for c in range(cells)]
        return "/".join("".join(marks[r * cols : (r + 1) * cols]) for r in range(rows))

    def marks(s: Record, player: int | None) -> list[str]:
        """What is drawn on each cell: B, W, or a dot; the truth shows discovered stones in lower case."""
        black, white = int(s.stones[0]), int(s.stones[1])
        met = [int(s.met[0]), int(s.met[1])]
        if player == 0:
            white = met[0]
        elif player == 1:
            black = met[1]
        known = met[0] | met[1] if player is None else 0
        drawn = ["B" if black >> c & 1 else "W" if white >> c & 1 else "." for c in range(cells)]
        return [mark.lower() if known >> c & 1 else mark for c, mark in enumerate(drawn)]

    def view(s: Record, player: int | None) -> str:
        drawn = marks(s, player)
        lines = ["  " + " ".join(chr(ord("a") + c) for c in range(cols))]
        lines += [" " * r + f"{r + 1} " + " ".join(drawn[r * cols : (r + 1) * cols]) for r in range(rows)]
        return "\n".join(lines)

    def svg(s: Record, player: int | None) -> str:
        return _picture(rows, cols, marks(s, player), cell_name)

    game = Game(
        state=record(stones=(int64, 2), met=(int64, 2), turn=int64, winner=int64),
        rules=Rules(start, turn, moves, play, score),
        actions=cells,
        depth=2 * cells - 1,
        most=1.0,
        move_name=cell_name,
        sight_name=sight,
        glances={"board": Glance(own_and_met, key_text if wide else board_text, "own and discovered stones, not the order")},
        encodings={"board": Encoding(3 * cells + 1, encode, (rows, cols))},
        hints=Hints(winning_cell, reveal, always=not (noisy or flash)),
        clues=_clues(with_neighbours, board, ((top, bottom), (left, right)), abrupt, leak == "silent"),
        view=view,
        svg=svg,
    )
    if not diary:
        return game
    noticed = cells if leak == "silent" else game.depth
    return keeping_diaries(game, noticed, {"silent": NOISE, "noisy": FLASH, "flash": FLASH + cells}[leak], "board")


def _clues(with_neighbours: Any, board: int, edges: tuple[tuple[int, int], tuple[int, int]], abrupt: bool, silent: bool) -> Clues:
    """Where the other must have put stones by when, and whether there is a way to put the rest that does not win."""
    (top, bottom), (left, right) = edges

    @rule
    def size(cells: Any) -> int:
        n = 0
        while cells:
            cells &= cells - 1
            n += 1
        return n

    @rule
    def heard(events: Any, i: int, end: int) -> bool:
        return i < end and not events[i] & 1 and events[i] > 2 * BUMPED

    @rule
    def can_cross(mine: Any, unknown: Any, spare: int, source: int, goal: int) -> bool:
        """Would I be joined with at most so many of the unknown cells? If not, whoever has all the other cells is."""
        reach = int64(0)
        for used in range(spare + 1):
            if used > 0:
                reach |= (with_neighbours(reach) | source) & unknown
            more = reach | (with_neighbours(reach) | source) & mine
            while more != reach:
                reach = more
                more |= with_neighbours(reach) & mine
            if reach & goal:
                return True
        return False

    @rule
    def hopeful(s: Record, me: int, events: Any, at: int, end: int) -> bool:
        other, i = 1 - me, at
        bump_missed = at < end and events[at] == 2 * BUMPED
        if s.turn == END or bump_missed or (s.turn == me and heard(events, at, end)):  # too late to bump, or to hear the other
            return False
        mine, theirs, needed, found = s.stones[me], s.stones[other], 0, 0
        for j in range(at + 1, end):
            needed += events[j] == 2 * BUMPED and not theirs >> (events[j - 1] >> 1) & 1
        others_turn, turns, passed = s.turn == other, 0, 0
        while True:
            if others_turn:
                noise = heard(events, i, end)
                while heard(events, i, end):
                    i += 1
                if not (abrupt and noise):
                    turns += 1  # first come stones that I will bump into; later ones may pass by bumping into mine
                    passed += abrupt and silent and turns > needed and passed < size(mine & ~s.met[other])
            if i >= end:
                break
            stone, bumped = int64(1) << (events[i] >> 1), i + 1 < end and events[i + 1] == 2 * BUMPED
            if bumped and not theirs & stone:
                theirs |= stone
                found += 1
                if found > turns:
                    return False
            elif not bumped:
                if theirs & stone:
                    return False
                mine |= stone
            i += 2 if bumped else 1
            others_turn = abrupt or not bumped
        unknown = board & ~(mine | theirs)
        spare = size(unknown) - (turns - needed - passed)
        return can_cross(mine, unknown, spare, top if me == 0 else left, bottom if me == 0 else right)

    @rule
    def public(mover: int, seen0: int, seen1: int) -> int:
        """That a turn has passed, or what both heard; a bump that only one has noticed is no step."""
        mine, others = (seen0, seen1) if mover == 0 else (seen1, seen0)
        return others if others else TURN if abrupt or mine != BUMPED else 0

    return Clues(hopeful, public=public)


def _picture(rows: int, cols: int, drawn: list[str], cell_name: Any) -> str:
    """Hexagons; Black's edges are dark, White's are light; a stone that the other side has discovered wears a ring."""
    r = 28.0
    wide = sqrt(3) * r
    margin = 34.0
    width = margin * 2 + wide * (cols + (rows - 1) / 2)
    height = margin * 2 + r * (1.5 * rows + 0.5)

    def centre(row: float, col: float) -> tuple[float, float]:
        return margin + wide * (col + 0.5 + row / 2), margin + r * (1 + 1.5 * row)

    def corner(row: int, col: int, k: int) -> tuple[float, float]:
        x, y = centre(row, col)
        return x + r * sin(k * pi / 3), y - r * cos(k * pi / 3)

    def path(points: list[tuple[float, float]]) -> str:
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)

    parts = []
    for cell, mark in enumerate(drawn):
        row, col = divmod(cell, cols)
        x, y = centre(row, col)
        hexagon = path([corner(row, col, k) for k in range(6)])
        parts.append(f'<polygon data-cell="{cell_name(cell)}" points="{hexagon}" fill="#e9dcc0" stroke="#9a8a66"/>')
        if mark != ".":
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="17" fill="{"#1c1c1c" if mark in "Bb" else "#ffffff"}" stroke="#1c1c1c"/>')
        if mark in "bw":
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="20.5" fill="none" stroke="#c0392b" stroke-width="2.5"/>')
        parts.append(f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle" font-size="12" fill="#9a8a66">{cell_name(cell)}</text>')
    edges = [
        ("#1c1c1c", [corner(0, c, k) for c in range(cols) for k in (5, 0, 1)]),
        ("#1c1c1c", [corner(rows - 1, c, k) for c in range(cols) for k in (4, 3, 2)]),
        ("#ffffff", [corner(row, 0, k) for row in range(rows) for k in (5, 4)]),
        ("#ffffff", [corner(row, cols - 1, k) for row in range(rows) for k in (1, 2)]),
    ]
    for colour, points in edges:
        line = f'<polyline points="{path(points)}" fill="none" stroke-linejoin="round" stroke-linecap="round"'
        parts.append(f'{line} stroke="#6f6142" stroke-width="7"/>{line} stroke="{colour}" stroke-width="5"/>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        f'font-family="sans-serif"><rect width="100%" height="100%" rx="10" fill="#c8b78f"/>{"".join(parts)}</svg>'
    )
