"""The built-in games have the sizes that are known of them, and OpenSpiel's games are the same games."""

from __future__ import annotations

import doctest
from collections import Counter
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import pytest

import nebel
from nebel.core.errors import UnknownGame
from nebel.core.tree import grow


def histories(game: nebel.core.game.BaseGame) -> Iterator[nebel.State]:
    """Every history of a small game, in plain Python."""
    open_ = [game.start()]
    while open_:
        state = open_.pop()
        yield state
        open_ += [state.copy().push(option) for option in state.options()]


@pytest.mark.parametrize(
    ("string", "chance", "decisions", "terminals", "states"),
    [
        ("kuhn", 4, 24, 30, [6, 6]),
        ("leduc", 157, 3780, 5520, [468, 468]),
        ("leduc(suits=false)", 157, 3780, 5520, [144, 144]),
        ("liars_dice(faces=3)", 4, 9 * 64, 9 * 63, [96, 96]),
        ("dark_hex:2x2", 0, 225, 216, [17, 53]),
    ],
)
def test_sizes_by_plain_rules(string: str, chance: int, decisions: int, terminals: int, states: list[int]) -> None:
    turns = Counter[int]()
    keys: tuple[set[int], set[int]] = (set(), set())
    for state in histories(nebel.game(string)):
        turns[state.turn] += 1
        if state.turn >= 0:
            keys[state.turn].add(state.key(state.turn))
    assert (turns[nebel.CHANCE], turns[0] + turns[1], turns[nebel.END]) == (chance, decisions, terminals)
    assert [len(seen) for seen in keys] == states


@pytest.mark.parametrize(
    ("string", "total", "states"),
    [
        ("leduc", 157 + 3780 + 5520, [468, 468]),
        ("liars_dice", 7 + 36 * (4096 + 4095), [12_288, 12_288]),
        ("dark_hex:3x2", 196_357, [787, 3393]),
    ],
)
def test_sizes_by_compiled_rules(string: str, total: int, states: list[int]) -> None:
    tree = grow(nebel.game(string))
    assert tree.histories == total
    assert tree.information_states() == states


@pytest.mark.parametrize(("cards", "all_turns", "choices"), [(4, 369, 81), (5, 4974, 1062), (6, 83_001, 17_241)])
def test_goofspiel_information_states_with_and_without_forced_turns(cards: int, all_turns: int, choices: int) -> None:
    tree = grow(nebel.game(f"goofspiel:{cards}"))
    assert tree.information_states() == [all_turns, all_turns]
    assert tree.choices() == [choices, choices]


@pytest.mark.parametrize(("board", "total"), [("2x2", 42), ("3x2", 410)])
def test_dark_hex_imperfect_recall(board: str, total: int) -> None:
    assert sum(grow(nebel.game(f"dark_hex:{board}"), recall="board").information_states()) == total


@pytest.mark.parametrize("string", ["leduc", "liars_dice(dice=2,faces=2)", "goofspiel:3", "goofspiel(cards=3,order=random)"])
def test_declared_depth_is_exact(string: str) -> None:
    game = nebel.game(string)
    assert isinstance(game, nebel.Game)
    assert max(len(state.steps) for state in histories(game)) == game.depth


@pytest.mark.parametrize("order", ["ascending", "descending", "random"])
@pytest.mark.parametrize("first_prize", [0, 1])
@pytest.mark.parametrize("forced_last", [True, False])
def test_goofspiel_takes_every_option(order: str, first_prize: int, forced_last: bool) -> None:
    game = nebel.game(f"goofspiel(cards=3,order={order},first_prize={first_prize},forced_last={forced_last})")
    scores = Counter[float | None]()
    for state in histories(game):
        if state.over:
            scores[state.score()] += 1
            told = [word for word in "+".join(state.transcript(0)).split("+") if word in ("won", "lost", "tied")]
            assert len(told) == 3
    assert scores[1] == scores[-1] > 0  # the players are in the same position


def test_goofspiel_scores_the_prizes() -> None:
    state = nebel.game("goofspiel(cards=3)").start().play("1 0 2 2 0 1")  # wins 0, ties 1, loses 2
    assert state.score() == -1
    assert state.transcript(0) == ["1", "won", "2", "tied", "0", "lost"]
    assert state.transcript(1) == ["0", "lost", "2", "tied", "1", "won"]
    state = nebel.game("goofspiel(cards=3,first_prize=1,order=descending,forced_last=false)").start().play("2 1 3 3")
    assert state.score() == 1  # wins 3, ties 2, and the last round, 1 against 2 for a prize of 1, plays itself
    assert state.transcript(0) == ["2", "won", "3", "tied+lost"]


def test_largest_goofspiel_plays_to_its_end() -> None:
    state = nebel.game("goofspiel(cards=30,first_prize=1)").start()
    for prize in range(30):
        state.push(prize).push((prize + 1) % 30)
    assert state.score() == -1  # player 0 wins only the last prize: 30 points of 465


@pytest.mark.parametrize(
    ("string", "hint"),
    [
        ("goofspiel:0", "1 to 30"),
        ("goofspiel:31", "1 to 30"),
        ("goofspiel:x", "goofspiel:13"),
        ("goofspiel(cards=1,forced_last=false)", "at least 2"),
        ("goofspiel(order=sideways)", "ascending or descending or random"),
        ("goofspiel(first_prize=2)", "0 or 1"),
        ("liars_dice(dice=0)", "at least 1"),
        ("liars_dice(dice=40,faces=40)", "at most"),
        ("leduc(suits=perhaps)", "true or false"),
    ],
)
def test_impossible_options_are_refused(string: str, hint: str) -> None:
    with pytest.raises(UnknownGame, match=hint):
        nebel.game(string)


TURNS = "turn_based_simultaneous_game(game=goofspiel(imp_info=True,num_cards={},points_order={},returns_type=win_loss))"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("kuhn", "kuhn_poker"),
        ("leduc", "leduc_poker"),
        ("liars_dice(faces=4)", "liars_dice(numdice=1,dice_sides=4)"),
        ("goofspiel(cards=4,first_prize=1,forced_last=false)", TURNS.format(4, "ascending")),
        ("goofspiel(cards=4,first_prize=1,forced_last=false,order=descending)", TURNS.format(4, "descending")),
        ("goofspiel(cards=3,first_prize=1,forced_last=false,order=random)", TURNS.format(3, "random")),
        ("dark_hex(rows=2,cols=2,leak=noisy)", "dark_hex(num_rows=2,num_cols=2,gameversion=cdh)"),
        ("dark_hex(rows=2,cols=2,abrupt=true)", "dark_hex(num_rows=2,num_cols=2,gameversion=adh)"),
    ],
)
def test_same_game_as_openspiel(ours: str, theirs: str) -> None:
    """The same moves, odds and returns at every history, and the same histories told apart by whoever is to move."""
    pyspiel = pytest.importorskip("pyspiel")
    compare(nebel.game(ours).start(), pyspiel.load_game(theirs).new_initial_state(), {}, {})


def test_liars_dice_with_several_dice_as_openspiel() -> None:
    """OpenSpiel rolls one die after the other; a roll here is all of a player's dice at once, so what follows is compared."""
    pyspiel = pytest.importorskip("pyspiel")
    there: dict[object, object] = {}
    back: dict[object, object] = {}
    start = nebel.game("liars_dice(dice=2,faces=2)").start()
    for first, p in zip(start.legal(), start.odds(), strict=True):
        state = start.copy().push(first)
        for second, q in zip(state.legal(), state.odds(), strict=True):
            theirs = pyspiel.load_game("liars_dice(numdice=2,dice_sides=2)").new_initial_state()
            for die in first + second:
                theirs.apply_action(int(die) - 1)
            assert p * q == pytest.approx(prod(1 if a == b else 2 for a, b in (first, second)) / 2**4)
            compare(state.copy().push(second), theirs, there, back)


def compare(state: nebel.State, theirs: Any, there: dict[object, object], back: dict[object, object]) -> None:
    """`there` and `back` relate information states of both sides, which must be one to one."""
    open_ = [(state, theirs)]
    while open_:
        state, theirs = open_.pop()
        assert theirs.current_player() == state.turn
        assert theirs.legal_actions() == state.options()
        if state.over:
            score = state.score()
            assert score is not None
            assert theirs.returns() == [score, -score]
        elif state.turn == nebel.CHANCE:
            assert state.odds() == pytest.approx([p for _, p in theirs.chance_outcomes()])
        else:
            mine, other = state.key(state.turn), (state.turn, theirs.information_state_string())
            assert there.setdefault(mine, other) == other
            assert back.setdefault(other, mine) == mine
        open_ += [(state.copy().push(option), theirs.child(option)) for option in state.options()]


@pytest.mark.parametrize("name", nebel.GAMES)
def test_example_on_the_page_runs_as_printed(name: str) -> None:
    page = Path(__file__).parents[2] / "docs" / "games" / f"{name}.md"
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert tried > 3
    assert failed == 0
