"""Playouts from what may be hidden find what is plainly best, draw what is hidden as it should be, and sit in the arena."""

from __future__ import annotations

import pytest

import nebel
from nebel.core.errors import BadSetting
from nebel.match.agents import read
from nebel.match.arena import Arena, Terms
from nebel.search.rollouts import Rollouts, RolloutSettings


def test_the_better_move_is_tried_more() -> None:
    kuhn = nebel.game("kuhn").start().push("K").push("Q").push("pass").push("bet")  # whoever has the king calls
    rollouts = Rollouts(nebel.game("kuhn"))
    assert rollouts.think(kuhn, simulations=500) == 500
    assert rollouts.exact
    assert kuhn.name(max(rollouts.shares(kuhn), key=lambda move: rollouts.shares(kuhn)[move])) == "bet"
    assert sum(rollouts.tendency(kuhn).values()) == pytest.approx(1.0)


def test_an_escape_is_taken() -> None:
    state = nebel.game("geister:x4y2g2b1").start().push("A").push("B")
    for move in ("c1-d1", "c1-d1", "d1-d2", "d1-c1"):
        state.push(move)
    rollouts = Rollouts(state.game, RolloutSettings(horizon=20))
    rollouts.think(state, simulations=300)
    assert {state.name(move): share for move, share in rollouts.shares(state).items()}["d2-out"] == 1.0


def test_as_an_agent() -> None:
    arena = Arena(nebel.game("geister:x4y3g4b0"))
    result = arena.play(read("belief:60"), read("random"), Terms(60, 1))
    assert result.wins > 38
    with pytest.raises(BadSetting, match="no policy moves in the playouts of belief"):
        read("random+belief:1k")
    with pytest.raises(BadSetting, match="constant"):
        read("belief:1k,constants=2")
