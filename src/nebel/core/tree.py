"""A whole game as flat arrays: histories, each player's decision points, and the payoffs between them.

Histories ("nodes") are numbered so that parents come before children and siblings stand side by side. A decision point is
all that a player remembers when about to move; it is the information state of perfect recall. Each point owns one
"sequence" a legal move; sequence 0 is the empty one. With another recall several points share one information state, and
then one row of a solver's tables, while a best response still tells the points apart.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadRules, TooLarge
from nebel.core.game import CHANCE, END, BaseGame, Game
from nebel.core.recall import PERFECT
from nebel.core.rng import generator, uniform
from nebel.core.state import State, resolve_recall

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Reals = NDArray[np.float64]

DEFAULT_LIMIT = 60_000_000
"""Histories that a tree may have unless the caller says otherwise (about 4 GB)."""

NODE = 41
"""Bytes of a history in `Nodes`."""
PAID = 12 + 24
"""Bytes of an end with a payoff while trees are put together: the first player's payoffs, and what it takes to sort the second's."""
PLAIN_HISTORY = 500
"""Bytes of a history, roughly and at most, while the interpreter enumerates it."""

ROUGHLY, MOST_ESTIMATED = 1e12, 1e100
"""Histories beyond which an estimate may be rough, and beyond which it does not matter how many more there are."""

FEW = 50_000
"""Histories that the interpreter counts in about a second."""
LONG = 200
"""Moves of a history after which an estimate may be rough."""


class Nodes(NamedTuple):
    """Histories as arrays; node 0 is the start."""

    turn: NDArray[np.int8]
    parent: Ints
    option: Longs  # what was played or dealt to get here
    odds: Reals  # the probability of that, if chance did it
    first: Ints  # children are first .. first + breadth - 1
    breadth: Ints
    point: Ints  # the mover's decision point
    score: Reals


class Points(NamedTuple):
    """One player's decision points, parents before children."""

    parent: Ints  # the own sequence that leads here
    first: Ints  # one more than there are points: the sequences of point i are first[i] .. first[i+1]-1
    key: Longs  # the memory, as one number
    glance: Longs  # what is seen at a glance (of perfect recall: the memory again)
    node: Ints  # some history at which the player is here
    move: Longs  # by sequence: which move (sequence 0: -1)
    visits: Longs  # in how many histories the player is here


class Payoffs(NamedTuple):
    """For each own sequence, the opponent's sequences that end the game with it and what player 0 gets, times chance."""

    first: Longs
    other: Ints
    value: Reals


@dataclass(frozen=True, eq=False)
class Side:
    """One player's half of a tree under a recall."""

    points: Points
    payoffs: Payoffs
    state: Ints  # by point: the information state
    keys: Longs  # by information state: its number
    row: Ints  # by information state, one more than there are: where its moves stand in a table
    move: Longs  # by place in a table: which move
    spot: Ints  # by point: row[state[point]]

    @property
    def sequences(self) -> int:
        return len(self.points.move)

    @property
    def states(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, eq=False)
class Tree:
    game: BaseGame
    recall: str
    nodes: Nodes
    sides: tuple[Side, Side]
    depth: int

    @property
    def histories(self) -> int:
        return len(self.nodes.turn)

    @property
    def terminals(self) -> int:
        return int(np.count_nonzero(self.nodes.turn == END))

    @property
    def bytes(self) -> int:
        """What all arrays take."""
        sides = ((*side.points, *side.payoffs, side.state, side.keys, side.row, side.move, side.spot) for side in self.sides)
        return nbytes(*self.nodes, *(array for side in sides for array in side))

    def information_states(self) -> list[int]:
        return [side.states for side in self.sides]

    def choices(self) -> list[int]:
        """Information states with more than one legal move."""
        return [int(np.count_nonzero(np.diff(side.row) > 1)) for side in self.sides]

    def state_at(self, node: int) -> State:
        """The game at a history."""
        path = []
        while node > 0:
            path.append(int(self.nodes.option[node]))
            node = int(self.nodes.parent[node])
        state = self.game.start()
        for option in reversed(path):
            state.push(option)
        return state

    def state_of(self, player: int, information_state: int) -> State:
        """A game in which `player` is in this information state."""
        point = int(np.argmax(self.sides[player].state == information_state))
        return self.state_at(int(self.sides[player].points.node[point]))


class Size(NamedTuple):
    """How large a game is; `complete` is False when counting stopped at the limit."""

    chance: int
    decisions: int
    terminals: int
    depth: int
    complete: bool

    @property
    def histories(self) -> int:
        return self.chance + self.decisions + self.terminals

    @property
    def bytes(self) -> int:
        """What a tree of this size takes, roughly: nodes, payoffs for both players, points and tables."""
        return 41 * self.histories + 44 * self.terminals + 24 * self.decisions


def nbytes(*arrays: NDArray[Any]) -> int:
    return sum(array.nbytes for array in arrays)


def measure(game: BaseGame, limit: int = DEFAULT_LIMIT) -> Size:
    """Count the histories of a game, up to `limit`, or fewer where an estimate says that there are many times more."""
    game.try_out()
    if isinstance(game, Game):
        from nebel.core.unfold import measure_rules

        return measure_rules(game, limit)
    from nebel.core.plain import measure_plain

    size = measure_plain(game, min(limit, FEW))
    if size.complete or limit <= FEW or estimate(game) > 10 * limit:
        return size
    return measure_plain(game, limit)


def estimate(game: BaseGame, follow: Container[int] = (CHANCE, 0, 1), probes: int = 200, seed: int = 1) -> float:
    """About how many histories are met if all options of those in `follow`, and a random one of the others, are followed; of more than
    MOST_ESTIMATED only that there are so many.

    A crowd goes on step by step: so many histories, drawn evenly from all continuations of those before. One that ends leaves its place
    to others, which matters where most moves end a game soon (Knuth 1975 lets every probe go alone).
    """
    game.try_out()
    rng = generator(seed)
    crowd, share, total, level = [game.begin()] * probes, 1 / probes, 1.0, 0
    while crowd and total < MOST_ESTIMATED:
        going = [(position, game.options_at(position)) for position in crowd if game.turn_at(position) != END]
        if going:
            _check_length(game, level)
        level += 1
        places = 0 if not going else probes if total < ROUGHLY and level < LONG else probes // 10
        with np.errstate(over="ignore"):
            ways = [options if game.turn_at(at) in follow else [options[int(uniform(rng) * len(options))]] for at, options in going]
            ends = np.cumsum([len(options) for options in ways])
            count = sum(len(options) for options in ways)
            chosen = [int(uniform(rng) * count) for _ in range(places)]
            origin = np.searchsorted(ends, chosen, "right")
            crowd = [game.after(going[i][0], ways[i][way - ends[i]])[0] for i, way in zip(origin, chosen, strict=True)]
        total += share * count
        share *= count / max(places, 1)
    return total


def _check_length(game: BaseGame, moves: int) -> None:
    try:
        game.check_length(moves)
    except BadRules as error:
        raise BadRules(f"{game.string}: {error}") from error


class Room(NamedTuple):
    """Bytes that a tree may take while it grows, and how to refuse one that needs more (given how many)."""

    bytes: int
    refuse: Callable[[int], Exception]

    def check(self, need: int) -> None:
        if need > self.bytes:
            raise self.refuse(need)


ENDLESS = Room(2**62, lambda need: TooLarge(f"{need:,} bytes are too many"))


def grow(game: BaseGame, recall: str = PERFECT, limit: int = DEFAULT_LIMIT, room: Room = ENDLESS) -> Tree:
    """The whole tree of a game, or `TooLarge` if it has more than `limit` histories; refused as `room` has it if there is not enough."""
    recall = resolve_recall(game, recall)
    size = measure(game, limit)
    if not size.complete:
        advice = "take a smaller variant" + (" or a sampling method" if isinstance(game, Game) else "")
        raise TooLarge(f"{game.string} has more than {limit:,} histories, too many to enumerate; {advice}")
    if isinstance(game, Game):
        from nebel.core.unfold import unfold_rules

        grown = unfold_rules(game, recall, size, room)
    else:
        from nebel.core.plain import unfold_plain

        room.check(PLAIN_HISTORY * size.histories)
        grown = unfold_plain(game, recall)
    nodes, points, ends = grown
    held = nbytes(*nodes, *points[0], *points[1], *ends.last, ends.value)
    room.check(held + PAID * int(np.count_nonzero(ends.value)) + 24 * sum(len(player.move) for player in points))
    return assemble(game, recall, size.depth, *grown)


class Ends(NamedTuple):
    """Terminal histories: both players' last sequences, and chance times score."""

    last: tuple[Ints, Ints]
    value: Reals


def assemble(game: BaseGame, recall: str, depth: int, nodes: Nodes, points: tuple[Points, Points], ends: Ends) -> Tree:
    sides = (
        _side(points[0], _payoffs(points[0], ends.last[0], ends.last[1], ends.value)),
        _side(points[1], _payoffs(points[1], ends.last[1], ends.last[0], ends.value)),
    )
    return Tree(game, recall, nodes, sides, depth)


def _payoffs(points: Points, own: Ints, other: Ints, value: Reals) -> Payoffs:
    paid = np.flatnonzero(value)
    order = paid[np.argsort(own[paid], kind="stable")]
    first = np.zeros(len(points.move) + 1, np.int64)
    np.cumsum(np.bincount(own[paid], minlength=len(points.move)), out=first[1:])
    return Payoffs(first, other[order], value[order])


def _side(points: Points, payoffs: Payoffs) -> Side:
    """Information states in the order in which their first points come."""
    keys, at, inverse = np.unique(points.glance, return_index=True, return_inverse=True)
    order = np.argsort(at, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    state = rank[inverse].astype(np.int32)
    example = at[order]  # the first point of each information state
    width = np.diff(points.first)
    if len(keys) < len(points.key):
        bad = np.flatnonzero(width != width[example][state])
        if len(bad):
            raise BadRules("states that look alike at this glance have different numbers of legal moves; choose another recall")
    row = np.zeros(len(keys) + 1, np.int32)
    np.cumsum(width[example], out=row[1:])
    spread = np.repeat(points.first[:-1][example] - row[:-1], width[example]) + np.arange(row[-1])
    return Side(points, payoffs, state, keys[order], row, points.move[spread], row[state])
