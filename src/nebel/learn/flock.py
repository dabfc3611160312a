"""Many games of one kind that go on together: one array of what the players to move know, one step for all.

Chance moves by itself, and a game that is over begins anew, so that there is always a decision on every board:

    flock = Flock(game, 1024, "clock")
    flock.rows      what the player to move knows, by board, as the game's encoding of this recall has it (float32)
    flock.legal     which moves are legal, by board
    flock.turn      whose decision it is
    flock.step(moves)
    flock.over      which games ended with this step, and flock.scores: what player 0 got there

All arrays stay where they are: torch reads them without copying.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadSetting, IllegalMove
from nebel.core.game import CHANCE, END, BaseGame, Game
from nebel.core.regret import pick
from nebel.core.rng import generator, uniform
from nebel.core.rule import kernel, rule
from nebel.policy.net import encoding_of
from nebel.search.target import in_rules


class Boards(NamedTuple):
    """Arrays by board, and room for one at a time."""

    state: Any
    rng: Any
    rows: Any
    legal: Any
    turn: Any
    count: Any  # legal moves
    moves: Any  # which they are
    over: Any
    scores: Any
    odds: Any
    seen: Any


class Stepping(NamedTuple):
    begin: Any
    step: Any
    wander: Any


@lru_cache(maxsize=16)
def stepping(game: Game, recall: str) -> Stepping:
    start, turn, moves, play, score, odds = game.rules
    encode = encoding_of(game, recall).write

    @rule
    def settle(b: Boards, j: int) -> None:
        """Let chance move, and begin anew where a game is over, until somebody is to decide."""
        s = b.state[j]
        who = turn(s)
        while who < 0:
            if who == END:
                b.over[j], b.scores[j] = True, score(s)
                start(s)
            elif who == CHANCE:
                n = moves(s, b.moves[j])
                odds(s, b.odds)
                play(s, b.moves[j, pick(b.odds, n, uniform(b.rng[j]))], b.seen)
            who = turn(s)
        b.turn[j] = who

    @rule
    def look(b: Boards, j: int) -> None:
        b.count[j] = moves(b.state[j], b.moves[j])
        for i in range(b.count[j]):
            b.legal[j, b.moves[j, i]] = True
        b.rows[j, :] = 0.0
        encode(b.state[j], b.turn[j], b.rows[j])

    @rule
    def go_on(b: Boards, j: int, move: int) -> None:
        b.over[j] = False
        for i in range(b.count[j]):
            b.legal[j, b.moves[j, i]] = False
        play(b.state[j], move, b.seen)
        settle(b, j)
        look(b, j)

    @kernel
    def begin(b: Boards) -> None:
        for j in range(b.turn.size):
            start(b.state[j])
            settle(b, j)
            look(b, j)

    @kernel
    def step(b: Boards, chosen: Any) -> int:
        """Nothing is moved where somebody's move is not legal: returns that board, else -1."""
        for j in range(b.turn.size):
            if not 0 <= chosen[j] < b.legal.shape[1] or not b.legal[j, chosen[j]]:
                return j
        for j in range(b.turn.size):
            go_on(b, j, chosen[j])
        return -1

    @kernel
    def wander(b: Boards, steps: int) -> int:
        """So many steps of everybody at random; returns how many games came to an end."""
        ended = 0
        for _ in range(steps):
            for j in range(b.turn.size):
                go_on(b, j, b.moves[j, int(uniform(b.rng[j]) * b.count[j])])
                ended += b.over[j]
        return ended

    return Stepping(begin, step, wander)


class Flock:
    def __init__(self, game: BaseGame, count: int, recall: str, seed: int = 1) -> None:
        if count < 1:
            raise BadSetting(f"{count} games cannot go on together; there is at least 1")
        self.game, self.count = in_rules(game), count
        size, width = encoding_of(self.game, recall).size, self.game.width
        self.boards = Boards(
            self.game.blank(count), np.stack([generator(seed, j) for j in range(count)]), np.zeros((count, size), np.float32),
            np.zeros((count, self.game.actions), np.bool_), np.zeros(count, np.int64), np.zeros(count, np.int64),
            np.zeros((count, width), np.int64), np.zeros(count, np.bool_), np.zeros(count), np.zeros(width), np.zeros(2, np.int64),
        )  # fmt: skip
        self._go = stepping(self.game, recall)
        self._go.begin(self.boards)

    rows = property(lambda self: self.boards.rows)
    legal = property(lambda self: self.boards.legal)
    turn = property(lambda self: self.boards.turn)
    over = property(lambda self: self.boards.over)
    scores = property(lambda self: self.boards.scores)

    def step(self, moves: NDArray[np.int64]) -> None:
        """One legal move on every board."""
        wrong = self._go.step(self.boards, np.asarray(moves, np.int64))
        if wrong >= 0:
            can = [self.game.name_of_move(int(move)) for move in np.flatnonzero(self.legal[wrong])]
            raise IllegalMove(f"{int(moves[wrong])} is no legal move on board {wrong} of {self.game.string}; legal: {' '.join(can)}")

    def wander(self, steps: int) -> int:
        """Steps of random play on every board; how many games ended."""
        return int(self._go.wander(self.boards, steps))
