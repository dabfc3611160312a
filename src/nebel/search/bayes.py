"""What may be hidden, as likely as the other's moves make it: by Bayes' rule, if the other moves as a network does.

Where not too much may be hidden, as in Geister, where at most 70 colourings are, all histories are weighed and the belief is exact; else
so many are drawn as chance has them, and weighed.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nebel.core.game import Game
from nebel.core.rule import kernel, rule
from nebel.policy.net import NetPolicy, encoding_of
from nebel.search.hidden import Hidden, Ways, bundle

HISTORIES = 512
"""That are weighed."""


@functools.lru_cache(maxsize=16)
def look(game: Game, recall: str) -> Any:
    """A rule that writes down what a player knows, for a network of a recall, and which moves are legal."""
    encode, moves = encoding_of(game, recall).write, game.rules.moves

    @rule
    def write(s: Any, who: int, legal: Any, row: Any, allowed: Any) -> None:
        row[:] = 0.0
        encode(s, who, row)
        allowed[:] = False
        for k in range(moves(s, legal)):
            allowed[legal[k]] = True

    return write


def odds_of(policy: NetPolicy, rows: NDArray[np.float32], allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The network's odds of each move."""
    logits = np.where(allowed, policy.logits(rows), -np.inf)
    odds = np.exp(logits - logits.max(axis=1, keepdims=True)).astype(np.float64)
    return odds / odds.sum(axis=1, keepdims=True)


@functools.lru_cache(maxsize=16)
def _retelling(game: Game, recall: str) -> Any:
    start, turn, _, play, _, _ = game.rules
    write = look(game, recall)

    @kernel
    def begin(states: Any) -> None:
        for j in range(states.size):
            start(states[j])

    @kernel
    def go_on(
        states: Any, paths: Any, lengths: Any, at: Any, other: int, going: Any, legal: Any, seen: Any, rows: Any, allowed: Any
    ) -> int:
        """Make the moves up to the other's next, which is `at`; returns in how many histories there is one, and `going` has which."""
        found = 0
        for j in range(states.size):
            while at[j] < lengths[j]:
                if at[j] >= 0:
                    play(states[j], paths[j, at[j]], seen)
                at[j] += 1
                if at[j] < lengths[j] and turn(states[j]) == other:
                    write(states[j], other, legal, rows[found], allowed[found])
                    going[found] = j
                    found += 1
                    break
        return found

    return begin, go_on


def weighed(hidden: Hidden, policy: NetPolicy, me: int, trust: float, rng: NDArray[np.int64]) -> Ways:
    """What may be hidden from `me` if the other moved by the network with probability `trust`, each time, and else at random."""
    paths, weights = hidden.histories(HISTORIES, rng)
    if len(paths) == 1:
        return hidden.ways
    return bundle(paths, weights + _likelihood(hidden.game, policy, paths, 1 - me, trust))


def _likelihood(game: Game, policy: NetPolicy, paths: list[list[int]], other: int, trust: float) -> NDArray[np.float64]:
    """The logarithm of that of the other's moves, by history."""
    begin, go_on = _retelling(game, policy.recall)
    count, lengths = len(paths), np.array([len(path) for path in paths], np.int64)
    moves, at, going = np.zeros((count, lengths.max()), np.int64), np.full(count, -1, np.int64), np.zeros(count, np.int64)
    for j, path in enumerate(paths):
        moves[j, : len(path)] = path
    states, found = game.blank(count), np.zeros(count)
    rows = np.zeros((count, encoding_of(game, policy.recall).size), np.float32)
    allowed = np.zeros((count, game.actions), np.bool_)
    legal, seen = np.zeros(game.width, np.int64), np.zeros(2, np.int64)
    with np.errstate(over="ignore"):
        begin(states)
        while n := go_on(states, moves, lengths, at, other, going, legal, seen, rows, allowed):
            which = going[:n]
            odds = odds_of(policy, rows[:n], allowed[:n])[np.arange(n), moves[which, at[which]]]
            found[which] += np.log(np.maximum(trust * odds + (1.0 - trust) / allowed[:n].sum(axis=1), 1e-30))
    return found
