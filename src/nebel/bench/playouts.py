"""Random games by the rules: playouts a second."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from nebel.bench.clock import Contender, against, looped
from nebel.bench.peers import OPENSPIEL, openspiel_game
from nebel.bench.row import Claim, Row
from nebel.core.game import CHANCE, END, Game
from nebel.core.registry import load
from nebel.core.rng import generator, uniform
from nebel.core.rule import kernel

BATCH = 1000


def _player(game: Game) -> Contender:
    start, turn, moves, play, score, odds = game.rules

    @kernel
    def playouts(states: Any, legal: Any, chances: Any, seen: Any, rng: Any, games: int) -> float:
        total = 0.0
        for _ in range(games):
            start(states[0])
            who = turn(states[0])
            while who != END:
                n = moves(states[0], legal)
                u = uniform(rng)
                choice = n - 1
                if who == CHANCE:
                    odds(states[0], chances)
                    for i in range(n - 1):
                        u -= chances[i]
                        if u < 0.0:
                            choice = i
                            break
                else:
                    choice = int(u * n)
                play(states[0], legal[choice], seen)
                who = turn(states[0])
            total += score(states[0])
        return total

    room = (game.blank(1), np.zeros(game.width, np.int64), np.zeros(game.width), np.zeros(2, np.int64), generator(1))
    return Contender("", lambda batches: playouts(*room, batches * BATCH))


def _rollouts(string: str) -> list[Contender]:
    """Batches in C++: the rollouts of a tree search that makes one simulation. It cannot start at a chance node."""
    import pyspiel

    game = openspiel_game(string)
    state, rng = game.new_initial_state(), random.Random(1)
    while state.is_chance_node():
        state.apply_action(rng.choice([action for action, _ in state.chance_outcomes()]))
    bot = pyspiel.MCTSBot(game, pyspiel.RandomRolloutEvaluator(BATCH, 1), 2.0, 1, 10, False, 1, False)
    return [Contender(f"{OPENSPIEL} RandomRolloutEvaluator", looped(lambda: bot.mcts_search(state)))]


def _claim(name: str, ours: str, theirs: str, note: str) -> Claim:
    def measure(seconds: float) -> Row:
        game = load(ours)
        assert isinstance(game, Game)
        row = against(name, _player(game), lambda: _rollouts(theirs), seconds, "playouts/s", OPENSPIEL, note)
        return row._replace(ours=row.ours * BATCH, peer=row.peer and row.peer * BATCH)

    return Claim(name, measure)


def claims() -> list[Claim]:
    return [
        _claim("playouts-leduc", "leduc", "leduc_poker", "ours deal the cards too, the peer's begin after the deal"),
        _claim("playouts-dark_hex", "dark_hex:4x3", "dark_hex(num_rows=4,num_cols=3,gameversion=cdh)", "whole games on both sides"),
    ]
