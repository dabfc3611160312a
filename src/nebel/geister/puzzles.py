"""Puzzles: positions of Geister in which exactly one move wins for certain, whatever colours the other's ghosts have.

They come from games of players who look two plies ahead half of the time and move at random otherwise.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from nebel.core.errors import BadSetting
from nebel.core.game import CHANCE, BaseGame
from nebel.core.rng import generator
from nebel.core.state import State
from nebel.match.agents import read
from nebel.match.proof import MOST_PLIES, sure_win, sure_wins

MOST_GAMES = 2000
"""That are played in search of one puzzle."""


@dataclass(frozen=True)
class Puzzle:
    """The player to move in `state` wins within `plies` by one move alone, `solution`; `line` goes on, the other resisting longest."""

    state: State
    plies: int
    solution: str
    line: list[str]


def puzzles(game: BaseGame, plies: int, seed: int = 1) -> Iterator[Puzzle]:
    """Puzzles without end, each from another game."""
    if not 3 <= plies <= MOST_PLIES or plies % 2 == 0:
        raise BadSetting(f"--plies {plies}: a win ends with a move of one's own, so there are 3, 5, 7 ... to {MOST_PLIES} plies")
    luck, rng = random.Random(seed), generator(seed)
    players = [read("purple:2"), read("random-escape")]
    for player in players:
        player.join(game)
    fruitless = 0
    while fruitless < MOST_GAMES:
        fruitless += 1
        state = game.start()
        while not state.over:
            if state.turn == CHANCE:
                state.deal(rng)
                continue
            if found := _posed(state, plies):
                yield found
                fruitless = 0
                break
            state.push(luck.choice(players).choose(state, rng))
    raise BadSetting(f"in {MOST_GAMES:,} games of {game.string} nobody could win within {plies} plies and no sooner by one move alone")


def _posed(state: State, plies: int) -> Puzzle | None:
    if sure_win(state, plies - 2) is not None:
        return None
    moves = sure_wins(state, plies)
    if len(moves) != 1:
        return None
    return Puzzle(_copy(state), plies, state.name(moves[0]), _line(_copy(state), plies))


def _copy(state: State) -> State:
    again = state.game.start()
    for step in state.steps:
        again.push(step.option)
    return again


def _line(state: State, plies: int) -> list[str]:
    """The winner's proven moves, and replies after which it takes longest."""
    names, me, left = [], state.turn, plies
    while not state.over and left > 0:
        move = sure_win(state, left) if state.turn == me else _longest(state, left)
        assert move is not None
        names.append(state.name(move))
        state.push(move)
        left -= 1
    return names


def _longest(state: State, left: int) -> int:
    def lasts(move: int) -> int:
        state.push(move)
        plies = 0 if state.over else next((n for n in range(1, left + 1, 2) if sure_win(state, n) is not None), 0)
        state.undo()
        return plies

    return max(state.options(), key=lasts)
