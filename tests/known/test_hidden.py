"""Hidden histories: which there are, how often each is drawn, and what is said where there are too many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import nebel
from nebel.core.errors import TooLarge
from nebel.core.game import END, Game
from nebel.core.rng import generator, uniform
from nebel.core.rule import kernel
from nebel.core.state import State
from nebel.policy.net import Layer, NetPolicy
from nebel.search import hidden as module
from nebel.search.bayes import weighed
from nebel.search.hidden import Hidden, Ways, drawing

History = tuple[int, ...]
GAMES = [
    "kuhn",
    "leduc",
    "leduc(suits=false)",
    "liars_dice(dice=2,faces=2)",
    "goofspiel:4",
    "goofspiel(cards=3,order=random)",
    "dark_hex:2x3",
    "dark_hex(rows=2,cols=3,abrupt=true)",
    "dark_hex(rows=2,cols=3,abrupt=true,leak=noisy)",
    "dark_hex(rows=3,cols=2,leak=flash)",
    "geister(width=2,height=3,ghosts=2,buffer=0,limit=5)",
    "cheat:1",
    "cheat(hp=none,limit=3,hand=1,alike=true,suits=3)",
]


def load(string: str) -> Game:
    game = nebel.game(string)
    assert isinstance(game, Game)
    return game


def some_states(game: Game, seed: int, longest: int = 99) -> list[State]:
    """States of a random game in which a player is to move."""
    state, rng, found = game.start(), generator(seed), []
    while not state.over and len(state.steps) < longest:
        if state.turn >= 0:
            found.append(state.copy())
        options = state.options()
        with np.errstate(over="ignore"):
            state.push(options[int(uniform(rng) * len(options))])
    return found


def information_set(state: State) -> dict[History, float]:
    """By enumeration: all histories that the player to move cannot tell from this one, and their probabilities if players move evenly."""
    game, me, known = state.game, state.turn, state.transcript(state.turn)
    weights, open_ = {}, [(game.start(), 1.0)]
    while open_:
        s, weight = open_.pop()
        if s.transcript(me) != known[: len(s.transcript(me))]:
            continue
        if s.turn == me and s.transcript(me) == known:
            weights[tuple(step.option for step in s.steps)] = weight
        elif s.turn != END:
            odds = s.odds() or [1.0] * len(s.options())
            open_ += [(s.copy().push(option), weight * p) for option, p in zip(s.options(), odds, strict=True)]
    return {history: weight / sum(weights.values()) for history, weight in weights.items()}


def all_ways(ways: Ways) -> dict[History, float]:
    """The probability with which a walk down the graph makes each history."""
    first, move, child, below = ways
    found: Counter[History] = Counter()
    open_: list[tuple[int, History, float]] = [(0, (), 1.0)]
    while open_:
        node, history, p = open_.pop()
        edges = range(first[node], first[node + 1])
        if not edges:
            found[history] += p
        shares = np.diff(np.minimum(below[edges.start : edges.stop], 1.0), prepend=0.0)
        open_ += [(int(child[e]), (*history, int(move[e])), p * share) for e, share in zip(edges, shares, strict=True) if share > 0.0]
    return dict(found)


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Without compiling: what is small is quicker so."""
    monkeypatch.setattr(module, "kernel", lambda function: function)
    caches = module._unfolding, module._wandering
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("string", GAMES)
def test_the_graph_holds_the_information_set_and_its_weights(string: str) -> None:
    game = load(string)
    for seed in (1, 2):
        for state in some_states(game, seed):
            hidden = Hidden(game, state, state.turn)
            assert hidden.exact
            assert all_ways(hidden.ways) == pytest.approx(information_set(state), abs=1e-12)


@pytest.mark.parametrize("string", ["leduc(suits=false)", "dark_hex:2x3", "geister(width=2,height=3,ghosts=2,buffer=0,limit=5)"])
def test_by_bayes_rule_the_others_moves_tell_what_is_hidden(string: str) -> None:
    game = load(string)
    recall, encoding = next(iter(game.encodings.items()))
    weights = np.random.default_rng(5).normal(size=(encoding.size, game.actions)).astype(np.float32)
    policy = NetPolicy(game.string, game.fingerprint, recall, (Layer(weights, np.zeros(game.actions, np.float32), ""),))
    told = 0
    for state in [state for seed in (1, 2, 3) for state in some_states(game, seed)]:
        me, hidden, expected = state.turn, Hidden(game, state, state.turn), information_set(state)
        chance = expected.copy()
        for history in expected:
            replayed = game.start()
            for option in history:
                if replayed.turn == 1 - me:
                    expected[history] *= 0.75 * policy.probabilities(replayed)[option] + 0.25 / len(replayed.options())
                replayed.push(option)
        total = sum(expected.values())
        ways = weighed(hidden, policy, me, 0.75, generator(1))
        assert all_ways(ways) == pytest.approx({history: weight / total for history, weight in expected.items()}, abs=1e-6)
        told += any(abs(expected[history] / total - p) > 0.05 for history, p in chance.items())
    assert told


def test_where_too_much_may_be_hidden_some_histories_are_drawn() -> None:
    game = load("dark_hex:2x3")
    state = max(some_states(game, 1), key=lambda state: len(information_set(state)))
    hidden, expected = Hidden(game, state, state.turn), information_set(state)
    paths, weights = hidden.histories(len(expected), generator(1))
    assert {tuple(path): float(np.exp(weight)) for path, weight in zip(paths, weights, strict=True)} == pytest.approx(expected)
    paths, weights = hidden.histories(len(expected) - 1, generator(1))
    assert len(paths) == len(weights) == len(expected) - 1
    assert {tuple(path) for path in paths} <= expected.keys()
    assert not weights.any()


def far_off(counts: Counter[Any], expected: dict[Any, float]) -> float:
    """How many standard deviations the chi-square statistic lies above what it is on average."""
    n, freedom = counts.total(), len(expected) - 1
    statistic = sum((counts[key] - n * p) ** 2 / (n * p) for key, p in expected.items())
    return (statistic - freedom) / np.sqrt(2 * freedom)


@pytest.mark.parametrize("string", ["leduc(suits=false)", "goofspiel:4", "dark_hex:2x3", "cheat:1"])
def test_draws_are_as_frequent_as_they_should_be(string: str) -> None:
    game = load(string)
    state = max((s for seed in range(4) for s in some_states(game, seed, 5)), key=lambda s: len(information_set(s)))
    hidden, rng, expected = Hidden(game, state, state.turn), generator(7), information_set(state)
    counts = Counter(tuple(step.option for step in hidden.sample(rng).steps) for _ in range(2000))
    assert counts.keys() <= expected.keys()
    assert far_off(counts, expected) < 5


def test_compiled_draws_leave_states_and_memories() -> None:
    game = load("goofspiel:5")
    state = game.start().play("1 3 4 0 2 2 3")
    hidden, draw = Hidden(game, state, 1), drawing(game)

    @kernel
    def many(ways: Any, states: Any, memories: Any, rng: Any) -> None:
        seen = np.zeros(2, np.int64)
        for j in range(states.size):
            draw(ways, states[j], memories[j], seen, rng)

    states, memories = game.blank(4000), np.zeros((4000, 2), np.int64)
    with np.errstate(over="ignore"):
        many(hidden.ways, states, memories, generator(3))
    assert set(memories[:, 1]) == {state.key(1)}
    assert set(states.turn) == {1}
    expected: Counter[int] = Counter()
    for history, p in information_set(state).items():
        twin = game.start()
        for move in history:
            twin.push(move)
        expected[twin.key(0)] += p
    assert far_off(Counter(memories[:, 0].tolist()), expected) < 5


def test_a_hand_of_thirteen_is_drawn_exactly_all_along() -> None:
    game = load("goofspiel:13")
    for state in some_states(game, 4):
        hidden = Hidden(game, state, state.turn)
        assert hidden.exact
        assert hidden.sample(generator(1)).key(state.turn) == state.key(state.turn)


@pytest.mark.usefixtures("plain")
def test_where_there_are_too_many_it_says_so_and_stays_true(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WALKS", 2000)
    game = load("dark_hex:2x3")
    state = max(some_states(game, 1), key=lambda s: len(information_set(s)))
    hidden, expected, rng = Hidden(game, state, state.turn, room=2), information_set(state), generator(2)
    assert not hidden.exact
    drawn = Counter(tuple(step.option for step in hidden.sample(rng).steps) for _ in range(1000))
    assert drawn.keys() <= expected.keys()
    found = all_ways(hidden.ways)
    error = sum(abs(found.get(history, 0.0) - p) for history, p in expected.items())
    assert error < 3 * np.sqrt(len(expected) / 2000) < 1


@pytest.mark.usefixtures("plain")
def test_nothing_found_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WALKS", 0)
    game = load("dark_hex:2x2")
    with pytest.raises(TooLarge, match="no history was found"):
        Hidden(game, game.start().play("a1"), 1, room=2)


@pytest.mark.usefixtures("plain")
def test_beliefs_are_the_likeliest_states() -> None:
    game = load("leduc(suits=false)")
    state = game.start().play("Js Qs raise raise call Kh")
    beliefs = Hidden(game, state, 0).beliefs(99)
    by_card: Counter[str] = Counter()
    for p, twin in beliefs:
        assert twin.transcript(0) == state.transcript(0)
        by_card[twin.moves()[1][0]] += p
    assert by_card == pytest.approx({"J": 1 / 4, "Q": 2 / 4, "K": 1 / 4})
    assert [p for p, _ in beliefs] == sorted((p for p, _ in beliefs), reverse=True)


def test_the_fallback_weighs_what_it_finds() -> None:
    """A path that was found half as often as its weight asks for counts twice."""
    ways = module.bundle([[0], [1, 2]], np.log(np.array([1.0, 3.0])))
    assert ways.below.tolist() == [0.25, 2.0, 2.0]
    rng: NDArray[np.int64] = generator(1)
    with np.errstate(over="ignore"):
        taken = Counter(module.edge_of(ways, 0, rng) for _ in range(1000))
    assert taken[1] == pytest.approx(750, abs=60)
