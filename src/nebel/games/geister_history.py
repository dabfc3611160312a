"""Earlier boards of Geister in its states, for players who remember more of them than the last.

Chen, Kaneko. Utilizing History Information in Acquiring Strategies for Board Game Geister by Deep Counterfactual Regret Minimization. It
gives networks the board of one ply before; more "history moves" are its future work.

A state holds the last plies, a number each, and earlier boards are found by taking plies back. Before the first ply the board is that of
the start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy import int64

from nebel.core.game import Encoding, Game, Glance, Record
from nebel.core.remember import with_fields
from nebel.core.rng import fold
from nebel.core.rule import rule
from nebel.games.geister_board import TOOK_BLUE, TOOK_RED, Board
from nebel.games.geister_looks import KEY, Looks

MOST_BOARDS = 8
"""Plies that a state holds."""
CLOCK, SIX = "clock-and-previous", "six-channels-and-previous"
"""The names of recalls, before a hyphen and the number of earlier boards."""


def recalls_of_boards() -> Mapping[str, int]:
    """Return the recalls of more than one earlier board, and how many each needs.

    >>> list(recalls_of_boards())[:2]
    ['six-channels-and-previous-2', 'clock-and-previous-2']
    """
    return {f"{name}-{boards}": boards for boards in range(2, MOST_BOARDS + 1) for name in (SIX, CLOCK)}


def keeping_boards(game: Game, field: Board, looks: Looks, boards: int) -> Game:
    """Return the same game whose states hold earlier boards, with glances and encodings of 2 to `boards` of them."""
    width, cells = field.width, field.cells
    last, far = cells - 1, cells - width
    turn, start, play, essence = game.rules.turn, game.rules.start, game.rules.play, game.clues.essence
    look_at, board_planes, level = looks.look_at, looks.board_planes, looks.level
    most_plies, planes = game.depth - 2, (field.height, width)

    @rule
    def begin(s: Record) -> None:
        start(s)
        s.path[:] = 0

    @rule
    def go_on(s: Record, move: int, seen: Any) -> None:
        who, ply = turn(s), s.ply
        play(s, move, seen)
        if s.ply > ply:
            s.path[ply % MOST_BOARDS] = 3 * move + seen[who]

    @rule
    def essential(s: Record) -> None:
        essence(s)
        s.path[:] = 0

    @rule
    def taken_back(s: Record, player: int, ply: int, board: Any) -> Any:
        """Return the board as `player` sees it before a ply, from that after it."""
        if ply < 0:
            return board
        ours, reds, theirs, taken_red, taken_blue = board
        move, took = int64(s.path[ply % MOST_BOARDS]) // 3, int64(s.path[ply % MOST_BOARDS]) % 3
        cell, way = move >> 2, move & 3
        to = cell + (width if way == 0 else 1 if way == 1 else -width if way == 2 else -1)
        out = way == 0 and cell >= far
        here, there = int64(1) << cell, int64(0) if out else int64(1) << to
        victim = int64(1) << (last - to) if took else int64(0)
        if ply % 2 == player:
            if reds & there:
                reds ^= here | there
            ours = ours & ~there | here
            theirs |= victim
            taken_red -= int64(took == TOOK_RED)
            taken_blue -= int64(took == TOOK_BLUE)
        else:
            theirs = theirs & ~there | here
            ours |= victim
            if took == TOOK_RED:
                reds |= victim
        return ours, reds, theirs, taken_red, taken_blue

    @rule
    def now(s: Record, player: int) -> Any:
        return s.ghosts[player], s.reds[player], s.ghosts[1 - player], s.taken[player, 0], s.taken[player, 1]

    def seeing(count: int) -> Any:
        @rule
        def look(s: Record, player: int) -> int:
            board, key = now(s, player), fold(int64(0), s.ply)
            for back in range(1 + count):
                if back > 0:
                    board = taken_back(s, player, s.ply - back, board)
                key = fold(fold(key, look_at(board[0], board[1], board[2])), board[3])
            return key & KEY

        return look

    def telling(first: str, at: int, count: int, most_blue: int, most_red: int, whose: bool) -> Encoding:
        """What the encoding `first` says; from the plane `at` on each earlier board and what was captured then, over these numbers;
        with `whose` also the clock and whether it is the player's turn."""
        _, say, _ = game.encodings[first]
        clock = at + 5 * count

        @rule
        def write(s: Record, player: int, out: Any) -> None:
            say(s, player, out)
            board = now(s, player)
            for back in range(1, 1 + count):
                board = taken_back(s, player, s.ply - back, board)
                place = (at + 5 * (back - 1)) * cells
                board_planes(board[0], board[1], board[2], out, place)
                level(out, place + 3 * cells, board[4] / most_blue)
                level(out, place + 4 * cells, board[3] / most_red)
            if whose:
                level(out, clock * cells, s.ply / most_plies)
                out[(clock + 1) * cells] = s.turn == player

        return Encoding((clock + whose) * cells + whose, write, planes)

    glances, encodings = dict(game.glances), dict(game.encodings)
    for count in range(2, boards + 1):
        look = seeing(count)
        six, clock = f"{SIX}-{count}", f"{CLOCK}-{count}"
        glances[six] = Glance(look, note=f"{clock}, as the paper on Deep CFR puts one earlier board into numbers")
        glances[clock] = Glance(look, note=f"captured and the board, now and {count} plies back; the plies")
        encodings[six] = telling("six-channels", 6, count, *field.most_taken, False)
        encodings[clock] = telling("captured", 5, count, field.blues, field.reds, True)
    return replace(
        game,
        state=with_fields(game, path=(np.int16, MOST_BOARDS)),
        rules=game.rules._replace(start=begin, play=go_on),
        clues=game.clues._replace(essence=essential),
        glances=glances,
        encodings=encodings,
    )
