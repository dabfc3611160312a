"""Somebody who knows Purple: its plans win in real games against it, whatever the colours are."""

from __future__ import annotations

import pytest

import nebel
from nebel.core.errors import BadSetting
from nebel.core.rng import generator
from nebel.geister.outwit import Outwitter
from nebel.match.agents import read


def test_a_plan_wins_against_the_agent_itself() -> None:
    game = nebel.game("geister:x4y3g4b0(limit=100)")
    knowing, purple, rng = Outwitter(game, 2), read("purple:2"), generator(1)
    purple.join(game)
    for seat in (0, 1):
        state = game.start().push("AC").push("BD")
        if seat == 1:
            state.push(purple.choose(state, rng))
        for move in knowing.plan(state.position, seat):
            state.push(move)
            if not state.over:
                state.push(purple.choose(state, rng))
        assert state.score() == 1 - 2 * seat


def test_purple_loses_every_game_to_whoever_knows_it() -> None:
    knowing = Outwitter(nebel.game("geister:x4y3g4b0(limit=100)"), 2)
    assert [knowing.gain(seat, 1) for seat in (0, 1)] == [1.0, 1.0]


def test_what_is_not_found_counts_as_lost() -> None:
    game = nebel.game("geister:x4y3g4b0(limit=3)")
    assert Outwitter(game, 2).gain(0, 0) == -1.0
    with pytest.raises(BadSetting, match="setup=random"):
        Outwitter(nebel.game("geister:x4y3g4b0(setup=chosen)"), 2)
