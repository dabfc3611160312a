"""Broken games are refused in words before anything is computed of them, whichever verb meets them."""

from __future__ import annotations

import dataclasses
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba  # noqa: F401  # before a test switches compilation off, which Numba reads when it is imported
import numpy as np
import pytest
from numpy import int64

from nebel import CHANCE, END, Game, Glance, PlainGame, Rules, game, grow, record, rule
from nebel.cli import main
from nebel.core.conform import conform
from nebel.core.errors import BadRules, FailedRule, TooLarge
from nebel.core.probe import probe
from nebel.core.template import new_game
from nebel.core.tree import Size, measure
from nebel.match.agents import read
from nebel.match.arena import play_deals, play_pair
from nebel.solve.size import size_up

kuhn = game("kuhn")

CARD = "            s.card[s.dealt] = move\n"
MISTAKES = {  # of the template: what is written in place of what, and what is said of it
    "odds": ("1 / (cards - s.dealt)", "1 / 3", r"after Q: odds\(\) gives \[0.3.*, 0.3.*\], which sum to 0.666667 instead of 1"),
    "negative": ("out[:] = 1 / (cards - s.dealt)", "out[:] = 0.5\n        out[0] = -0.5", r"at the start: odds\(\) gives .* positive"),
    "nan": ("return 1.0 if s.paid[0] > s.paid[1] else -1.0", "return s.paid[0] * float('nan')", r"after Q .*: score\(\) is nan"),
    "tuple": (
        "return 1.0 if s.paid[0] > s.paid[1] else -1.0", "return (1.0, -1.0)",
        r"score\(\) returned \(1.0, -1.0\) \(mine.py, line \d+\); it must return one number, what player 0 gets; player 1 gets the",
    ),
    "index": (CARD, CARD + "            s.card[s.dealt + move] = 0\n", r"after A: play\(\) fails: IndexError: .* \(mine.py, line \d+\)"),
    "raise": (CARD, "            raise KeyError('x')\n", r"after Q: play\(\) fails: KeyError: 'x' \(mine.py, line \d+\)"),
    "endless": ("s.turn = END if answered else other", "s.turn = other", r"after Q .*: the game goes on after 5 moves, yet declares"),
    "width": ("return 2\n", "out[:9] = range(9)\n            return 9\n", r"moves\(\) offers 9 options, yet actions=8"),
    "nothing": ("return 2\n", "return 0\n", r"after Q K: player 0 is to move, yet moves\(\) offers nothing"),
    "none": ("return count\n", "return\n", r"at the start: moves\(\) returned None \(mine.py, line \d+\); it must return how many"),
    "turn": ("return s.turn\n", "s.turn\n", r"at the start: turn\(\) returned None \(mine.py, line \d+\); it must return 0, 1, CHANCE"),
    "zeros": ("        s.acted = 0\n", "", r"start\(\) does not set the field 'acted'"),
    "state": ("acted=int64)", "acted=int64, board=(int64, 10**9))", r"a state takes 8,000,000,056 bytes, .* 'board'; at most 1,048,576"),
    "depth": ("depth=5", "depth=10**9", r"depth=1000000000 takes 80,000,000,160 bytes for one game"),
    "return": ("    return Game(", "    Game(", r"mine.py:mine returned None; .* is a return missing\?"),
    "factory": ("    deck = DECK", "    {}['x']\n    deck = DECK", r"mine.py:mine cannot be made: KeyError: 'x' \(mine.py, line \d+\)"),
}  # fmt: skip


def mistaken(folder: Path, old: str, new: str) -> str:
    path = new_game("mine", folder)
    text = path.read_text().replace("actions=2", "actions=8" if "range(9)" in new else "actions=2")
    assert old in text
    path.write_text(text.replace(old, new))
    return f"{path}:mine"


VERBS = [
    ["games", "GAME"],
    ["solve", "GAME", "--iterations", "10"],
    ["solve", "GAME", "--with", "outcome-sampling", "--iterations", "10"],
    ["match", "uniform", "random", "--game", "GAME", "--games", "20"],
    ["judge", "uniform", "--game", "GAME"],
    ["play", "GAME"],
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_verb_refuses_a_broken_game_in_one_line(
    mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is compiled, which is why this is fast."""
    *change, said = MISTAKES[mistake]
    name = mistaken(tmp_path, *change)
    for verb in VERBS:
        monkeypatch.setattr("sys.stdin", io.StringIO("pass\nbet\n" * 50))
        assert main([name if word == "GAME" else word for word in verb]) == 2, verb
        out, err = capsys.readouterr()
        assert re.search(said, err), (verb, err)
        assert (out, err.count("\n")) == ("", 1)


def test_check_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = mistaken(tmp_path, *MISTAKES["tuple"][:2])
    assert main(["check", name]) == 1
    assert re.search(MISTAKES["tuple"][2], capsys.readouterr().out)


def spoil(good: Any, **rules: Any) -> Game:
    """`good` with some of its rules, or other parts, exchanged."""
    swapped = {name: rules.pop(name) for name in list(rules) if name in Rules._fields}
    return dataclasses.replace(good, rules=good.rules._replace(**swapped), **rules)


def tried(bad: Game) -> Game:
    """As if the probe had not met what is wrong with it, as happens in large games."""
    object.__setattr__(bad, "tried", True)
    return bad


def no_odds_after_king(s: Any, out: Any) -> None:
    out[:] = 0.5 if s.card[0] == 2 else 1 / (3 - s.dealt)
    out[0] -= s.card[0] == 2


def rare(change: Callable[[Any, Any], None]) -> Callable[[Any, int, Any], None]:
    def play(s: Any, move: int, seen: Any) -> None:
        kuhn.rules.play(s, move, seen)
        if s.card[0] == 2 and s.acted == 1:
            change(s, seen)

    return play


def at_the_end(change: Callable[[Any, Any], None]) -> Callable[[Any, int, Any], None]:
    def play(s: Any, move: int, seen: Any) -> None:
        kuhn.rules.play(s, move, seen)
        if s.turn == END:
            change(s, seen)

    return play


def a_seventh_move(s: Any, move: int, seen: Any) -> None:
    kuhn.rules.play(s, move % 6, seen)


def many_moves(s: Any, out: Any) -> int:
    if s.turn < 0 or s.acted == 0:
        return int(kuhn.rules.moves(s, out))
    for move in range(20):
        out[move] = move
    return 20


def bad_moves(option: int) -> Callable[[Any, Any], int]:
    def moves(s: Any, out: Any) -> int:
        count = kuhn.rules.moves(s, out)
        if s.turn == 1:
            out[1] = option
        return count

    return moves


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"odds": no_odds_after_king}, r"kuhn: after K: odds\(\) gives \[-0.5, 0.5\] for 2 outcomes; each must be positive"),
        ({"odds": lambda s, out: out.fill(1 / 3)}, r"kuhn: after J: odds\(\) gives .* which sum to 0.666667 instead of 1"),
        ({"score": lambda s: np.inf if s.card[0] == 2 else 1.0}, r"kuhn: after K J pass pass: score\(\) is inf; it must be a finite"),
        (
            {"moves": bad_moves(7), "play": a_seventh_move},
            r"kuhn: after J Q pass: moves\(\) offers \[0, 7\], yet actions=2 allows 0 to 1 only, each once",
        ),
        ({"moves": bad_moves(0)}, r"kuhn: after J Q pass: moves\(\) offers \[0, 0\], yet actions=2 allows 0 to 1 only, each once"),
        ({"play": rare(lambda s, seen: seen.fill(-3))}, r"kuhn: after K J pass: play\(\) reports \[-3, -3\] as seen"),
        ({"play": at_the_end(lambda s, seen: seen.fill(-3))}, r"kuhn: after J Q pass pass: play\(\) reports \[-3, -3\] as seen"),
        ({"depth": 4}, r"kuhn: after J Q pass bet: the game goes on after 4 moves, yet declares depth=4"),
        ({"turn": lambda s: 7 if s.acted == 2 else s.turn}, r"kuhn: after J Q pass pass: turn\(\) returns 7; it must be 0, 1, CHANCE"),
        (
            {"moves": lambda s, out: 0 if s.acted == 2 else kuhn.rules.moves(s, out)},
            r"kuhn: after J Q pass bet: player 0 is to move, yet moves\(\) offers nothing",
        ),
    ],
)
def test_a_tree_is_checked_whatever_the_probe_has_met(change: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # the same loops in plain Python, without waiting for the compiler
    with pytest.raises(BadRules, match=said):
        grow(tried(spoil(kuhn, **change)))


def test_a_probe_looks_at_glances_and_encodings() -> None:
    with pytest.raises(BadRules, match="after J Q: the glance 'own' is -1; it must be at least 0 and below"):
        probe(spoil(kuhn, glances={"own": Glance(lambda s, player: -1)}))
    leduc = game("leduc")
    wide = leduc.encodings["perfect"]._replace(size=1)
    with pytest.raises(BadRules, match="the encoding 'perfect' fails: IndexError"):
        probe(spoil(leduc, encodings={"perfect": wide}))


def test_a_probe_is_made_once_a_game_and_only_where_something_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = spoil(kuhn, score=lambda s: np.nan)
    assert bad.start().play("K J bet pass").over  # people may look at a broken game
    with pytest.raises(BadRules, match="score"):
        measure(bad, 1000)
    probes: list[Any] = []
    monkeypatch.setattr("nebel.core.probe.probe", probes.append)
    good = spoil(kuhn)
    good.blank(1)
    good.blank(1)
    assert probes == [good]


def test_zero_is_a_probability() -> None:
    """An outcome that cannot happen is a finding of the suite; solvers do not mind."""

    def odds(s: Any, out: Any) -> None:
        out[:] = 0.0
        out[0] = 1.0

    certain = spoil(kuhn, odds=odds)
    probe(certain)
    assert any("each must be positive" in finding for finding in conform(certain, steps=10).findings)


def test_errors_of_rules_are_told_with_the_moves_that_lead_there() -> None:
    def play(s: Any, move: int, seen: Any) -> None:
        kuhn.rules.play(s, move, seen)
        if s.acted == 2:
            raise ZeroDivisionError("no such thing")

    def view(s: Any, player: int | None) -> str:
        return str(1 // 0)

    state = tried(spoil(kuhn, play=play, view=view)).start().play("K J pass")
    with pytest.raises(FailedRule, match=r"kuhn: after K J pass: play\(\) fails: ZeroDivisionError: no such thing \(test_probe.py, line"):
        state.push("bet")
    with pytest.raises(FailedRule, match=r"kuhn: after K J pass: view\(\) fails: ZeroDivisionError"):
        state.view(0)
    with pytest.raises(FailedRule, match=r"kuhn: after [JQK] [JQK] .*: play\(\) fails: ZeroDivisionError"):
        _ = tried(spoil(kuhn, play=play)).fingerprint


def test_a_compiled_rule_that_raises_is_told() -> None:
    @rule
    def score(s: Any) -> float:
        if s.card[0] == 2:
            raise ValueError("no king here")
        return 1.0

    bad = tried(spoil(kuhn, score=score))
    for _ in range(2):  # when it is compiled, and after that
        with pytest.raises(FailedRule, match=r"the rule score fails: ValueError: no king here \(test_probe.py, line \d+\)"):
            grow(bad)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"turn": lambda s: 7 if s.acted == 2 else s.turn}, r"turn\(\) returns 7; it must be 0, 1, CHANCE"),
        ({"score": lambda s: np.nan if s.card[0] == 2 else 1.0}, r"score\(\) is nan; it must be a finite number"),
        ({"moves": many_moves, "width": 3}, r"moves\(\) fails: IndexError"),
    ],
)
def test_a_match_is_checked_whatever_the_probe_has_met(change: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    with pytest.raises(BadRules, match=rf"^kuhn: after .*: {said}"):
        play_deals(tried(spoil(kuhn, **change)), (read("uniform"), read("uniform")), 50, 1)


class Waiting:
    """Player 0 waits, or, if `leave`, may also end it."""

    applied = 0

    def __init__(self, leave: bool = False) -> None:
        self.leave = leave

    def start(self) -> tuple[str, ...]:
        return ()

    def turn(self, state: tuple[str, ...]) -> int:
        return END if "leave" in state else 0

    def legal(self, state: tuple[str, ...]) -> list[str]:
        return ["wait", "stay", "leave"] if self.leave else ["wait", "stay"]

    def apply(self, state: tuple[str, ...], move: str) -> tuple[str, ...]:
        Waiting.applied += 1
        return (*state, move)[-3:]

    def observe(self, before: Any, move: str, after: Any, player: int) -> str:
        return move

    def score(self, state: tuple[str, ...]) -> float:
        return 0.0


def test_a_plain_game_that_never_ends_is_told() -> None:
    endless = PlainGame(Waiting(), "waiting")
    for way in (lambda: play_pair(endless, read("uniform"), read("random"), 2, 1), lambda: size_up(endless, "cfr+", "perfect", 4.0)):
        with pytest.raises(BadRules, match=r"waiting: after wait .* the game goes on after 5,000 moves; a game must end") as caught:
            way()
        assert len(str(caught.value)) < 400
    with pytest.raises(BadRules, match="the game goes on after 5,000 moves; a game must end"):
        endless.start().play(["wait"] * 5_001)
    assert any("a game must end" in finding for finding in conform(endless, steps=300).findings)


def test_a_plain_game_that_ends_in_random_play_only_is_told() -> None:
    leaving = PlainGame(Waiting(leave=True), "waiting")
    for count in (measure, lambda game, limit: size_up(game, "outcome-sampling", "perfect", 4.0)):
        with pytest.raises(BadRules, match="waiting: the game goes on after 5,000 moves; a game must end"):
            count(leaving, 10**9)


def test_random_play_must_end_in_games_that_declare_great_depth() -> None:
    @rule
    def start(s: Any) -> None:
        s.over = 0

    @rule
    def turn(s: Any) -> int:
        return END if s.over else 0

    @rule
    def moves(s: Any, out: Any) -> int:
        out[0] = 0
        return 1

    @rule
    def play(s: Any, move: int, seen: Any) -> None:
        s.over = 0

    @rule
    def score(s: Any) -> float:
        return 0.0

    deep = Game(record(over=int64), Rules(start, turn, moves, play, score), actions=1, depth=100_000, string="deep")
    with pytest.raises(BadRules, match="random play has not ended after 10,000 moves; a game must end"):
        measure(deep, 1000)


class Large(Waiting):
    """A plain game of 3**30 histories."""

    def turn(self, state: Any) -> int:
        return END if len(state) == 30 else len(state) % 2

    def apply(self, state: Any, move: str) -> Any:
        Waiting.applied += 1
        return (*state, move)

    def legal(self, state: Any) -> list[str]:
        return ["a", "b", "c"]


@pytest.mark.parametrize("method", ["cfr+", "outcome-sampling"])
def test_a_plain_game_that_is_too_large_is_refused_early_and_gets_no_advice_that_is_refused(method: str) -> None:
    Waiting.applied = 0
    with pytest.raises(TooLarge, match=r"written in plain Python and has about .* more than the 3,000,000 .* write it in rules") as caught:
        size_up(PlainGame(Large()), method, "perfect", 4.0)
    assert "outcome-sampling" not in str(caught.value)
    assert Waiting.applied < 200_000


def test_a_game_beyond_all_memory_is_said_to_be_so_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nebel.solve.size.measure", lambda game, limit: Size(1, 9, 10, 302, False))  # spares the compiler Geister
    with pytest.raises(TooLarge, match=r"geister: more than 10\^100 histories, more than any memory holds; take --with outcome-sampling"):
        size_up(game("geister"), "dcfr+", "perfect", 4.0)


def test_chance_needs_its_rule() -> None:
    with pytest.raises(BadRules, match="at the start: chance is to move, yet the game has no rule odds"):
        probe(spoil(kuhn, odds=Rules._field_defaults["odds"]))
    assert kuhn.start().turn == CHANCE


@pytest.mark.parametrize("part", ["play", "score"])
def test_a_rule_that_leaves_an_array_in_one_history_of_two_million_is_refused(part: str) -> None:
    """Random play does not come there; counting does, with bounds checks."""

    @rule
    def start(s: Any) -> None:
        s.ply = s.high = 0
        s.seen[:] = 0

    @rule
    def turn(s: Any) -> int:
        return END if s.ply == 7 else s.ply % 2

    @rule
    def moves(s: Any, out: Any) -> int:
        for i in range(8):
            out[i] = i
        return 8

    @rule
    def play(s: Any, move: int, seen: Any) -> None:
        s.ply += 1
        s.high += move
        if part == "play":
            s.seen[s.high // 49] = 1

    @rule
    def score(s: Any) -> float:
        return float(s.seen[s.high // 49])

    state = record(ply=int64, high=int64, seen=(int64, 1))
    rare = Game(state, Rules(start, turn, moves, play, score), actions=8, depth=7, string="rare")
    with pytest.raises(FailedRule, match=rf"rare: after 7 7 7 7 7 7( 7)?: {part}\(\) fails: IndexError: .* \(test_probe.py, line \d+\)"):
        measure(rare, 10**8)
