"""Games in rules, counted and unfolded into arrays by compiled code."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy import int64

from nebel.core.errors import BadRules
from nebel.core.game import CHANCE, END, BaseGame, Game
from nebel.core.recall import PERFECT, blank_memory, remember_move, remember_sight
from nebel.core.rng import fold
from nebel.core.rows import copy
from nebel.core.rule import kernel, rule
from nebel.core.tree import Ends, Nodes, Points, Size

FINE, TOO_DEEP, MOVES_DIFFER, GLANCE_DIFFERS, BAD_TURN, NO_MOVES = range(6)


@rule
def look_away(s: Any, player: int) -> int:
    """In place of a glance, for perfect recall."""
    return 0


@rule
def rehash(mind: Any, token: Any, child: Any, size: int) -> Any:
    """The trie's hash table at twice the size; `child` counts from 1, 0 is a free slot."""
    new_mind = np.zeros(size, np.int64)
    new_token = np.zeros(size, np.int64)
    new_child = np.zeros(size, np.int64)
    for i in range(mind.size):
        if child[i] != 0:
            j = fold(mind[i], token[i]) & (size - 1)
            while new_child[j] != 0:
                j = (j + 1) & (size - 1)
            new_mind[j], new_token[j], new_child[j] = mind[i], token[i], child[i]
    return new_mind, new_token, new_child


@rule
def find(mind: Any, token: Any, child: Any, parent: int, seen: int) -> int:
    """Where the trie keeps, or would keep, the memory `parent` followed by `seen`."""
    j = fold(parent, seen) & (mind.size - 1)
    while child[j] != 0 and (mind[j] != parent or token[j] != seen):
        j = (j + 1) & (mind.size - 1)
    return j


@functools.lru_cache(maxsize=64)
def _measurer(game: Game) -> Any:
    start, turn, moves, play, _, _ = game.rules
    depth, width = game.depth, game.width

    @kernel
    def measure(states: Any, limit: int) -> Any:
        seen = np.zeros(2, np.int64)
        legal = np.zeros((depth + 1, width), np.int64)
        count = np.zeros(depth + 1, np.int64)
        chosen = np.zeros(depth + 1, np.int64)
        chance, decisions, terminals, deepest, fault = 0, 0, 0, 0, FINE
        d = 0
        start(states[0])
        entering = True
        while d >= 0 and chance + decisions + terminals <= limit:
            if entering:
                who = turn(states[d])
                deepest = max(deepest, d)
                if who == END:
                    terminals += 1
                    d -= 1
                    entering = False
                    continue
                if who == CHANCE:
                    chance += 1
                elif who == 0 or who == 1:
                    decisions += 1
                else:
                    fault = BAD_TURN
                    break
                if d == depth:
                    fault = TOO_DEEP
                    break
                count[d] = moves(states[d], legal[d])
                chosen[d] = 0
                if count[d] < 1:
                    fault = NO_MOVES
                    break
            if chosen[d] == count[d]:
                d -= 1
                entering = False
                continue
            states[d + 1] = states[d]
            play(states[d + 1], legal[d, chosen[d]], seen)
            chosen[d] += 1
            d += 1
            entering = True
        return chance, decisions, terminals, deepest, fault

    return measure


def measure_rules(game: Game, limit: int) -> Size:
    chance, decisions, terminals, depth, fault = _measurer(game)(game.blank(game.depth + 2), limit)
    if fault == TOO_DEEP:
        raise BadRules(f"{game.string} goes on after {game.depth} moves, yet declares depth={game.depth}")
    if fault == BAD_TURN:
        raise BadRules(f"{game.string}: turn() must return 0, 1, CHANCE ({CHANCE}) or END ({END})")
    if fault == NO_MOVES:
        raise BadRules(f"{game.string}: somebody is to move and moves() offers nothing")
    size = Size(int(chance), int(decisions), int(terminals), int(depth), True)
    return size._replace(complete=size.histories <= limit)


@functools.lru_cache(maxsize=64)
def _unfolder(game: Game, recall: str) -> Any:
    start, turn, moves, play, score, odds = game.rules
    look = look_away if recall == PERFECT else game.glances[recall].look
    glancing = recall != PERFECT
    depth, width = game.depth, game.width

    @kernel
    def unfold(states: Any, nodes: Any, points: Any, last: Any, value: Any) -> Any:
        node_turn, node_parent, node_option, node_odds, node_first, node_breadth, node_point, node_score = nodes
        point_parent, point_first, point_key, point_glance, point_node, seq_move, point_visits = points
        seen = np.zeros(2, np.int64)
        legal = np.zeros((depth + 1, width), np.int64)
        luck = np.zeros((depth + 1, width))
        node = np.zeros(depth + 2, np.int64)
        chosen = np.zeros(depth + 2, np.int64)
        reach = np.ones(depth + 2)
        memory = np.zeros((depth + 2, 2), np.int64)  # folded, as sampling solvers use it
        mind = np.zeros((depth + 2, 2), np.int64)  # exact: a place in a trie of observations
        sequence = np.zeros((depth + 2, 2), np.int64)
        trie_mind, trie_token, trie_child = np.zeros(1024, np.int64), np.zeros(1024, np.int64), np.zeros(1024, np.int64)
        point_of = np.full(1024, -1, np.int64)  # by place in the trie
        minds, points_used, sequences, ends, used = 3, np.zeros(2, np.int64), np.ones(2, np.int64), 0, 1
        memory[0, 0], memory[0, 1] = blank_memory(0), blank_memory(1)
        mind[0, 0], mind[0, 1] = 1, 2
        seq_move[0, 0] = seq_move[1, 0] = -1
        node_parent[0], node_option[0], node_odds[0] = -1, -1, 1.0
        d = 0
        start(states[0])
        entering = True
        while d >= 0:
            here = node[d]
            if entering:
                who = turn(states[d])
                node_turn[here] = who
                node_point[here] = -1
                node_first[here] = used
                node_breadth[here] = 0
                node_score[here] = 0.0
                if who == END:
                    node_score[here] = score(states[d])
                    last[0, ends], last[1, ends] = sequence[d, 0], sequence[d, 1]
                    value[ends] = reach[d] * node_score[here]
                    ends += 1
                    d -= 1
                    entering = False
                    continue
                n = moves(states[d], legal[d])
                node_breadth[here] = n
                chosen[d] = 0
                for i in range(n):
                    node_parent[used + i] = here
                    node_option[used + i] = legal[d, i]
                    node_odds[used + i] = 1.0
                if who == CHANCE:
                    odds(states[d], luck[d])
                    for i in range(n):
                        node_odds[used + i] = luck[d, i]
                else:
                    point = point_of[mind[d, who]]
                    if point < 0:
                        point = points_used[who]
                        points_used[who] += 1
                        point_of[mind[d, who]] = point
                        point_parent[who, point] = sequence[d, who]
                        point_first[who, point] = sequences[who]
                        point_key[who, point] = memory[d, who]
                        point_glance[who, point] = look(states[d], who) if glancing else memory[d, who]
                        point_node[who, point] = here
                        point_visits[who, point] = 0
                        for i in range(n):
                            seq_move[who, sequences[who] + i] = legal[d, i]
                        sequences[who] += n
                        point_first[who, point + 1] = sequences[who]
                    else:
                        same = point_first[who, point + 1] - point_first[who, point] == n
                        for i in range(n):
                            same = same and seq_move[who, point_first[who, point] + i] == legal[d, i]
                        if not same:
                            return MOVES_DIFFER, here, int64(point_node[who, point]), 0, 0, 0, 0
                        if glancing and look(states[d], who) != point_glance[who, point]:
                            return GLANCE_DIFFERS, here, int64(point_node[who, point]), 0, 0, 0, 0
                    point_visits[who, point] += 1
                    node_point[here] = point
                used += n
            n = node_breadth[here]
            i = chosen[d]
            if i == n:
                d -= 1
                entering = False
                continue
            who = node_turn[here]
            chosen[d] += 1
            states[d + 1] = states[d]
            seen[:] = 0
            play(states[d + 1], legal[d, i], seen)
            node[d + 1] = node_first[here] + i
            reach[d + 1] = reach[d] * node_odds[node[d + 1]]
            if 4 * (minds + 4) > 2 * trie_mind.size:
                trie_mind, trie_token, trie_child = rehash(trie_mind, trie_token, trie_child, 2 * trie_mind.size)
                more = np.full(trie_mind.size, -1, np.int64)
                copy(point_of, more)
                point_of = more
            for p in range(2):
                memory[d + 1, p], mind[d + 1, p], sequence[d + 1, p] = memory[d, p], mind[d, p], sequence[d, p]
                if p == who:
                    memory[d + 1, p] = remember_move(memory[d, p], legal[d, i])
                    sequence[d + 1, p] = point_first[p, node_point[here]] + i
                    token = 2 * legal[d, i] + 1
                    j = find(trie_mind, trie_token, trie_child, mind[d + 1, p], token)
                    if trie_child[j] == 0:
                        trie_mind[j], trie_token[j], trie_child[j] = mind[d + 1, p], token, minds
                        minds += 1
                    mind[d + 1, p] = trie_child[j]
                if seen[p] != 0:
                    memory[d + 1, p] = remember_sight(memory[d + 1, p], seen[p])
                    token = 2 * seen[p]
                    j = find(trie_mind, trie_token, trie_child, mind[d + 1, p], token)
                    if trie_child[j] == 0:
                        trie_mind[j], trie_token[j], trie_child[j] = mind[d + 1, p], token, minds
                        minds += 1
                    mind[d + 1, p] = trie_child[j]
            d += 1
            entering = True
        return FINE, node[0], int64(0), points_used[0], points_used[1], sequences[0], sequences[1]

    return unfold


def unfold_rules(game: Game, recall: str, size: Size) -> tuple[Nodes, tuple[Points, Points], Ends]:
    total, most = size.histories, size.decisions
    nodes = Nodes(
        turn=np.empty(total, np.int8),
        parent=np.empty(total, np.int32),
        option=np.empty(total, np.int64),
        odds=np.empty(total),
        first=np.empty(total, np.int32),
        breadth=np.empty(total, np.int32),
        point=np.empty(total, np.int32),
        score=np.empty(total),
    )
    points = Points(
        parent=np.empty((2, most), np.int32),
        first=np.zeros((2, most + 1), np.int32),
        key=np.empty((2, most), np.int64),
        glance=np.empty((2, most), np.int64),
        node=np.empty((2, most), np.int32),
        move=np.empty((2, total + 1), np.int64),
        visits=np.empty((2, most), np.int64),
    )
    points.first[:, 0] = 1
    last, value = np.empty((2, size.terminals), np.int32), np.empty(size.terminals)
    with np.errstate(over="ignore"):
        report = _unfolder(game, recall)(game.blank(game.depth + 2), tuple(nodes), tuple(points), last, value)
    fault, here, there, *counts = (int(x) for x in report)
    if fault != FINE:
        raise BadRules(complaint(game, recall, nodes, fault, here, there))
    return nodes, (_cut(points, 0, counts[0], counts[2]), _cut(points, 1, counts[1], counts[3])), Ends((last[0], last[1]), value)


def _cut(points: Points, player: int, count: int, sequences: int) -> Points:
    """One player's points, without the room that was left over."""
    lengths = {"first": count + 1, "move": sequences}
    return Points(*(array[player, : lengths.get(name, count)].copy() for name, array in points._asdict().items()))


def complaint(game: BaseGame, recall: str, nodes: Nodes, fault: int, here: int, there: int) -> str:
    def line(node: int) -> str:
        names: list[str] = []
        while node > 0:
            parent = int(nodes.parent[node])
            name = game.name_of_outcome if nodes.turn[parent] == CHANCE else game.name_of_move
            names.append(name(int(nodes.option[node])))
            node = parent
        return " ".join(reversed(names)) or "the start"

    who = int(nodes.turn[here])
    pair = f"after '{line(there)}' and after '{line(here)}', player {who} cannot tell the two states apart, yet"
    if fault == MOVES_DIFFER:
        return f"{pair} the legal moves differ"
    return f"{pair} the glance {recall!r} differs: a glance must not show more than was seen"
