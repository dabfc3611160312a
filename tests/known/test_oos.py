"""Online Outcome Sampling: samples are unbiased, targeted or not; it converges from the root; what it is told is used."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import nebel
from nebel.core.errors import BadSetting
from nebel.core.game import CHANCE, Game
from nebel.core.state import State
from nebel.core.tree import grow
from nebel.judge.best_response import Judge
from nebel.policy.table import Policy, Uniform
from nebel.search.memory import NOWHERE, look_up, numbers, own
from nebel.search.online import Searches
from nebel.search.oos import BEGUN, OosSettings
from nebel.solve.drive import solve
from nebel.solve.run import Budget, Job

Reals = NDArray[np.float64]
Sums = dict[tuple[int, int], Reals]
"""By player and key of an information state, a number for each move."""


def load(string: str) -> Game:
    game = nebel.game(string)
    assert isinstance(game, Game)
    return game


SELDOM = 200
ROUNDING = 1e-9


class Slow:
    """Counterfactual regrets and weights of the average, by going through all histories.

    beyond  information states that can be met after one that is not remembered: a simulation that remembers the first learns nothing
            about the second, and would the next time
    """

    def __init__(self, searches: Searches, learner: int, playouts: Policy) -> None:
        self.searches, self.learner, self.playouts = searches, learner, playouts
        self.regrets: Sums = defaultdict(lambda: np.zeros(1))
        self.averages: Sums = defaultdict(lambda: np.zeros(1))
        self.beyond: set[int] = set()
        self.walk(searches.game.start(), 1.0, 1.0, False)

    def strategy(self, state: State) -> tuple[Reals, Reals, bool]:
        """By regret matching, and as it is played when the other player learns; and whether it is that of playouts."""
        options = state.options()
        held = numbers(self.searches._memory, 0, state.key(state.turn), len(options))
        if held is None:
            shares = np.array(list(self.playouts.probabilities(state).values()))
            return shares, shares, len(options) > 1
        gains = np.maximum(held[0], 0.0)
        shares = gains / gains.sum() if gains.sum() > 0.0 else np.full(len(options), 1 / len(options))
        gamma = self.searches.settings.gamma
        return shares, shares if state.turn == self.learner else gamma / len(options) + (1 - gamma) * shares, False

    def walk(self, state: State, chance: float, other: float, beyond: bool) -> float:
        """What the learner gets from here on; both reaches are those of the history."""
        if state.over:
            score = state.score() or 0.0
            return score if self.learner == 0 else -score
        if state.turn == CHANCE:
            branches = zip(state.options(), state.odds(), strict=True)
            return sum(p * self.walk(state.copy().push(option), chance * p, other, beyond) for option, p in branches)
        plain, played, new = self.strategy(state)
        mine = state.turn == self.learner
        values = np.array([
            self.walk(state.copy().push(option), chance, other if mine else other * p, beyond or new)
            for option, p in zip(state.options(), played, strict=True)
        ])  # fmt: skip
        at = state.turn, state.key(state.turn)
        if beyond:
            self.beyond.add(at[1])
        if mine:
            self.regrets[at] = self.regrets[at] + chance * other * (values - plain @ values)
        else:
            self.averages[at] = self.averages[at] + chance * other * plain
        return float(played @ values)


def means(searches: Searches, learner: int, count: int) -> tuple[Reals, Reals]:
    """What a simulation adds to the memory on average, with standard errors (none where that was seldom); all begin alike."""
    memory, tally = searches._memory, searches._tally
    before = [each.copy() for each in (memory.table, memory.pool, memory.counts, tally)]
    total, squares, times = (np.zeros_like(memory.pool) for _ in range(3))
    for _ in range(count):
        searches._plan[0, BEGUN] = 1 - learner
        searches.simulate(np.array([1]))
        added = memory.pool - before[1]
        total += added
        squares += added * added
        times += added != 0.0
        for each, old in zip((memory.table, memory.pool, memory.counts, tally), before, strict=True):
            each[:] = old
    assert searches._memory is memory
    mean = total / count
    return mean, np.where(times < SELDOM, np.nan, np.sqrt(np.maximum(squares / count - mean * mean, 0.0) / count))


def scores(searches: Searches, learner: int, count: int, playouts: Policy) -> tuple[Reals, int]:
    """By how many standard errors means differ from what they ought to be, and of how many information states."""
    exact = Slow(searches, learner, playouts)
    mean, error = means(searches, learner, count)
    compared = 0
    found: list[float] = []
    for kind, sums in enumerate((exact.regrets, exact.averages)):
        for (_, key), expected in sums.items():
            with np.errstate(over="ignore"):
                place = look_up(own(searches._memory, 0), np.int64(key))
            if place == NOWHERE or key in exact.beyond:
                continue
            here = slice(place + kind * len(expected), place + (kind + 1) * len(expected))
            often = ~np.isnan(error[0, here])
            found.extend(((mean[0, here] - expected) / (error[0, here] + ROUNDING))[often])
            compared += 1
    return np.array(found), compared


MILD: dict[str, Any] = {"epsilon": 0.8, "delta": 0.5, "weighting": "plain"}
"""Settings by which no sample is so rare and weighty that some thousands of them may lack it."""

POSITIONS = [
    ("kuhn", "Q K pass"),
    ("goofspiel:3", "1 1 0"),
    ("goofspiel:4", "1 2 3"),
    ("goofspiel(cards=3,order=random)", "prize1 0 2 prize0"),
]


@pytest.mark.parametrize("target", ["none", "information", "public"])
@pytest.mark.parametrize(("string", "moves"), POSITIONS)
@pytest.mark.parametrize("rate", [0.0, 0.1])
def test_samples_are_unbiased(string: str, moves: str, target: str, rate: float) -> None:
    game = load(string)
    searches = Searches(game, OosSettings(target=target, rate=rate, **MILD, gamma=0.4), seed=5)
    searches.think(game.start().play(moves), simulations=300)
    check_samples(searches, Uniform())


@pytest.mark.parametrize("target", ["none", "information"])
def test_playouts_cancel(target: str) -> None:
    game = load("goofspiel:4")
    policy = solve(Job("goofspiel:4", "cfr+"), Budget(iterations=5)).policy
    searches = Searches(game, OosSettings(target=target, **MILD, gamma=0.0, trust=0.0), seed=5, policy=policy)
    searches.think(game.start().play("1 2 3"), simulations=100)
    check_samples(searches, policy)


def check_samples(searches: Searches, playouts: Policy) -> None:
    for learner in range(2):
        apart, compared = scores(searches, learner, 8000, playouts)
        assert compared > 5
        assert apart.size > 10
        assert np.abs(apart).max() < 5.0, (learner, apart)


@pytest.mark.parametrize(("string", "bound"), [("leduc", 0.12), ("goofspiel:6", 0.20)])
def test_a_million_simulations_a_player_from_the_root(string: str, bound: float) -> None:
    game = load(string)
    tree = grow(game)
    searches = Searches(game)
    searches.simulate(np.array([2_000_000]))
    assert Judge(tree).verdict(searches.on_tree(tree)).exploitability < bound


def test_both_estimates_of_how_rare_the_target_is() -> None:
    """Everybody plays uniformly: the king is dealt with probability 1/3, and passing has probability 1/2."""
    game = load("kuhn")
    settings = OosSettings(epsilon=1.0, gamma=1.0, delta=0.9)
    searches = Searches(game, settings)
    searches.think(game.start().play("Q K pass"), simulations=20_000)
    led, ratios, average = searches._tally[0]
    assert led == pytest.approx(18_000, rel=0.02)
    assert ratios / led == pytest.approx(1 / 6)
    assert average == pytest.approx(0.1 + 0.9 * 6, rel=0.1)


@pytest.mark.parametrize("weighting", ["steady", "paper", "plain"])
@pytest.mark.parametrize("target", ["information", "public"])
def test_finds_the_right_answer_at_the_board(target: str, weighting: str) -> None:
    game = load("kuhn")
    for cards, right in (("Q K", "bet"), ("Q J", "pass")):
        state = game.start().play(cards).push("bet")
        searches = Searches(game, OosSettings(target=target, weighting=weighting))
        assert searches.think(state, simulations=5000) == 5000
        assert searches.shares(state)[state.options()[state.legal().index(right)]] > 0.95


def test_searches_side_by_side_are_those_alone() -> None:
    game = load("goofspiel:5")
    states = [game.start().play(moves) for moves in ("", "1 3", "4 2 0 0 1")]
    together, alone = Searches(game, count=3), Searches(game, count=3)
    for k, state in enumerate(states):
        together.aim(state, k)
        alone.think(state, simulations=100 * (k + 1), k=k)
    together.simulate(np.array([100, 200, 300]))
    for k, state in enumerate(states):
        assert together.shares(state, k) == alone.shares(state, k)
        assert together.nodes(k) == alone.nodes(k) > 50


def test_the_tree_is_kept_until_it_is_forgotten() -> None:
    game = load("goofspiel:5")
    state = game.start()
    searches = Searches(game)
    searches.think(state, simulations=500)
    before = searches.nodes()
    state.play("2 3")
    assert searches.think(state, seconds=0.05) > 0
    assert searches.nodes() > before
    searches.forget()
    assert searches.nodes() == 0
    assert set(searches.shares(state).values()) == {0.25}


def test_led_simulations_come_to_what_is_known() -> None:
    """Of a rare position far down much more is learned than without a target."""
    game = load("goofspiel:6")
    state = game.start().play("0 5 1 4 2 3 3 2")
    found = []
    for target in ("information", "public", "none"):
        searches = Searches(game, OosSettings(target=target))
        searches.think(state, simulations=2000)
        held = numbers(searches._memory, 0, state.key(state.turn), len(state.options()))
        found.append(0.0 if held is None else float(np.abs(held[0]).sum()))
        assert searches.gave_up == 0
    assert found[0] > 0.0 < found[1]
    assert found[2] == 0.0


def test_what_cannot_be_searched_is_refused() -> None:
    with pytest.raises(BadSetting, match="epsilon"):
        OosSettings(epsilon=0.0)
    game = load("kuhn")
    with pytest.raises(BadSetting, match="takes a number of simulations, or seconds"):
        Searches(game).think(game.start().play("Q K"))
    with pytest.raises(BadSetting, match="no player is to move"):
        Searches(game).think(game.start(), simulations=1)
