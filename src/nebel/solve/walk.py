"""How a sampling solver moves through a game: by its rules, or along a tree. One source of a solver serves both.

A walker's functions take a world (the arrays it walks in) and a place `d` in a stack of positions:

begin(w)           put the start at place 0
turn(w, d)         whose turn it is
options(w, d)      how many moves or outcomes there are
draw(w, d, n, u)   the outcome that chance picks, given a uniform number u
row(w, d, p, n)    where player p's information state stands in the pool: n regrets, then n sums of the average
step(w, d, e, i)   take option i at place d, and put the result at place e
score(w, d)        at the end, what player 0 gets
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.atomic import claim, fetch_add
from nebel.core.game import Game
from nebel.core.keys import find
from nebel.core.kin import borrow
from nebel.core.recall import PERFECT, blank_memory, remember_move, remember_sight
from nebel.core.rng import mix
from nebel.core.rule import rule
from nebel.core.tree import Tree
from nebel.core.unfold import look_away
from nebel.solve.heritage import NOTHING, Heritage

USED, POOL, LOST = 0, 1, 2
"""What a table counts: slots taken, numbers taken from the pool, and information states that found no room."""


LINE = 16
"""Numbers to either side that keep two threads' arrays off each other's cache lines."""


def apart(shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Zeros that one thread can write to without slowing another down."""
    size = math.prod(shape)
    return np.zeros(size + 2 * LINE, np.int64)[LINE : LINE + size].reshape(shape)


class Walker(NamedTuple):
    begin: Any
    turn: Any
    options: Any
    draw: Any
    row: Any
    step: Any
    score: Any


class TreeWorld(NamedTuple):
    at: Any  # by place in the stack: the node
    turn: Any
    first: Any
    breadth: Any
    odds: Any
    score: Any
    row: Any
    halt: Any  # not 0: the traversal has to end


class RuleWorld(NamedTuple):
    states: Any
    memory: Any
    legal: Any
    odds: Any
    seen: Any
    table: Any  # pairs: key, 1 + place in the pool
    counts: Any
    owner: Any  # by half the place in the pool: whose information state begins there
    moves: Any  # by half the place in the pool: which move
    pool: Any
    pending: Any  # by half the place in the pool: regrets that are added when the traversal ends
    old: Any  # for each player, what new information states take over
    halt: Any  # not 0: the traversal has to end
    price: Any  # bytes a move of an information state, bytes an information state, and bytes for all of them


@rule
def tree_begin(w: TreeWorld) -> None:
    w.at[0] = 0


@rule
def tree_turn(w: TreeWorld, d: int) -> int:
    return w.turn[w.at[d]]


@rule
def tree_options(w: TreeWorld, d: int) -> int:
    return w.breadth[w.at[d]]


@rule
def tree_draw(w: TreeWorld, d: int, n: int, u: float) -> int:
    first = w.first[w.at[d]]
    for i in range(n - 1):
        u -= w.odds[first + i]
        if u < 0.0:
            return i
    return n - 1


@rule
def tree_row(w: TreeWorld, d: int, p: int, n: int) -> int:
    return w.row[w.at[d]]


@rule
def tree_step(w: TreeWorld, d: int, e: int, i: int) -> None:
    w.at[e] = w.first[w.at[d]] + i


@rule
def tree_score(w: TreeWorld, d: int) -> float:
    return w.score[w.at[d]]


TREE_WALKER = Walker(tree_begin, tree_turn, tree_options, tree_draw, tree_row, tree_step, tree_score)


def tree_world(tree: Tree) -> TreeWorld:
    nodes = tree.nodes
    base = (0, len(tree.sides[0].move))
    row = np.zeros(len(nodes.turn), np.int64)
    for p in range(2):
        mine = np.flatnonzero(nodes.turn == p)
        row[mine] = 2 * (base[p] + tree.sides[p].spot[nodes.point[mine]].astype(np.int64))
    return TreeWorld(apart((tree.depth + 2,)), nodes.turn, nodes.first, nodes.breadth, nodes.odds, nodes.score, row, apart((1,)))


@rule
def no_heritage(w: RuleWorld, d: int, p: int, place: int, n: int) -> None:
    """New information states begin with nothing."""


def taking_over(game: Game, heritage: Heritage) -> Any:
    """A rule that fills the row of a new information state with what a smaller game's holds. Where the average is the first strategy, it
    stands in place of the regrets until the traversal ends, and the difference is pending."""
    larger, recall = borrow(game, heritage.game, heritage.recall)
    perfect = recall == PERFECT
    look = look_away if perfect else larger.glances[recall].look
    by_average = heritage.begins_with_average

    @rule
    def take_over(w: RuleWorld, d: int, p: int, place: int, n: int) -> None:
        key: Any = w.memory[d, p] if perfect else np.int64(look(w.states[d], p))
        at = find(w.old[p].keys, key)
        if at < 0:
            return
        shares = 0.0
        for j in range(w.old[p].first[at], w.old[p].first[at + 1]):
            for i in range(n):
                if w.legal[d, i] == w.old[p].move[j]:
                    w.pool[place + i], w.pool[place + n + i] = w.old[p].regret[j], w.old[p].total[j]
                    if by_average:
                        w.pending[(place >> 1) + i] = w.old[p].strategy[j]
                        shares += w.old[p].strategy[j]
        if by_average:
            for i in range(n):
                share = w.pending[(place >> 1) + i] if shares > 0.0 else w.pool[place + i]
                w.pending[(place >> 1) + i] = w.pool[place + i] - share
                w.pool[place + i] = share

    return take_over


@rule
def has_room(w: RuleWorld, n: int) -> bool:
    """Whether an information state with n moves finds room, and one that another thread may be writing down at the same time."""
    if 8 * w.counts[USED] > 7 * ((w.table.size >> 1) - 1) or w.counts[POOL] + 2 * (n + w.legal.shape[1]) > 2 * w.moves.size:
        return False
    return (w.counts[POOL] >> 1) * w.price[0] + w.counts[USED] * w.price[1] <= w.price[2]


def rule_walker(game: Game, recall: str, heritage: Heritage | None = None) -> Walker:
    start, turn, moves, play, score, odds = game.rules
    perfect = recall == PERFECT
    look = look_away if perfect else game.glances[recall].look
    take_over = taking_over(game, heritage) if heritage else no_heritage

    @rule
    def begin(w: RuleWorld) -> None:
        start(w.states[0])
        w.memory[0, 0], w.memory[0, 1] = blank_memory(0), blank_memory(1)

    @rule
    def whose(w: RuleWorld, d: int) -> int:
        return turn(w.states[d])

    @rule
    def options(w: RuleWorld, d: int) -> int:
        return moves(w.states[d], w.legal[d])

    @rule
    def draw(w: RuleWorld, d: int, n: int, u: float) -> int:
        odds(w.states[d], w.odds)
        for i in range(n - 1):
            u -= w.odds[i]
            if u < 0.0:
                return i
        return n - 1

    @rule
    def row(w: RuleWorld, d: int, p: int, n: int) -> int:
        if perfect:
            key = w.memory[d, p]
            slot = key
        else:
            key = 2 * np.int64(look(w.states[d], p)) + p + 1
            slot = mix(key)
        mask = (w.table.size >> 1) - 1
        slot &= mask
        while True:
            held = w.table[2 * slot]
            if held == key:
                place = w.table[2 * slot + 1]
                while place == 0:  # another thread is writing it down
                    place = fetch_add(w.table, 2 * slot + 1, 0)
                return place - 1
            if held == 0:
                if not has_room(w, n):
                    fetch_add(w.counts, LOST, 1)
                    w.halt[0] = 1
                    return 0
                if claim(w.table, 2 * slot, 0, key):
                    fetch_add(w.counts, USED, 1)
                    place = fetch_add(w.counts, POOL, 2 * n)
                    w.owner[place >> 1] = p
                    for i in range(n):
                        w.moves[(place >> 1) + i] = w.legal[d, i]
                    take_over(w, d, p, place, n)
                    fetch_add(w.table, 2 * slot + 1, place + 1)
                    return place
                continue
            slot = (slot + 1) & mask

    @rule
    def step(w: RuleWorld, d: int, e: int, i: int) -> None:
        who, move = turn(w.states[d]), w.legal[d, i]
        if e != d:
            w.states[e] = w.states[d]
            w.memory[e, 0], w.memory[e, 1] = w.memory[d, 0], w.memory[d, 1]
        w.seen[0] = w.seen[1] = 0
        play(w.states[e], move, w.seen)
        if perfect:
            if who >= 0:
                w.memory[e, who] = remember_move(w.memory[e, who], move)
            w.memory[e, 0] = remember_sight(w.memory[e, 0], w.seen[0])
            w.memory[e, 1] = remember_sight(w.memory[e, 1], w.seen[1])

    @rule
    def outcome(w: RuleWorld, d: int) -> float:
        return score(w.states[d])

    return Walker(begin, whose, options, draw, row, step, outcome)


def rule_world(game: Game, depth: int, slots: int, rows: int) -> RuleWorld:
    """Room for `slots` (a power of two) keys and `rows` numbers a kind; the first numbers are the spill for those without room.
    `price` remains to be filled in."""
    counts = np.array([0, 2 * game.width, 0], np.int64)
    return RuleWorld(
        states=game.blank(depth + 2 * LINE)[LINE:-LINE],
        memory=apart((depth, 2)),
        legal=apart((depth, game.width)),
        odds=apart((game.width,)).view(np.float64),
        seen=apart((2,)),
        table=np.zeros(2 * slots, np.int64),
        counts=counts,
        owner=np.zeros(rows, np.int8),
        moves=np.zeros(rows, np.int32),
        pending=np.zeros(rows),
        pool=np.zeros(2 * rows),  # costs no memory before it is written to, so it can be as large as it may ever become
        old=(NOTHING, NOTHING),
        halt=apart((1,)),
        price=np.zeros(3, np.int64),
    )
