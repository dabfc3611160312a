"""Games with one mistake each: the suite says in words what it is, and where."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

import numpy as np
import pytest
from numpy import int64

from nebel import CHANCE, END, Game, Glance, Rules, game, record, rule
from nebel.core.conform import Report, conform

kuhn, hex_board, noisy_board = game("kuhn"), game("dark_hex:2x2"), game("dark_hex(rows=2,cols=2,leak=noisy)")


def spoil(good: Any, **rules: Any) -> Game:
    """`good` with some of its rules, or other parts, exchanged."""
    swapped = {name: rules.pop(name) for name in list(rules) if name in Rules._fields}
    return dataclasses.replace(good, rules=good.rules._replace(**swapped), **rules)


def report_on(bad: Game) -> Report:
    """The suite without its last check, which needs the compiler and takes seconds."""
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    try:
        return conform(bad, steps=2000)
    finally:
        del os.environ["NUMBA_DISABLE_JIT"]


def move_out_of_range() -> Game:
    def moves(s: Any, out: Any) -> int:
        count = kuhn.rules.moves(s, out)
        if s.turn == 1:
            out[1] = 2
        return count

    return spoil(kuhn, moves=moves)


def outcome_out_of_range() -> Game:
    return spoil(kuhn, outcomes=2, width=3)


def too_many_options() -> Game:
    return spoil(kuhn, width=2)


def too_long() -> Game:
    return spoil(kuhn, depth=4)


def strange_turn() -> Game:
    return spoil(kuhn, turn=lambda s: 7 if s.acted == 1 else s.turn)


def nothing_to_do() -> Game:
    return spoil(kuhn, moves=lambda s, out: 0 if s.acted == 2 else kuhn.rules.moves(s, out))


def same_option_twice() -> Game:
    def moves(s: Any, out: Any) -> int:
        count = kuhn.rules.moves(s, out)
        out[1] = out[0]
        return count

    return spoil(kuhn, moves=moves)


def odds_off() -> Game:
    def odds(s: Any, out: Any) -> None:
        out[:] = 1 / 3

    return spoil(kuhn, odds=odds)


def odds_nought() -> Game:
    def odds(s: Any, out: Any) -> None:
        out[:] = 0.0
        out[0] = 1.0

    return spoil(kuhn, odds=odds)


def negative_sight() -> Game:
    def play(s: Any, move: int, seen: Any) -> None:
        kuhn.rules.play(s, move, seen)
        if s.acted == 1:
            seen[1] = -1

    return spoil(kuhn, play=play)


def meddling_moves() -> Game:
    def moves(s: Any, out: Any) -> int:
        s.acted += 1
        return kuhn.rules.moves(s, out)

    return spoil(kuhn, moves=moves)


def fickle_turn() -> Game:
    calls = [0]

    def score(s: Any) -> float:
        calls[0] += 1
        return float(calls[0])

    return spoil(kuhn, score=score)


def chancy_play() -> Game:
    rng = np.random.default_rng(1)

    def play(s: Any, move: int, seen: Any) -> None:
        kuhn.rules.play(s, move, seen)
        if s.acted == 1:
            seen[1] = rng.integers(1, 10**9)

    return spoil(kuhn, play=play, sight_name=str)


def forgetful_start() -> Game:
    def start(s: Any) -> None:
        s.card[:] = -1
        s.bets[:] = 1
        s.dealt = 0
        s.turn = CHANCE

    return spoil(kuhn, start=start)


def endless_score() -> Game:
    return spoil(kuhn, score=lambda s: float("nan") if s.bets[0] == 2 else 1.0)


def moves_by_hidden_card() -> Game:
    def moves(s: Any, out: Any) -> int:
        count = kuhn.rules.moves(s, out)
        return 1 if s.turn == 1 and s.card[0] == 2 else count

    return spoil(kuhn, moves=moves)


def moves_in_hidden_order() -> Game:
    def moves(s: Any, out: Any) -> int:
        count = kuhn.rules.moves(s, out)
        if s.turn == 1 and s.card[0] == 2:
            out[0], out[1] = 1, 0
        return count

    return spoil(kuhn, moves=moves)


def view_of_all() -> Game:
    return spoil(kuhn, view=lambda s, player: f"{s.card.tolist()} {s.bets.tolist()}")


def picture_of_all() -> Game:
    def svg(s: Any, player: int | None) -> str:
        return f"<svg><text>{s.stones.tolist()}</text></svg>"

    return spoil(hex_board, svg=svg)


def picture_not_closed() -> Game:
    return spoil(kuhn, svg=lambda s, player: "<svg><text></svg>")


def glance_of_all() -> Game:
    return spoil(hex_board, glances={"all": Glance(lambda s, player: s.stones[player] << 8 | s.met[player] << 4 | s.stones[1 - player])})


def glance_of_nothing() -> Game:
    return spoil(hex_board, glances={"none": Glance(lambda s, player: 0)})


def glance_too_large() -> Game:
    return spoil(hex_board, glances={"big": Glance(lambda s, player: -1)})


def glance_text_alike() -> Game:
    return spoil(hex_board, glances={"board": hex_board.glances["board"]._replace(text=lambda key: "board")})


def names_alike() -> Game:
    return spoil(kuhn, move_name=lambda move: "go")


def name_with_space() -> Game:
    return spoil(kuhn, move_name=("pass it", "bet").__getitem__)


def sight_with_space() -> Game:
    return spoil(kuhn, sight_name=lambda token: f"saw {token}")


def sights_alike() -> Game:
    return spoil(kuhn, sight_name=lambda token: "something")


def failing_play() -> Game:
    def play(s: Any, move: int, seen: Any) -> None:
        kuhn.rules.play(s, move, seen)
        if s.acted == 2:
            raise ZeroDivisionError("no such thing")

    return spoil(kuhn, play=play)


def failing_name() -> Game:
    return spoil(kuhn, sight_name=("", "J", "Q", "K").__getitem__)


BROKEN = [
    (move_out_of_range, "after J Q pass: moves() offers 2, yet actions=2 allows 0 to 1 only"),
    (outcome_out_of_range, "at the start: moves() offers 2, yet outcomes=2 allows 0 to 1 only"),
    (too_many_options, "at the start: moves() offers 3 options, yet width=2"),
    (too_long, "after J Q pass bet: the game goes on after 4 moves, yet declares depth=4"),
    (strange_turn, "after J Q pass: turn() returns 7; it must be 0, 1, CHANCE (-1) or END (-4)"),
    (nothing_to_do, "after J Q pass bet: player 0 is to move, yet moves() offers nothing"),
    (same_option_twice, "at the start: moves() offers J more than once"),
    (odds_off, "after J: odds() gives [0.3333333333333333, 0.3333333333333333], which sum to 0.666667 instead of 1"),
    (odds_nought, "at the start: odds() gives [1.0, 0.0, 0.0] for 3 outcomes; each must be positive"),
    (negative_sight, "after J Q pass: play() reported [0, -1] as seen: what a player sees is a positive integer, or 0 for nothing"),
    (meddling_moves, "at the start: moves() changes 'acted'; only start() and play() may"),
    (fickle_turn, "after J Q pass pass: score() gives 1.0 and then 2.0; it must depend on the state alone"),
    (chancy_play, "after J Q pass: play() does not give the same twice; it must depend on the state and the move alone"),
    (forgetful_start, "start() does not set the field 'acted': after another game it begins with what was left there"),
    (endless_score, "after J Q pass bet bet: score() is nan; it must be a finite number"),
    (
        moves_by_hidden_card,
        "after J Q pass and after K Q pass, player 1 cannot tell the two states apart, yet their legal moves differ: pass bet against pass",
    ),
    (
        moves_in_hidden_order,
        "after J Q pass and after K Q pass, player 1 cannot tell the two states apart, yet their legal moves come in different orders",
    ),
    (
        view_of_all,
        "at the start and after J, player 1 cannot tell the two states apart, yet the view differs: it shows player 1 more than was seen",
    ),
    (
        picture_of_all,
        "after a1 a1 b1 and after a1 a1 a2, player 0 cannot tell the two states apart, yet the picture differs: "
        "it shows player 0 more than was seen",
    ),
    (picture_not_closed, "at the start: the picture is not valid XML: mismatched tag: line 1, column 13"),
    (
        glance_of_all,
        "after a1 a1 b1 and after a1 a1 a2, player 0 cannot tell the two states apart, yet the glance 'all' differs: "
        "it shows more than was seen",
    ),
    (
        glance_of_nothing,
        "after a1 and after a1 a1, the glance 'none' shows player 1 the same, yet their legal moves differ: a1 b1 a2 b2 against b1 a2 b2",
    ),
    (glance_too_large, "at the start: the glance 'big' is -1; it must be at least 0 and below 2**62"),
    (glance_text_alike, "after a1 a1: the glance 'board' reads 'board', as does a different one"),
    (names_alike, "after J Q: the options 0 and 1 are both called 'go'"),
    (name_with_space, "after J Q: a move is called 'pass it'; a name is one word without spaces"),
    (sight_with_space, "after J: a sight is called 'saw 1'; a name is one word without spaces"),
    (sights_alike, "after J and after Q, player 0 has seen different things, yet both transcripts read 'something'"),
    (failing_play, "after J Q pass pass: play() fails: ZeroDivisionError: no such thing (test_broken.py, line "),
    (failing_name, "after J Q pass: the name of a sight fails: IndexError: tuple index out of range"),
]


@pytest.mark.parametrize(("make", "sentence"), BROKEN, ids=[make.__name__ for make, _ in BROKEN])
def test_a_broken_game_is_told_what_is_wrong(make: Any, sentence: str) -> None:
    report = report_on(make())
    assert not report.ok
    assert any(sentence in finding for finding in report.findings), report.findings
    assert all("\n" not in finding for finding in report.findings)


def test_the_games_they_are_made_from_conform() -> None:
    assert [report_on(good).findings for good in (kuhn, hex_board, noisy_board)] == [[], [], []]


def test_an_endless_game_is_told() -> None:
    report = report_on(waiting_game())
    assert "the game goes on after 50 moves, yet declares depth=50" in report.findings[0]


def waiting_game() -> Game:
    """Player 0 waits and waits."""

    @rule
    def start(s: Any) -> None:
        s.over = 0

    @rule
    def turn(s: Any) -> int:
        return END if s.over else 0

    @rule
    def moves(s: Any, out: Any) -> int:
        out[0] = 0
        out[1] = 1
        return 2

    @rule
    def play(s: Any, move: int, seen: Any) -> None:
        s.over = move * 0

    @rule
    def score(s: Any) -> float:
        return 0.0

    return Game(state=record(over=int64), rules=Rules(start, turn, moves, play, score), actions=2, depth=50, string="waiting")


def helper(x: int) -> int:
    return x


def uncompilable() -> Game:
    """Runs plain, but calls a function that is no rule."""
    inner = kuhn.rules.turn

    @rule
    def turn(s: Any) -> int:
        return helper(inner(s))

    return spoil(kuhn, turn=turn)


def unmarked() -> Game:
    return spoil(kuhn, score=lambda s: 1.0)


def mixing_types() -> Game:
    @rule
    def score(s: Any) -> float:
        return float("%d" % s.bets[0])  # noqa: UP031

    return spoil(kuhn, score=score)


def wrapping() -> Game:
    """A shift that plain Python widens and machine code does not."""
    wide = 1

    @rule
    def score(s: Any) -> float:
        return 1.0 if wide << (70 * (s.bets[0] > 0)) else -1.0

    return spoil(kuhn, score=score)


@pytest.mark.parametrize(
    ("make", "start", "end"),
    [
        (
            uncompilable,
            "turn() cannot be compiled: test_broken.py, line ",
            "it calls 'helper', which is neither a @rule nor known to the compiler",
        ),
        (unmarked, "score() (test_broken.py, line ", "is not marked with @rule, so it cannot be compiled"),
        (mixing_types, "score() cannot be compiled: test_broken.py, line ", ""),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_rule_that_cannot_be_compiled_is_named_in_one_line(make: Any, start: str, end: str) -> None:
    report = conform(make())
    [finding] = report.findings
    assert finding.startswith(start)
    assert finding.endswith(end)
    assert "\n" not in finding
    assert len(finding) < 300


def test_rules_that_differ_once_compiled_are_caught() -> None:
    report = conform(wrapping())
    assert any("in plain Python and" in finding and "compiled" in finding for finding in report.findings), report.findings


def test_a_large_game_says_that_play_was_sampled() -> None:
    report = conform(game("dark_hex:3x3"), steps=300)
    assert report.ok
    assert not report.whole
    assert report.coverage.startswith("sampled: ")
    assert "300 states" in report.coverage
