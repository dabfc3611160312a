"""What may be hidden from a player: histories drawn from an information set, in proportion to what chance contributed to them.

All histories that agree with what the player knows are unfolded into a graph in which those that are alike from some point on
(by the game's `essence` of states) go on together. Every node's weight, that of the ways from it to the information set, is the
sum over its edges of the odds of chance (1 for a player's move) times the weight there; so walking down in proportion draws
histories exactly. Where the graph is too large, histories are found by wandering among what is still hopeful, and one of them is
drawn in proportion to its weight over the probability of having found it: not exact, and flagged.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import TooLarge
from nebel.core.game import CHANCE, END, BaseGame, Game, Record
from nebel.core.recall import blank_memory, remember_move, remember_sight
from nebel.core.regret import pick
from nebel.core.rng import fold, generator, uniform
from nebel.core.rule import kernel, rule
from nebel.core.state import State
from nebel.core.words import digest, words_of
from nebel.search.target import Room, always_hopeful, follow, in_rules, room_for, searches, target

ROOM, FIRST_ROOM = 1 << 17, 1 << 12
"""Nodes of the graph: at most, unless told otherwise, and those that it gets at first."""

WALKS = 1024
"""Histories to choose from where the graph is too large."""

EDGES = 4
"""A graph has room for so many edges a node."""

TOO_MANY = -1


class Ways(NamedTuple):
    """A graph of histories: edges first[i] .. first[i+1]-1 leave node i, none where the information set is reached. Node 0 is the start."""

    first: Any
    move: Any
    child: Any
    below: Any  # the edge is taken if a uniform number is below this, and not below the one before


@rule
def edge_of(ways: Ways, node: int, rng: Any) -> int:
    """The edge by which a walk goes on; -1 at its end."""
    e, last = ways.first[node], ways.first[node + 1] - 1
    if e > last:
        return -1
    u = uniform(rng) if e < last else 0.0
    while e < last and u >= ways.below[e]:
        e += 1
    return e


@rule
def set_bounds(ways: Ways, node: int, weight: Any, total: float) -> None:
    """`weight` is by edge."""
    sum_, sure = 0.0, ways.first[node]
    for e in range(ways.first[node], ways.first[node + 1]):
        sum_ += weight[e]
        ways.below[e] = sum_ / total
        if weight[e] > 0.0:
            sure = e
    for e in range(sure, ways.first[node + 1]):  # rounding must not lead past the last that has weight
        ways.below[e] = 2.0


@kernel
def shares_of(ways: Ways) -> Any:
    """By edge, how often it is taken where it leaves."""
    share = np.zeros(ways.move.size)
    for node in range(ways.first.size - 1):
        before = 0.0
        for e in range(ways.first[node], ways.first[node + 1]):
            up_to = min(ways.below[e], 1.0)
            share[e] = up_to - before
            before = up_to
    return share


@kernel
def histories_of(ways: Ways, share: Any, count: Any) -> float:
    """How many there are; `count`, by node, comes full of ones."""
    for node in range(count.size - 1, -1, -1):
        if ways.first[node] < ways.first[node + 1]:
            count[node] = 0.0
        for e in range(ways.first[node], ways.first[node + 1]):
            if share[e] > 0.0:
                count[node] += count[ways.child[e]]
    return count[0]


@kernel
def draw_moves(ways: Ways, rng: Any, moves: Any) -> int:
    """Writes down a history; returns its length."""
    length, e = 0, edge_of(ways, 0, rng)
    while e >= 0:
        moves[length] = ways.move[e]
        length += 1
        e = edge_of(ways, ways.child[e], rng)
    return length


class Moving(NamedTuple):
    """begin(s, memory) sets a state and both memories to the start; go_on(s, memory, move, seen) makes a move."""

    begin: Any
    go_on: Any


@functools.lru_cache(maxsize=32)
def moving(game: Game) -> Moving:
    start, turn, _, play, _, _ = game.rules

    @rule
    def begin(s: Record, memory: Any) -> None:
        start(s)
        memory[0], memory[1] = blank_memory(0), blank_memory(1)

    @rule
    def go_on(s: Record, memory: Any, move: int, seen: Any) -> None:
        who = turn(s)
        seen[0] = seen[1] = 0
        play(s, move, seen)
        if who >= 0:
            memory[who] = remember_move(memory[who], move)
        memory[0] = remember_sight(memory[0], seen[0])
        memory[1] = remember_sight(memory[1], seen[1])

    return Moving(begin, go_on)


@functools.lru_cache(maxsize=32)
def drawing(game: Game) -> Any:
    """The rule draw(ways, s, memory, seen, rng), which leaves a hidden state and both players' memories in s and memory."""
    begin, go_on = moving(game)

    @rule
    def draw(ways: Ways, s: Record, memory: Any, seen: Any, rng: Any) -> None:
        begin(s, memory)
        e = edge_of(ways, 0, rng)
        while e >= 0:
            go_on(s, memory, ways.move[e], seen)
            e = edge_of(ways, ways.child[e], rng)

    return draw


@functools.lru_cache(maxsize=16)
def _unfolding(game: Game) -> Any:
    """Fills a graph with all histories that agree with a target; returns how many nodes there are, or TOO_MANY."""
    start, turn, moves, play, _, odds = game.rules
    step, reached, _, _ = follow(game)
    hopeful, essence, width = game.clues.hopeful or always_hopeful, game.clues.essence, game.width

    @rule
    def weigh(ways: Ways, nodes: int, weight: Any, luck: Any) -> None:
        for node in range(nodes - 1, -1, -1):
            first, end = ways.first[node], ways.first[node + 1]
            if first == end:
                continue
            weight[node] = 0.0
            for e in range(first, end):
                luck[e] *= weight[ways.child[e]]
                weight[node] += luck[e]
            if weight[node] > 0.0:
                set_bounds(ways, node, luck, weight[node])

    @kernel
    def unfold(aims: Any, ways: Ways, states: Any, words: Any, at: Any, table: Any, weight: Any, luck: Any) -> int:
        legal, chances, seen, mask = np.zeros(width, np.int64), np.ones(width), np.zeros(2, np.int64), table.shape[0] - 1
        t = aims[0]
        start(states[0])
        nodes, edges, node, depth, deeper = 1, 0, 0, 0, 1  # the nodes from `deeper` on are a move further from the start
        while node < nodes:
            if node == deeper:
                depth, deeper = depth + 1, nodes
            ways.first[node] = edges
            who = turn(states[node])
            there = reached(t, at[node], who)
            weight[node] = 1.0 if there else 0.0
            n = 0 if there or who == END else moves(states[node], legal)
            if n > 0 and who == CHANCE:
                odds(states[node], chances)
            for i in range(n):
                if nodes + 1 >= states.size or edges == ways.move.size:
                    return TOO_MANY
                states[nodes] = states[node]
                seen[0] = seen[1] = 0
                play(states[nodes], legal[i], seen)
                then = step(t, at[node], who, legal[i], seen)
                if then < 0 or not hopeful(states[nodes], t.me, t.events, then, t.length):
                    continue
                essence(states[nodes])
                key = fold(fold(digest(words, nodes), then), depth)
                slot = key & mask
                while table[slot, 0] != 0 and table[slot, 0] != key:
                    slot = (slot + 1) & mask
                if table[slot, 0] == 0:
                    table[slot, 0], table[slot, 1], at[nodes] = key, nodes, then
                    nodes += 1
                ways.move[edges], ways.child[edges] = legal[i], table[slot, 1]
                luck[edges] = chances[i] if who == CHANCE else 1.0
                edges += 1
            node += 1
        ways.first[nodes] = edges
        weigh(ways, nodes, weight, luck)
        return nodes

    return unfold


@functools.lru_cache(maxsize=16)
def _wandering(game: Game) -> Any:
    """Finds histories that agree with a target, and the logarithm of each one's weight over its probability of being found."""
    start, turn, moves, play, _, odds = game.rules
    step, reached, hopeful, own_room = follow(game)
    width = game.width

    @kernel
    def wander(aims: Any, every: Room | None, states: Any, paths: Any, lengths: Any, weights: Any, rng: Any, tries: int) -> int:
        legal, kept, seen = np.zeros(width, np.int64), np.ones(width), np.zeros(2, np.int64)
        then, found, t, room = np.zeros(width, np.int64), 0, aims[0], own_room(every, 0)
        for _ in range(tries):
            start(states[0])
            length, at, weight = 0, 0, 0.0
            while not reached(t, at, turn(states[0])):
                who = turn(states[0])
                n = 0 if who == END else moves(states[0], legal)
                kept[:n] = 1.0
                if n > 0 and who == CHANCE:
                    odds(states[0], kept)
                total = 0.0
                for i in range(n):
                    states[1] = states[0]
                    seen[0] = seen[1] = 0
                    play(states[1], legal[i], seen)
                    then[i] = step(t, at, who, legal[i], seen)
                    if then[i] < 0 or not hopeful(t, room, states[1], then[i]):
                        kept[i] = 0.0
                    total += kept[i]
                if total <= 0.0:  # where nobody could tell in time that there is no way
                    length = -1
                    break
                c = pick(kept, n, uniform(rng) * total)
                while kept[c] <= 0.0:  # rounding went past the last
                    c -= 1
                weight += np.log(total)
                at = then[c]
                paths[found, length] = legal[c]
                length += 1
                seen[0] = seen[1] = 0
                play(states[0], legal[c], seen)
            if length >= 0:
                lengths[found], weights[found] = length, weight
                found += 1
                if found == weights.size:
                    break
        return found

    return wander


class Hidden:
    """Histories that player `me`, who is to move, cannot tell from the one at the board.

    exact   whether they are drawn in proportion to their weights, or only nearly so because there are too many
    ways    for compiled code: `drawing(game)`
    """

    def __init__(self, game: BaseGame, state: State, me: int, room: int = ROOM, seed: int = 1) -> None:
        self.game = in_rules(game)
        self._aim = target(self.game, state, me)
        with np.errstate(over="ignore"):
            size = min(FIRST_ROOM, room)
            while (ways := self._unfold(size)) is None and size < room:
                size = min(8 * size, room)
            self.exact = ways is not None
            self.ways = ways or self._wander(generator(seed))

    def _unfold(self, room: int) -> Ways | None:
        states = np.asarray(self.game.blank(room))
        slots, edges = 1 << (2 * room - 1).bit_length(), EDGES * room + self.game.width
        ways = _blank(room, edges)
        at, table = np.zeros(room, np.int64), np.zeros((slots, 2), np.int64)
        nodes = _unfolding(self.game)(self._aim, ways, states, words_of(states), at, table, np.zeros(room), np.zeros(edges))
        if nodes == TOO_MANY:
            return None
        edges = int(ways.first[nodes])
        return Ways(ways.first[: nodes + 1].copy(), *(array[:edges].copy() for array in ways[1:]))

    def _wander(self, rng: NDArray[np.int64]) -> Ways:
        paths, lengths, weights = np.zeros((WALKS, self.game.depth + 1), np.int64), np.zeros(WALKS, np.int64), np.zeros(WALKS)
        room = room_for(self.game) if searches(self.game, False) else None
        found = _wandering(self.game)(self._aim, room, self.game.blank(2), paths, lengths, weights, rng, 4 * WALKS)
        if not found or not lengths[0]:
            raise TooLarge(
                f"{self.game.string}: too much may be hidden from player {self._aim.me[0]}; in {4 * WALKS} tries no history was found"
            )
        return bundle([path[:n].tolist() for path, n in zip(paths[:found], lengths, strict=False)], weights[:found])

    def sample(self, rng: NDArray[np.int64]) -> State:
        """A game in which `me` has done and seen the same."""
        state = self.game.start()
        for move in self._drawn(rng):
            state.push(move)
        return state

    def histories(self, most: int, rng: NDArray[np.int64]) -> tuple[list[list[int]], NDArray[np.float64]]:
        """All of them, as moves, with the logarithms of their probabilities; or, if there are over `most`, so many that are drawn."""
        first, move, child, _ = self.ways
        share, found, open_ = shares_of(self.ways), list[list[int]](), [(0, list[int](), 0.0)]
        if histories_of(self.ways, share, np.ones(len(first) - 1)) > most:
            return [self._drawn(rng) for _ in range(most)], np.zeros(most)
        weights = []
        while open_:
            node, moves, weight = open_.pop()
            edges = range(first[node], first[node + 1])
            if not edges:
                found.append(moves)
                weights.append(weight)
            open_ += [(child[e], [*moves, int(move[e])], weight + float(np.log(share[e]))) for e in edges if share[e] > 0.0]
        return found, np.array(weights)

    def _drawn(self, rng: NDArray[np.int64]) -> list[int]:
        """The moves of a history."""
        moves = np.zeros(self.game.depth + 1, np.int64)
        with np.errstate(over="ignore"):
            return moves[: draw_moves(self.ways, rng, moves)].tolist()

    def beliefs(self, most: int = 10) -> list[tuple[float, State]]:
        """The likeliest hidden states with their probabilities, each as one of the games that lead there."""
        first, _, child, _ = self.ways
        reach, parent, share = np.zeros(len(first) - 1), np.zeros(len(first) - 1, np.int64), shares_of(self.ways)
        reach[0] = 1.0
        for node in range(len(reach)):
            for e in range(first[node], first[node + 1]):
                if share[e] > 0.0:
                    reach[child[e]] += share[e] * reach[node]
                    parent[child[e]] = e
        ends = np.flatnonzero((np.diff(first) == 0) & (reach > 0.0))
        likely = ends[np.argsort(-reach[ends], kind="stable")][:most]
        return [(float(reach[node]), self._game_to(int(node), parent)) for node in likely]

    def _game_to(self, node: int, parent: NDArray[np.int64]) -> State:
        moves = []
        while node:
            moves.append(int(self.ways.move[parent[node]]))
            node = int(np.searchsorted(self.ways.first, parent[node], side="right")) - 1
        state = self.game.start()
        for move in reversed(moves):
            state.push(move)
        return state


def _blank(nodes: int, edges: int) -> Ways:
    return Ways(np.zeros(nodes + 1, np.int64), np.zeros(edges, np.int64), np.zeros(edges, np.int64), np.zeros(edges))


def bundle(paths: list[list[int]], log_weights: NDArray[np.float64]) -> Ways:
    """A graph of paths that part at the start and do not meet again."""
    ways = _blank(1 + sum(map(len, paths)), sum(map(len, paths)))
    ways.below[:] = 2.0
    edges, node = len(paths), 1
    ways.first[1] = edges
    for e, path in enumerate(paths):
        ways.move[e], ways.child[e] = path[0], node
        for move in path[1:]:
            ways.move[edges], ways.child[edges] = move, node + 1
            ways.first[node + 1] = edges = edges + 1
            node += 1
        ways.first[node + 1] = edges
        node += 1
    set_bounds(ways, 0, (weights := np.exp(log_weights - log_weights.max())), float(weights.sum()))
    return ways
