"""What a searcher believes of the other player: what that player may have done and seen, and how likely it is.

Every history that the searcher cannot tell from the one at the board counts by the odds of chance and by how often the other
player would have moved so: as the searcher's own average strategy for that player has it, with now and then an error. Where there
are too many histories, some are drawn by the odds of chance alone (`search/hidden.py`), and then weighted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from nebel.core.game import CHANCE
from nebel.core.interrupt import check
from nebel.core.rng import generator
from nebel.core.state import State
from nebel.match.thinkers import Mind
from nebel.search.hidden import Hidden, Ways

MOST = 2000
"""Histories that are gone through; of more, so many are drawn."""

ERROR = 0.01
"""How often the other player is taken to move at random."""

Tendency = Callable[[State], dict[int, float]]
"""How often the player to move would play what."""


class Belief(NamedTuple):
    """By what the other player may have done and seen, the likeliest first."""

    odds: dict[str, float]
    exact: bool  # whether all histories were gone through


def believe(state: State, mind: Mind, most: int = MOST, seed: int = 1) -> Belief:
    """What the player to move, who searched there, believes."""
    me = state.turn
    hidden = Hidden(state.game, state, me)
    exact = few(hidden, most)
    weights: dict[str, float] = {}
    counted = exact and by_counting(hidden, mind.tendency, me, state.key(me))
    for past, weight in counted or by_drawing(hidden, mind.tendency, me, most, seed):
        text = past.information(1 - me)
        weights[text] = weights.get(text, 0.0) + weight
    total = sum(weights.values())
    return Belief({text: weights[text] / total for text in sorted(weights, key=lambda text: -weights[text])}, exact)


def few(hidden: Hidden, most: int = MOST) -> bool:
    """Whether all histories can be gone through."""
    return hidden.exact and _histories(hidden.ways) <= most


def _histories(ways: Ways) -> int:
    """How many histories a graph holds; children have larger numbers."""
    count = np.ones(len(ways.first) - 1)
    for node in range(len(count) - 1, -1, -1):
        below = ways.child[ways.first[node] : ways.first[node + 1]]
        if len(below):
            count[node] = count[below].sum()
    return int(min(count[0], 1e18))


def by_counting(hidden: Hidden, tendency: Tendency, me: int, key: int, error: float = ERROR) -> Iterator[tuple[State, float]]:
    """Every history in which `me` is in this information state, with its weight; the state is one that goes on changing."""
    ways, state = hidden.ways, hidden.game.start()

    def walk(node: int, weight: float) -> Iterator[tuple[State, float]]:
        if ways.first[node] == ways.first[node + 1]:
            if state.turn == me and state.key(me) == key:  # else a dead end
                yield state, weight
            return
        odds = odds_of(state, tendency, me, error)
        for e in range(ways.first[node], ways.first[node + 1]):
            move = int(ways.move[e])
            state.push(move)
            yield from walk(int(ways.child[e]), weight * odds[move])
            state.undo()

    return walk(0, 1.0)


def by_merging(hidden: Hidden, tendency: Tendency, me: int, key: int) -> Iterator[tuple[State, float]]:
    """Every hidden state with its weight, and one of the histories that lead there: for games that forget nothing in their states, and
    another player who moves by the state alone. States in which several histories meet are gone through once."""
    ways = hidden.ways
    reach, games = np.zeros(len(ways.first) - 1), {0: hidden.game.start()}
    reach[0] = 1.0
    for node in range(len(reach)):
        state = games.pop(node)
        if ways.first[node] == ways.first[node + 1]:
            if state.turn == me and state.key(me) == key:  # else a dead end
                yield state, float(reach[node])
            continue
        odds = odds_of(state, tendency, me, 0.0)
        for e in range(ways.first[node], ways.first[node + 1]):
            child, move = int(ways.child[e]), int(ways.move[e])
            reach[child] += reach[node] * odds[move]
            if child not in games:
                games[child] = state.copy().push(move)


def by_drawing(hidden: Hidden, tendency: Tendency, me: int, count: int, seed: int) -> Iterator[tuple[State, float]]:
    """Histories drawn by the odds of chance, each weighted by how the other player would have moved."""
    rng = generator(seed)
    for _ in range(count):
        drawn, weight = hidden.sample(rng), 1.0
        past = hidden.game.start()
        for step in drawn.steps:
            if step.turn == 1 - me:
                weight *= odds_of(past, tendency, me)[step.option]
            past.push(step.option)
        yield drawn, weight


def odds_of(state: State, tendency: Tendency, me: int, error: float = ERROR) -> dict[int, float]:
    """How often each option would be taken here; what `me` did is certain."""
    check()
    options = state.options()
    if state.turn == CHANCE:
        return dict(zip(options, state.odds(), strict=True))
    if state.turn == me:
        return dict.fromkeys(options, 1.0)
    return {move: error / len(options) + (1 - error) * share for move, share in tendency(state).items()}
