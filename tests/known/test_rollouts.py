"""Playouts from what may be hidden find what is plainly best, draw what is hidden as it should be, and sit in the arena."""

from __future__ import annotations

import numpy as np
import pytest

import nebel
from nebel.core.errors import BadFile, BadSetting
from nebel.core.game import BaseGame, Game
from nebel.match.agents import read
from nebel.match.arena import Arena, Terms
from nebel.policy.net import Layer, NetPolicy
from nebel.search.advised import Advised, AdvisedSettings
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


def even_network(game: BaseGame) -> NetPolicy:
    assert isinstance(game, Game)
    layer = Layer(np.zeros((game.encodings["perfect"].size, game.actions), np.float32), np.zeros(game.actions, np.float32), "")
    return NetPolicy(game.string, game.fingerprint, "perfect", (layer,))


def test_advice_and_what_moves_are_worth() -> None:
    """With a king a bet is called; how much that counts beside the network's odds is the strength."""
    kuhn = nebel.game("kuhn").start().push("K").push("Q").push("pass").push("bet")
    net = even_network(kuhn.game)
    assert Advised(kuhn.game, net).shares(kuhn) == pytest.approx(net.probabilities(kuhn))
    for strength, least in ((0.0, 0.499), (1.0, 0.9), (4.0, 0.999)):
        advised = Advised(kuhn.game, net, AdvisedSettings(strength=strength))
        assert advised.think(kuhn, simulations=300) == 300
        bet = {kuhn.name(move): share for move, share in advised.shares(kuhn).items()}["bet"]
        assert least < bet <= (0.501 if not strength else 1.0)


def test_who_trusts_the_network_believes_its_bets() -> None:
    """It bets with a king alone: with a queen one folds then, and calls a bet that may be anybody's."""
    kuhn = nebel.game("kuhn").start().push("K").push("Q").push("bet")
    assert isinstance(kuhn.game, Game)
    weights, bias = np.zeros((7, 2), np.float32), np.array([0.0, -10.0], np.float32)
    weights[2, 1] = 20.0
    net = NetPolicy(kuhn.game.string, kuhn.game.fingerprint, "perfect", (Layer(weights, bias, ""),))
    calls = []
    for trust in (0.0, 1.0):
        advised = Advised(kuhn.game, net, AdvisedSettings(trust=trust))
        advised.think(kuhn, simulations=400)
        calls.append({kuhn.name(move): share for move, share in advised.shares(kuhn).items()}["bet"])
    alone = net.probabilities(kuhn)[1]
    assert calls[0] > 10 * alone > 100 * calls[1]


def test_a_shipped_network_searches_and_beats_a_bot() -> None:
    result = Arena(nebel.game("geister")).play(read("shipped:geister+belief:64,horizon=20"), read("random-escape"), Terms(6, 1))
    assert result.wins >= 5
    with pytest.raises(BadFile, match="shipped are: shipped:board-4x3, shipped:geister"):
        read("shipped:nobody")


def test_as_an_agent() -> None:
    arena = Arena(nebel.game("geister:x4y3g4b0"))
    result = arena.play(read("belief:60"), read("random"), Terms(60, 1))
    assert result.wins > 38
    with pytest.raises(BadSetting, match="random is no network; write NETWORK"):
        read("random+belief:1k")
    with pytest.raises(BadSetting, match="constant"):
        read("belief:1k,constants=2")
