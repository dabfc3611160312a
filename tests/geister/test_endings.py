"""How games end, counted over compiled matches, beside the same games and beside exact shares."""

from __future__ import annotations

import numpy as np
import pytest

import nebel
from nebel.geister.endings import Endings, told, watch, watch_both
from nebel.geister.variants import judged, layers_of, policy_of
from nebel.match.agents import PolicyAgent, read
from nebel.match.arena import play_deals
from nebel.match.deals import play_by_hand
from nebel.policy.table import Uniform
from nebel.search.target import in_rules

RANDOM = PolicyAgent("random", Uniform())


def test_they_are_the_games_that_are_played_anyway() -> None:
    game = nebel.game("geister:x4y3g4b0(limit=20)")
    seats = (RANDOM, read("purple:1"))
    scores, seen = play_deals(game, seats, 500, 3).scores, watch(game, seats, 500, 3)
    np.testing.assert_array_equal(np.where(seen.winner < 0, 0, 1 - 2 * seen.winner), scores)
    assert all((seen.how > 0) == (seen.winner >= 0))
    assert set(seen.how) == {0, 1, 2, 3}
    by_hand = Endings.told_by(play_by_hand(told(in_rules(game)), seats, 50, 3).scores)
    for one, other in zip(by_hand, seen, strict=True):
        np.testing.assert_array_equal(one, other[:50])


def test_shares_are_the_exact_ones() -> None:
    game = nebel.game("geister:x2y3g2b0(limit=12)")
    layers = layers_of(game)
    for _ in range(5):
        layers.iterate()
    found = judged(layers)
    ours = PolicyAgent("ours", policy_of(game, layers, found.share, {}))
    seen = watch(game, (ours, ours), 40_000, 1)
    for name, shares in found.endings.items():
        if name == "blue first":
            assert seen.blue_first() == pytest.approx(float(shares[0]), abs=0.01)
        elif name != "drawn":
            assert [seen.won_by(p)[name] for p in range(2)] == pytest.approx(shares.tolist(), abs=0.01)
    assert seen.ways()["drawn"] == pytest.approx(float(found.endings["drawn"][0]), abs=0.01)
    assert sum(seen.ways().values()) == pytest.approx(1.0)


def test_colours_chosen_by_the_players() -> None:
    game = nebel.game("geister(width=3,height=3,ghosts=3,reds=1,buffer=0,setup=chosen,limit=100)")
    first, second = watch_both(game, RANDOM, RANDOM, 4000, 1)
    assert first.blue_first() == pytest.approx(2 / 3, abs=0.03)
    assert (first.winner == second.winner).all()
