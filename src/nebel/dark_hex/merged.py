"""Dark Hex by merged states: all orders of moves that lead to the same board and the same discoveries are one.

To players who remember the board only, a state is four sets of cells: the mover's own stones, the other's, those of the other's
that the mover has met, and the own ones that the other has met ("shown"). What a collision leaks is forgotten at once, so
the six versions are two. A block holds the states of one pair of stones as a matrix, a row for each set met and a column for
each set shown. In classic that is all subsets, and the stones tell the turn. In abrupt a collision ends the turn, so the
numbers met tell it too, and a block is one number met and one number shown. Every move leads to a block of a later level, or
(a collision in classic) to a later row: subsets stand in the order of their sizes.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadSetting, TooLarge
from nebel.core.game import BaseGame
from nebel.core.rule import kernel
from nebel.dark_hex.sure_wins import spread, sure_wins

BOARD = "board"
MOST_CELLS = 16

Longs = NDArray[np.int64]


class Blocks(NamedTuple):
    """Where each state stands; the arrays that sweeps read. Sets of cells are bits, pairs of sets numbers in base three."""

    cells: int
    abrupt: bool
    wins: Any  # by player and stones
    size: Any  # by set: how many
    three: Any  # by set: the number in base three
    order: Any  # by number of elements and place: the subset, as bits of ranks
    place: Any  # the inverse
    below: Any  # by number of elements and size: how many subsets are smaller
    subset_first: Any  # by set: where its subsets begin in `subset`
    subset: Any
    pair: Any  # by black + 2 white in base three: where its blocks begin in `slot`
    slot: Any  # by pair, and in abrupt by total met: the block
    mover: Any  # by block, from here on
    own: Any
    other: Any
    at: Any  # the first state
    mets: Any  # the place in `slot`, from the pair's first
    met_first: Any  # the rows: places of sets met among the subsets of `other`
    met_count: Any
    shown_first: Any
    shown_count: Any
    level: Any  # by level, one more than there are: the first block


class Views(NamedTuple):
    """Both players' information states, one table after the other; each player's keys ascend."""

    key: Any  # own stones, then met ones
    first: Any  # one more than there are: the moves of view i stand at first[i] .. first[i+1]-1
    move: Any
    spot: Any  # by player and own + 2 met in base three: the first of the view's moves, -1 if there is no such view
    start: Any  # by player, one more: the first view
    by_age: Any  # each player's views, those with fewer stones first


class Merged(NamedTuple):
    blocks: Blocks
    views: Views
    states: int


def mergeable(game: BaseGame, recall: str) -> bool:
    return game.name == "dark_hex" and recall == BOARD and game.options["rows"] * game.options["cols"] <= MOST_CELLS


def merged_kind(game: BaseGame) -> tuple[int, int, bool]:
    """Rows, columns and whether collisions end the turn; refuses other games."""
    if game.name != "dark_hex":
        raise BadSetting(f"merged states are known for Dark Hex, for example dark_hex:4x3, not for {game.string}")
    rows, cols, abrupt = (game.options[name] for name in ("rows", "cols", "abrupt"))
    if rows * cols > MOST_CELLS:
        raise TooLarge(f"merged states are possible for boards of up to {MOST_CELLS} cells, and {game.string} has {rows * cols}")
    return rows, cols, abrupt


def _winning(rows: int, cols: int) -> NDArray[np.bool_]:
    cells = rows * cols
    left, top = sum(1 << (r * cols) for r in range(rows)), (1 << cols) - 1
    right, bottom = left << (cols - 1), top << (cells - cols)
    stones = np.arange(1 << cells, dtype=np.int64)
    wins = np.zeros((2, 1 << cells), np.bool_)
    for player, (source, target) in enumerate([(top, bottom), (left, right)]):
        reach = stones & source
        for _ in range(cells):
            reach = spread(reach, cols, left, right) & stones
        wins[player] = reach & target != 0
    return wins


@kernel
def _pairs(cells: int, abrupt: bool, wins: Any, size: Any, black: Any, white: Any, counts: Any) -> None:
    """All pairs of stones at which a game can stand, as many as there is room for; `counts` by number of stones."""
    everything = (np.int64(1) << cells) - 1
    found = 0
    for b in range(everything + 1):
        if wins[0, b]:
            continue
        free = everything & ~np.int64(b)
        w = free
        while True:
            ahead = size[b] - size[w]
            possible = (b > 0 or w == 0) if abrupt else 0 <= ahead <= 1
            if possible and not wins[1, w]:
                counts[size[b], size[w]] += 1
                if found < black.size:
                    black[found], white[found] = b, w
                found += 1
            if w == 0:
                break
            w = (w - 1) & free


def _sizes(cells: int) -> Longs:
    size = np.zeros(1 << cells, np.int64)
    for c in range(cells):
        size[1 << c : 2 << c] = size[: 1 << c] + 1
    return size


def _counts(rows: int, cols: int, abrupt: bool) -> Longs:
    cells = rows * cols
    counts = np.zeros((cells + 1, cells + 1), np.int64)
    nothing = np.zeros(0, np.int64)
    _pairs(cells, abrupt, _winning(rows, cols), _sizes(cells), nothing, nothing, counts)
    return counts


def count_states(rows: int, cols: int, abrupt: bool) -> int:
    """How many states there are before the end of a game."""
    found = _counts(rows, cols, abrupt)
    each = {(b, w): comb(b + w + 1, w + 1) if abrupt else 1 << (b + w) for b, w in np.ndindex(found.shape)}
    return sum(int(found[stones]) * states for stones, states in each.items())


def count_bytes(rows: int, cols: int, abrupt: bool, kind: Any) -> int:
    """What two numbers for each state take, and the layout and the views, at most."""
    pairs = int(_counts(rows, cols, abrupt).sum())
    blocks = pairs * (rows * cols if abrupt else 1)
    return 2 * np.dtype(kind).itemsize * count_states(rows, cols, abrupt) + 100 * blocks + 100 * 3 ** (rows * cols)


@lru_cache(maxsize=4)
def merge(rows: int, cols: int, abrupt: bool) -> Merged:
    """The layout of a board's states, and its information states."""
    cells = rows * cols
    sets = _sets(rows, cols)
    size, three, below = sets["size"], sets["three"], sets["below"]
    black, white = (np.empty(int(_counts(rows, cols, abrupt).sum()), np.int64) for _ in range(2))
    _pairs(cells, abrupt, sets["wins"], size, black, white, np.zeros((cells + 1, cells + 1), np.int64))
    block = _abrupt_blocks(black, white, size, below) if abrupt else _classic_blocks(black, white, size)
    age = block.pop("age")
    by_age = np.argsort(age, kind="stable")
    block = {name: column[by_age] for name, column in block.items()}
    states = block["met_count"] * block["shown_count"]

    slots = cells + 1 if abrupt else 1
    pair, slot = np.full(3**cells, -1, np.int64), np.full(len(black) * slots, -1, np.int64)
    pair[three[black] + 2 * three[white]] = np.arange(len(black)) * slots
    own, other = three[block["own"]], three[block["other"]]
    stones = np.where(block["mover"] == 0, own + 2 * other, other + 2 * own)
    slot[pair[stones] + block["mets"]] = np.arange(len(age))
    level = np.searchsorted(age[by_age], np.arange(age.max() + 2))
    blocks = Blocks(cells, abrupt, pair=pair, slot=slot, at=np.cumsum(states) - states, level=level, **sets, **block)
    return Merged(blocks, _views(blocks), int(states.sum()))


def _sets(rows: int, cols: int) -> dict[str, Any]:
    """What is known of sets of cells, and of sets of ranks."""
    cells = rows * cols
    size, three = _sizes(cells), np.zeros(1 << cells, np.int64)
    for c in range(cells):
        three[1 << c : 2 << c] = three[: 1 << c] + 3**c
    order, place = np.zeros((2, cells + 1, 1 << cells), np.int64)
    for n in range(cells + 1):
        order[n, : 1 << n] = np.argsort(size[: 1 << n], kind="stable")
        place[n, order[n, : 1 << n]] = np.arange(1 << n)
    below = np.array([[sum(comb(n, k) for k in range(most)) for most in range(cells + 2)] for n in range(cells + 1)])
    first, subset = np.cumsum(1 << size) - (1 << size), np.empty(3**cells, np.int32)
    _subsets(cells, size, order, first, subset)
    names = ("wins", "size", "three", "order", "place", "below", "subset_first", "subset")
    return dict(zip(names, (_winning(rows, cols), size, three, order, place, below, first, subset), strict=True))


@kernel
def _subsets(cells: int, size: Any, order: Any, first: Any, subset: Any) -> None:
    for whole in range(1 << cells):
        n = size[whole]
        for i in range(1 << n):
            ranks, left, found = order[n, i], np.int64(whole), np.int64(0)
            while ranks:
                lowest = left & -left
                if ranks & 1:
                    found |= lowest
                left ^= lowest
                ranks >>= 1
            subset[first[whole] + i] = found


def _classic_blocks(black: Longs, white: Longs, size: Longs) -> dict[str, Longs]:
    mover = size[black] - size[white]
    own, other = np.where(mover == 0, black, white), np.where(mover == 0, white, black)
    none = np.zeros_like(own)
    return {
        "mover": mover, "own": own, "other": other, "mets": none, "met_first": none, "met_count": 1 << size[other],
        "shown_first": none, "shown_count": 1 << size[own], "age": size[black] + size[white],
    }  # fmt: skip


def _abrupt_blocks(black: Longs, white: Longs, size: Longs, below: Longs) -> dict[str, Longs]:
    """Black has moved as often as White, or once more; every move placed a stone or met one."""
    choose = np.diff(below)
    parts = []
    for mets in range(len(below)):
        ahead = size[white] - size[black]
        mover = (mets - ahead) & 1
        by_black, by_white = (mets + ahead + mover) // 2, (mets - ahead - mover) // 2
        keep = (by_black >= 0) & (by_black <= size[white]) & (by_white >= 0) & (by_white <= size[black])
        mover, b, w, by_black, by_white = (x[keep] for x in (mover, black, white, by_black, by_white))
        own, other = np.where(mover == 0, b, w), np.where(mover == 0, w, b)
        met, shown = np.where(mover == 0, by_black, by_white), np.where(mover == 0, by_white, by_black)
        parts.append({
            "mover": mover, "own": own, "other": other, "mets": np.full(len(own), mets),
            "met_first": below[size[other], met], "met_count": choose[size[other], met],
            "shown_first": below[size[own], shown], "shown_count": choose[size[own], shown], "age": size[b] + size[w] + mets,
        })  # fmt: skip
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


@kernel
def _mark(blocks: Blocks, possible: Any) -> None:
    for i in range(blocks.at.size):
        first = blocks.subset_first[blocks.other[i]] + blocks.met_first[i]
        for k in range(blocks.met_count[i]):
            possible[blocks.mover[i], blocks.three[blocks.own[i]] + 2 * blocks.three[blocks.subset[first + k]]] = True


def _views(blocks: Blocks) -> Views:
    cells = blocks.cells
    possible = np.zeros((2, 3**cells), np.bool_)
    _mark(blocks, possible)
    keys, ages, numbers, start = [], [], [], 0
    for player in range(2):
        number = np.flatnonzero(possible[player])
        own, met = (sum((number // 3**c % 3 == digit).astype(np.int64) << c for c in range(cells)) for digit in (1, 2))
        key = own << cells | met
        ascending = np.argsort(key)
        numbers.append(number[ascending])
        keys.append(key[ascending])
        ages.append(start + np.argsort(blocks.size[(own | met)[ascending]], kind="stable"))
        start += len(key)
    key = np.concatenate(keys)
    known = key >> cells | key & ((1 << cells) - 1)
    free = known[:, None] >> np.arange(cells) & 1 == 0
    first = np.concatenate([[0], np.cumsum(free.sum(1))])
    begin = np.array([0, len(keys[0]), len(key)])
    spot = np.full((2, 3**cells), -1, np.int32)
    for player in range(2):
        spot[player, numbers[player]] = first[begin[player] : begin[player + 1]]
    return Views(key, first, np.nonzero(free)[1], spot, begin, np.concatenate(ages))


def in_views(game: BaseGame, merged: Merged) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """By move of all views: whether the view is a sure win, and whether the move is the one that wins it."""
    blocks, views, _ = merged
    wins = sure_wins(game)
    own, met = views.key >> blocks.cells, views.key & ((1 << blocks.cells) - 1)
    index = blocks.three[own] + 2 * blocks.three[met]
    players = np.repeat([0, 1], np.diff(views.start))
    cell = np.repeat(np.where(players == 0, wins.moves[0][index], wins.moves[1][index]), np.diff(views.first))
    return cell >= 0, views.move == cell
