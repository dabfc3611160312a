"""What a state is worth, and what a move gave away, where the game is too large for exact values: by games played on from what may have
been hidden."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.game import CHANCE
from nebel.core.interrupt import check
from nebel.core.rng import generator, uniform
from nebel.core.state import State
from nebel.match.agents import pick_share
from nebel.policy.table import Policy

FEWEST = 30
"""Games, or pairs of them, below which nothing is said."""


class Guess(NamedTuple):
    """In the game's utilities: the mean, half the width of its 95 % interval, and how many games, or pairs of them, it is of."""

    mean: float
    error: float
    games: int


def worth(policy: Policy, pasts: list[tuple[State, float]], moves: int, seed: int = 1) -> Guess | None:
    """What the player to move gets, from games drawn by their odds and played on by the policy, so many moves in all; None: too few."""
    rng, made, scores = generator(seed), 0, list[float]()
    odds = [weight for _, weight in pasts]
    while made < moves:
        past = pasts[_pick(odds, rng)][0]
        game = past.copy()
        score = _finish(policy, game, rng)
        made += len(game.steps) - len(past.steps)
        scores.append(score if past.turn == 0 else -score)
    return _mean(scores)


def playouts(policy: Policy, pasts: list[tuple[State, float]], move: int, most: int, seconds: float, seed: int = 1) -> Guess | None:
    """The loss against the policy's own choice: from games drawn by their odds, one goes on with the move and one with the policy's, then
    both by the policy; None: too few were played in time."""
    rng, end = generator(seed), time.perf_counter() + seconds
    odds = [weight for _, weight in pasts]
    me, lost = pasts[0][0].turn, list[float]()
    while len(lost) < most and time.perf_counter() < end:
        past = pasts[_pick(odds, rng)][0]
        chosen, other = past.copy().push(move), past.copy()
        gap = _finish(policy, other, rng) - _finish(policy, chosen, rng)
        lost.append(gap if me == 0 else -gap)
    return _mean(lost)


def _mean(found: list[float]) -> Guess | None:
    if len(found) < FEWEST:
        return None
    return Guess(float(np.mean(found)), 1.96 * float(np.std(found, ddof=1)) / math.sqrt(len(found)), len(found))


def _finish(policy: Policy, state: State, rng: NDArray[np.int64]) -> float:
    """The score of player 0 when both go on by the policy."""
    while not state.over:
        check()
        if state.turn == CHANCE:
            state.deal(rng)
            continue
        shares = policy.probabilities(state)
        state.push(list(shares)[_pick(list(shares.values()), rng)])
    return state.score() or 0.0


def _pick(shares: list[float], rng: NDArray[np.int64]) -> int:
    with np.errstate(over="ignore"):
        return pick_share(shares, 0, len(shares), uniform(rng))
