"""Many games in lock-step are the games that states play one by one."""

from __future__ import annotations

import numpy as np
import pytest

import nebel
from nebel.core.errors import BadSetting, IllegalMove
from nebel.core.game import CHANCE
from nebel.learn.flock import Flock
from nebel.policy.net import encode


@pytest.mark.parametrize(
    ("string", "recall"),
    [("geister:x4y3g4b0(limit=12)", "clock"), ("leduc", "perfect"), ("goofspiel:4", "perfect"), ("dark_hex:3x2", "board")],
)
def test_as_states_play(string: str, recall: str) -> None:
    game = nebel.game(string)
    flock, rng = Flock(game, 40, recall, seed=2), np.random.default_rng(1)
    for _ in range(60):
        moves = np.array([rng.choice(np.flatnonzero(row)) for row in flock.legal])
        ends = {}
        for j in range(0, 40, 7):
            state = game.start()
            state._positions = [flock.boards.state[j : j + 1].copy()]  # in the middle of a game
            assert sorted(state.options()) == np.flatnonzero(flock.legal[j]).tolist()
            assert state.turn == flock.turn[j] != CHANCE
            assert np.array_equal(encode(state, recall), flock.rows[j])
            state.push(int(moves[j]))
            ends[j] = state.score()
        flock.step(moves)
        for j, score in ends.items():
            assert flock.over[j] == (score is not None)
            assert score is None or flock.scores[j] == score


def test_illegal_moves_move_nothing() -> None:
    flock = Flock(nebel.game("leduc"), 3, "perfect")
    before = flock.boards.state.copy()
    moves = np.array([np.flatnonzero(row)[0] for row in flock.legal])
    moves[2] = np.flatnonzero(~flock.legal[2])[0]
    with pytest.raises(IllegalMove, match="board 2"):
        flock.step(moves)
    assert before.tobytes() == flock.boards.state.tobytes()
    with pytest.raises(BadSetting):
        Flock(nebel.game("leduc"), 0, "perfect")


def test_the_same_seed_gives_the_same_games() -> None:
    one, two, other = (Flock(nebel.game("leduc"), 16, "perfect", seed) for seed in (5, 5, 6))
    ended = [flock.wander(100) for flock in (one, two, other)]
    assert ended[0] == ended[1] > 100
    assert np.array_equal(one.rows, two.rows)
    assert not np.array_equal(one.rows, other.rows)
