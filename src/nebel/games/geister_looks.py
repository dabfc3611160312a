"""What players of Geister see of a position: glances for tables and planes for networks, as the papers and this library have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from numpy import int64

from nebel.core.game import Encoding, Glance, Record, key_text
from nebel.core.rng import fold
from nebel.core.rule import rule
from nebel.games.geister_board import BLUE, EMPTY, HIDDEN, RED, Board

KEY = (1 << 62) - 1


class Looks(NamedTuple):
    """Rules for boards, of which `ours` and `reds` are sets of cells as a player counts and `theirs` as the opponent does.

    look_at(ours, reds, theirs)           one number for the board
    board_planes(ours, reds, theirs, out, at)  write the planes of own blue, own red and enemy ghosts at out[at:]
    level(out, at, value)                 write a plane of one value
    """

    glances: Mapping[str, Glance]
    encodings: Mapping[str, Encoding]
    look_at: Any
    board_planes: Any
    level: Any


def looks_of(field: Board, most_plies: int) -> Looks:
    """Return the glances and encodings of a board on which a game has at most `most_plies` plies."""
    width, height, cells = field.width, field.height, field.cells
    red_count, blue_count, last = field.reds, field.blues, cells - 1
    most_blue, most_red = field.most_taken
    narrow, spare = 2 * cells <= 62, 2 * cells + 8 <= 62

    @rule
    def look_at(ours: Any, reds: Any, theirs: Any) -> Any:
        """By cell: empty, my blue, my red, the other's."""
        key = int64(0)
        if narrow:
            for cell in range(cells):
                mark = 3 if theirs >> (last - cell) & 1 else (1 + (reds >> cell & 1)) if ours >> cell & 1 else 0
                key |= int64(mark) << 2 * cell
            return key
        return fold(fold(fold(int64(0), ours), reds), theirs) & KEY

    @rule
    def see_board(s: Record, player: int) -> int:
        return look_at(s.ghosts[player], s.reds[player], s.ghosts[1 - player])

    @rule
    def see_previous(s: Record, player: int) -> int:
        return fold(see_board(s, player), look_at(s.were[player], s.were_red[player], s.were[1 - player])) & KEY

    @rule
    def see_captured(s: Record, player: int) -> int:
        reds = s.taken[player, 0]
        return see_board(s, player) << 8 | reds if spare else fold(see_board(s, player), reds) & KEY

    @rule
    def see_clock(s: Record, player: int) -> int:
        return fold(see_captured(s, player), s.ply) & KEY

    @rule
    def see_clock_and_previous(s: Record, player: int) -> int:
        return fold(fold(see_previous(s, player), s.ply), s.taken[player, 0]) & KEY

    @rule
    def board_planes(ours: Any, reds: Any, theirs: Any, out: Any, at: int) -> None:
        for cell in range(cells):
            red = reds >> cell & 1
            out[at + cell] = (ours >> cell & 1) - red
            out[at + cells + cell] = red
            out[at + 2 * cells + cell] = theirs >> (last - cell) & 1

    @rule
    def level(out: Any, at: int, value: float) -> None:
        for cell in range(cells):
            out[at + cell] = value

    @rule
    def encode_board(s: Record, player: int, out: Any) -> None:
        """Planes: my blue ghosts, my red ones, the other's."""
        board_planes(s.ghosts[player], s.reds[player], s.ghosts[1 - player], out, 0)

    @rule
    def encode_captured(s: Record, player: int, out: Any) -> None:
        """Planes: those of the board; the shares of the other's blue and red ghosts that I took."""
        encode_board(s, player, out)
        level(out, 3 * cells, s.taken[player, 1] / blue_count)
        level(out, 4 * cells, s.taken[player, 0] / red_count)

    @rule
    def encode_clock(s: Record, player: int, out: Any) -> None:
        """Planes: those of the board and of what is captured; how much of the limit is over. Then whether it is my turn."""
        encode_captured(s, player, out)
        level(out, 5 * cells, s.ply / most_plies)
        out[6 * cells] = s.turn == player

    @rule
    def encode_previous(s: Record, player: int, out: Any) -> None:
        """Planes: those of the board, and the same of one ply before."""
        encode_board(s, player, out)
        board_planes(s.were[player], s.were_red[player], s.were[1 - player], out, 3 * cells)

    @rule
    def encode_six(s: Record, player: int, out: Any) -> None:
        """Planes of the paper on Deep CFR: those of the board; taken blue and red ghosts over all but one; the share of the limit over."""
        encode_board(s, player, out)
        level(out, 3 * cells, s.taken[player, 1] / most_blue)
        level(out, 4 * cells, s.taken[player, 0] / most_red)
        level(out, 5 * cells, s.ply / most_plies)

    @rule
    def encode_eleven(s: Record, player: int, out: Any) -> None:
        """These planes, and those of the board and of what is captured of one ply before."""
        encode_six(s, player, out)
        board_planes(s.were[player], s.were_red[player], s.were[1 - player], out, 6 * cells)
        level(out, 9 * cells, s.taken_before[player, 1] / most_blue)
        level(out, 10 * cells, s.taken_before[player, 0] / most_red)

    @rule
    def encode_numbers(s: Record, player: int, out: Any) -> None:
        """Planes: those of the board. Then, as in the paper on DREAM: shares of taken blue and red ghosts, of the limit; whether I move."""
        encode_board(s, player, out)
        out[3 * cells] = s.taken[player, 1] / blue_count
        out[3 * cells + 1] = s.taken[player, 0] / red_count
        out[3 * cells + 2] = s.ply / most_plies
        out[3 * cells + 3] = s.turn == player

    @rule
    def encode_clock_and_previous(s: Record, player: int, out: Any) -> None:
        """Planes: those of the board and of what is captured, now and one ply before; how much of the limit is over. Then whether it is my
        turn."""
        encode_captured(s, player, out)
        board_planes(s.were[player], s.were_red[player], s.were[1 - player], out, 5 * cells)
        level(out, 8 * cells, s.taken_before[player, 1] / blue_count)
        level(out, 9 * cells, s.taken_before[player, 0] / red_count)
        level(out, 10 * cells, s.ply / most_plies)
        out[11 * cells] = s.turn == player

    def board_text(key: int) -> str:
        marked = EMPTY + BLUE + RED + HIDDEN
        rows = ["".join(marked[key >> 2 * (y * width + x) & 3] for x in range(width)) for y in reversed(range(height))]
        return "/".join(rows)

    def captured_text(key: int) -> str:
        return f"{board_text(key >> 8)}, {key & 255} red taken"

    planes = (height, width)
    glances = {
        "board": Glance(see_board, board_text if narrow else key_text, "own ghosts with their colours, the other's without"),
        "captured": Glance(see_captured, captured_text if spare else key_text, "the board, and what was captured of which colour"),
        "previous": Glance(see_previous, note="the board, and that of one ply before"),
        "clock": Glance(see_clock, note="captured, and how many plies were played"),
        "six-channels": Glance(see_clock, note="clock, as the paper on Deep CFR puts it into numbers"),
        "eleven-channels": Glance(see_clock_and_previous, note="clock-and-previous, as the same paper puts it into numbers"),
        "board-and-numbers": Glance(see_clock, note="clock, as the paper on DREAM puts it into numbers"),
        "clock-and-previous": Glance(see_clock_and_previous, note="captured and the board, now and one ply before; the plies"),
    }
    encodings = {
        "board": Encoding(3 * cells, encode_board, planes),
        "captured": Encoding(5 * cells, encode_captured, planes),
        "previous": Encoding(6 * cells, encode_previous, planes),
        "clock": Encoding(6 * cells + 1, encode_clock, planes),
        "six-channels": Encoding(6 * cells, encode_six, planes),
        "eleven-channels": Encoding(11 * cells, encode_eleven, planes),
        "board-and-numbers": Encoding(3 * cells + 4, encode_numbers, planes),
        "clock-and-previous": Encoding(11 * cells + 1, encode_clock_and_previous, planes),
    }
    return Looks(glances, encodings, look_at, board_planes, level)
