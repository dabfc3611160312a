"""Games in rules, counted and unfolded into arrays by compiled code."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from nebel.core.faults import (
    BAD_COUNT,
    BAD_ODDS,
    BAD_OPTION,
    BAD_SCORE,
    BAD_SIGHT,
    BAD_TURN,
    FINE,
    GLANCE_DIFFERS,
    MOVES_DIFFER,
    NO_ROOM,
    TOO_DEEP,
    misgrown,
    misindexed,
    misplayed,
)  # fmt: skip
from nebel.core.game import CHANCE, END, Game
from nebel.core.layout import EVEN_SUM
from nebel.core.recall import PERFECT, blank_memory, remember_move, remember_sight
from nebel.core.rng import fold
from nebel.core.rows import copy
from nebel.core.rule import checked_kernel, in_library, kernel, rule
from nebel.core.tree import ENDLESS, NODE, Ends, Nodes, Points, Room, Size

POINT = 44
"""Bytes of a decision point."""
REHASH = 72
"""Bytes of a slot of the trie's hash table while the table is doubled: the old and the new one, and what came before."""
MOST_MINDS = 1 << 30
NOTHING = -1
SPARE = 64
"""Room for more options than a game declares, so that rules which offer too many overrun nothing before they are counted."""


@rule
def look_away(s: Any, player: int) -> int:
    """In place of a glance, for perfect recall."""
    return 0


@rule
def rehash(mind: Any, token: Any, child: Any, size: int) -> Any:
    """The trie's hash table at twice the size; `child` counts from 1, 0 is a free slot."""
    new_mind = np.zeros(size, np.int32)
    new_token = np.zeros(size, np.int64)
    new_child = np.zeros(size, np.int32)
    for i in range(mind.size):
        if child[i] != 0:
            j = fold(np.int64(mind[i]), token[i]) & (size - 1)
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
    start, turn, moves, play, score, odds = game.rules
    depth, width = game.depth, game.width
    strange = not all(in_library(part) for part in game.rules)

    def measure(states: Any, limit: int, way: Any) -> Any:
        """`way`: what was played to get to where counting stopped."""
        seen, luck = np.zeros(2, np.int64), np.zeros(width)
        legal = np.zeros((depth + 1, width + SPARE), np.int64)
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
                    if strange:
                        score(states[d])
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
                if count[d] < 1 or count[d] > width:
                    fault = BAD_COUNT
                    break
                if strange and who == CHANCE:
                    odds(states[d], luck)
            if chosen[d] == count[d]:
                d -= 1
                entering = False
                continue
            states[d + 1] = states[d]
            way[d] = legal[d, chosen[d]]
            play(states[d + 1], way[d], seen)
            chosen[d] += 1
            d += 1
            entering = True
        return chance, decisions, terminals, deepest, fault, d, count[d]

    return checked_kernel(measure) if strange else kernel(measure)


def measure_rules(game: Game, limit: int) -> Size:
    """Count the histories of a game, up to a limit; rules from outside the library are run with bounds checks here."""
    way = np.full(game.depth + 1, NOTHING)
    try:
        found = _measurer(game)(game.blank(game.depth + 2), limit, way)
    except IndexError as error:
        raise misindexed(game, way[way != NOTHING].tolist()) from error
    chance, decisions, terminals, depth, fault, at, count = (int(x) for x in found)
    if fault != FINE:
        raise misplayed(game, fault, way[:at].tolist(), count)
    size = Size(chance, decisions, terminals, depth, True)
    return size._replace(complete=size.histories <= limit)


@functools.lru_cache(maxsize=64)
def _stepper(game: Game) -> Any:
    start, turn, moves, play, score, odds = game.rules
    depth, width = game.depth, game.width

    @kernel
    def lay_out(states: Any, nodes: Nodes, sights: Any) -> None:
        """What can happen, and what players see of it; all but whose information states the decisions belong to."""
        seen, legal, luck = np.zeros(2, np.int64), np.zeros(width, np.int64), np.zeros(width)
        node, chosen = np.zeros(depth + 2, np.int64), np.zeros(depth + 2, np.int64)
        nodes.parent[0], nodes.option[0], nodes.odds[0] = -1, -1, 1.0
        d, used, entering = 0, 1, True
        start(states[0])
        while d >= 0:
            here = node[d]
            if entering:
                who, chosen[d] = turn(states[d]), 0
                nodes.turn[here], nodes.first[here], nodes.breadth[here], nodes.score[here] = who, used, 0, 0.0
                if who == END:
                    nodes.score[here] = score(states[d])
                else:
                    n = moves(states[d], legal)
                    if who == CHANCE:
                        odds(states[d], luck)
                    nodes.breadth[here] = n
                    for i in range(n):
                        nodes.parent[used + i], nodes.option[used + i] = here, legal[i]
                        nodes.odds[used + i] = luck[i] if who == CHANCE else 1.0
                    used += n
            entering = chosen[d] < nodes.breadth[here]
            if entering:
                child = nodes.first[here] + chosen[d]
                chosen[d] += 1
                states[d + 1] = states[d]
                seen[0] = seen[1] = 0
                play(states[d + 1], nodes.option[child], seen)
                sights[0, child], sights[1, child] = seen[0], seen[1]
                d += 1
                node[d] = child
            else:
                d -= 1

    return lay_out


@rule
def _sound(nodes: Nodes, here: int, limit: int) -> bool:
    """Whether the options of a history are different numbers below `limit`."""
    first, n = nodes.first[here], nodes.breadth[here]
    for i in range(first, first + n):
        option = nodes.option[i]
        if option < 0 or option >= limit:
            return False
        if i > first and option <= nodes.option[i - 1]:  # most games list their options in order
            for j in range(first, i):
                if nodes.option[j] == option:
                    return False
    return True


@rule
def _even(nodes: Nodes, here: int) -> bool:
    """Whether the odds of chance's options are probabilities."""
    total = 0.0
    for i in range(nodes.first[here], nodes.first[here] + nodes.breadth[here]):
        if not nodes.odds[i] >= 0.0:
            return False
        total += nodes.odds[i]
    return abs(total - 1.0) <= EVEN_SUM


@kernel
def _recall(depth: int, limits: Any, nodes: Nodes, sights: Any, points: Points, last: Any, value: Any, room: int) -> Any:
    """Information states of perfect recall, and ends with their sequences; the same code for all games.

    `limits`: moves and outcomes are numbered below these. Stops at the first history with odds, scores or numbers that cannot be.
    `room`: bytes that observations and information states may take; if it does not do, the fault comes with the bytes that would be needed
    so far.
    """
    node, chosen = np.zeros(depth + 2, np.int64), np.zeros(depth + 2, np.int64)
    reach = np.ones(depth + 2)
    memory = np.zeros((depth + 2, 2), np.int64)  # folded, as sampling solvers use it
    mind = np.zeros((depth + 2, 2), np.int64)  # exact: a place in a trie of observations
    sequence = np.zeros((depth + 2, 2), np.int64)
    trie_mind, trie_token, trie_child = np.zeros(1024, np.int32), np.zeros(1024, np.int64), np.zeros(1024, np.int32)
    point_of = np.full(1024, np.int32(-1), np.int32)  # by place in the trie
    minds, used, sequences, ends = 3, np.zeros(2, np.int64), np.ones(2, np.int64), 0
    memory[0, 0], memory[0, 1] = blank_memory(0), blank_memory(1)
    mind[0, 0], mind[0, 1] = 1, 2
    points.move[0, 0] = points.move[1, 0] = -1
    d, entering = 0, True
    while d >= 0:
        here = node[d]
        who, first, n = nodes.turn[here], nodes.first[here], nodes.breadth[here]
        if entering:
            chosen[d] = 0
            nodes.point[here] = -1
            if who == END:
                if not abs(nodes.score[here]) < np.inf:
                    return BAD_SCORE, here, used[0], used[1], sequences[0], sequences[1]
                last[0, ends], last[1, ends] = sequence[d, 0], sequence[d, 1]
                value[ends] = reach[d] * nodes.score[here]
                ends += 1
            elif who != CHANCE:
                point = nodes.point[here] = point_of[mind[d, who]]
                if point < 0:
                    point = nodes.point[here] = point_of[mind[d, who]] = used[who]
                    used[who] += 1
                    points.parent[who, point], points.first[who, point] = sequence[d, who], sequences[who]
                    points.key[who, point] = points.glance[who, point] = memory[d, who]
                    points.node[who, point], points.visits[who, point] = here, 0
                    for i in range(n):
                        points.move[who, sequences[who] + i] = nodes.option[first + i]
                    sequences[who] += n
                    points.first[who, point + 1] = sequences[who]
                else:
                    same = points.first[who, point + 1] - points.first[who, point] == n
                    for i in range(n):
                        same = same and points.move[who, points.first[who, point] + i] == nodes.option[first + i]
                    if not same:
                        return MOVES_DIFFER, here, used[0], used[1], sequences[0], sequences[1]
                points.visits[who, point] += 1
            if who != END and not _sound(nodes, here, limits[1] if who == CHANCE else limits[0]):
                return BAD_OPTION, here, used[0], used[1], sequences[0], sequences[1]
            if who == CHANCE and not _even(nodes, here):
                return BAD_ODDS, here, used[0], used[1], sequences[0], sequences[1]
        i = chosen[d]
        entering = i < n
        if not entering:
            d -= 1
            continue
        chosen[d] += 1
        child = first + i
        if sights[0, child] < 0 or sights[1, child] < 0:
            return BAD_SIGHT, child, used[0], used[1], sequences[0], sequences[1]
        node[d + 1] = child
        reach[d + 1] = reach[d] * nodes.odds[child]
        if 4 * (minds + 4) > 2 * trie_mind.size:
            need = REHASH * trie_mind.size + POINT * (used[0] + used[1]) + 8 * (sequences[0] + sequences[1])
            if need > room or trie_mind.size > MOST_MINDS:
                return NO_ROOM, need, used[0], used[1], sequences[0], sequences[1]
            trie_mind, trie_token, trie_child = rehash(trie_mind, trie_token, trie_child, 2 * trie_mind.size)
            more = np.full(trie_mind.size, np.int32(-1), np.int32)
            copy(point_of, more)
            point_of = more
        for p in range(2):
            memory[d + 1, p], mind[d + 1, p], sequence[d + 1, p] = memory[d, p], mind[d, p], sequence[d, p]
            if p == who:
                memory[d + 1, p] = remember_move(memory[d, p], nodes.option[child])
                sequence[d + 1, p] = points.first[p, nodes.point[here]] + i
                token = 2 * nodes.option[child] + 1
                j = find(trie_mind, trie_token, trie_child, mind[d + 1, p], token)
                if trie_child[j] == 0:
                    trie_mind[j], trie_token[j], trie_child[j] = mind[d + 1, p], token, minds
                    minds += 1
                mind[d + 1, p] = trie_child[j]
            if sights[p, child] != 0:
                memory[d + 1, p] = remember_sight(memory[d + 1, p], sights[p, child])
                token = 2 * sights[p, child]
                j = find(trie_mind, trie_token, trie_child, mind[d + 1, p], token)
                if trie_child[j] == 0:
                    trie_mind[j], trie_token[j], trie_child[j] = mind[d + 1, p], token, minds
                    minds += 1
                mind[d + 1, p] = trie_child[j]
        d += 1
    return FINE, 0, used[0], used[1], sequences[0], sequences[1]


@functools.lru_cache(maxsize=64)
def _glancer(game: Game, recall: str) -> Any:
    start, _, _, play, _, _ = game.rules
    look, depth = game.glances[recall].look, game.depth

    @kernel
    def glance(states: Any, nodes: Nodes, points: Points) -> int:
        """By information state of perfect recall what is seen there; returns a history where something else is seen, or -1."""
        seen = np.zeros(2, np.int64)
        node, chosen = np.zeros(depth + 2, np.int64), np.zeros(depth + 2, np.int64)
        d = 0
        start(states[0])
        while d >= 0:
            here = node[d]
            point = nodes.point[here]
            if point >= 0 and chosen[d] == 0:
                who = nodes.turn[here]
                found = look(states[d], who)
                if points.node[who, point] == here:
                    points.glance[who, point] = found
                elif points.glance[who, point] != found:
                    return here
            if chosen[d] == nodes.breadth[here]:
                d -= 1
                continue
            child = nodes.first[here] + chosen[d]
            chosen[d] += 1
            states[d + 1] = states[d]
            seen[0] = seen[1] = 0
            play(states[d + 1], nodes.option[child], seen)
            d += 1
            node[d], chosen[d] = child, 0
        return -1

    return glance


def unfold_rules(game: Game, recall: str, size: Size, room: Room = ENDLESS) -> tuple[Nodes, tuple[Points, Points], Ends]:
    total, most = size.histories, size.decisions
    before = NODE * total + 16 * total + 16 * size.terminals  # nodes, what is seen, ends
    room.check(before)
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
    sights, states = np.zeros((2, total), np.int64), game.blank(game.depth + 2)
    with np.errstate(over="ignore"):
        _stepper(game)(states, nodes, sights)
        limits, left = np.array([game.actions, game.outcomes]), room.bytes - before
        fault, here, *counts = (int(x) for x in _recall(game.depth, limits, nodes, sights, points, last, value, left))
        if fault == NO_ROOM:
            raise room.refuse(before + here)
        if recall != PERFECT and fault == FINE:
            here = int(_glancer(game, recall)(states, nodes, points))
            fault = FINE if here < 0 else GLANCE_DIFFERS
    room.check(before + 2 * (POINT * sum(counts[:2]) + 8 * sum(counts[2:])))
    if fault != FINE:
        alike = fault in (MOVES_DIFFER, GLANCE_DIFFERS)  # to an earlier history of the same information state
        first = int(points.node[nodes.turn[here], nodes.point[here]]) if alike else 0
        raise misgrown(game, recall, nodes, sights, fault, here, first)
    return nodes, (_cut(points, 0, counts[0], counts[2]), _cut(points, 1, counts[1], counts[3])), Ends((last[0], last[1]), value)


def _cut(points: Points, player: int, count: int, sequences: int) -> Points:
    """One player's points, without the room that was left over."""
    lengths = {"first": count + 1, "move": sequences}
    return Points(*(array[player, : lengths.get(name, count)].copy() for name, array in points._asdict().items()))
