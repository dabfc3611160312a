"""Geister: ghosts of hidden colour; catch the other's blue ones, have your red ones caught, or lead a blue one out."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy import int64

from nebel.core.errors import UnknownGame
from nebel.core.game import CHANCE, END, Clues, Game, Hints, MoreRecalls, Pieces, Record, Rules, openly, record
from nebel.core.rule import rule
from nebel.games.geister_board import BLUE, EMPTY, HIDDEN, OTHER_BLUE, OTHER_RED, RED, TOOK_BLUE, TOOK_RED, Board, brief, word
from nebel.games.geister_bots import bots
from nebel.games.geister_history import MOST_BOARDS, keeping_boards, recalls_of_boards
from nebel.games.geister_looks import looks_of
from nebel.games.geister_proof import prover

__all__ = ["ESCAPED", "LOST_BLUES", "LOST_REDS", "SETUP", "TOOK_BLUE", "TOOK_RED", "brief", "geister", "short_limit"]

SETUP = 3
"""What can be seen, besides the colour of a ghost that I took: SETUP + my colouring; then the other's moves."""

ESCAPED, LOST_BLUES, LOST_REDS = 1, 2, 3
"""How a game was won: a blue ghost left, the loser's blue ones are all taken, the winner's red ones are."""

LONG, SHORT = 300, 100
"""Plies before a draw: in competitions, and in the papers' training and small variants."""


def short_limit(cells: int) -> int:
    """The limit of a board unless told otherwise."""
    return LONG if cells >= 36 else SHORT


def geister(
    width: int = 6,
    height: int = 6,
    ghosts: int = 8,
    reds: int | None = None,
    buffer: int = 1,
    setup: Literal["random", "chosen"] = "random",
    limit: int | None = None,
    assist: bool = False,
    history: int | None = None,
) -> Game:
    """Catch the other's blue ghosts, have your own red ones caught, or lead a blue one out: whose is which colour, only its owner knows."""
    field = Board(width, height, ghosts, ghosts // 2 if reds is None else reds, buffer)
    if limit is not None and not 1 <= limit <= 10_000:
        raise UnknownGame(f"geister: limit={limit} is not possible; plies before a draw are 1 to 10,000")
    if history is not None and not 1 <= history <= MOST_BOARDS:
        raise UnknownGame(f"geister: history={history} is not possible; states hold 1 to {MOST_BOARDS} earlier boards")
    cells = field.cells
    most_plies = short_limit(cells) if limit is None else limit
    chosen = setup == "chosen"
    colourings = np.array(field.colourings, int64)
    ways, home = len(colourings), field.start
    last, far = cells - 1, cells - width
    inner = word(range(far))  # from where north is on the board
    left, right = field.sides
    corners, _ = field.doors
    placing = 4 * cells  # the first move that chooses colours
    moved = SETUP + ways  # the first sight of a move
    looks = looks_of(field, most_plies)

    @rule
    def start(s: Record) -> None:
        s.ghosts[:] = home
        s.reds[:] = 0
        s.were[:] = home
        s.were_red[:] = 0
        s.taken[:] = 0
        s.taken_before[:] = 0
        s.ply = s.placed = s.how = 0
        s.winner = -1
        s.turn = 0 if chosen else CHANCE

    @rule
    def turn(s: Record) -> int:
        return s.turn

    @rule
    def moves(s: Record, out: Any) -> int:
        if s.placed < 2:
            for i in range(ways):
                out[i] = placing + i if chosen else i
            return ways
        mine = s.ghosts[s.turn]
        leave = mine & ~s.reds[s.turn] & corners
        north = (mine & inner) & ~(mine >> width) | leave
        east = ((mine & ~right) << 1 & ~mine) >> 1
        south = (mine >> width & ~mine) << width
        west = ((mine & ~left) >> 1 & ~mine) << 1
        if assist and leave:
            north, east, south, west, mine = leave, int64(0), int64(0), int64(0), leave
        n = 0
        for cell in range(cells):
            if mine >> cell & 1:
                out[n] = 4 * cell
                n += north >> cell & 1
                out[n] = 4 * cell + 1
                n += east >> cell & 1
                out[n] = 4 * cell + 2
                n += south >> cell & 1
                out[n] = 4 * cell + 3
                n += west >> cell & 1
        return n

    @rule
    def odds(s: Record, out: Any) -> None:
        out[:ways] = 1 / ways

    @rule
    def place(s: Record, colouring: int, seen: Any) -> None:
        p = s.placed
        s.reds[p] = s.were_red[p] = colourings[colouring]
        if not chosen:
            seen[p] = SETUP + colouring
        s.placed += 1
        s.turn = (1 if chosen else CHANCE) if s.placed == 1 else 0

    @rule
    def turned(move: int) -> int:
        return 4 * (last - (move >> 2)) + (move + 2 & 3)

    @rule
    def take(s: Record, me: int, enemy: Any) -> int:
        """Take the ghost that stands there as its owner counts; what it was."""
        other = 1 - me
        s.ghosts[other] &= ~enemy
        if s.reds[other] & enemy:
            s.reds[other] &= ~enemy
            s.taken[me, 0] += 1
            if s.reds[other] == 0:
                s.winner, s.how = other, LOST_REDS
            return TOOK_RED
        s.taken[me, 1] += 1
        if s.ghosts[other] == s.reds[other]:
            s.winner, s.how = me, LOST_BLUES
        return TOOK_BLUE

    @rule
    def play(s: Record, move: int, seen: Any) -> None:
        seen[0] = seen[1] = 0
        if s.placed < 2:
            place(s, move - placing if chosen else move, seen)
            return
        me = s.turn
        other = 1 - me
        for p in range(2):
            s.were[p], s.were_red[p] = s.ghosts[p], s.reds[p]
            s.taken_before[p, 0], s.taken_before[p, 1] = s.taken[p, 0], s.taken[p, 1]
        cell, way = move >> 2, move & 3
        here, took = int64(1) << cell, 0
        s.ghosts[me] ^= here
        if way == 0 and cell >= far:
            s.winner, s.how = me, ESCAPED
        else:
            to = cell + (width if way == 0 else 1 if way == 1 else -width if way == 2 else -1)
            there = int64(1) << to
            s.ghosts[me] |= there
            if s.reds[me] & here:
                s.reds[me] ^= here | there
            enemy = int64(1) << (last - to)
            if s.ghosts[other] & enemy:
                took = take(s, me, enemy)
        s.ply += 1
        seen[me], seen[other] = took, moved + 3 * turned(move) + took
        s.turn = END if s.winner >= 0 or s.ply == most_plies else other

    @rule
    def score(s: Record) -> float:
        return 0.0 if s.winner < 0 else 1.0 if s.winner == 0 else -1.0

    @rule
    def way_out(s: Record) -> int:
        """An escape, which wins, or -1."""
        if s.placed == 2:
            leave = s.ghosts[s.turn] & ~s.reds[s.turn] & corners
            if leave:
                return 4 * (last if leave >> last & 1 else far)
        return -1

    @rule
    def essence(s: Record) -> None:
        """What stood where before has no bearing on what comes."""
        s.were[:] = 0
        s.were_red[:] = 0
        s.taken_before[:] = 0

    def move_name(move: int) -> str:
        return field.move_name(move) if move < placing else field.letters(move - placing)

    def sight(token: int) -> str:
        if token < SETUP:
            return {TOOK_RED: "(took:red)", TOOK_BLUE: "(took:blue)"}[token]
        if token < moved:
            return f"(reds:{field.letters(token - SETUP)})"
        move, took = divmod(token - moved, 3)
        return f"({field.move_name(move)}{('', '=red', '=blue')[took]})"

    def marks(s: Record, player: int | None) -> list[str]:
        """By cell as `player` counts, player 0 for the truth."""
        me = player or 0
        own, reds, others, their_reds = (int(x) for x in (s.ghosts[me], s.reds[me], s.ghosts[1 - me], s.reds[1 - me]))
        placed = s.placed > me if player is not None or s.placed < 2 else True
        drawn = []
        for cell in range(cells):
            turned_cell = last - cell
            if own >> cell & 1:
                drawn.append((RED if reds >> cell & 1 else BLUE) if placed else HIDDEN)
            elif others >> turned_cell & 1:
                shown = player is None and s.placed == 2
                drawn.append((OTHER_RED if their_reds >> turned_cell & 1 else OTHER_BLUE) if shown else HIDDEN)
            else:
                drawn.append(EMPTY)
        return drawn

    def taken_text(s: Record, p: int) -> str:
        red, blue = (int(n) for n in s.taken[p])
        return f"player {p} took {blue} blue, {red} red"

    def ending(s: Record) -> list[str]:
        if s.turn != END:
            return []
        ways_to_win = {ESCAPED: "a blue ghost is out", LOST_BLUES: "all blue ghosts are taken", LOST_REDS: "the red ghosts are taken"}
        return [f"player {s.winner} won: {ways_to_win[int(s.how)]}" if s.winner >= 0 else f"drawn after {s.ply} plies"]

    def view(s: Record, player: int | None) -> str:
        drawn = marks(s, player)
        if player is not None and s.placed <= player:  # whoever chooses colours must know which ghost is A
            for ghost, cell in enumerate(field.homes):
                drawn[cell] = field.letter(ghost)
        return field.text(drawn, [taken_text(s, player or 0), taken_text(s, 1 - (player or 0)), *ending(s)])

    def svg(s: Record, player: int | None) -> str:
        me = player or 0
        below = OTHER_RED * int(s.taken[me, 0]) + OTHER_BLUE * int(s.taken[me, 1])
        above = RED * int(s.taken[1 - me, 0]) + BLUE * int(s.taken[1 - me, 1])
        return field.picture(marks(s, player), (below, above), " ".join(ending(s)))

    game = Game(
        state=record(
            ghosts=(int64, 2), reds=(int64, 2), were=(int64, 2), were_red=(int64, 2), taken=(int64, (2, 2)), taken_before=(int64, (2, 2)),
            placed=int64, ply=int64, turn=int64, winner=int64, how=int64,
        ),
        rules=Rules(start, turn, moves, play, score, odds),
        actions=placing + (ways if chosen else 0),
        outcomes=0 if chosen else ways,
        depth=most_plies + 2,
        width=max(ways, 4 * field.ghosts + 1),
        most=1.0,
        move_name=move_name,
        outcome_name=field.letters,
        sight_name=sight,
        glances=looks.glances,
        encodings=looks.encodings,
        hints=Hints(way_out, always=True),
        clues=Clues(essence=essence, public=openly),
        bots=bots(field),
        prove=prover(field, most_plies),
        limited_by="limit",
        pieces=Pieces(cells, 4, (field.blues, field.reds), ways if chosen else 0),
        more_recalls=MoreRecalls("history", recalls_of_boards()),
        view=view,
        svg=svg,
    )  # fmt: skip
    return game if history in (None, 1) else keeping_boards(game, field, looks, history)
