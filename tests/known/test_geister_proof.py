"""Certain wins in Geister against a plain search over all colourings; agents and puzzles that use them."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import nebel
from nebel.cli import main
from nebel.core.errors import BadSetting, IllegalMove
from nebel.core.game import BaseGame
from nebel.core.rng import generator
from nebel.core.state import State
from nebel.geister.puzzles import puzzles
from nebel.match.agents import read
from nebel.match.proof import sure_win, sure_wins


def certain(game: BaseGame, worlds: list[Any], me: int, plies: int) -> bool:
    """Does `me`, who cannot tell these positions apart, win within so many plies in all of them?"""
    ends = [game.score_at(world) if game.turn_at(world) < 0 else None for world in worlds]
    if any(end is not None for end in ends):
        return all(end == (1.0 if me == 0 else -1.0) for end in ends)
    if plies == 0:
        return False
    options = sorted({option for world in worlds for option in game.options_at(world)})
    wins = []
    for option in options:
        seen: dict[int, list[Any]] = {}
        for world in worlds:
            if option in game.options_at(world):
                after, sights = game.after(world, option)
                seen.setdefault(sights[me], []).append(after)
        wins.append(all(certain(game, group, me, plies - 1) for group in seen.values()))
        if wins[-1] == (game.turn_at(worlds[0]) == me):
            return wins[-1]
    return all(wins) if game.turn_at(worlds[0]) != me else False


def worlds_of(state: State, me: int) -> list[Any]:
    """Positions for every colouring of the other's ghosts in which `me` would have seen the same."""
    found, first = [], state.game.start()
    for colouring in first.options():
        again = state.game.start()
        try:
            for i, step in enumerate(state.steps):
                again.push(colouring if i == 1 - me else step.option)
        except IllegalMove:
            continue
        if again.key(me) == state.key(me):
            found.append(again.position)
    return found


@pytest.mark.parametrize("variant", ["x3y3g2b0", "x3y3g3Rb0", "x4y3g4b0", "x3y3g3Bb0"])
def test_as_a_plain_search_over_all_colourings(variant: str) -> None:
    game = nebel.game(f"geister:{variant}(limit=30)")
    luck, wins, positions = random.Random(7), [], 0
    while positions < 120:
        state = game.start()
        while not state.over and positions < 120:
            if state.turn >= 0 and luck.random() < 0.4:
                positions += 1
                plies = 5 if positions % 20 == 0 and variant != "x4y3g4b0" else 3
                wins.append(certain(game, worlds_of(state, state.turn), state.turn, plies))
                assert (sure_win(state, plies) is not None) == wins[-1], (state.moves_text(), plies)
            state.push(luck.choice(state.options()))
    assert 1 <= sum(wins) <= 119


def test_a_proof_fits_into_the_limit() -> None:
    puzzle = next(puzzles(nebel.game("geister"), 5, seed=2))
    plies = len(puzzle.state.steps) - 2
    for limit, won in ((plies + 4, False), (plies + 5, True)):
        state = nebel.game(f"geister(limit={limit})").start()
        for step in puzzle.state.steps:
            state.push(step.option)
        assert (sure_win(state, 9) is not None) == won


def test_an_agent_that_proves_plays_certain_wins() -> None:
    game = nebel.game("geister")
    agent = read("random+proof:7")
    agent.join(game)
    puzzle = next(puzzles(game, 5, seed=2))
    state, me, rng = puzzle.state, puzzle.state.turn, generator(1)
    assert state.name(agent.choose(state, rng)) == puzzle.solution
    luck = random.Random(1)
    for _ in range(5):
        state.push(agent.choose(state, rng) if state.turn == me else luck.choice(state.options()))
        if state.over:
            break
    assert state.score() == (1.0 if me == 0 else -1.0)
    for text, said in (("proof:7", "who plays"), ("random+proof:x", "plies"), ("random+proof:99", "plies")):
        with pytest.raises(BadSetting, match=said):
            read(text)
    with pytest.raises(BadSetting, match="no search for certain wins"):
        read("random+proof:7").join(nebel.game("leduc"))


def test_puzzles_have_one_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["geister-puzzles", "geister:x4y4g4b1", "--plies", "3", "--count", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["puzzles"]) == 2
    for puzzle in told["puzzles"]:
        state = nebel.game(told["game"]).start()
        for move in puzzle["moves"].split():
            state.push(move)
        assert [state.name(move) for move in sure_wins(state, 3)] == [puzzle["solution"]]
        assert state.view(state.turn) == puzzle["view"]
        assert len(puzzle["line"]) == 3
    assert main(["geister-puzzles", "--plies", "4"]) == 2
    assert main(["geister-puzzles", "leduc"]) == 2
