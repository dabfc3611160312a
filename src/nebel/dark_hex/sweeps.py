"""Sweeps over merged states: reach forwards, values backwards, and both together.

Forwards, the player who learns takes every move with weight 1, so a state's reach is what the other player contributes, summed
over all histories that were merged. Backwards, each state's value to player 0 comes from later states; a view's gains are
summed over all states that look the same. The inner loops run along lines of states that stand side by side in memory, with
unsigned places and no slices: so they become vector instructions, and nothing is counted or checked in between.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nebel.core.rule import kernel, rule
from nebel.dark_hex.merged import Blocks, Merged, Views


class Work(NamedTuple):
    """Scratch for one block, whose number of sets met is the length of a line; and which blocks are reached."""

    share: Any  # a line for each cell: the mover's strategy
    gain: Any  # a line for each cell: what the move is worth, times reach
    mass: Any  # reach, summed over the sets shown
    ended: Any  # values of moves that win
    up: Any  # the place of the set with one more
    lines: Any  # by set shown: where the states that follow stand
    turned: Any  # a line for each set shown: reach
    sums: Any  # a line for each set shown: values
    reached: Any  # by block: whether any of its states may be
    halt: Any  # not 0: sweeps for a learner end at once, and what they have written is of no use


def work_for(merged: Merged, kind: Any) -> Work:
    blocks = merged.blocks
    line, largest = int(blocks.met_count.max()), int((blocks.met_count * blocks.shown_count).max())
    sizes = {"share": blocks.cells * line, "gain": blocks.cells * line, "mass": line, "ended": line, "turned": largest, "sums": largest}
    reals = {name: np.zeros(size, kind) for name, size in sizes.items()}
    lines = np.zeros(int(blocks.shown_count.max()), np.int64)
    reached, halt = np.zeros(len(blocks.at), np.bool_), np.zeros(1, np.int64)
    return Work(**reals, up=np.zeros(line, np.int64), lines=lines, reached=reached, halt=halt)


@rule
def _add_each(out: Any, at: Any, weight: Any, by: Any, source: Any, start: Any, n: Any) -> None:
    """Adds products of two lines."""
    o, w, s = np.uint64(at), np.uint64(by), np.uint64(start)
    for k in range(np.uint64(n)):
        out[o + k] += weight[w + k] * source[s + k]


@rule
def _add(out: Any, at: Any, weight: Any, source: Any, start: Any, n: Any) -> None:
    """Adds a multiple of a line."""
    o, s = np.uint64(at), np.uint64(start)
    for k in range(np.uint64(n)):
        out[o + k] += weight * source[s + k]


@rule
def _dot(left: Any, at: Any, right: Any, start: Any, n: Any) -> Any:
    o, s, total = np.uint64(at), np.uint64(start), left[0] * 0
    for k in range(np.uint64(n)):
        total += left[o + k] * right[s + k]
    return total


@rule
def _any(line: Any, at: Any, n: Any) -> bool:
    found = False
    for k in range(at, at + n):
        found = found or line[k] != 0
    return found


@rule
def _after(blocks: Blocks, i: int, stone: Any, met: int) -> int:
    """The block once the mover has placed a stone, or (in abrupt) met one."""
    black, white = blocks.own[i] | stone, blocks.other[i]
    if blocks.mover[i] == 1:
        black, white = white, black
    return blocks.slot[blocks.pair[blocks.three[black] + 2 * blocks.three[white]] + blocks.mets[i] + met]


@rule
def _lines_after(blocks: Blocks, i: int, then: int, stone: Any, lines: Any) -> None:
    """Where the states with each set shown stand when the mover has placed a stone."""
    own, at, first, wide = blocks.own[i], blocks.at[then], blocks.met_first[then], blocks.shown_count[then]
    stones, low = blocks.size[own], (np.int64(1) << blocks.size[own & (stone - 1)]) - 1
    for j in range(blocks.shown_count[i]):
        ranks = blocks.order[stones, blocks.shown_first[i] + j]
        lines[j] = at + (blocks.place[stones + 1, ranks & low | (ranks & ~low) << 1] - first) * wide


@rule
def _climb(blocks: Blocks, i: int, stone: Any, lo: int, n: int, up: Any) -> None:
    """For each set met: its place once `stone` is met as well (-1 if it already is)."""
    other, first = blocks.other[i], blocks.met_first[i] + lo
    stones, bit = blocks.size[other], np.int64(1) << blocks.size[other & (stone - 1)]
    for k in range(n):
        ranks = blocks.order[stones, first + k]
        up[k] = -1 if ranks & bit else blocks.place[stones, ranks | bit]


@rule
def _spot(blocks: Blocks, views: Views, i: int, met: Any) -> int:
    """Where the mover's moves stand in a table."""
    return views.spot[blocks.mover[i], blocks.three[blocks.own[i]] + 2 * blocks.three[met]]


@rule
def _load(blocks: Blocks, views: Views, strategy: Any, i: int, lo: int, n: int, share: Any) -> None:
    """The mover's strategy."""
    first = blocks.subset_first[blocks.other[i]] + blocks.met_first[i] + lo
    for k in range(n):
        met = blocks.subset[first + k]
        taken, spot = blocks.own[i] | met, _spot(blocks, views, i, met)
        for c in range(blocks.cells):
            share[c * n + k] = 0.0
            if not taken >> c & 1:
                share[c * n + k] = strategy[spot]
                spot += 1


@rule
def _learn(blocks: Blocks, views: Views, fuzz: float, i: int, lo: int, n: int, instant: Any, work: Work) -> None:
    """What a block's moves gain over the strategy, into the mover's regrets. What rounding alone can make is nothing."""
    first, sign = blocks.subset_first[blocks.other[i]] + blocks.met_first[i] + lo, 1.0 - 2.0 * blocks.mover[i]
    for k in range(n):
        met = blocks.subset[first + k]
        taken, spot = blocks.own[i] | met, _spot(blocks, views, i, met)
        mean = 0.0
        for c in range(blocks.cells):
            mean += work.share[c * n + k] * np.float64(work.gain[c * n + k])
        for c in range(blocks.cells):
            if not taken >> c & 1:
                gain = work.gain[c * n + k] - mean
                if abs(gain) > fuzz * work.mass[k]:
                    instant[spot] += sign * gain
                spot += 1


@rule
def _weigh(blocks: Blocks, i: int, lo: int, n: int, reach: Any, work: Work) -> bool:
    """Reach in lines, and its sums; whether there is any."""
    columns, found = blocks.shown_count[i], False
    for k in range(n):
        at, total = blocks.at[i] + (lo + k) * columns, reach[0] * 0
        for j in range(columns):
            work.turned[j * n + k] = reach[at + j]
            total += reach[at + j]
        work.mass[k] = total
        found = found or total > 0
    return found


@rule
def _place(blocks: Blocks, c: int, i: int, lo: int, n: int, value: Any, learning: bool, work: Work) -> None:
    """A move that finds its cell free: values and gains from the block that follows."""
    stone = np.int64(1) << c
    then = _after(blocks, i, stone, 0)
    _lines_after(blocks, i, then, stone, work.lines)
    for j in range(blocks.shown_count[i]):
        start = work.lines[j] + lo
        _add_each(work.sums, j * n, work.share, c * n, value, start, n)
        if learning:
            _add_each(work.gain, c * n, work.turned, j * n, value, start, n)


@rule
def _pass(blocks: Blocks, c: int, i: int, lo: int, n: int, value: Any, learning: bool, work: Work) -> None:
    """A move that meets a stone and ends the turn."""
    then = _after(blocks, i, np.int64(0), 1)
    _climb(blocks, i, np.int64(1) << c, lo, n, work.up)
    for j in range(blocks.shown_count[i]):
        start = blocks.at[then] + j * blocks.shown_count[then] - blocks.shown_first[then]
        for k in range(n):
            if work.up[k] >= 0:
                later = value[start + work.up[k]]
                work.sums[j * n + k] += work.share[c * n + k] * later
                if learning:
                    work.gain[c * n + k] += work.turned[j * n + k] * later


@rule
def _stay(blocks: Blocks, i: int, lo: int, n: int, value: Any, reach: Any, learning: bool, work: Work) -> None:
    """Moves that meet a stone and keep the turn: from later rows of the same block, last rows first."""
    columns, other, at = blocks.shown_count[i], blocks.other[i], blocks.at[i]
    stones = blocks.size[other]
    for k in range(n - 1, -1, -1):
        ranks, mine = blocks.order[stones, lo + k], at + (lo + k) * columns
        bit = np.int64(1)
        for c in range(blocks.cells):
            if other >> c & 1:
                if not ranks & bit:
                    later = at + blocks.place[stones, ranks | bit] * columns
                    _add(value, mine, work.share[c * n + k], value, later, columns)
                    if learning:
                        work.gain[c * n + k] = _dot(reach, mine, value, later, columns)
                bit <<= 1


@rule
def back_rows(
    blocks: Blocks, views: Views, strategy: Any, learner: int, fuzz: float, i: int, lo: int, n: int, value: Any, reach: Any, instant: Any,
    work: Work,
) -> None:  # fmt: skip
    """Values of block i's rows lo .. lo+n-1; regrets too, if the learner is to move."""
    own, other, columns = blocks.own[i], blocks.other[i], blocks.shown_count[i]
    end = value[0] * 0 + (1 - 2 * blocks.mover[i])
    learning = learner == blocks.mover[i] and _weigh(blocks, i, lo, n, reach, work)
    _load(blocks, views, strategy, i, lo, n, work.share)
    work.ended[:n] = 0
    work.sums[: n * columns] = 0
    work.gain[: n * blocks.cells] = 0
    for c in range(blocks.cells):
        stone = np.int64(1) << c
        if own & stone:
            continue
        if other & stone:
            if blocks.abrupt:
                _pass(blocks, c, i, lo, n, value, learning, work)
        elif blocks.wins[blocks.mover[i], own | stone]:
            _add(work.ended, 0, end, work.share, c * n, n)
            _add(work.gain, c * n, end, work.mass, 0, n)
        elif learning or _any(work.share, c * n, n):
            _place(blocks, c, i, lo, n, value, learning, work)
    for k in range(n):
        at = blocks.at[i] + (lo + k) * columns
        for j in range(columns):
            value[at + j] = work.sums[j * n + k] + work.ended[k]
    if not blocks.abrupt:
        _stay(blocks, i, lo, n, value, reach, learning, work)
    if learning:
        _learn(blocks, views, fuzz, i, lo, n, instant, work)


@kernel
def sweep_back(
    blocks: Blocks, views: Views, strategy: Any, learner: int, fuzz: float, value: Any, reach: Any, instant: Any, work: Work
) -> float:
    """The value to player 0 of all states; into `instant`, the learner's regrets (-1: nobody learns). What the other player never
    lets happen has no part in them, and is left out."""
    for i in range(blocks.at.size - 1, -1, -1):
        if work.halt[0] != 0:
            break
        if learner >= 0 and not work.reached[i]:
            continue
        back_rows(blocks, views, strategy, learner, fuzz, i, 0, blocks.met_count[i], value, reach, instant, work)
    return value[0]


@rule
def _meet(blocks: Blocks, i: int, n: int, reach: Any, work: Work) -> None:
    """Reach of the later rows of a block, by moves that meet a stone and keep the turn."""
    columns, other, at = blocks.shown_count[i], blocks.other[i], blocks.at[i]
    stones = blocks.size[other]
    for k in range(n):
        ranks = blocks.order[stones, k]
        bit = np.int64(1)
        for c in range(blocks.cells):
            if other >> c & 1:
                if not ranks & bit:
                    later = at + blocks.place[stones, ranks | bit] * columns
                    _add(reach, later, work.share[c * n + k], reach, at + k * columns, columns)
                bit <<= 1


@rule
def _push(blocks: Blocks, c: int, i: int, n: int, reach: Any, work: Work) -> None:
    """Reach of the block that follows when a move meets a stone and ends the turn."""
    then = _after(blocks, i, np.int64(0), 1)
    work.reached[then] = True
    _climb(blocks, i, np.int64(1) << c, 0, n, work.up)
    for j in range(blocks.shown_count[i]):
        start = blocks.at[then] + j * blocks.shown_count[then] - blocks.shown_first[then]
        for k in range(n):
            if work.up[k] >= 0:
                reach[start + work.up[k]] += work.share[c * n + k] * work.turned[j * n + k]


@kernel
def sweep_forth(blocks: Blocks, views: Views, strategy: Any, hand: Any, learner: int, reach: Any, work: Work) -> None:
    """The reach of all states by the player who does not learn. `hand`: 1 for every move that the learner is free to make."""
    reach[:] = 0
    reach[0] = 1
    work.reached[:] = False
    work.reached[0] = True
    for i in range(blocks.at.size):
        if work.halt[0] != 0:
            break
        if not work.reached[i]:
            continue
        own, other, n = blocks.own[i], blocks.other[i], blocks.met_count[i]
        _load(blocks, views, hand if blocks.mover[i] == learner else strategy, i, 0, n, work.share)
        if not blocks.abrupt:
            _meet(blocks, i, n, reach, work)
        work.reached[i] = _weigh(blocks, i, 0, n, reach, work)
        if not work.reached[i]:
            continue
        for c in range(blocks.cells):
            stone = np.int64(1) << c
            if own & stone or not _any(work.share, c * n, n):
                continue
            if other & stone:
                if blocks.abrupt:
                    _push(blocks, c, i, n, reach, work)
            elif not blocks.wins[blocks.mover[i], own | stone]:
                then = _after(blocks, i, stone, 0)
                work.reached[then] = True
                _lines_after(blocks, i, then, stone, work.lines)
                for j in range(blocks.shown_count[i]):
                    _add_each(reach, work.lines[j], work.share, c * n, work.turned, j * n, n)


@kernel
def follow(blocks: Blocks, views: Views, player: int, strategy: Any, reach: Any, weight: float, average: Any) -> None:
    """Adds a player's strategy to the average, weighted by the own reach of each view: the sum over all orders of own moves, placed
    or met, that lead there. `reach` by place in a table; a view's own stands at its first move."""
    cells = blocks.cells
    for i in range(views.start[player], views.start[player + 1]):
        reach[views.first[i]] = 0.0
    reach[views.spot[player, 0]] = 1.0
    for at in range(views.start[player], views.start[player + 1]):
        i = views.by_age[at]
        own, met = views.key[i] >> cells, views.key[i] & ((1 << cells) - 1)
        here = reach[views.first[i]]
        if here == 0.0:
            continue
        number = blocks.three[own] + 2 * blocks.three[met]
        for k in range(views.first[i], views.first[i + 1]):
            there = here * strategy[k]
            average[k] += weight * there
            step = blocks.three[np.int64(1) << views.move[k]]
            for outcome in range(1, 3):
                spot = views.spot[player, number + outcome * step]
                if spot >= 0:
                    reach[spot] += there
