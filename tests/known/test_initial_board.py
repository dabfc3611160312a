"""Strategies from an initial board: which boards there are, what the strategies guarantee, and what their policies know."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from nebel.core.errors import BadFile, TooLarge, UnknownInformationState
from nebel.core.game import END, BaseGame
from nebel.core.registry import load
from nebel.core.state import State
from nebel.judge.exact import judge
from nebel.judge.guarantee import guarantee
from nebel.judge.unfinished import guarantee_so_far
from nebel.policy.builder import Builder
from nebel.policy.initial_board import BadBoard, BoardRules, InitialBoard
from nebel.policy.notation import parse
from nebel.policy.reading import read_answers
from nebel.policy.states import Seen
from nebel.policy.strategy import follow
from nebel.policy.syntax import BadStrategy, file_text

ABRUPT = "dark_hex(rows=2,cols=2,abrupt=true)"
GAMES = ["dark_hex:2x2", "dark_hex:1x3", "dark_hex:3x2", ABRUPT, "dark_hex(rows=2,cols=3,abrupt=true)"]


@cache
def reached(string: str, player: int) -> dict[InitialBoard, dict[tuple[int, int], Any]]:
    """Every initial board by playing all games, and by what the opponent then knows (its stones and discoveries) a position."""
    game, seen = load(string), set()
    found: dict[InitialBoard, dict[tuple[int, int], Any]] = defaultdict(dict)
    todo = [game.begin()]
    while todo:
        position = todo.pop()
        stones, met = ([int(x) for x in field] for field in (position[0].stones, position[0].met))
        turn, key = game.turn_at(position), position.tobytes()
        if key in seen or turn == END:
            continue
        seen.add(key)
        hidden = (stones[1 - player] & ~met[player]).bit_count()
        found[InitialBoard(stones[player], met[player], hidden, turn != player)][stones[1 - player], met[1 - player]] = position
        todo += [game.after(position, move)[0] for move in game.options_at(position)]
    return found


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("string", GAMES)
def test_a_board_is_read_exactly_if_a_game_comes_to_it(string: str, player: int) -> None:
    game = load(string)
    rules = BoardRules(game.options["rows"], game.options["cols"], player, game.options["abrupt"])
    accepted = set()
    for board in boards(rules):
        accepted.add(board)
        assert rules.read(rules.text(board)) == board
        ways = set(reached(string, player)[board])
        theirs = list(rules.opponents(board))
        assert len(set(theirs)) == len(theirs)
        assert ({*theirs} == ways) if rules.abrupt else ({own for own, _ in theirs} == {own for own, _ in ways})
    assert accepted == set(reached(string, player))


def boards(rules: BoardRules) -> Iterator[InitialBoard]:
    """All boards that are accepted."""
    cells = rules.rows * rules.cols
    for marks in itertools.product(".xo", repeat=cells):
        rows = "/".join("".join(marks[i : i + rules.cols]) for i in range(0, cells, rules.cols))
        for hidden, turn in itertools.product(range(cells + 1), ("black", "white")):
            try:
                yield rules.read(f"{rows} hidden {hidden} turn {turn}")
            except BadBoard:
                continue


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(("string", "every"), [("dark_hex:2x2", 1), (ABRUPT, 2), ("dark_hex:3x2", 29)])
def test_what_is_asked_for_is_what_can_occur_after_the_board(string: str, every: int, player: int) -> None:
    game = load(string)
    rules = BoardRules(game.options["rows"], game.options["cols"], player, game.options["abrupt"])
    for board in sorted(reached(string, player))[::every]:
        hidden: dict[Seen, set[int]] = defaultdict(set)
        seen, todo = set(), list(reached(string, player)[board].values())
        while todo:
            position = todo.pop()
            if position.tobytes() in seen or game.turn_at(position) == END:
                continue
            seen.add(position.tobytes())
            if game.turn_at(position) == player:
                own, met = int(position[0].stones[player]), int(position[0].met[player])
                hidden[Seen(own, met)].add((int(position[0].stones[1 - player]) & ~met).bit_count())
            todo += [game.after(position, move)[0] for move in game.options_at(position)]
        builder = Builder(string, player, board=rules.text(board))
        builder.complete()
        assert {state for state, _ in builder.all_states()} == hidden.keys(), rules.text(board)
        assert {state: builder.states.hidden(state) for state in hidden} == {state: (min(n), max(n)) for state, n in hidden.items()}


def most_wins(game: BaseGame, builder: Builder, worlds: list[tuple[Any, Seen, float]]) -> float:
    """What a responder to the strategy wins at most, trying everything by the rules: no table, no bound."""
    me, won = 1 - builder.states.player, 0.0
    waiting: list[tuple[Any, Seen, float]] = []
    todo = list(worlds)
    while todo:
        position, state, weight = todo.pop()
        if game.turn_at(position) == END:
            won += weight * (game.score_at(position) == (1.0, -1.0)[me])
        elif game.turn_at(position) == me:
            waiting.append((position, state, weight))
        else:
            for cell, share in (builder.plays(state) or {}).items():
                then, seen = game.after(position, cell)
                todo.append((then, builder.states.step(state, cell, bool(seen[1 - me])), weight * float(share)))
    if not waiting:
        return won
    top = 0.0
    for cell in game.options_at(waiting[0][0]):
        by_sight: dict[int, list[tuple[Any, Seen, float]]] = defaultdict(list)
        for position, state, weight in waiting:
            then, seen = game.after(position, cell)
            by_sight[seen[me]].append((then, state, weight))
        top = max(top, sum(most_wins(game, builder, group) for group in by_sight.values()))
    return won + top


@pytest.mark.parametrize("recall", ["board", "perfect"])
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(("string", "every"), [("dark_hex:2x2", 3), (ABRUPT, 5), ("dark_hex:3x2", 47), ("dark_hex:2x3", 59)])
def test_the_guarantee_is_that_of_the_worst_opponent_on_the_board(string: str, every: int, player: int, recall: str) -> None:
    game, found = load(string), reached(string, player)
    stones = (lambda board: (board.own | board.met).bit_count() + board.hidden) if game.actions > 4 else (lambda board: 2)
    some = [board for board in sorted(found) if stones(board) > 1][player::every]
    for number, board in enumerate(some):
        text = BoardRules(game.options["rows"], game.options["cols"], player, game.options["abrupt"]).text(board)
        builder = Builder(string, player, recall, board=text)
        builder.complete(seed=number if number % 3 else None)
        start = builder.states.start
        wins = 1 - max(most_wins(game, builder, [(position, start, 1.0)]) for position in found[board].values())
        assert guarantee_so_far(builder).wins == pytest.approx(wins, abs=1e-9), text
        if not builder.states.abrupt:
            made = follow(parse(builder.to_notation()))
            assert guarantee(made).wins == pytest.approx(wins, abs=1e-9), text
            assert not made.gaps
        assert Builder.from_json(json.loads(json.dumps(builder.to_json()))).to_json() == builder.to_json()


@pytest.mark.parametrize("recall", ["board", "perfect"])
@pytest.mark.parametrize(
    ("string", "player", "text"),
    [
        ("dark_hex:2x2", 0, "x./.. hidden 1"),
        ("dark_hex:2x2", 0, "x./.. turn white"),
        ("dark_hex:2x2", 1, "x./.. hidden 2"),
        ("dark_hex:2x2", 1, "x./.. turn black"),
        (ABRUPT, 1, "x./o. hidden 1"),
    ],
)
def test_a_policy_answers_from_the_board_on_however_the_game_came_there(string: str, player: int, text: str, recall: str) -> None:
    builder = Builder(string, player, recall, board=text)
    builder.complete(seed=3)
    policy, board = builder.to_policy(), builder.states.initial
    answered = set()

    def visit(state: State, since: Seen | None) -> None:
        if state.over:
            return
        position = state.position[0]
        hidden = (int(position.stones[1 - player]) & ~int(position.met[player])).bit_count()
        if InitialBoard(int(position.stones[player]), int(position.met[player]), hidden, state.turn != player) == board:
            since = builder.states.start
        moves, mine = state.options(), state.turn == player
        if mine and since is not None:
            shares = builder.plays(since) or {}
            assert policy.probabilities(state) == dict.fromkeys(moves, 0.0) | {cell: float(share) for cell, share in shares.items()}
            answered.add(state.key(player, recall))
            moves = list(shares)
        for move in moves:
            state.push(move)
            visit(state, builder.states.step(since, move, bool(state.steps[-1].seen[player])) if mine and since is not None else since)
            state.undo()

    visit(load(string).start(), None)
    assert answered == set(policy.shares[player].keys.tolist())
    assert policy.facts["board"] == builder.states.initial_text
    with pytest.raises(UnknownInformationState):
        judge(load(string), policy)
    filled = builder.to_policy(before="uniform")
    assert judge(load(string), filled).wins is not None


def test_notation_carries_the_board() -> None:
    text = "rows: 3\ncols: 2\nplayer: black\nboard: x./.o/.. hidden 0\n\nplay = a2 ~ (!), !\n"
    parsed = parse(text)
    assert file_text(parsed) == text
    assert parse(text.replace(" hidden 0", "  # as it is")) == parsed
    assert parse("rows: 3 cols: 2 player: black board: x./.o/.. play = a2 ~ (!), !") == parsed
    strategy = follow(parsed)
    assert not strategy.gaps
    assert min(strategy.answers) == (0b000001, 0b001000)
    assert parse(text.replace("x./.o/.. hidden 0", "../../.. hidden 0")).initial is None
    assert parse("rows: 2 cols: 2 player: black board = a1 play = {board: 1/2, b1: 1/2}").initial is None  # board may be a name
    assert parse("rows: 1 cols: 3 player: black board: ... hidden 0 play = b1").initial is None


@pytest.mark.parametrize(
    ("board", "message"),
    [
        ("x./.o", "line 4, column 8: x./.o is not a board of 3 rows of 2 cells"),
        ("x./.o/.. hidden 3", "line 4, column 8: x./.o/.. with Black to move hides 0 White stones, not 3"),
        ("oo/../..", "the game is over on oo/../..: White has joined both edges"),
        ("x./x./x.", "the game is over on x./x./x.: Black has joined both edges"),
        ("xx/../.. turn white turn black", "line 4, column 28: a definition such as"),
        ("xx/../.. turn green", "turn green is not understood"),
        ("../../.. turn white", "no game comes to ../../.. with White to move"),
        ("x./o./o.", "no game comes to x./o./o. with Black to move: 1 Black and 2 discovered White stones cannot be there then"),
        ("3", "a value is missing after 'board:', such as x./o. hidden 1"),
    ],
)
def test_impossible_boards_are_refused_where_they_stand(board: str, message: str) -> None:
    with pytest.raises(BadStrategy) as caught:
        parse(f"rows: 3\ncols: 2\nplayer: black\nboard: {board}\nplay = !\n")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_stones_that_have_no_place_are_refused() -> None:
    with pytest.raises(BadBoard, match=r"no game comes to xx/\.\./x\.: 3 hidden White stones have no room, or join both edges"):
        BoardRules(3, 2, 0).read("xx/../x.")
    with pytest.raises(BadBoard, match=r"x\./\.\. can hide 0 to 1 White stones; say how many: 'x\./\.\. hidden 1'"):
        BoardRules(2, 2, 0, abrupt=True).read("x./..")


def test_files_carry_the_board_and_are_refused_where_it_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    builder = Builder("dark_hex:3x2", 0, board="x./.o/..", isomorphic=True)
    builder.answer(builder.states.start, "b1")
    facts = builder.to_json()
    assert (facts["format"], facts["board"]) == (2, "x./.o/.. hidden 0")
    assert facts["steps"] == [{"x./.o/..": "b1"}]  # the turned board does not come after this one
    assert "board" not in Builder("dark_hex:3x2", 0, board="../../..").to_json()
    for change, message in [
        ({"board": "x./.o"}, "x./.o is not a board of 3 rows of 2 cells"),
        ({"board": "x./o./.. hidden 0"}, "x./.o/.. does not come after the initial board x./o./.. hidden 0"),
        ({"game": "dark_hex:2x2"}, "x./.o/.. is not a board of 2 rows of 2 cells"),
        ({"player": "white"}, "x./.o/.. with White to move hides 1 Black stones, not 0"),
        ({"format": 3}, "format 3; this version of nebel reads formats 1 and 2"),
    ]:
        with pytest.raises((BadFile, BadBoard, ValueError), match=message.replace(".", r"\.")):
            Builder.from_json(facts | change)
    with pytest.raises(BadStrategy, match=r"player: black, board: x\./\.o/\.\. hidden 0; the header says otherwise"):
        read_answers(parse("rows: 3 cols: 2 player: black play = !"), builder.states)
    monkeypatch.setattr("nebel.policy.states.MOST_WAYS", 10)
    with pytest.raises(TooLarge, match="more than 10 orders of moves lead to"):
        Builder("dark_hex:3x3", 0, "perfect", board="x.x/oox/...").states.keys(Seen(0, 0))


def test_isomorphic_states_after_the_board_are_answered_along() -> None:
    builder = Builder("dark_hex:3x2", 0, board="../xo/..", isomorphic=True)
    builder.answer(builder.states.start, "a1 b1")
    assert builder.answered().keys() == {builder.states.start}
    symmetric = Builder("dark_hex:3x3", 0, board=".../.x./... turn white", isomorphic=True)
    symmetric.answer(symmetric.states.start, "a1 c3")
    symmetric.answer(symmetric.states.read("x../.x./..."), "a2")
    assert symmetric.answered()[symmetric.states.read(".../.x./..x")] == {5: 1}
