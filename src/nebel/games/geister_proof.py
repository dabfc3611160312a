"""Certain wins in Geister: a move after which its player wins whatever colours the other's ghosts have.

The other's colours are settled as late as possible, as its best interest has it: a ghost that is taken is red or blue as long as some of
that colour are left, and one on an exit can leave as long as some are blue. What is certain against such a ghost is certain against every
colouring, and the other way round, for nothing is learned of a colour but by taking a ghost or by its escape.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import int64

from nebel.core.game import Record
from nebel.core.rule import rule
from nebel.games.geister_board import Board
from nebel.games.geister_ways import ways_of

DEEPEST = 20
MINE, THEIRS, SHOWN = 0, 1, 2
"""Whose turn a node is, or a ghost's colour is about to be shown."""

NONE, UNKNOWN = -1, -2


def prover(field: Board, limit: int) -> Any:
    """The rule prove(s, plies, budget, after): a move that wins for certain within so many plies, NONE, or UNKNOWN after so many nodes.

    Moves up to `after`, in the order of the search, are not asked about (-1: all are).
    """
    width, cells = field.width, field.cells
    last, far = cells - 1, cells - width
    exits, doors = field.doors
    blue_count, red_count = field.ghosts - field.reds, field.reds
    may_go, to_exit, _, in_order, steps = ways_of(field)

    @rule
    def hopeless(blue: Any, red: Any, plies: int) -> Any:
        """Neither can a blue ghost be out by then, nor can all red ones be taken."""
        nearest, reds = int64(1) << 40, 0
        for cell in range(cells):
            if blue >> cell & 1:
                nearest = min(nearest, to_exit[cell])
            reds += red >> cell & 1
        return 2 * nearest + 1 > plies and reds > plies // 2

    @rule
    def prove(s: Record, plies: int, budget: int, after: int) -> int:
        if s.placed < 2:
            return NONE
        me = s.turn
        plies = min(plies, DEEPEST, limit - s.ply)
        size = 2 * DEEPEST + 3
        at = np.zeros((size, 8), int64)  # by level: my blue, my red, theirs, their blues, their reds, plies left, kind, next move
        theirs = int64(0)
        for cell in range(cells):
            theirs |= (s.ghosts[1 - me] >> cell & 1) << (last - cell)
        at[0, 0], at[0, 1], at[0, 2] = s.ghosts[me] & ~s.reds[me], s.reds[me], theirs
        at[0, 3], at[0, 4] = blue_count - s.taken[me, 1], red_count - s.taken[me, 0]
        at[0, 5], at[0, 6] = plies, MINE
        leave = at[0, 0] & exits
        if leave:
            return (4 * last if leave >> last & 1 else 4 * far) if after < 0 else NONE
        if after >= 0:
            while in_order[at[0, 7]] != after >> 2:
                at[0, 7] += 1
            at[0, 7] = 4 * at[0, 7] + (after & 3) + 1
        level, nodes = 0, 0
        while True:
            blue, red, theirs = at[level, 0], at[level, 1], at[level, 2]
            blues, reds, rest, kind = at[level, 3], at[level, 4], at[level, 5], at[level, 6]
            known, won, deeper = False, False, False
            if kind == SHOWN:  # blue first, then red
                colour = at[level, 7]
                at[level, 7] += 1
                if colour == 2:
                    known, won = True, True
                elif colour == 0 and blues > 0:
                    deeper = blues > 1  # the last blue one wins
                    blues -= 1
                elif colour == 1 and reds > 0:
                    known = reds == 1  # the last red one loses
                    deeper = reds > 1
                    reds -= 1
                kind_below = THEIRS
            else:
                if at[level, 7] == 0:
                    if kind == MINE:
                        known = won = level > 0 and blue & exits != 0
                        if not known and (rest == 0 or hopeless(blue, red, rest)):
                            known = True
                    elif rest == 0 or (blues > 0 and theirs & doors):
                        known = True
                own, k = blue | red if kind == MINE else theirs, at[level, 7]
                while not known and k < 4 * cells:
                    cell, way = in_order[k >> 2], k & 3
                    k += 1
                    if own >> cell & 1 and may_go(own, cell, way):
                        deeper = True
                        break
                at[level, 7] = k
                kind_below = THEIRS if kind == MINE else MINE
                if not known and not deeper:  # all moves are tried: mine in vain, theirs in vain
                    known, won = True, kind == THEIRS
                elif deeper:
                    nodes += 1
                    if nodes > budget:
                        return UNKNOWN
                    rest -= 1
                    here, there = int64(1) << cell, int64(1) << (cell + steps[way])
                    if kind == MINE:
                        if blue & here:
                            blue ^= here | there
                        else:
                            red ^= here | there
                        if theirs & there:
                            theirs ^= there
                            kind_below = SHOWN
                    else:
                        theirs ^= here | there
                        if blue & there:
                            blue ^= there
                            if blue == 0:
                                deeper, known = False, True
                        elif red & there:
                            red ^= there
                            deeper = red != 0  # having the last red one taken wins
            if deeper:
                level += 1
                at[level, 0], at[level, 1], at[level, 2], at[level, 3], at[level, 4] = blue, red, theirs, blues, reds
                at[level, 5], at[level, 6], at[level, 7] = rest, kind_below, 0
                continue
            while known:  # a node is decided; its parent may be, too
                if level == 0:
                    if not won:
                        return NONE
                    tried = at[0, 7] - 1
                    return 4 * in_order[tried >> 2] + (tried & 3)
                level -= 1
                known = won == (at[level, 6] == MINE)

    return prove
