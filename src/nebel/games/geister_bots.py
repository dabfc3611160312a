"""Players that come with Geister: at random with escapes, Rush, and Purple, which looks ahead as if it could not tell ghosts apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import int64

from nebel.core.game import Bot, Record
from nebel.core.rule import rule
from nebel.games.geister_board import Board
from nebel.games.geister_ways import ways_of

WIN = 100_000_000
DEEPEST = 16
ENDLESS = 1 << 62


def bots(field: Board) -> dict[str, Bot]:
    width, height, cells = field.width, field.height, field.cells
    last, far = cells - 1, cells - width
    exits, doors = field.doors
    blue_count, ways, placing = field.ghosts - field.reds, field.ways, 4 * cells
    columns = [min(x, width - 1 - x) for x in range(width)]
    may_go, to_exit, to_door, in_order, steps = ways_of(field)
    inner = sorted(range(field.ghosts), key=lambda i: -columns[field.homes[i] % width])[: field.reds]
    inside = field.colourings.index(sum(1 << field.homes[i] for i in inner))

    @rule
    def any_colouring(u: float) -> int:
        return placing + min(int(u * ways), ways - 1)

    @rule
    def way_out(s: Record) -> int:
        leave = s.ghosts[s.turn] & ~s.reds[s.turn] & exits
        return -1 if not leave else 4 * last if leave >> last & 1 else 4 * far

    @rule
    def some_move(s: Record, u: float) -> int:
        own, n = s.ghosts[s.turn], 0
        for i in range(placing):
            n += own >> (i >> 2) & 1 and may_go(own, i >> 2, i & 3)
        which = min(int(u * n), n - 1)
        for i in range(placing):
            if own >> (i >> 2) & 1 and may_go(own, i >> 2, i & 3):
                if which == 0:
                    return i
                which -= 1
        return -1

    @rule
    def with_escape(s: Record, u: float) -> int:
        """At random, but a blue ghost that can leave does."""
        if s.placed < 2:
            return any_colouring(u)
        out = way_out(s)
        return out if out >= 0 else some_move(s, u)

    @rule
    def rush(s: Record, u: float) -> int:
        """The foremost blue ghost goes north, then to the nearer corner, through whatever is not its own."""
        if s.placed < 2:
            return placing + inside
        out = way_out(s)
        if out >= 0:
            return out
        own, best, choice = s.ghosts[s.turn], int64(1) << 40, -1
        for cell in range(cells):
            if (own & ~s.reds[s.turn]) >> cell & 1:
                x = cell % width
                way = 0 if cell < far else 3 if 2 * x < width else 1
                cost = (height - 1 - cell // width) * width + to_exit[cell]
                if cost < best and may_go(own, cell, way):
                    best, choice = cost, 4 * cell + way
        return choice if choice >= 0 else some_move(s, u)

    @rule
    def size(bits: Any) -> int:
        n = 0
        while bits:
            bits &= bits - 1
            n += 1
        return n

    @rule
    def turned(bits: Any) -> Any:
        """The other's cells as I count them."""
        found = int64(0)
        for cell in range(cells):
            found |= (bits >> cell & 1) << (last - cell)
        return found

    @rule
    def judged(blue: Any, red: Any, purple: Any, blues: int, mine: bool, ply: int, leaf: bool) -> tuple[bool, int]:
        """Whether a position is decided, or a leaf, and what it is worth to me."""
        if red == 0:
            return True, WIN - ply
        if blue == 0 or size(purple) <= blues:
            return True, ply - WIN
        if mine and blue & exits:
            return True, WIN - ply
        if not mine and purple & doors:
            return True, ply - WIN
        if not leaf:
            return False, 0
        worth = 1000 * size(blue)
        for cell in range(cells):
            worth += (purple >> cell & 1) * to_door[cell] - ((blue | red) >> cell & 1) * to_exit[cell]
        return True, worth

    @rule
    def look_ahead(s: Record, depth: int, budget: int) -> int:
        """Alpha-beta to this depth. The other's ghosts are purple: each can escape, and counts as red when it is taken. -1: over budget."""
        me = s.turn
        blues = blue_count - s.taken[me, 1]
        position = np.empty((DEEPEST + 1, 3), int64)  # by ply: my blue, my red, purple
        bound = np.empty((DEEPEST + 1, 2), int64)  # alpha, beta
        at = np.zeros(DEEPEST + 1, int64)
        position[0, 0], position[0, 1] = s.ghosts[me] & ~s.reds[me], s.reds[me]
        position[0, 2] = turned(s.ghosts[1 - me])
        bound[0, 0], bound[0, 1] = -ENDLESS, ENDLESS
        ply, choice, nodes = 0, -1, 0
        while True:
            mine = ply % 2 == 0
            blue, red, purple = position[ply, 0], position[ply, 1], position[ply, 2]
            own = blue | red if mine else purple
            move = -1
            while at[ply] < placing and bound[ply, 0] < bound[ply, 1]:
                cell, way = in_order[at[ply] >> 2], at[ply] & 3
                at[ply] += 1
                if own >> cell & 1 and may_go(own, cell, way):
                    move = 4 * cell + way
                    break
            if move < 0:  # all moves are tried, or no more are needed
                if ply == 0:
                    return choice
                value = bound[ply, 0] if mine else bound[ply, 1]
                ply -= 1
            else:
                nodes += 1
                if nodes > budget:
                    return -1
                here, there = int64(1) << (move >> 2), int64(1) << ((move >> 2) + steps[move & 3])
                if mine:
                    purple &= ~there
                    blue, red = (blue ^ (here | there), red) if blue & here else (blue, red ^ (here | there))
                else:
                    purple ^= here | there
                    blue &= ~there
                    red &= ~there
                decided, value = judged(blue, red, purple, blues, not mine, ply + 1, ply + 1 == depth)
                if not decided:
                    ply += 1
                    position[ply, 0], position[ply, 1], position[ply, 2] = blue, red, purple
                    bound[ply, 0], bound[ply, 1] = bound[ply - 1, 0], bound[ply - 1, 1]
                    at[ply] = 0
                    continue
            if ply % 2 == 0 and value > bound[ply, 0]:
                bound[ply, 0] = value
                if ply == 0:
                    tried = at[0] - 1
                    choice = 4 * in_order[tried >> 2] + (tried & 3)
            elif ply % 2 == 1 and value < bound[ply, 1]:
                bound[ply, 1] = value

    @rule
    def purple_within(s: Record, u: float, depth: int, budget: int) -> int:
        if s.placed < 2:
            return any_colouring(u)
        out = way_out(s)
        if out >= 0:
            return out
        return look_ahead(s, min(depth, DEEPEST), budget)

    @rule
    def purple(s: Record, u: float, depth: int) -> int:
        return purple_within(s, u, depth, ENDLESS)

    return {
        "random-escape": Bot(with_escape, "at random, but escapes when it can"),
        "rush": Bot(rush, "runs with its foremost blue ghost"),
        "purple": Bot(purple, "looks some plies ahead as if every enemy ghost were both red and blue", 2, purple_within, DEEPEST),
    }
