"""Cheat in which players say only how many cards they put down, and the large game, which is learned so."""

from __future__ import annotations

import pytest

import nebel
from nebel.core.tree import grow
from nebel.judge.best_response import Judge
from nebel.match.agents import PolicyAgent
from nebel.match.arena import play_pair
from nebel.policy.table import Uniform
from nebel.solve.cfr import FullWidth
from nebel.solve.sampled import Sampled
from nebel.solve.settings import OutcomeSampling


def test_numbers_only_put_down_cards_that_are_asked_for_last() -> None:
    state = nebel.game("cheat(ranks=4,suits=2,hand=4,put=counts,starter=0)").start()
    state.push("As2s3s4s-Ah2h3h4h-0")
    assert state.legal() == ["1+0", "0+1", "1+1", "0+2"]
    state.push("1+1")  # with four ranks players are asked for every other: never for 2 and 4, which go first
    assert state.view("truth").splitlines()[0].startswith("player 0: 3s4s")
    assert state.transcript(1)[-1] == "(puts:2)"
    state.push("challenge")
    assert state.transcript(1)[-1] == "(shown:As2s)"
    assert state.information(0, "memoryless") == "4 cards, 1 of the rank on, to put down, the other has 4"


def test_a_game_of_numbers_is_fair_too() -> None:
    tree = grow(nebel.game("cheat(hp=2,put=counts)"))
    solver = FullWidth(tree, "pdcfr+")
    solver.run(100)
    verdict = Judge(tree).verdict(solver.strategies())
    assert verdict.value == pytest.approx(0.0, abs=1e-6)
    assert verdict.exploitability < 1e-6


def test_the_large_game_is_learned_by_sampling() -> None:
    game = nebel.game("cheat:large")
    solver = Sampled(game, "memoryless", None, OutcomeSampling(), seed=3, memory=1 << 30)
    solver.run(60_000)
    agents = PolicyAgent("learned", solver.policy({})), PolicyAgent("random", Uniform())
    result = play_pair(game, *agents, games=4000, seed=1)
    assert result.wins / result.games > 0.75
