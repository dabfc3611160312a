"""Goofspiel that ends early: `turns` makes an ordered family, in which what was learned of a shorter game holds for a longer one."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import cache
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import pytest

import nebel
from nebel.core.conform import conform
from nebel.core.errors import UnknownGame
from nebel.core.game import BaseGame
from nebel.core.plain import unfold_plain
from nebel.core.tree import Tree, assemble
from nebel.judge.best_response import Judge
from nebel.policy.adopt import adopt
from nebel.policy.table import Uniform, from_tree

History = tuple[int, ...]
OPTIONS = [
    "cards=3",
    "cards=4,forced_last=false",
    "cards=3,order=descending,first_prize=1",
    "cards=3,order=random",
    "cards=3,order=random,first_prize=1,forced_last=false",
]


class Situation(NamedTuple):
    """All that the rules say of a history."""

    turn: int
    options: list[int]
    odds: list[float]
    score: float | None
    keys: tuple[int, int]
    transcripts: tuple[list[str], list[str]]


def play(options: str, turns: int | str) -> BaseGame:
    return nebel.game(f"goofspiel({options},turns={turns})")


def family(options: str) -> list[BaseGame]:
    """All lengths of one game, the shortest first."""
    return [play(options, turns) for turns in range(1, int(options[len("cards=")]) + 1)]


@cache
def histories(game: BaseGame) -> dict[History, Situation]:
    found, open_ = {}, [game.start()]
    while open_:
        s = open_.pop()
        known = (s.key(0), s.key(1)), (s.transcript(0), s.transcript(1))
        found[tuple(step.option for step in s.steps)] = Situation(s.turn, s.options(), s.odds(), s.score(), *known)
        open_ += [s.copy().push(option) for option in s.options()]
    return found


def inner(game: BaseGame) -> dict[History, Situation]:
    return {history: now for history, now in histories(game).items() if now.turn != nebel.END}


def ends(game: BaseGame) -> dict[History, float | None]:
    return {history: now.score for history, now in histories(game).items() if now.turn == nebel.END}


def information_states(game: BaseGame) -> dict[tuple[int, int], set[History]]:
    """By player and key: the histories that the player cannot tell apart."""
    found = defaultdict(set)
    for history, now in histories(game).items():
        if now.turn in (0, 1):
            found[now.turn, now.keys[now.turn]].add(history)
    return dict(found)


@pytest.mark.parametrize("options", OPTIONS)
def test_a_shorter_game_is_the_beginning_of_a_longer_one(options: str) -> None:
    for short, long in pairwise(family(options)):
        assert histories(short).keys() <= histories(long).keys()
        mine, more = inner(short), inner(long)
        assert mine == {history: more[history] for history in mine}
        few, many = information_states(short), information_states(long)
        assert few == {name: many[name] for name in few}  # the very same sets of histories, under the same keys
        plays_itself = not long.options["forced_last"] and long.options["turns"] == long.options["cards"]
        assert (mine.keys() == more.keys()) == (few.keys() == many.keys()) == plays_itself


@pytest.mark.parametrize("options", OPTIONS)
def test_all_turns_are_the_game_as_it_is(options: str) -> None:
    whole, longest, unlimited = nebel.game(f"goofspiel({options})"), family(options)[-1], play(options, "none")
    assert unlimited.string == whole.string
    assert longest.fingerprint == unlimited.fingerprint == whole.fingerprint
    assert histories(longest) == histories(whole)


@pytest.mark.parametrize("options", OPTIONS)
def test_the_points_so_far_decide(options: str) -> None:
    for game in family(options):
        for moves, score in ends(game).items():
            assert score == np.sign(lead(game.options, list(moves)))


def lead(options: Any, moves: list[int]) -> int:
    """Player 0's points less player 1's, reckoned from a whole history."""
    cards = list(range(options["cards"]))
    prizes = {"ascending": cards, "descending": cards[::-1], "random": moves[::3]}[options["order"]]
    if options["order"] == "random":
        del moves[::3]
    bids = [moves[0::2], moves[1::2]]
    if len(bids[0]) < options["turns"]:  # the last round played itself
        for used in (prizes, *bids):
            used += sorted(set(cards) - set(used))
    rounds = zip(prizes[: options["turns"]], *bids, strict=True)
    return sum((prize + options["first_prize"]) * ((mine > theirs) - (mine < theirs)) for prize, mine, theirs in rounds)


@pytest.mark.parametrize("options", OPTIONS)
def test_sizes_and_depth(options: str) -> None:
    for game in family(options):
        assert isinstance(game, nebel.Game)
        cards, turns, steps = game.options["cards"], game.options["turns"], 3 if game.options["order"] == "random" else 2
        by_hand = cards - 1 if turns == cards and not game.options["forced_last"] else turns
        assert len(ends(game)) == prod((cards - i) ** steps for i in range(by_hand))
        assert {len(history) for history in ends(game)} == {game.depth} == {steps * by_hand}


def test_the_last_card_plays_itself_only_when_all_are_played() -> None:
    options = "cards=3,first_prize=1,order=descending,forced_last=false"
    state = play(options, 2).start().play("2 1 3 3")
    assert state.over
    assert state.transcript(0) == ["2", "won", "3", "tied"]
    assert play(options, 3).start().play("2 1 3 3").transcript(0) == ["2", "won", "3", "tied+lost"]
    state = play(options, 1).start().play("1 3")
    assert (state.score(), state.transcript(1)) == (-1, ["3", "won"])


@pytest.mark.parametrize(
    ("cards", "turns", "order"),
    [(4, 1, "ascending"), (4, 2, "ascending"), (4, 4, "ascending"), (4, 2, "descending"), (3, 1, "random"), (4, 2, "random")],
)
def test_same_game_as_openspiel(cards: int, turns: int, order: str) -> None:
    """At every history. With one turn less than cards it cannot be asked: OpenSpiel 2.0 then never comes to an end."""
    pyspiel = pytest.importorskip("pyspiel")
    theirs = pyspiel.load_game_as_turn_based(
        f"goofspiel(imp_info=True,num_cards={cards},num_turns={turns},points_order={order},returns_type=win_loss)"
    )
    ours = play(f"cards={cards},order={order},first_prize=1,forced_last=false", turns)
    names: dict[object, object] = {}
    open_ = [(ours.start(), theirs.new_initial_state())]
    while open_:
        state, twin = open_.pop()
        assert (twin.current_player(), twin.legal_actions()) == (state.turn, state.options())
        if state.over:
            assert twin.returns()[0] == state.score()
        elif state.turn == nebel.CHANCE:
            assert state.odds() == pytest.approx([p for _, p in twin.chance_outcomes()])
        else:
            name = state.turn, twin.information_state_string()
            assert names.setdefault(state.key(state.turn), name) == name
        open_ += [(state.copy().push(option), twin.child(option)) for option in state.options()]
    assert len(set(names.values())) == len(names)


def plain_tree(game: BaseGame) -> Tree:
    """For so small a game, sooner grown than compiled."""
    return assemble(game, "perfect", 0, *unfold_plain(game, "perfect"))


def test_uniform_play_is_as_exploitable_as_in_openspiel() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    from open_spiel.python.algorithms import exploitability
    from open_spiel.python.policy import UniformRandomPolicy

    theirs = pyspiel.load_game_as_turn_based(
        "goofspiel(imp_info=True,num_cards=4,num_turns=2,points_order=descending,returns_type=win_loss)"
    )
    tree = plain_tree(play("cards=4,order=descending,first_prize=1", 2))
    verdict = Judge(tree).verdict(Uniform().on_tree(tree).strategies)
    assert verdict.nash_conv == pytest.approx(exploitability.nash_conv(theirs, UniformRandomPolicy(theirs)), abs=1e-10)
    assert verdict.nash_conv > 0.1


def test_a_strategy_is_carried_to_the_next_longer_game() -> None:
    short, long = (plain_tree(play("cards=4,order=descending", turns)) for turns in (2, 3))
    rng = np.random.default_rng(5)
    raw = [rng.exponential(size=len(side.move)) for side in short.sides]
    strategies = [r / np.repeat(np.add.reduceat(r, side.row[:-1]), np.diff(side.row)) for r, side in zip(raw, short.sides, strict=True)]
    policy = replace(from_tree(short, (strategies[0], strategies[1])), missing="uniform")
    carried = adopt(long.game, policy)[1].on_tree(long)
    assert carried.unknown == tuple(np.subtract(long.information_states(), short.information_states()))
    for player, (few, many) in enumerate(zip(short.sides, long.sides, strict=True)):
        for number, key in enumerate(few.keys):
            at = int(np.flatnonzero(many.keys == key)[0])
            here, there = slice(few.row[number], few.row[number + 1]), slice(many.row[at], many.row[at + 1])
            assert few.move[here].tolist() == many.move[there].tolist()
            assert strategies[player][here].tolist() == carried.strategies[player][there].tolist()


def test_ending_early_conforms() -> None:
    """Compiled and plain rules agree, and views and pictures keep to what was seen."""
    report = conform(play("cards=3,order=random", 2), steps=3000)
    assert report.whole
    assert report.findings == []


def test_views_and_pictures_show_the_prizes_that_are_played_for() -> None:
    state = play("cards=4,order=descending", 2).start().play("2 1 0 3")
    assert state.over
    assert state.view(0).splitlines() == [
        "prize     3 2",
        "player 0  2 0",
        "player 1  ? ?",
        "winner    0 1",
        "points    3 : 2",
        "player 0 holds 1 3",
    ]
    assert play("cards=4,order=random", 1).start().view(1).splitlines()[0] == "prize     ."
    for turns in (1, 2, 3, 4):  # 4 cards in the own hand; of each round the prize and two bids
        picture = ElementTree.fromstring(play("cards=4", turns).start().svg(0))
        assert len(picture.findall("{*}g[@transform]/{*}rect")) == 4 + 3 * turns


def test_strings_and_records() -> None:
    assert nebel.game("goofspiel(turns=none)").string == "goofspiel"
    short = nebel.game("goofspiel(turns=2)")
    assert short.string == "goofspiel(cards=4,first_prize=0,turns=2)"
    assert nebel.game(short.string).fingerprint == short.fingerprint != nebel.game("goofspiel").fingerprint
    state = short.start().play("2 1 0 3")
    assert nebel.read_record(state.record()).score() == state.score() == -1


def test_few_turns_with_many_cards() -> None:
    assert len(histories(play("cards=30", 1))) == 1 + 30 + 30**2
    state = play("cards=30,order=descending,first_prize=1", 2).start().play("30 1 2 3")
    assert state.score() == 1  # 30 points against 29


@pytest.mark.parametrize(
    ("string", "reason"),
    [
        ("goofspiel(turns=0)", r"turns=0 is not possible; with cards=4 there are 1 to 4"),
        ("goofspiel(turns=-1)", r"turns=-1 is not possible; with cards=4 there are 1 to 4"),
        ("goofspiel(cards=3,turns=4)", r"turns=4 is not possible; with cards=3 there are 1 to 3"),
        ("goofspiel(turns=all)", r"turns=all is not a whole number or none"),
        ("goofspiel(cards=1,turns=1,forced_last=false)", r"at least 2"),
    ],
)
def test_impossible_turns_are_refused(string: str, reason: str) -> None:
    with pytest.raises(UnknownGame, match=reason):
        nebel.game(string)
