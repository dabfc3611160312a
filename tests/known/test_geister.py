"""Geister: the rules against a plain second version, random play, what is seen, opponents, beliefs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from geister_beliefs import beliefs_hold
from geister_random import FINE, play_at_random

import nebel
from nebel.core.errors import UnknownGame
from nebel.core.rng import generator
from nebel.core.state import State
from nebel.core.tree import Tree
from nebel.games.geister import ESCAPED, LOST_BLUES, LOST_REDS
from nebel.games.geister_board import Board
from nebel.geister.belief import believe
from nebel.match.agents import read
from nebel.match.arena import Arena, Terms
from nebel.policy.table import OnTree, Policy

VARIANTS = [
    "x2y3g2b0", "x2y4g2b0", "x4y2g2b1", "x3y3g2b0", "x3y3g3Rb0", "x3y3g3Bb0", "x4y3g2b1", "x4y3g4b0", "x4y4g2b1", "x4y4g4b0",
    "x4y4g4b1", "x6y6g8b1",
]  # fmt: skip


class Plain:
    """The rules once more, with ghosts as (x, y, owner, red) on an absolute board, as a rule book tells them."""

    def __init__(self, rows: tuple[str, ...], height: int, reds: tuple[str, str], assist: bool) -> None:
        """`rows`: ghosts A, B, C ... of each player, the front row first."""
        self.width, self.height, self.winner, self.mover, self.assist = len(rows[0]), height, None, 0, assist
        self.ghosts: dict[tuple[int, int], tuple[int, bool]] = {}
        for y, row in enumerate(reversed(rows)):
            for x, letter in enumerate(row):
                if letter != ".":
                    self.ghosts[x, y] = 0, letter in reds[0]
                    self.ghosts[self.width - 1 - x, height - 1 - y] = 1, letter in reds[1]

    def moves(self) -> list[tuple[tuple[int, int], tuple[int, int] | None]]:
        found: list[tuple[tuple[int, int], tuple[int, int] | None]] = []
        back = self.height - 1 if self.mover == 0 else 0
        for (x, y), (owner, red) in self.ghosts.items():
            if owner != self.mover:
                continue
            if not red and y == back and x in (0, self.width - 1):
                found.append(((x, y), None))
            for dx, dy in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                to = x + dx, y + dy
                if 0 <= to[0] < self.width and 0 <= to[1] < self.height and self.ghosts.get(to, (-1, False))[0] != self.mover:
                    found.append(((x, y), to))
        leaving = [move for move in found if move[1] is None]
        return leaving if self.assist and leaving else found

    def after(self, move: tuple[tuple[int, int], tuple[int, int] | None]) -> Plain:
        new = object.__new__(Plain)
        new.width, new.height, new.winner, new.mover, new.assist = self.width, self.height, None, 1 - self.mover, self.assist
        new.ghosts = dict(self.ghosts)
        start, to = move
        piece = new.ghosts.pop(start)
        if to is None:
            new.winner = self.mover
            return new
        taken = new.ghosts.get(to)
        new.ghosts[to] = piece
        if taken:
            left = [red for owner, red in new.ghosts.values() if owner == 1 - self.mover]
            if taken[1] and not any(left):
                new.winner = 1 - self.mover
            if not taken[1] and all(left):
                new.winner = self.mover
        return new


def plain_perft(position: Plain, depth: int) -> int:
    if position.winner is not None or depth == 0:
        return 1
    return sum(plain_perft(position.after(move), depth - 1) for move in position.moves())


def perft(state: State, depth: int) -> int:
    if state.over or depth == 0:
        return 1
    total = 0
    for option in state.options():
        state.push(option)
        total += perft(state, depth - 1)
        state.undo()
    return total


@pytest.mark.parametrize(
    ("string", "rows", "height", "reds", "depth"),
    [
        ("x2y3g2b0", ("AB",), 3, 1, 7), ("x3y3g3Rb0", ("ABC",), 3, 2, 4), ("x3y3g3Bb0", ("ABC",), 3, 1, 4),
        ("x4y3g4b0", ("ABCD",), 3, 2, 3), ("x4y4g4b1", (".AB.", ".CD."), 4, 2, 3), ("x4y2g2b1", (".AB.",), 2, 1, 5),
        ("x5y4g3Rb1", (".ABC.",), 4, 2, 3), ("x3y3g2b0", ("A.B",), 3, 1, 5),
        ("x4y2g2b1(assist=true)", (".AB.",), 2, 1, 6), ("x3y3g3Bb0(setup=chosen)", ("ABC",), 3, 1, 4),
    ],
)  # fmt: skip
def test_as_many_histories_as_in_a_plain_second_version(string: str, rows: tuple[str, ...], height: int, reds: int, depth: int) -> None:
    game = nebel.game(f"geister:{string}")
    colourings = ["".join(some) for some in combinations(sorted("".join(rows).replace(".", "")), reds)]
    for mine in (colourings[0], colourings[len(colourings) // 2]):
        for theirs in (colourings[0], colourings[-1]):
            position = Plain(rows, height, (mine, theirs), "assist" in string)
            assert perft(game.start().push(mine).push(theirs), depth) == plain_perft(position, depth)


def test_variants_begin_as_in_the_paper() -> None:
    games = {name: nebel.game(f"geister:{name}") for name in VARIANTS}
    rows = {name: game.start().view("truth") or "" for name, game in games.items()}
    assert "3 ? . ?" in rows["x3y3g2b0"]
    assert "1 ? . ?" in rows["x3y3g2b0"]
    assert rows["x6y6g8b1"] == nebel.game("geister").start().view("truth")
    assert rows["x4y4g4b1"].splitlines()[1:5] == ["4 . ? ? .", "3 . ? ? .", "2 . ? ? .", "1 . ? ? ."]
    assert games["x3y3g3Rb0"].options["reds"] == 2
    assert games["x3y3g3Bb0"].options["reds"] == 1
    assert games["x4y3g4b0"].start().push("AB").push("CD").view(0) == (
        "  a b c d\n3 ? ? ? ?\n2 . . . .\n1 R R B B\nplayer 0 took 0 blue, 0 red\nplayer 1 took 0 blue, 0 red"
    )


def test_endings_by_hand() -> None:
    game = nebel.game("geister:x2y3g2b0")
    # player 0: A (a1) red, B (b1) blue; player 1: A red, B blue; player 1's A stands on b3 as player 0 counts, its B on a3
    escape = game.start().push("A").push("A")
    for move in ("b1-b2", "b1-b2", "b2-b3"):
        escape.push(move)
    assert escape.position[0].how == LOST_REDS  # b3 was player 1's last red ghost: player 1 wins
    assert escape.score() == -1.0
    catch = game.start().push("A").push("A")
    for move in ("a1-a2", "a1-a2", "a2-a3"):
        catch.push(move)
    assert catch.position[0].how == LOST_BLUES
    assert catch.score() == 1.0
    wide = nebel.game("geister(width=4,height=2,ghosts=2,buffer=1)").start().push("A").push("A")
    for move in ("c1-d1", "c1-d1", "d1-d2", "d1-c1", "d2-out"):
        wide.push(move)
    assert wide.position[0].how == ESCAPED
    assert wide.score() == 1.0


def test_both_exits_are_one_move_and_only_for_blue() -> None:
    board = "geister(width=4,height=2,ghosts=2,buffer=1)"
    blue = nebel.game(board).start().push("A").push("A")
    for move in ("c1-d1", "c1-d1", "d1-d2", "d1-c1"):
        blue.push(move)
    assert [move for move in blue.legal() if move.startswith("d2")] == ["d2-out", "d2-d1", "d2-c2"]
    red = nebel.game(board).start().push("B").push("A")
    for move in ("c1-d1", "c1-d1", "d1-d2", "d1-c1"):
        red.push(move)
    assert [move for move in red.legal() if move.startswith("d2")] == ["d2-d1", "d2-c2"]
    helped = nebel.game(board.replace(")", ",assist=true)")).start().push("A").push("A")
    for move in ("c1-d1", "c1-d1", "d1-d2", "d1-c1"):
        helped.push(move)
    assert helped.legal() == ["d2-out"]


def test_the_limit_draws_and_a_win_on_the_last_ply_counts() -> None:
    drawn = nebel.game("geister(limit=4)").start().push("ABCD").push("ABCD")
    for move in ("b2-b3", "b2-b3", "b3-b2", "b3-b2"):
        drawn.push(move)
    assert drawn.score() == 0.0
    won = nebel.game("geister(width=4,height=2,ghosts=2,buffer=1,limit=5)").start().push("A").push("A")
    for move in ("c1-d1", "c1-d1", "d1-d2", "d1-c1", "d2-out"):
        won.push(move)
    assert won.score() == 1.0


def test_chosen_set_up_is_a_secret_decision() -> None:
    game = nebel.game("geister:x4y3g4b0(setup=chosen)")
    one, two = game.start().push("AB"), game.start().push("CD")
    assert one.turn == 1
    assert one.key(1) == two.key(1)
    assert one.view(1) == two.view(1)
    assert one.push("AC").push("a1-a2").information(0) == "AB a1-a2"


@pytest.mark.parametrize("string", ["geister:x3y3g3Rb0(limit=40)", "geister:x8y8g8b1"])
def test_random_games_keep_to_rules_written_twice(string: str) -> None:
    assert play_at_random(string, 500, 2).wrong == FINE


def test_random_play_is_as_measured() -> None:
    """Of players who escape when they can: draws about 2 %, 35 % of games by an escape, 77.5 % longer than 100 plies, median 143."""
    found = play_at_random("geister(assist=true)", 4000, 3)
    assert found.wrong == FINE
    share = found.how / 4000
    assert 0.31 < share[ESCAPED] < 0.38
    assert 0.008 < share[0] < 0.03
    assert abs(found.wins[0] - found.wins[1]) / 4000 < 0.06
    assert 0.76 < np.mean(found.plies > 100) < 0.81
    assert 137 < np.median(found.plies) < 151


def test_opponents_are_as_strong_as_measured() -> None:
    random_set_up, chosen = Arena(nebel.game("geister")), Arena(nebel.game("geister(setup=chosen)"))
    first = random_set_up.play(read("purple:1"), read("random-escape"), Terms(2000, 1))
    assert 0.77 <= first.wins / 2000 <= 0.83
    rushed = chosen.play(read("rush"), read("purple:2"), Terms(400, 1))
    assert 0.50 <= rushed.wins / 400 <= 0.70


def test_purple_looks_no_further_than_told_and_keeps_to_the_clock() -> None:
    state = nebel.game("geister").start().push("ABCD").push("ABCD")
    rng = generator(1)
    one = read("purple:50ms")
    one.join(state.game)
    assert one.choose(state, rng) in state.options()
    refused = {"purple:0": "at least 1", "purple:99": "plies ahead", "rush:3": "does not look ahead", "rush:1s": "neither depth nor time"}
    for text, said in refused.items():
        with pytest.raises(ValueError, match=said):
            read(text).join(state.game)


@pytest.mark.parametrize("escapes", [False, True])
def test_the_true_colours_are_always_possible(escapes: bool) -> None:
    assert beliefs_hold(range(8), 5, escapes) > 300


def test_a_policy_tells_colours_apart() -> None:
    """Of a player who moves red ghosts only, what moves is red."""

    class RedMoves(Policy):
        recall = "board"

        def on_tree(self, tree: Tree) -> OnTree:
            raise NotImplementedError

        def probabilities(self, state: State) -> dict[int, float]:
            s = state.position[0]
            options = state.options()
            red = [option for option in options if int(s.reds[state.turn]) >> option // 4 & 1]
            return {option: (option in red) / len(red) if red else 1 / len(options) for option in options}

    state = nebel.game("geister:x4y3g4b0").start().push("AB").push("CD")
    for move in ("a1-a2", "d1-d2"):
        state.push(move)
    belief = believe(state, 0, policy=RedMoves())
    chance = {ghost.letter: ghost.red for ghost in belief.ghosts}
    assert chance["D"] > 0.98
    assert chance["A"] == pytest.approx(1 / 3, abs=0.02)


def test_impossible_boards_are_refused() -> None:
    boards = ("(width=1)", ":x9y8g8b1", "(ghosts=20)", "(reds=0)", "(reds=8)", "(buffer=3)", ":x4y3g3b0", ":x4y3", ":")
    for wrong in (*boards, "(limit=0)", "(setup=no)"):
        with pytest.raises(UnknownGame):
            nebel.game(f"geister{wrong}")


def test_colourings_are_all_there_once() -> None:
    board = Board(6, 6, 8, 4, 1)
    assert len(set(board.colourings)) == 70
    assert {board.letters(i) for i in range(70)} == {"".join(four) for four in combinations("ABCDEFGH", 4)}
    assert [board.cell_name(cell) for cell in board.homes] == ["b2", "c2", "d2", "e2", "b1", "c1", "d1", "e1"]
