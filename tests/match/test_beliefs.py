"""What a searcher believes of the other player, and how it is shown."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import nebel
from nebel.core.rng import generator
from nebel.core.state import State
from nebel.match.agents import read
from nebel.match.beliefs import ERROR, believe, by_counting, by_drawing, by_merging
from nebel.match.thinkers import Thinker
from nebel.search.hidden import Hidden


class Bluffer:
    """A mind in which player 0 bets with every king, with a third of the jacks, and else never."""

    def tendency(self, state: State) -> dict[int, float]:
        bets = {"J": 1 / 3, "Q": 0.0, "K": 1.0}[state.transcript(0)[0]]
        return dict(zip(state.options(), (1 - bets, bets), strict=True))


@pytest.mark.parametrize("most", [100, 1])
def test_beliefs_go_by_how_the_other_would_have_moved(most: int) -> None:
    mind: Any = Bluffer()
    state = nebel.game("kuhn").start().play("J Q bet")
    belief = believe(state, mind, most)
    assert belief.exact == (most > 1)
    assert sum(belief.odds.values()) == pytest.approx(1)
    if belief.exact:
        king, jack = (1 - ERROR) + ERROR / 2, (1 - ERROR) / 3 + ERROR / 2
        assert belief.odds == pytest.approx({"K bet": king / (king + jack), "J bet": jack / (king + jack)})
        assert list(belief.odds) == ["K bet", "J bet"]


def test_what_is_drawn_comes_close_to_what_is_counted() -> None:
    mind: Any = Bluffer()
    state = nebel.game("kuhn").start().play("K Q bet")
    counted, drawn = believe(state, mind), dict.fromkeys(("K bet", "J bet"), 0.0)
    for past, weight in by_drawing(Hidden(state.game, state, 1), mind.tendency, 1, 1000, 1):
        drawn[past.information(0)] += weight
    for text, share in counted.odds.items():
        assert drawn[text] / sum(drawn.values()) == pytest.approx(share, abs=0.05)


def test_histories_that_meet_are_weighted_together() -> None:
    """By a player who likes cells the better, the more it has discovered and the higher their numbers."""

    def tendency(state: State) -> dict[int, float]:
        taste = {move: 1.0 + move * int(state.position[0].met[state.turn]).bit_count() for move in state.options()}
        return {move: weight / sum(taste.values()) for move, weight in taste.items()}

    state = nebel.game("dark_hex:3x3").start().play("b2 b2 a1 a3 c3 c3 a2 b1")
    assert state.turn == 0
    hidden, key = Hidden(state.game, state, 0), state.key(0)
    counted, merged = dict[tuple[int, ...], float](), dict[tuple[int, ...], float]()
    for ways, weights in ((by_counting(hidden, tendency, 0, key, 0.0), counted), (by_merging(hidden, tendency, 0, key), merged)):
        for past, weight in ways:
            where = (*past.position[0].stones.tolist(), *past.position[0].met.tolist())
            weights[where] = weights.get(where, 0.0) + weight
    assert len(counted) > 20
    assert merged == pytest.approx(counted)


def test_a_belief_never_contradicts_what_was_seen() -> None:
    game, agent = nebel.game("goofspiel:5"), read("oos:300")
    assert isinstance(agent, Thinker)
    state = game.start().play("4 2 1 3")
    agent.think(state, generator(1))
    belief = believe(state, agent.minds[0])
    assert belief.exact
    # player 1 bid less than 4, and then more than 1
    assert all(bids[0] < "4" and bids[2] > "1" for bids in (text.split() for text in belief.odds))


def test_explanations_on_the_terminal() -> None:
    words = [sys.executable, "-m", "nebel", "play", "kuhn", "--seed", "3", "--explain", "--against"]
    for agent, said in (
        ("oos:200", ("after 200 simulations; it remembers", "it believes that player 0 did and saw:", " %  ", "it would play: ")),
        ("uniform", ("uniform knows: ", "it would play: pass 50.0 %, bet 50.0 %")),
    ):
        done = subprocess.run([*words, agent], input="bet\npass\n", capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        for text in said:
            assert text in done.stdout
