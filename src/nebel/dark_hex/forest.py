"""Pure strategies of Dark Hex with perfect recall, as trees that grow where they are walked on.

A node is what one player remembers: the moves made so far and what was seen of them. It stands in the tree of one strategy
and says which move that strategy makes there. Its children are what can happen next: the stone was placed, the cell was
taken, the other side was heard bumping (or bumping at a cell). A node that nobody has decided about is decided by habit when
it is first met: a sure win, else one of the cells on the shortest ways across. That draw is fixed by the strategy's seed, so
a strategy is the same whenever and wherever its tree grows.

The board looks the same turned by half a circle. So every strategy stands for two, itself and its turned image, and a `world`
is a node with one more bit that says which of the two is meant.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nebel.core.errors import TooLarge
from nebel.core.game import BaseGame
from nebel.core.rng import fold
from nebel.core.rule import kernel, rule
from nebel.dark_hex.sure_wins import FAR, MOST_CELLS, distance

PLACED, TAKEN, HEARD = 0, 1, 2
"""What happens to the mover; HEARD: the other side bumped (in flash, HEARD + cell: where)."""

SILENT, NOISY, FLASH = 0, 1, 2
NONE = -1


class Board(NamedTuple):
    """A version of Dark Hex as constants for kernels."""

    cells: int
    abrupt: int
    leak: int
    joined: Any  # by player and set of stones
    ternary: Any  # of a set of cells: its index in base three
    turned: Any  # of a set of cells: the board turned by half a circle
    cols: int
    left: int
    right: int
    sides: Any  # by player: source and target


class Forest(NamedTuple):
    """One player's strategies."""

    owner: Any  # by node: the strategy
    own: Any  # stones
    tried: Any  # cells that are own or known to be taken
    move: Any
    child: Any  # the first one
    sibling: Any
    event: Any  # that led here
    seeds: Any  # by strategy
    count: Any  # nodes, strategies


def board_of(game: BaseGame) -> Board:
    rows, cols = game.options["rows"], game.options["cols"]
    cells = rows * cols
    if cells > MOST_CELLS:
        raise TooLarge(f"{game.string} has {cells} cells; perfect-recall strategies are handled up to {MOST_CELLS}")
    left = sum(1 << (r * cols) for r in range(rows))
    top = (1 << cols) - 1
    sides = np.array([[top, top << (cells - cols)], [left, left << (cols - 1)]], np.int64)
    leak = ("silent", "noisy", "flash").index(game.options["leak"])
    tables = np.zeros((2, 1 << cells), np.bool_), np.zeros(1 << cells, np.int64), np.zeros(1 << cells, np.int64)
    board = Board(cells, int(game.options["abrupt"]), leak, *tables, cols, left, left << (cols - 1), sides)
    _fill(board)
    return board


@kernel
def _fill(board: Board) -> None:
    for stones in range(board.joined.shape[1]):
        power = 1
        for c in range(board.cells):
            board.ternary[stones] += power * (stones >> c & 1)
            board.turned[stones] |= (stones >> c & 1) << (board.cells - 1 - c)
            power *= 3
        for p in range(2):
            away = distance(np.int64(stones), np.int64(0), board.sides[p, 0], board.sides[p, 1], board.cols, board.left, board.right)
            board.joined[p, stones] = away == 0


def plant(nodes: int = 1 << 16, strategies: int = 1 << 12) -> Forest:
    """An empty forest."""
    columns = (np.int32, np.int32, np.int32, np.int8, np.int32, np.int32, np.int8)
    return Forest._make([*(np.zeros(nodes, kind) for kind in columns), np.zeros(strategies, np.int64), np.zeros(2, np.int64)])


def enlarge(forest: Forest) -> Forest:
    """The same forest with room for twice as much."""
    columns = [np.concatenate([column, np.zeros_like(column)]) for column in forest[:-1]]
    return Forest._make([*columns, forest.count])


def check_forest(forest: Forest, roots: Any, board: Board) -> None:
    """Raise `ValueError` unless a forest that was read from a file is made of trees, and these are roots of them."""
    *columns, seeds, count = forest
    size, strategies = (int(number) for number in count)
    whole = len({len(column) for column in columns}) == 1 and 0 <= size <= len(forest.move) and 0 <= strategies <= len(seeds)
    if not whole or np.any((roots < 0) | (roots >= size)):
        raise ValueError("strategies are missing")
    owner, own, tried, move, child, sibling, event = (column[:size].astype(np.int64) for column in columns)
    node, sets = np.arange(size), 1 << board.cells
    fits = (owner >= 0) & (owner < strategies) & (own >= 0) & (own < sets) & (tried >= 0) & (tried < sets)
    fits &= (move >= NONE) & (move < board.cells) & (event >= NONE) & (event < HEARD + board.cells)
    fits &= ((child == NONE) | ((node < child) & (child < size))) & (sibling >= NONE) & (sibling < np.maximum(node, 0))
    if not fits.all():
        raise ValueError("strategies are not trees")


@rule
def root(forest: Forest, seed: Any) -> Any:
    """A new strategy; returns its first node."""
    node, strategy = forest.count[0], forest.count[1]
    forest.seeds[strategy] = seed
    forest.count[1] += 1
    forest.count[0] += 1
    forest.owner[node] = strategy
    forest.own[node] = forest.tried[node] = 0
    forest.move[node] = forest.child[node] = forest.sibling[node] = forest.event[node] = NONE
    return node


@rule
def follow(forest: Forest, node: Any, event: Any) -> Any:
    """The node after an event, made if need be. The move at `node` must be settled if the event is about it."""
    last = forest.child[node]
    while last != NONE:
        if forest.event[last] == event:
            return np.int64(last)
        last = forest.sibling[last]
    made = forest.count[0]
    forest.count[0] += 1
    forest.owner[made], forest.own[made], forest.tried[made] = forest.owner[node], forest.own[node], forest.tried[node]
    if event < HEARD:
        stone = np.int64(1) << forest.move[node]
        forest.tried[made] |= stone
        if event == PLACED:
            forest.own[made] |= stone
    forest.move[made] = forest.child[made] = NONE
    forest.event[made] = event
    forest.sibling[made] = forest.child[node]
    forest.child[node] = made
    return made


@rule
def settle(board: Board, sure: Any, forest: Forest, player: int, node: Any) -> Any:
    """The move at a node, by habit if nothing was decided. `sure`: by ternary board, a winning cell or less than 0; or empty."""
    if forest.move[node] == NONE:
        own, tried = np.int64(forest.own[node]), np.int64(forest.tried[node])
        cell = np.int64(NONE)
        if sure.size > 0:
            cell = np.int64(sure[board.ternary[own] + 2 * board.ternary[tried & ~own]])
        if cell < 0:
            cell = across(board, player, own, tried, forest.seeds[forest.owner[node]])
        forest.move[node] = cell
    return np.int64(forest.move[node])


@rule
def across(board: Board, player: int, own: Any, tried: Any, seed: Any) -> Any:
    """One of the cells on the shortest ways between the player's sides."""
    free = ((np.int64(1) << board.cells) - 1) & ~tried
    least, count = FAR + 1, 0
    cells = np.zeros(64, np.int64)
    for c in range(board.cells):
        if free >> c & 1:
            stone = np.int64(1) << c
            away = distance(own | stone, free & ~stone, board.sides[player, 0], board.sides[player, 1], board.cols, board.left, board.right)
            if away < least:
                least, count = away, 0
            if away == least:
                cells[count] = c
                count += 1
    return cells[(fold(seed, own << board.cells | tried) >> 1 & 0x3FFFFFFFFFFFFFFF) % count]


@rule
def reply(board: Board, sure: Any, forest: Forest, player: int, node: Any, theirs: Any) -> tuple[Any, Any]:
    """A turn of the strategy whose memory is `node`, against the stones `theirs`: its new memory, or NONE if it wins; and what the
    other side hears, as a number that tells all sequences of noises apart."""
    heard = np.int64(0)
    while True:
        cell = settle(board, sure, forest, player, node)
        if not theirs >> cell & 1:
            break
        node = follow(forest, node, TAKEN)
        if board.leak != SILENT:
            heard = heard * 32 + (cell + 1 if board.leak == FLASH else 1)
        if board.abrupt:
            return node, heard
    node = follow(forest, node, PLACED)
    if board.joined[player, forest.own[node]]:
        return np.int64(NONE), heard
    return node, heard


@rule
def hear(board: Board, forest: Forest, node: Any, cell: Any) -> Any:
    """Memory after the other side bumped at `cell`."""
    if board.leak == SILENT:
        return node
    return follow(forest, node, HEARD + cell if board.leak == FLASH else HEARD)


@rule
def tell(board: Board, forest: Forest, node: Any, heard: Any) -> Any:
    """The memory of a listener after a whole turn of noises."""
    if board.leak != SILENT:
        for shift in range(60, -1, -5):
            digit = heard >> shift & 31
            if digit:
                node = hear(board, forest, node, digit - 1)
    return node


@rule
def turn_noise(board: Board, heard: Any) -> Any:
    """What is heard of a turned player."""
    if board.leak != FLASH:
        return heard
    turned = np.int64(0)
    for shift in range(60, -1, -5):
        digit = heard >> shift & 31
        if digit:
            turned = turned * 32 + board.cells + 1 - digit
    return turned


@kernel
def sow(forest: Forest, seeds: Any, roots: Any) -> None:
    """New strategies that go by habit throughout."""
    for i in range(seeds.size):
        roots[i] = root(forest, seeds[i])


@kernel
def grow_out(board: Board, sure: Any, forest: Forest, player: int, keep: Any) -> bool:
    """Grow the trees of the strategies in `keep` wherever play could lead, whatever the other side does. False: out of room."""
    noticed = np.zeros(forest.own.size, np.int64)  # by node: how many noises were heard, or on which cells
    node = np.int64(0)
    while node < forest.count[0]:
        if forest.count[0] + 2 * board.cells >= forest.own.size:
            return False
        own, tried, event = np.int64(forest.own[node]), np.int64(forest.tried[node]), forest.event[node]
        if keep[forest.owner[node]] and not board.joined[player, own] and tried != (np.int64(1) << board.cells) - 1:
            settle(board, sure, forest, player, node)
            stones, met = np.int64(0), np.int64(0)
            for c in range(board.cells):
                stones += own >> c & 1
                met += (tried & ~own) >> c & 1
            if not board.joined[player, own | np.int64(1) << forest.move[node]]:
                follow(forest, node, PLACED)
            if met < (stones + met if board.abrupt else stones) + player:
                follow(forest, node, TAKEN)
            waiting = event == PLACED or event == TAKEN if board.abrupt else event == PLACED or event >= HEARD
            if waiting and board.leak == NOISY and noticed[node] < stones:
                follow(forest, node, HEARD)
            if waiting and board.leak == FLASH:
                for c in range(board.cells):
                    if (own & ~noticed[node]) >> c & 1:
                        follow(forest, node, HEARD + c)
        child = forest.child[node]
        while child != NONE:
            noticed[child] = noticed[node]
            if forest.event[child] >= HEARD:
                noticed[child] = noticed[node] + 1 if board.leak == NOISY else noticed[node] | np.int64(1) << (forest.event[child] - HEARD)
            child = forest.sibling[child]
        node += 1
    return True


@kernel
def duels(board: Board, sure: Any, black: Forest, white: Forest, roots: Any, others: Any, table: Any, known: Any) -> bool:
    """Let strategies play each other, beyond the first `known` rows and columns of `table`, which gets the chance that Black
    wins against a strategy or its turned image, each half the time. False: the forests are out of room."""
    for i in range(roots.size):
        for j in range(others.size):
            if i < known[0] and j < known[1]:
                continue
            table[i, j] = 0.0
            for flip in range(2):
                if black.count[0] + 4 * board.cells >= black.own.size or white.count[0] + 4 * board.cells >= white.own.size:
                    return False
                a, b, stones = np.int64(roots[i]), np.int64(others[j]), np.int64(0)
                while True:
                    a, heard = reply(board, sure[0], black, 0, a, board.turned[stones] if flip else stones)
                    if a == NONE:
                        table[i, j] += 0.5
                        break
                    b = tell(board, white, b, turn_noise(board, heard) if flip else heard)
                    stones = np.int64(black.own[a])
                    b, heard = reply(board, sure[1], white, 1, b, board.turned[stones] if flip else stones)
                    if b == NONE:
                        break
                    a = tell(board, black, a, turn_noise(board, heard) if flip else heard)
                    stones = np.int64(white.own[b])
    return True
