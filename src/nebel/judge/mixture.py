"""Exact best responses in Dark Hex to a mixture of pure strategies with perfect recall.

Each strategy of the mixture is a world of its own, and what it remembers is a node of its tree (`dark_hex/forest.py`). What a
responder knows is therefore a set of nodes, each with the weight of its strategy. The search is depth first over such sets;
equal sets are judged once; a set is searched only as far as it can still change the choice above it; worlds that could not
be won even by a responder that sees everything are dropped at once.

In classic silent Dark Hex a cell that would complete the chain is tried first, for bumping costs nothing and tells nobody. In
all classic versions a sure win ends the search.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nebel.core.rule import kernel
from nebel.dark_hex.forest import NONE, SILENT, Board, Forest, enlarge, follow, reply, root, tell
from nebel.judge.worlds import FINE, FULL, NO_ROOM, SMALL, YES, Seen, Stacks, attempt, weigh, winnable


class Memo(NamedTuple):
    """Sets judged so far: a value with the best move, or an upper bound with NONE."""

    key: Any
    value: Any
    move: Any


@kernel
def _judge(
    board: Board, me: int, sure: Any, mine: Any, forest: Forest, roots: Any, weight: Any, memo: Memo, seen: Seen, stacks: Stacks
) -> Any:
    """The responder's winning probability, the number of worlds to begin with, the number of sets judged, and whether there was room.
    `weight` by strategy; its turned image has the same."""
    cells = board.cells
    free_probes = board.leak == SILENT and not board.abrupt
    deep = 4 * cells + 4
    stack = np.zeros((deep, 4), np.int64)
    # by depth: the set, and how far its search has come
    own, tried, low, high = np.zeros(deep, np.int64), np.zeros(deep, np.int64), np.zeros(deep, np.int64), np.zeros(deep, np.int64)
    name, choice, worlds, groups = np.zeros(deep, np.int64), np.zeros(deep, np.int64), np.zeros(deep, np.int64), np.zeros(deep, np.int64)
    options, option, group = np.zeros(deep, np.int64), np.zeros(deep, np.int64), np.zeros(deep, np.int64)
    alpha, best, most, mass, got, rest = np.zeros(deep), np.zeros(deep), np.zeros(deep), np.zeros(deep), np.zeros(deep), np.zeros(deep)
    # by depth and option: the cell, the groups it leads to, what it surely wins and may win, and the options in order
    cell_of, first, last = np.zeros((deep, cells), np.int64), np.zeros((deep, cells), np.int64), np.zeros((deep, cells), np.int64)
    safe, bound, order = np.zeros((deep, cells)), np.zeros((deep, cells)), np.zeros((deep, cells), np.int64)
    mask, judged, size = memo.key.size - 1, 0, 0
    for i in range(roots.size):
        if weight[i] > 0.0:
            node = np.int64(roots[i])
            if me == 1:
                node, _ = reply(board, sure, forest, 0, node, np.int64(0))
            if forest.count[0] + 8 * cells >= forest.own.size:
                return 0.0, 0, 0, NO_ROOM
            if node != NONE:
                can = winnable(board, sure, forest, me, np.int64(0), node, seen, stack)
                if can == NO_ROOM:
                    return 0.0, 0, 0, NO_ROOM
                if can == YES:
                    stacks.world[size], stacks.world[size + 1] = node << 1, node << 1 | 1
                    size += 2
    # the set to be judged next, and the value that comes back
    now_own, now_tried, now_low, now_high, now_alpha = np.int64(0), np.int64(0), np.int64(0), np.int64(size), -1.0
    entering, value = True, 0.0
    top_world, top_group, f = np.int64(size), np.int64(0), -1
    while entering or f >= 0:
        if entering:
            entering = False
            total, key = weigh(forest, weight, stacks, now_own, now_tried, now_low, now_high)
            value = total
            if total <= now_alpha + SMALL or total == 0.0:
                continue
            slot = key & mask
            while memo.key[slot] != 0 and memo.key[slot] != key:
                slot = (slot + 1) & mask
            if memo.key[slot] == key and (memo.move[slot] != NONE or memo.value[slot] <= now_alpha + SMALL):
                value = memo.value[slot]
                continue
            judged += 1
            if 4 * judged > 3 * memo.key.size:
                return 0.0, size, judged, FULL
            if mine.size > 0:
                cell = mine[board.ternary[now_own] + 2 * board.ternary[now_tried & ~now_own]]
                if cell >= 0:
                    memo.key[slot], memo.value[slot], memo.move[slot] = key, total, cell
                    continue
            # open the set: what each move leads to
            f += 1
            own[f], tried[f], low[f], high[f], alpha[f], mass[f], name[f] = now_own, now_tried, now_low, now_high, now_alpha, total, key
            worlds[f], groups[f], group[f] = top_world, top_group, NONE
            best[f], most[f], choice[f], options[f], option[f] = 0.0, 0.0, NONE, 0, 0
            free = ((np.int64(1) << cells) - 1) & ~now_tried
            if free_probes:
                certain = free
                for j in range(now_low, now_high):
                    stones = np.int64(forest.own[stacks.world[j] >> 1])
                    certain &= board.turned[stones] if stacks.world[j] & 1 else stones
                free &= ~certain
                for c in range(cells):
                    if free >> c & 1 and board.joined[me, now_own | np.int64(1) << c]:
                        free = np.int64(1) << c
            for c in range(cells):
                if not free >> c & 1:
                    continue
                if top_world + now_high - now_low >= stacks.world.size or top_group + now_high - now_low >= stacks.begin.size:
                    return 0.0, size, judged, FULL
                n = options[f]
                options[f] += 1
                cell_of[f, n], first[f, n] = c, top_group
                safe[f, n], top_world, top_group, fault = attempt(
                    board, sure, forest, weight, me, seen, stack, stacks, now_own, now_tried, now_low, now_high, c, top_world, top_group
                )
                if fault != FINE:
                    return 0.0, size, judged, fault
                last[f, n], bound[f, n] = top_group, safe[f, n]
                for g in range(first[f, n], top_group):
                    bound[f, n] += stacks.mass[g]
                m = n  # the most promising first
                while m > 0 and bound[f, order[f, m - 1]] < bound[f, n]:
                    order[f, m] = order[f, m - 1]
                    m -= 1
                order[f, m] = n
        else:
            got[f] += value
            rest[f] -= stacks.mass[group[f]]
            group[f] += 1
        while True:  # go on with the set at depth f
            n = order[f, min(option[f], cells - 1)]
            cut = max(best[f], alpha[f])
            if group[f] == NONE:
                if option[f] < options[f] and best[f] < mass[f] - SMALL:
                    if bound[f, n] > cut + SMALL:
                        group[f], got[f], rest[f] = first[f, n], safe[f, n], bound[f, n] - safe[f, n]
                        continue
                    most[f] = max(most[f], bound[f, n])
                # done: an exact value if it beats alpha, else a bound
                exact = best[f] > alpha[f] + SMALL
                value = best[f] if exact else max(best[f], most[f])
                slot = name[f] & mask
                while memo.key[slot] != 0 and memo.key[slot] != name[f]:
                    slot = (slot + 1) & mask
                memo.key[slot], memo.value[slot], memo.move[slot] = name[f], value, choice[f] if exact else NONE
                top_world, top_group = worlds[f], groups[f]
                f -= 1
                break
            if got[f] + rest[f] <= cut + SMALL:
                most[f] = max(most[f], got[f] + rest[f])
            elif group[f] < last[f, n]:
                g = group[f]
                now_own, now_tried, now_low, now_high = stacks.own[g], stacks.tried[g], stacks.begin[g], stacks.end[g]
                now_alpha = cut - got[f] - (rest[f] - stacks.mass[g])
                entering = True
                break
            elif got[f] > best[f]:
                best[f], choice[f] = got[f], cell_of[f, n]
            option[f] += 1
            group[f] = NONE
    return value, size, judged, FINE


@kernel
def _write_down(
    board: Board, me: int, sure: Any, forest: Forest, weight: Any, memo: Memo, seen: Seen, stacks: Stacks, size: int, answer: Forest,
    seed: Any,
) -> Any:  # fmt: skip
    """Plant the response that `_judge` found (its first worlds are still on the stack); returns its root, or NONE for lack of room."""
    stack = np.zeros((4 * board.cells + 4, 4), np.int64)
    mask = memo.key.size - 1
    start = root(answer, seed)
    top_world, top_group, open_group = np.int64(size), np.int64(1), np.int64(0)
    at = np.zeros(stacks.begin.size, np.int64)
    stacks.begin[0], stacks.end[0], stacks.own[0], stacks.tried[0], at[0] = 0, size, 0, 0, start
    while open_group < top_group:
        g = open_group
        open_group += 1
        low, high = stacks.begin[g], stacks.end[g]
        total, key = weigh(forest, weight, stacks, stacks.own[g], stacks.tried[g], low, high)
        slot = key & mask
        while memo.key[slot] != 0 and memo.key[slot] != key:
            slot = (slot + 1) & mask
        if total == 0.0 or memo.key[slot] != key or memo.move[slot] == NONE:
            continue
        if top_world + high - low >= stacks.world.size or top_group + high - low >= stacks.begin.size:
            return NONE
        if answer.count[0] + 4 * board.cells * (high - low + 1) >= answer.own.size:
            return NONE
        cell = np.int64(memo.move[slot])
        answer.move[at[g]] = cell
        _, top_world, made, fault = attempt(
            board, sure, forest, weight, me, seen, stack, stacks, stacks.own[g], stacks.tried[g], low, high, cell, top_world, top_group
        )
        if fault != FINE:
            return NONE
        for k in range(top_group, made):
            at[k] = tell(board, answer, follow(answer, at[g], stacks.last[k] & 1), stacks.last[k] >> 1)
        top_group = made
    return start


class Responder:
    """One player's best responses to mixtures of the other's strategies."""

    def __init__(self, board: Board, me: int, sure: tuple[Any, Any]) -> None:
        """`sure`: both players' tables of sure wins, or empty arrays."""
        self.board, self.me, self.sure = board, me, sure
        self.judged = 0
        self._seen = Seen(np.zeros(1 << 20, np.int64), np.zeros(1, np.int64))
        self._memo, self._stacks = _tables(1 << 18, 1 << 18)
        self._size = 0

    @property
    def bytes(self) -> int:
        """How much memory the tables of the search take."""
        return sum(column.nbytes for columns in (self._memo, self._stacks, self._seen) for column in columns)

    def judge(self, theirs: Forest, roots: Any, weight: Any) -> tuple[float, Forest]:
        """The winning probability against a mixture (a weight for each root), and their forest, which may have been enlarged."""
        self._weight = np.where(weight > SMALL, weight, 0.0) / 2
        sure = self.sure[1 - self.me], self.sure[self.me]
        while True:
            self._memo.key[:] = 0
            value, self._size, self.judged, fault = _judge(
                self.board, self.me, *sure, theirs, roots, self._weight, self._memo, self._seen, self._stacks
            )
            if fault == NO_ROOM:
                theirs = enlarge(theirs)
            elif fault == FULL:
                self._memo, self._stacks = _tables(4 * len(self._memo.key), 2 * len(self._stacks.world))
            else:
                return float(value), theirs

    def write_down(self, theirs: Forest, mine: Forest, seed: int) -> tuple[int, Forest, Forest]:
        """A response that reaches the value judged last: its root, and both forests."""
        while True:
            kept = mine.count.copy()
            start = _write_down(
                self.board, self.me, self.sure[1 - self.me], theirs, self._weight, self._memo, self._seen, self._stacks, self._size, mine,
                np.int64(seed),
            )  # fmt: skip
            if start != NONE:
                return int(start), theirs, mine
            mine.count[:] = kept
            mine, theirs = enlarge(mine), enlarge(theirs)
            self._stacks = Stacks(*(np.concatenate([column, np.zeros_like(column)]) for column in self._stacks))


def _tables(sets: int, worlds: int) -> tuple[Memo, Stacks]:
    memo = Memo(np.zeros(sets, np.int64), np.zeros(sets), np.zeros(sets, np.int8))
    kinds = (np.int64, np.int64, np.int64, np.int64, np.float64, np.int64, np.int64, np.int64)
    return memo, Stacks(*(np.zeros(worlds, kind) for kind in kinds))
