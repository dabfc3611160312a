"""What a state is worth, and what a move gave away, where the game is too large for exact values: by games played on from what may have
been hidden."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.game import CHANCE
from nebel.core.interrupt import check
from nebel.core.rng import generator, uniform
from nebel.core.state import State
from nebel.match.agents import Agent, pick_share
from nebel.policy.table import Policy

FEWEST = 30
"""Games, or pairs of them, below which nothing is said."""


Chooser = Callable[[State, NDArray[np.int64]], int]
"""Chooses a move of the player to move, given random numbers."""


class Guess(NamedTuple):
    """In the game's utilities: the mean, half the width of its 95 % interval, and how many games, or pairs of them, it is of.

    `blind` is the share of decisions after the move, or after the policy's own choice, at which the policy had no answer: the larger one.
    """

    mean: float
    error: float
    games: int
    blind: float = 0.0


def worth(policy: Policy, pasts: list[tuple[State, float]], moves: int, seed: int = 1) -> Guess | None:
    """What the player to move gets, from games drawn by their odds and played on by the policy, so many moves in all; None: too few."""
    rng, made, scores = generator(seed), 0, list[float]()
    odds = [weight for _, weight in pasts]

    def choose(state: State, rng: NDArray[np.int64]) -> int:
        shares = policy.probabilities(state)
        return list(shares)[_pick(list(shares.values()), rng)]

    while made < moves:
        past = pasts[_pick(odds, rng)][0]
        game = past.copy()
        score = _finish(choose, game, rng)
        made += len(game.steps) - len(past.steps)
        scores.append(score if past.turn == 0 else -score)
    return _mean(scores)


def playouts(
    policy: Policy,
    pasts: list[tuple[State, float]],
    move: int,
    most: int,
    seconds: float,
    seed: int = 1,
    knows: Callable[[State], bool] | None = None,
) -> Guess | None:
    """The loss against the policy's own choice: from games drawn by their odds, one goes on with the move and one with the policy's, then
    both by the policy; None: too few were played in time. `knows` says whether the policy has an answer in a state."""
    met = {True: [0, 0], False: [0, 0]}  # after the move and after the policy's own: decisions, and those without an answer
    at = len(pasts[0][0].steps)

    def choose(state: State, rng: NDArray[np.int64]) -> int:
        shares = policy.probabilities(state)
        if knows is not None and len(state.steps) > at and len(shares) > 1:
            tally = met[state.steps[at].option == move]
            tally[0] += 1
            tally[1] += len(set(shares.values())) == 1 and not knows(state)  # without an answer all moves are alike
        return list(shares)[_pick(list(shares.values()), rng)]

    guess = _pairs(choose, lambda: choose, pasts, move, (most, seconds, seed))
    return guess and guess._replace(blind=max(blind / max(1, decisions) for decisions, blind in met.values()))


def played_on(
    agent: Agent, shares: dict[int, float], pasts: list[tuple[State, float]], move: int, most: int, seconds: float, seed: int = 1
) -> Guess | None:
    """The same against `shares`, an agent's choice, with the agent in both seats from there on."""

    def own(state: State, rng: NDArray[np.int64]) -> int:
        return list(shares)[_pick(list(shares.values()), rng)]

    def sit() -> Chooser:
        seats = agent.sit(), agent.sit()
        return lambda state, rng: seats[state.turn].choose(state, rng)

    return _pairs(own, sit, pasts, move, (most, seconds, seed))


def _pairs(
    own: Chooser, sit: Callable[[], Chooser], pasts: list[tuple[State, float]], move: int, terms: tuple[int, float, int]
) -> Guess | None:
    """Pairs of games that differ in one move; where it is the same, so are the games."""
    most, seconds, seed = terms
    rng, end = generator(seed), time.perf_counter() + seconds
    odds = [weight for _, weight in pasts]
    me, lost = pasts[0][0].turn, list[float]()
    while len(lost) < most and time.perf_counter() < end:
        past = pasts[_pick(odds, rng)][0]
        choice = own(past, rng)
        if choice == move:
            lost.append(0.0)
            continue
        gap = _finish(sit(), past.copy().push(choice), rng) - _finish(sit(), past.copy().push(move), rng)
        lost.append(gap if me == 0 else -gap)
    return _mean(lost)


def _mean(found: list[float]) -> Guess | None:
    if len(found) < FEWEST:
        return None
    return Guess(float(np.mean(found)), 1.96 * float(np.std(found, ddof=1)) / math.sqrt(len(found)), len(found))


def _finish(choose: Chooser, state: State, rng: NDArray[np.int64]) -> float:
    """The score of player 0 when the game is played to its end."""
    while not state.over:
        check()
        if state.turn == CHANCE:
            state.deal(rng)
        else:
            state.push(choose(state, rng))
    return state.score() or 0.0


def _pick(shares: list[float], rng: NDArray[np.int64]) -> int:
    with np.errstate(over="ignore"):
        return pick_share(shares, 0, len(shares), uniform(rng))
