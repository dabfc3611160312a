"""Deals: games of two agents, one after the other or side by side.

Every deal has three generators of its own, for seat 0, seat 1 and chance, that depend on the seed and the deal's number
alone. So both seat orders and all pairs of agents meet the same luck, an agent against itself scores exactly 0 over both
orders, policies play the same games compiled and through `State`, and the number of threads makes no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from operator import index
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import IllegalMove
from nebel.core.game import BaseGame
from nebel.core.rng import fold, generator
from nebel.core.state import State
from nebel.match.agents import Agent

Reals = NDArray[np.float64]
Longs = NDArray[np.int64]
Seats = tuple[Agent, Agent]
Result = TypeVar("Result")
Tick = Callable[[int], None]
"""Told how many games more have been played."""

ROLES = 3
DEALER = 2


class Played:
    """Scores of player 0 by deal; and of each seat how often it did not know what to do, and the time that its moves took, where
    that was measured."""

    def __init__(self, deals: int) -> None:
        self.scores: Reals = np.zeros(deals)
        self.unknown: Longs = np.zeros(2, np.int64)
        self.moves: Longs = np.zeros(2, np.int64)
        self.seconds: Reals = np.zeros(2)


def play_by_hand(game: BaseGame, seats: Seats, deals: int, seed: int, tick: Tick | None = None, threads: int = 1) -> Played:
    """Deals 0, 1, ... through `State`, for agents that think and games in plain Python."""
    played = Played(deals)
    for number, deal in enumerate(side_by_side(partial(play_deal, game, seats, seed), range(deals), threads)):
        played.scores[number] = deal.scores[0]
        played.unknown += deal.unknown
        played.moves += deal.moves
        played.seconds += deal.seconds
        if tick:
            tick(1)
    return played


def play_deal(game: BaseGame, seats: Seats, seed: int, number: int) -> Played:
    """One game."""
    return play_game(game, (seats[0].sit(), seats[1].sit()), seed, number)


def play_game(game: BaseGame, players: Seats, seed: int, number: int) -> Played:
    """One game of those who sit there already."""
    luck, played = generator(seed)[0], Played(1)
    with np.errstate(over="ignore"):
        rngs = [np.array([fold(luck, np.int64(ROLES * number + role)), 0], np.int64) for role in range(ROLES)]
        state = game.start().deal(rngs[DEALER])
        while not state.over:
            p = state.turn
            played.unknown[p] += not players[p].knows(state)
            began = perf_counter()
            move = players[p].choose(state, rngs[p])
            played.seconds[p] += perf_counter() - began
            played.moves[p] += 1
            make_move(state, players[p], move).deal(rngs[DEALER])
    played.scores[0] = state.score() or 0.0
    return played


def make_move(state: State, agent: Agent, move: Any) -> State:
    """Make the move that an agent chose; one that is not legal is refused with the agent's name."""
    try:
        return state.push(index(move))
    except TypeError as error:
        after = f"after {state.moves_text()}" if state.steps else "at the start"
        raise IllegalMove(f"{agent.name} chose {move!r} {after}: choose() has to return the number of a legal move") from error
    except IllegalMove as error:
        raise IllegalMove(f"{agent.name} chose a move that is not legal: {error}") from error


def side_by_side(work: Callable[[Any], Result], jobs: Sequence[Any], threads: int) -> Iterator[Result]:
    """The results of all jobs, in their order."""
    if threads == 1:
        yield from map(work, jobs)
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(work, jobs)
