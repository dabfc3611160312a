"""Strategies in notation: what is read, what is refused and where, and what they mean."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from nebel.cli import main
from nebel.core.tree import grow
from nebel.judge.best_response import Judge, Verdict
from nebel.judge.exact import judge
from nebel.judge.guarantee import guarantee
from nebel.policy.notation import parse, parse_expression
from nebel.policy.strategy import SHIPPED, Strategy, follow, read_strategy, shipped
from nebel.policy.syntax import (
    BadStrategy,
    Either,
    Mixture,
    Move,
    Name,
    Random,
    Sequence,
    Try,
    Turned,
    expression_text,
    file_text,
)
from nebel.policy.table import TablePolicy

A1, A2, B1, B2 = (Move(cell) for cell in ("a1", "a2", "b1", "b2"))
PAPER = "{a1 (a2 ~ (!)): 0.3, b1 ({a2 | b2}): 0.7}"


def strategy(body: str, rows: int = 2, cols: int = 2, player: str = "black") -> Strategy:
    return follow(parse(f"rows: {rows}\ncols: {cols}\nplayer: {player}\n{body}\n"))


def verdict(policy: TablePolicy, made_from: Strategy) -> Verdict:
    tree = grow(made_from.game, policy.recall)
    return Judge(tree).verdict(policy.on_tree(tree).strategies)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a1", A1),
        ("((a1))", A1),
        ("a1, b1", Sequence((A1, B1))),
        ("a1 b1", Sequence((A1, B1))),
        ("a1 (b1, a2)", Sequence((A1, Sequence((B1, A2))))),
        ("a1 ~ (b1), a2", Sequence((Try(A1, B1), A2))),
        ("a1 ¬ (b1 ¬ (!))", Try(A1, Try(B1, Random()))),
        ("{a1, b1 a2}", Mixture((A1, Sequence((B1, A2))))),
        ("{a1: 0.3, b1: 7/10}", Mixture((A1, B1), (Fraction(3, 10), Fraction(7, 10)))),
        ("{a1 | b1}", Either((A1, B1))),
        ("{a1 | b1} ~ (!)", Try(Either((A1, B1)), Random())),
        ("T(alpha), x_0", Sequence((Turned(Name("alpha")), Name("x_0")))),
        ("a1, # a remark\n b1", Sequence((A1, B1))),
    ],
)
def test_each_construct_is_read_and_printed_back(text: str, tree: object) -> None:
    read = parse_expression(text)
    assert read == tree
    assert parse_expression(expression_text(read)) == read


def test_files_are_printed_back() -> None:
    for name in shipped():
        text = parse((SHIPPED / f"{name}.dhs").read_text())
        assert parse(file_text(text)) == text


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("play = a1 ~ b1", "line 4, column 13: '~' wants what to play after the collision, in parentheses"),
        ("play = a1 ~ (b1", "line 5, column 1: ')' is missing before the end of the text, to close the '(' of line 4, column 13"),
        ("play = a1 ~ (b1\nx = b2", "line 5, column 1: ')' is missing before 'x'"),
        ("play = a1)", "line 4, column 10: ')' after the end of 'play': no '(' is open"),
        ("play = {a1: 0.3, b1: 0.6}", "line 4, column 8: the probabilities sum to 0.9, not to 1; with 0.7 as the last one it would"),
        ("play = {a1: 0.3, b1}", "line 4, column 8: 1 of 2 alternatives have a probability"),
        ("play = {a1: , b1}", "line 4, column 13: a probability such as 0.3 or 1/3 is missing"),
        ("play = {a1: 3/2}", "line 4, column 13: 1.5 is no probability"),
        ("play = {a1: 1/0}", "line 4, column 15: a number above 0 is missing"),
        ("play = {a1 | b1, a2}", "line 4, column 16: ',' and '|' do not mix"),
        ("play = {a1: 0.5 | b1: 0.5}", "line 4, column 8: alternatives with '|' are equally likely"),
        ("play = a1, c1", "line 4, column 12: c1 is off the board of 2 rows and 2 columns; cells are a1 to b2"),
        ("play = a1, b3", "line 4, column 12: b3 is off the board"),
        ("play = alpa\nalpha = a1", "line 4, column 8: 'alpa' is not defined; did you mean alpha?"),
        ("play = x\nx = a1, y\ny = x", "line 6, column 5: 'x' is defined by itself (play -> x -> y -> x)"),
        ("play = a1\nplay = b1", "line 5, column 1: 'play' is defined twice"),
        ("x_1 = a1", "there is no definition of 'play'"),
        ("x1 = a1", "line 4, column 1: 'x1' is a cell and cannot be a definition's name; call it x_1"),
        ("play = T a1", "line 4, column 10: T turns the strategy in parentheses"),
        ("play = a1,", "a move, a name, '(', '{', '!' or '?' is missing before the end"),
        ("play = a1 + b1", "line 4, column 11: '+' has no meaning here"),
        ("b1 ~ (a1)", "line 4, column 1: a definition such as"),
    ],
)
def test_errors_say_where_and_what_would_be_right(body: str, message: str) -> None:
    with pytest.raises(BadStrategy) as caught:
        strategy(body)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rows: 2\nplay = a1", "the header lacks 'cols:'"),
        ("rows: 2.5\ncols: 2\nplayer: black\nplay = a1", "line 1, column 7: 'rows:' wants a whole number"),
        ("rows: 2\ncols: 2\nplayer: red\nplay = a1", "line 3, column 9: 'player:' is black or white, not 'red'"),
        ("rows: 2\nrows: 2\nplay = a1", "line 2, column 1: 'rows:' is said twice, first on line 1"),
        ("size: 2\nplay = a1", "line 1, column 1: no header line 'size:'"),
        ("rows: 2\ncols: 2\nplayer: black\nversion: abrupt\nplay = a1", "line 4, column 10: version 'abrupt' cannot be written"),
    ],
)
def test_headers(text: str, message: str) -> None:
    with pytest.raises(BadStrategy) as caught:
        parse(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(("rows", "cols", "counts"), [(2, 2, (17, 25)), (3, 2, (172, 238)), (1, 1, (1, 0))])
def test_random_play_comes_to_every_information_state(rows: int, cols: int, counts: tuple[int, int]) -> None:
    for player, count in zip(("black", "white"), counts, strict=True):
        found = strategy("play = !", rows, cols, player)
        assert len(found.answers) == count
        assert not found.gaps
        assert not found.disputed
    tree = grow(found.game, "board")
    assert tree.information_states() == list(counts)


def test_the_example_of_the_paper_wins_seven_times_in_ten() -> None:
    made = strategy(f"play = {PAPER}")
    assert not made.gaps
    for policy in (made.policy(), made.policy_with_memory()):
        assert verdict(policy, made).best_response[1] == pytest.approx(1 - 2 * 0.7)
    state = made.game.start()
    assert made.policy().probabilities(state) == pytest.approx({0: 0.3, 1: 0.7, 2: 0, 3: 0})


@pytest.mark.parametrize(
    "body",
    [
        "play = b1, {a2 | b2}",
        "play = b1, a2 ~ (b2)",
        "play = b1, (a2) ~ (b2)",
        "play = T(a2, b1 ~ (a1))",
        "play = {x, T(x)}\nx = b1, a2 ~ (b2)",
        "play = b1, a2, b2",  # a collision without an answer: what comes next
    ],
)
def test_sure_win_on_2x2(body: str) -> None:
    made = strategy(body)
    assert not made.gaps
    assert verdict(made.policy(), made).best_response[1] == -1


def test_sure_win_of_white_on_3x2() -> None:
    made = strategy("play = b1 ~ (a3, b3 ~ (b2)), a1 ~ (a2 ~ (a3, b2 ~ (b3)))", 3, 2, "white")
    assert not made.gaps
    assert not made.slips
    assert verdict(made.policy(), made).best_response[0] == -1


def test_collisions_go_to_the_nearest_answer_around_them() -> None:
    made = strategy("play = (a1, a2) ~ (b2, !)")
    assert not made.gaps
    hit = made.answers[1 << 0, 1 << 2]  # own a1, met a2
    assert [answer.shares for answer in hit] == [{3: Fraction(1)}]


def test_known_cells_are_not_tried_again() -> None:
    made = strategy("play = a1 ~ (!), a1, b1 ~ (!), !", 2, 2, "white")
    assert not made.gaps
    assert verdict(made.policy(), made).best_response[0] == 1


def test_gaps_are_found_with_the_way_to_them() -> None:
    made = strategy("play = a1, a2")
    assert [(made.board_name(g.own, g.met), made.path_text(g.path), g.reason) for g in made.gaps] == [
        ("x./o.", "a1 a2 taken", "nothing answers the collision")
    ]
    assert made.draw(1, 4).splitlines()[1:] == ["1 B .", " 2 W ."]
    with pytest.raises(BadStrategy, match=r"does not answer 1 information states that can be reached, such as x\./o"):
        made.policy()


def test_the_order_of_moves_is_noticed() -> None:
    """On 3x2 the board with a1 and b1 is reached in two orders that go on differently."""
    made = strategy("play = {a1 (b1, a2 ~ (!), !), b1 (a1, b2 ~ (!), !)}", 3, 2)
    assert not made.gaps
    assert [made.board_name(*board) for board in made.disputed] == ["xx/../.."]
    with pytest.raises(BadStrategy, match=r"order of moves counts at 1 boards, such as xx/\.\./\.\. \(after a1 b1 and b1 a1\)"):
        made.policy()
    ordered = made.policy_with_memory()
    state = made.game.start().play("b1 a2 a1 a3")
    assert ordered.probabilities(state)[3] == 1
    assert made.policy(blend=True).probabilities(state) == pytest.approx({2: 0.5, 3: 0.5, 4: 0, 5: 0})


def test_a_mixture_is_remembered_only_by_its_moves() -> None:
    """Both branches begin with a1: afterwards the player holds a mixture of what follows."""
    made = strategy("play = {a1 (a2 ~ (!)): 1/4, a1 (b2 ~ (!), !): 3/4}")
    assert made.policy().probabilities(made.game.start().play("a1 b1")) == pytest.approx({1: 0, 2: 0.25, 3: 0.75})


@pytest.mark.parametrize(("name", "states", "disputed"), [("s1", 15_595, 52), ("s2", 2_196, 22)])
def test_the_strategies_of_the_paper_are_complete(name: str, states: int, disputed: int) -> None:
    made = read_strategy(name)
    assert (len(made.answers), len(made.gaps), len(made.disputed)) == (states, 0, disputed)


@pytest.mark.parametrize(
    ("body", "rows", "player"),
    [
        (f"play = {PAPER}", 2, "black"),
        ("play = !", 2, "white"),
        ("play = {a2 (b1 ~ (b2), !): 1/3, b2 (a2, !): 2/3} ~ (!)", 3, "white"),
        ("play = {a1 (b1, a2 ~ (!), !), b1 (a1, b2 ~ (!), !)}", 3, "black"),
    ],
)
def test_guarantees_are_those_of_the_tree(body: str, rows: int, player: str) -> None:
    made = strategy(body, rows, 2, player)
    lost = verdict(made.policy_with_memory(), made).best_response[1 - made.player]
    assert guarantee(made).wins == pytest.approx((1 - lost) / 2, abs=1e-9)


def test_a_strategy_for_one_player_is_judged_by_beliefs_as_on_the_tree() -> None:
    made = strategy("play = {a1 (b1, a2 ~ (!), !), b1 (a1, b2 ~ (!), !)}", 3, 2)
    policy = made.policy_with_memory()
    found = judge(made.game, policy, limit=100)
    assert found.means == "beliefs"
    assert found.verdict.best_response == pytest.approx(verdict(policy, made).best_response, abs=1e-9)
    assert found.verdict.value == pytest.approx(verdict(policy, made).value, abs=1e-9)


def test_the_guarantee_of_s2_is_that_of_the_paper() -> None:
    """Section 3.4: 0.625 against the true best response."""
    assert guarantee(read_strategy("s2")).wins == pytest.approx(0.625, abs=1e-9)


def test_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "two.dhs"
    file.write_text(f"rows: 2\ncols: 2\nplayer: black\nplay = {PAPER}\n")
    out = str(tmp_path / "two.nebel")
    assert main(["strategy", str(file), "--check", "--guarantee", "--out", out, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["guarantee"] == pytest.approx(0.7)
    assert (told["player"], told["information_states"], told["complete"], told["policy"]) == (0, 6, True, out)
    assert main(["judge", out, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["best_response"][1] == pytest.approx(-0.4)
    assert main(["strategy", str(file), "--print"]) == 0
    assert parse(capsys.readouterr().out) == parse(file.read_text())
    file.write_text("rows: 2\ncols: 2\nplayer: black\nplay = a1, a2\n")
    assert main(["strategy", str(file), "--check"]) == 1
    assert "x./o. after a1 a2 taken: nothing answers the collision" in capsys.readouterr().out
    assert main(["strategy", str(file), "--out", out]) == 2
    file.write_text("rows: 3\ncols: 2\nplayer: black\nplay = {a1 (b1, a2 ~ (!), !), b1 (a1, b2 ~ (!), !)}\n")
    assert main(["strategy", str(file), "--out", out]) == 0
    assert "perfect recall" in capsys.readouterr().out  # the order of moves counts
    assert main(["strategy", str(file), "--recall", "board", "--out", out]) == 2
    assert main(["strategy", "nothing"]) == 2
    assert "there are s1, s2" in capsys.readouterr().err
