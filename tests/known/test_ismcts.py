"""ISMCTS: what it finds, what it keeps, and that it plays the same compiled and plain."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import nebel
from nebel.core.errors import BadSetting
from nebel.core.rng import generator, uniform
from nebel.core.state import State
from nebel.search.ismcts import Ismcts, IsmctsSettings

UCT, RM = IsmctsSettings(), IsmctsSettings(selection="rm")
BOTH = pytest.mark.parametrize("settings", [UCT, RM], ids=["uct", "rm"])


def draw(shares: dict[int, float], rng: np.ndarray) -> int:
    with np.errstate(over="ignore"):
        u = uniform(rng)
    for move, share in shares.items():
        u -= share
        if u < 0.0:
            return move
    return move


def against_random(string: str, settings: IsmctsSettings, simulations: int, games: int) -> float:
    """The share of games won, ties half, from both seats in turn."""
    game, rng, points = nebel.game(string), generator(3), 0.0
    searcher = Ismcts(game, settings, seed=5)
    for number in range(games):
        searcher.forget()
        state, seat = game.start(), number % 2
        while not state.over:
            if state.turn == seat:
                searcher.think(state, simulations)
                state.push(draw(searcher.shares(state), rng))
            else:
                state.push(draw({move: 1 / len(state.options()) for move in state.options()}, rng))
        score = (state.score() or 0.0) * (1 if seat == 0 else -1)
        points += (score > 0) + 0.5 * (score == 0)
    return points / games


@BOTH
def test_it_beats_random_play_clearly(settings: IsmctsSettings) -> None:
    assert against_random("goofspiel:6", settings, 400, 100) > 0.75


@BOTH
def test_it_calls_with_the_best_card_and_folds_the_worst(settings: IsmctsSettings) -> None:
    game = nebel.game("kuhn")
    for cards, right in (("Q K", "bet"), ("Q J", "pass")):
        state = game.start().play(cards).push("bet")
        searcher = Ismcts(game, settings)
        searcher.think(state, simulations=2000)
        shares = {state.name(move): share for move, share in searcher.shares(state).items()}
        assert shares[right] > 0.9


@BOTH
def test_it_finds_certain_wins(settings: IsmctsSettings) -> None:
    """With a 1 of one's own there cannot be two 3s (or 6s, which are wild) on two dice."""
    game = nebel.game("liars_dice")
    state = game.start().play("3 1 2-3")
    searcher = Ismcts(game, settings)
    searcher.think(state, simulations=2000)
    assert searcher.shares(state)[state.options()[state.legal().index("liar")]] > 0.9


def test_the_memory_is_kept_until_it_is_told_to_forget() -> None:
    game = nebel.game("goofspiel:5")
    searcher, state = Ismcts(game), game.start()
    assert searcher.think(state, simulations=300) == 300
    before = searcher.nodes
    assert 1 < before <= 300  # at most one a simulation
    state.play("2 2")
    assert searcher.shares(state) != dict.fromkeys(state.options(), 1 / 4)
    searcher.think(state, simulations=100)
    assert before < searcher.nodes <= before + 100
    assert searcher.simulations == 400
    searcher.forget()
    assert (searcher.nodes, searcher.simulations) == (0, 0)
    assert searcher.shares(state) == dict.fromkeys(state.options(), 1 / 4)


def test_it_says_where_hidden_histories_are_drawn_less_exactly() -> None:
    game = nebel.game("dark_hex:3x3")
    state = game.start().play("b2 a1 a3 c1")
    searcher = Ismcts(game, IsmctsSettings(room=10))
    searcher.think(state, simulations=10)
    assert not searcher.exact
    assert sum(searcher.shares(state).values()) == pytest.approx(1)


def test_thinking_by_the_clock() -> None:
    game = nebel.game("kuhn")
    state = game.start().play("Q K")
    searcher = Ismcts(game)
    assert searcher.think(state, seconds=0.01) == searcher.simulations > 0
    assert searcher.think(state, simulations=70, seconds=60.0) == 70
    with pytest.raises(BadSetting, match="simulations, or seconds"):
        searcher.think(state)


def test_nobody_thinks_before_the_deal_or_after_the_end() -> None:
    game = nebel.game("kuhn")
    for moves, when in (("", "no moves"), ("Q K pass pass", "Q K pass pass")):
        with pytest.raises(BadSetting, match=f"no player is to move after {when}"):
            Ismcts(game).think(game.start().play(moves), simulations=1)


def test_bad_settings() -> None:
    with pytest.raises(BadSetting, match="--selection best is not one of: uct, rm"):
        IsmctsSettings(selection="best")
    with pytest.raises(BadSetting, match="--exploration"):
        IsmctsSettings(exploration=0.0)


def outcomes() -> list[list[float]]:
    """What searches in several games end up with."""
    found = []
    for string, opening in (("kuhn", "Q K bet"), ("goofspiel:4", "1 2 3 0"), ("dark_hex:2x3", "a1 b1 b1 b2")):
        game = nebel.game(string)
        state: State = game.start().play(opening)
        for settings in (UCT, RM):
            searcher = Ismcts(game, settings, seed=11)
            searcher.think(state, simulations=200)
            found.append([float(searcher.nodes), *searcher._memory.pool[0, : searcher._memory.counts[0, 1]].round(9).tolist()])
    return found


@pytest.mark.parametrize("how", ["NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"])
def test_compiled_plain_and_bounds_checked_searches_are_the_same(how: str) -> None:
    run = subprocess.run([sys.executable, __file__], env={**os.environ, how: "1"}, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == outcomes()


if __name__ == "__main__":
    print(json.dumps(outcomes()))
