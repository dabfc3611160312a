"""Exact best responses in classic Dark Hex to a player who remembers the board only, written down as trees.

What is hidden from the responder is the other player's board: own and discovered stones, a `world`. What the responder knows is
therefore a set of worlds with chances. The search is depth first over such beliefs. Equal beliefs are judged once; what a
responder who sees everything would win bounds them, and a belief is searched only as far as it can change the choice above it.

Bumping costs nothing in classic silent Dark Hex and tells nobody. So a cell that would complete the chain is tried first, a cell
that is certainly taken never; and a sure win ends the search. `judge/belief_response.py` needs none of this and judges any
game; here a response takes milliseconds, and the tree that it leaves (`dark_hex/forest.py`) can be played against.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nebel.core.errors import BadPolicy
from nebel.core.rng import mix
from nebel.core.rule import kernel, rule
from nebel.dark_hex.forest import NONE, PLACED, TAKEN, Board, Forest, enlarge, follow, root
from nebel.judge.board_informed import SMALL, Informed, answers, find, informed

UNIT = 1e11
"""Beliefs count as equal if each world's chance is the same to one part in UNIT."""

FINE, FULL, UNSOUND = 0, 1, 2
"""What a search says; UNSOUND + row: the shares of that row are not probabilities of free cells."""


class Memo(NamedTuple):
    """Beliefs judged so far: a winning probability with the best move, or an upper bound with NONE."""

    key: Any
    value: Any
    move: Any
    used: Any


class Stacks(NamedTuple):
    """Worlds with their chances, and beliefs: ranges of worlds."""

    world: Any
    chance: Any
    begin: Any
    end: Any
    bound: Any  # what may be won of it
    own: Any
    tried: Any
    where: Any  # scratch: places of worlds, to merge equal ones


@rule
def _enter(board: Board, shares: Any, me: int, seen: Informed, stacks: Stacks, own: Any, tried: Any, low: Any, top: Any, group: Any) -> Any:
    """Make a belief of the worlds from `low` to `top`: equal ones become one, hopeless ones are dropped. Returns the new tops of
    worlds and beliefs, and whether there was room."""
    end, bound = low, 0.0
    for j in range(low, top):
        world, chance = stacks.world[j], stacks.chance[j]
        slot = mix(world + 1) & (stacks.where.size - 1)
        while True:
            k = stacks.where[slot]
            if k < low or k >= end or stacks.world[k] == world:
                break
            slot = (slot + 1) & (stacks.where.size - 1)
        if low <= k < end:
            stacks.chance[k] += chance
            continue
        worth = informed(board, shares, me, own, world, seen)
        if worth < 0.0:
            return top, group, np.int64(-worth)
        if worth > 0.0:
            stacks.where[slot] = end
            stacks.world[end], stacks.chance[end] = world, chance
            end += 1
    for j in range(low, end):
        bound += stacks.chance[j] * informed(board, shares, me, own, stacks.world[j], seen)
    if end > low:
        stacks.begin[group], stacks.end[group], stacks.bound[group] = low, end, bound
        stacks.own[group], stacks.tried[group] = own, tried
        group += 1
    return end, group, FINE


@rule
def _attempt(board: Board, shares: Any, me: int, seen: Informed, stacks: Stacks, g: Any, c: Any, top: Any, group: Any) -> Any:
    """Play a cell in belief g. Up to two beliefs follow: the stone was placed and the other player has answered, or the cell was
    taken. Returns what is won on the spot, the new tops, and whether there was room."""
    stone, own, tried, won = np.int64(1) << c, stacks.own[g], stacks.tried[g] | np.int64(1) << c, 0.0
    wins, low = board.joined[me, own | stone], top
    for j in range(stacks.begin[g], stacks.end[g]):
        if top + 4096 > stacks.world.size or group + 2 > stacks.begin.size:
            return 0.0, top, group, FULL
        world = stacks.world[j]
        if world >> board.cells & stone:
            continue
        if wins:
            won += stacks.chance[j]
            continue
        top = answers(board, shares, 1 - me, world, own | stone, stacks.chance[j], stacks.world, stacks.chance, top, seen.todo, seen.odds)
        if top < 0:
            return 0.0, top, group, UNSOUND - 1 - top
    top, group, fault = _enter(board, shares, me, seen, stacks, own | stone, tried, low, top, group)
    low = top
    if fault == FINE:
        for j in range(stacks.begin[g], stacks.end[g]):
            if stacks.world[j] >> board.cells & stone:
                stacks.world[top], stacks.chance[top] = stacks.world[j], stacks.chance[j]
                top += 1
        top, group, fault = _enter(board, shares, me, seen, stacks, own, tried, low, top, group)
    return won, top, group, fault


@rule
def _begin(board: Board, shares: Any, me: int, seen: Informed, stacks: Stacks) -> Any:
    """The first belief."""
    stacks.world[0], stacks.chance[0], top = 0, 1.0, 1
    if me == 1:
        top = answers(board, shares, 0, np.int64(0), np.int64(0), 1.0, stacks.world, stacks.chance, 0, seen.todo, seen.odds)
        if top < 0:
            return top, 0, UNSOUND - 1 - top
    return _enter(board, shares, me, seen, stacks, np.int64(0), np.int64(0), 0, top, 0)


@rule
def _weigh(stacks: Stacks, g: Any) -> tuple[float, Any]:
    """The chance of a belief, and its name, which does not depend on the order of its worlds nor on that chance."""
    total = 0.0
    for j in range(stacks.begin[g], stacks.end[g]):
        total += stacks.chance[j]
    key = np.uint64(mix(stacks.own[g] << 32 | stacks.tried[g] << 1 | 1))
    for j in range(stacks.begin[g], stacks.end[g]):
        key += np.uint64(mix(mix(stacks.world[j] + 1) ^ np.int64(stacks.chance[j] / total * UNIT + 0.5)))
    return total, mix(np.int64(key)) | 1


@rule
def _worth_trying(board: Board, me: int, stacks: Stacks, g: Any) -> Any:
    """Cells, as bits."""
    free = ((np.int64(1) << board.cells) - 1) & ~stacks.tried[g]
    certain = free
    for j in range(stacks.begin[g], stacks.end[g]):
        certain &= stacks.world[j] >> board.cells
    free &= ~certain
    for c in range(board.cells):
        if free >> c & 1 and board.joined[me, stacks.own[g] | np.int64(1) << c]:
            return np.int64(1) << c
    return free


@kernel
def _judge(board: Board, me: int, sure: Any, shares: Any, memo: Memo, seen: Informed, stacks: Stacks) -> Any:
    """The responder's winning probability, and whether there was room."""
    cells, deep = board.cells, board.cells + 2
    # by depth: the belief, and how far its search has come
    at, name, mass, alpha = np.zeros(deep, np.int64), np.zeros(deep, np.int64), np.zeros(deep), np.zeros(deep)
    choice, worlds, groups = np.zeros(deep, np.int64), np.zeros(deep, np.int64), np.zeros(deep, np.int64)
    options, option, group = np.zeros(deep, np.int64), np.zeros(deep, np.int64), np.zeros(deep, np.int64)
    best, most, got, rest = np.zeros(deep), np.zeros(deep), np.zeros(deep), np.zeros(deep)
    # by depth and option: the cell, the beliefs it leads to, what it surely wins and may win, and the options in order
    cell_of, first, last = np.zeros((deep, cells), np.int64), np.zeros((deep, cells), np.int64), np.zeros((deep, cells), np.int64)
    safe, bound, order = np.zeros((deep, cells)), np.zeros((deep, cells)), np.zeros((deep, cells), np.int64)
    top, tops, fault = _begin(board, shares, me, seen, stacks)
    if fault != FINE or tops == 0:
        return 0.0, fault
    g, now_alpha, entering, value, f = np.int64(0), -1.0, True, 0.0, -1
    while entering or f >= 0:
        if entering:
            entering = False
            value = stacks.bound[g]
            if value <= now_alpha + SMALL:
                continue
            total, key = _weigh(stacks, g)
            slot = find(memo.key, key)
            if memo.key[slot] == key and (memo.move[slot] != NONE or memo.value[slot] * total <= now_alpha + SMALL):
                value = memo.value[slot] * total
                continue
            memo.used[0] += memo.key[slot] == 0
            if 4 * memo.used[0] > 3 * memo.key.size:
                return 0.0, FULL
            cell = sure[board.ternary[stacks.own[g]] + 2 * board.ternary[stacks.tried[g] & ~stacks.own[g]]]
            if cell >= 0:
                memo.key[slot], memo.value[slot], memo.move[slot] = key, 1.0, cell
                value = total
                continue
            memo.key[slot], memo.value[slot], memo.move[slot] = key, 1.0, NONE
            f += 1
            at[f], name[f], mass[f], alpha[f], worlds[f], groups[f], group[f] = g, key, total, now_alpha, top, tops, NONE
            best[f], most[f], choice[f], options[f], option[f] = 0.0, 0.0, NONE, 0, 0
            free = _worth_trying(board, me, stacks, g)
            for c in range(cells):
                if not free >> c & 1:
                    continue
                n = options[f]
                options[f] += 1
                cell_of[f, n], first[f, n] = c, tops
                safe[f, n], top, tops, fault = _attempt(board, shares, me, seen, stacks, g, c, top, tops)
                if fault != FINE:
                    return 0.0, fault
                last[f, n], bound[f, n] = tops, safe[f, n]
                for k in range(first[f, n], tops):
                    bound[f, n] += stacks.bound[k]
                m = n  # the most promising first
                while m > 0 and bound[f, order[f, m - 1]] < bound[f, n]:
                    order[f, m] = order[f, m - 1]
                    m -= 1
                order[f, m] = n
        else:
            got[f] += value
            rest[f] -= stacks.bound[group[f]]
            group[f] += 1
        while True:  # go on with the belief at depth f
            n = order[f, min(option[f], cells - 1)]
            cut = max(best[f], alpha[f])
            if group[f] == NONE:
                if option[f] < options[f]:
                    if bound[f, n] > cut + SMALL:
                        group[f], got[f], rest[f] = first[f, n], safe[f, n], bound[f, n] - safe[f, n]
                        continue
                    most[f] = max(most[f], bound[f, n])
                # done: an exact value if it beats alpha, else a bound
                exact = best[f] > alpha[f] + SMALL
                value = best[f] if exact else max(best[f], most[f])
                slot = find(memo.key, name[f])
                memo.value[slot], memo.move[slot] = value / mass[f], choice[f] if exact else NONE
                top, tops = worlds[f], groups[f]
                f -= 1
                break
            if got[f] + rest[f] <= cut + SMALL:
                most[f] = max(most[f], got[f] + rest[f])
            elif group[f] < last[f, n]:
                g = group[f]
                now_alpha = cut - got[f] - (rest[f] - stacks.bound[g])
                entering = True
                break
            elif got[f] > best[f]:
                best[f], choice[f] = got[f], cell_of[f, n]
            option[f] += 1
            group[f] = NONE
    return value, FINE


@kernel
def _write_down(board: Board, me: int, shares: Any, memo: Memo, seen: Informed, stacks: Stacks, answer: Forest, seed: Any) -> Any:
    """Plant the response that `_judge` found; returns its root, or NONE for lack of room."""
    start = root(answer, seed)
    node = np.zeros(stacks.begin.size, np.int64)
    top, tops, _ = _begin(board, shares, me, seen, stacks)
    node[0], g = start, np.int64(0)
    while g < tops:
        _, key = _weigh(stacks, g)
        slot = find(memo.key, key)
        if memo.key[slot] == key and memo.move[slot] != NONE:
            cell, made = np.int64(memo.move[slot]), tops
            if answer.count[0] + 4 >= answer.own.size:
                return NONE
            answer.move[node[g]] = cell
            _, top, tops, fault = _attempt(board, shares, me, seen, stacks, g, cell, top, tops)
            if fault != FINE:
                return NONE
            for k in range(made, tops):
                placed = stacks.own[k] != stacks.own[g]
                node[k] = follow(answer, node[g], PLACED if placed else TAKEN)
        g += 1
    return start


class BoardResponder:
    """One player's best responses to tables of shares by board."""

    def __init__(self, board: Board, me: int, sure: Any) -> None:
        """`sure`: the responder's table of sure wins."""
        self.board, self.me, self.sure = board, me, sure
        self._make_room(1 << 16, 1 << 18)

    def _make_room(self, beliefs: int, states: int) -> None:
        self._memo = Memo(np.zeros(beliefs, np.int64), np.zeros(beliefs), np.zeros(beliefs, np.int8), np.zeros(1, np.int64))
        longs, reals = np.zeros((5, 4 * beliefs), np.int64), np.zeros((2, 4 * beliefs))
        where = np.full(8 * beliefs, NONE, np.int64)
        self._stacks = Stacks(longs[0], reals[0], longs[1], longs[2], reals[1], longs[3], longs[4], where)
        deep, todo = self.board.cells + 2, 1 << self.board.cells
        self._seen = Informed(
            np.zeros(states, np.int64), np.zeros(states), np.zeros(1, np.int64), np.zeros((deep, 7), np.int64), np.zeros((deep, 2)),
            np.zeros(1 << 16, np.int64), np.zeros(1 << 16), np.zeros(todo, np.int64), np.zeros(todo),
        )  # fmt: skip

    def judge(self, shares: Any) -> float:
        """The winning probability against a table: shares by board (in base three: 1 own, 2 discovered) and cell.

        Raises `BadPolicy` where the shares of a board that can be met are not probabilities of free cells.
        """
        while True:
            for table in (self._memo, self._seen):
                table.key[:] = table.used[:] = 0
            value, fault = _judge(self.board, self.me, self.sure, shares, self._memo, self._seen, self._stacks)
            if fault == FINE:
                return float(value)
            if fault != FULL:
                raise self._unsound(np.asarray(shares)[fault - UNSOUND], int(fault) - UNSOUND)
            self._make_room(4 * len(self._memo.key), 4 * len(self._seen.key))

    def _unsound(self, row: Any, number: int) -> BadPolicy:
        marks = "".join(".ox"[number // 3**cell % 3] for cell in range(self.board.cells))
        return BadPolicy(
            f"player {1 - self.me}'s shares on the board '{marks}' (cell by cell, o: own, x: discovered) sum to {float(row.sum()):.12g}: "
            "they have to be 0 or more, of free cells only, and sum to 1 (within 1e-9)"
        )

    def write_down(self, shares: Any, mine: Forest, seed: int) -> tuple[int, Forest]:
        """A response that reaches the value judged last: its root, and the forest, which may have been enlarged."""
        while True:
            kept = mine.count.copy()
            if mine.count[1] + 1 < len(mine.seeds):
                start = _write_down(self.board, self.me, shares, self._memo, self._seen, self._stacks, mine, np.int64(seed))
                if start != NONE:
                    return int(start), mine
            mine.count[:] = kept
            mine = enlarge(mine)
