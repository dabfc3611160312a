"""Strategies built answer by answer: what is asked, what is refused, what is undone, and that what is written plays the same."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nebel.core.errors import BadFile, BadSetting
from nebel.core.tree import grow
from nebel.judge.best_response import Judge
from nebel.judge.guarantee import guarantee
from nebel.judge.unfinished import guarantee_so_far
from nebel.policy.builder import ROAM, Builder
from nebel.policy.notation import parse
from nebel.policy.reading import read_answers
from nebel.policy.states import START, BadAnswer, Seen
from nebel.policy.strategy import Strategy, follow
from nebel.policy.syntax import BadStrategy

ABRUPT = "dark_hex(rows=3,cols=2,abrupt=true)"


def built(game: str, player: int, *answers: str, recall: str = "board", isomorphic: bool = False) -> Builder:
    """Answers in the order in which they are asked for; `!` completes, `!7` by seed 7."""
    builder = Builder(game, player, recall, isomorphic)
    for answer in answers:
        assert builder.current is not None
        if answer.startswith(ROAM):
            builder.complete(builder.current, int(answer[1:]) if answer[1:] else None)
        else:
            builder.answer(builder.current, answer)
    return builder


def paper() -> Builder:
    """Figure 3.4 of the thesis."""
    return built("dark_hex:2x2", 0, "a1:0.3 b1:0.7", "a2", "!", "a2 b2", "b2", "a2")


def names(builder: Builder) -> list[str]:
    return [builder.states.name(state) for state in builder.open_states()]


def by_tree(builder: Builder) -> float:
    """The guarantee as the judge of trees finds it."""
    policy, player = builder.to_policy(), builder.states.player
    tree = grow(builder.states.game, policy.recall)
    return (1 - Judge(tree).verdict(policy.on_tree(tree).strategies).best_response[1 - player]) / 2


def read_back(builder: Builder) -> Strategy:
    made = follow(parse(builder.to_notation()))
    assert not made.gaps
    assert not made.slips
    return made


def test_the_example_of_the_paper() -> None:
    builder = paper()
    assert builder.is_complete
    assert builder.current is None
    assert builder.to_notation().splitlines()[-1] == "play = {(a1, a2 ~ (!)): 0.3, (b1, {a2 ~ (b2), b2 ~ (a2)}): 0.7}"
    assert guarantee_so_far(builder).wins == pytest.approx(0.7, abs=1e-12)
    assert guarantee(read_back(builder)).wins == pytest.approx(0.7, abs=1e-12)


def test_one_branch_is_finished_before_the_next_begins() -> None:
    builder = built("dark_hex:2x2", 0, "a1 b1", "a2")
    assert names(builder) == ["x./o.", ".x/.."]
    assert builder.states.path_text(builder.way(builder.current or START)) == "a1 a2 taken"
    assert builder.states.hidden(builder.current or START) == (0, 0)


def test_a_sure_win_is_certain() -> None:
    assert guarantee_so_far(built("dark_hex:2x2", 0, "b1", "a2", "b2")).wins == 1
    white = built("dark_hex:3x2", 1, "b1", "a1", "a2", "a3", "b2", "b3", "a3", "b3", "b2")
    assert white.is_complete
    assert guarantee_so_far(white).wins == 1
    assert by_tree(white) == 1


def test_what_is_open_counts_as_lost() -> None:
    builder = built("dark_hex:2x2", 0)
    found = [guarantee_so_far(builder).wins]
    for answer in ("b1", "a2", "b2"):
        builder.answer(builder.current or START, answer)
        found.append(guarantee_so_far(builder).wins)
    assert found == [0, 0, 0, 1]
    half = built("dark_hex:2x2", 0, "a1 b1", "a2", "!", "a2", "b2")
    half.answer(START, "a1:1/4 b1:1/4 b2:1/2")
    assert not half.is_complete
    assert guarantee_so_far(half).wins == pytest.approx(1 / 4)


@pytest.mark.parametrize(
    ("game", "counts"),
    [("dark_hex:1x1", (1, 0)), ("dark_hex:2x2", (17, 25)), ("dark_hex:3x2", (172, 238)), (ABRUPT, (343, 293))],
)
def test_random_completion_comes_to_every_information_state(game: str, counts: tuple[int, int]) -> None:
    for player, count in enumerate(counts):
        builder = Builder(game, player)
        builder.complete()
        assert builder.is_complete
        assert len(list(builder.all_states())) == count
        if not builder.states.abrupt:
            assert builder.to_notation().endswith("play = !\n")
    if count:
        assert grow(builder.states.game, "board").information_states() == list(counts)


@pytest.mark.parametrize("recall", ["board", "perfect"])
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("answers", [("a1 a2 b3", "b1 b2", "!", "!3", "!4"), ("a2:1/3 b2:2/3", "!", "!1"), ("a1 b1 a2", "b2 a3", "!")])
def test_what_is_written_plays_the_same(recall: str, player: int, answers: tuple[str, ...]) -> None:
    builder = built("dark_hex:3x2", player, *answers, recall=recall)
    builder.complete(seed=7)
    made = read_back(builder)
    wanted = builder.to_policy()
    found = made.policy() if recall == "board" else made.policy_with_memory()
    assert dict(wanted.rows(player)) == dict(found.rows(player))
    if recall == "board":  # exactly, not only as floating point
        assert {(state.own, state.met): dict(sorted(shares.items())) for state, shares in builder.all_states()} == {
            board: given[0].shares for board, given in made.answers.items()
        }
    assert guarantee_so_far(builder).wins == pytest.approx(guarantee(made).wins, abs=1e-9)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("answers", [("a2 b2", "!2", "!"), ("a1:1/3 b2:2/3", "b1", "!", "!5")])
def test_guarantees_are_those_of_the_tree_in_the_abrupt_game(player: int, answers: tuple[str, ...]) -> None:
    builder = built(ABRUPT, player, *answers)
    builder.complete()
    assert guarantee_so_far(builder).wins == pytest.approx(by_tree(builder), abs=1e-9)


def test_roaming_keeps_to_boards_that_are_answered() -> None:
    """`!` after a1 can come to the board with a1 and b1, for which the other branch has an answer."""
    builder = built("dark_hex:3x2", 0, "a1 b1", "!", "a1 b2", "b2", "!", "!", "!", "!")
    builder.complete()
    both = Seen(0b11, 0)
    assert builder.plays(both) == {3: Fraction(1)}
    assert read_back(builder).answers[0b11, 0][0].shares == {3: Fraction(1)}
    assert read_back(builder).policy().probabilities(builder.states.game.start().play("a1 a2 b1 a3"))[3] == 1


def test_isomorphic_states_are_answered_along() -> None:
    builder = built("dark_hex:2x2", 0, "b1 a2", "b2", isomorphic=True)
    assert builder.answered()[Seen(0b0100, 0)] == {0: Fraction(1)}  # a2, then a1: b1, then b2 turned
    builder.answer(builder.current or START, "a2")
    assert builder.is_complete
    assert guarantee_so_far(builder).wins == 1
    builder.undo()
    assert names(builder) == [".x/.o", "o./x."]
    builder.isomorphic = False
    builder.answer(builder.current or START, "a2")
    assert not builder.is_complete


def test_orders_are_told_apart_with_perfect_recall_only() -> None:
    """Black comes to a1 and b1 in two orders."""
    ordered = Builder("dark_hex:3x2", 0, "perfect")
    for state, answer in {"-": "a1 b1", "a1": "b1", "b1": "a1", "a1 b1": "a2", "b1 a1": "b2"}.items():
        ordered.answer(ordered.states.read(state), answer)
    ordered.complete()
    assert [ordered.states.board(Seen(*board)) for board in read_back(ordered).disputed] == ["xx/../.."]
    board = Builder("dark_hex:3x2", 0)
    for state, answer in {"../../..": "a1 b1", "x./../..": "b1", ".x/../..": "a1"}.items():
        board.answer(board.states.read(state), answer)
    assert names(board) == ["xx/../..", "xo/../..", "ox/../.."]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("c1", "'c1' is not a cell of the board of 2 rows and 2 columns; cells are a1 to b2"),
        ("b1", "b1 holds a stone of your own; free are a1 b2"),
        ("a1 a2", "a2 holds a stone that you have discovered"),
        ("a1:0.5 b2:0.4", "the shares sum to 0.9, not to 1"),
        ("a1:-1 b2:2", "a1 has the share -1; shares are not negative"),
        ("a1:1/0", "'1/0' is no share of a1"),
        ("a1:nan b2:1", "'nan' is no share of a1"),
        ("a1:0.5 b2", "b2 has no share and others have"),
        ("a1 a1", "a1 is given twice"),
        ("", "the shares sum to 0"),
    ],
)
def test_bad_answers_are_refused_and_change_nothing(answer: str, message: str) -> None:
    builder = built("dark_hex:2x2", 0, "b1", "a2")
    before = builder.to_json()
    with pytest.raises(BadAnswer) as caught:
        builder.answer(builder.current or START, answer)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert builder.to_json() == before
    assert builder.current == Seen(0b0010, 0b0100)


def test_shares_are_exact() -> None:
    builder = built("dark_hex:2x2", 0, "a1: 1/3, b1: 1/3, b2: 1/3")
    assert builder.answered()[START] == dict.fromkeys((0, 1, 3), Fraction(1, 3))
    assert json.loads(json.dumps(builder.to_json()))["steps"] == [{"../..": "a1:1/3 b1:1/3 b2:1/3"}]
    assert built("dark_hex:2x2", 0, "a1:0 b1:1").answered()[START] == {1: Fraction(1)}


def test_states_can_be_chosen_skipped_found_and_changed() -> None:
    builder = built("dark_hex:2x2", 0, "a1 b1")
    builder.skip()
    assert names(builder) == [".x/..", "x./.."]
    builder.choose(Seen(0b0001, 0))
    assert builder.current == Seen(0b0001, 0)
    builder.answer(builder.current, "a2")
    assert builder.find("a2") == [Seen(0b0001, 0)]
    assert builder.find("../..") == [START]
    builder.choose(START)
    builder.answer(START, "b1")
    assert names(builder) == [".x/.."]
    with pytest.raises(BadAnswer, match=r"does not come to x\./\.\."):
        builder.choose(Seen(0b0001, 0))
    builder.undo()
    assert builder.current == START
    assert builder.answered()[START] == {0: Fraction(1, 2), 1: Fraction(1, 2)}
    assert not Builder("dark_hex:2x2", 0).undo()


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 1), st.sampled_from(["dark_hex:2x2", "dark_hex:3x2", ABRUPT]), st.booleans(), st.lists(st.integers(0, 999), max_size=12)
)
def test_undo_takes_back_exactly_one_step(player: int, game: str, isomorphic: bool, draws: list[int]) -> None:
    builder = Builder(game, player, isomorphic=isomorphic)
    seen = [(builder.to_json(), builder.open_states())]
    for draw in draws:
        if (state := builder.current) is None:
            break
        free = builder.states.free(state)
        if draw % 5:
            builder.answer(state, _shares(free, draw))
        else:
            builder.complete(state, draw if draw % 2 else None)
        seen.append((builder.to_json(), builder.open_states()))
        assert Builder.from_json(json.loads(json.dumps(builder.to_json()))).open_states() == builder.open_states()
    for facts, open_ in reversed(seen[:-1]):
        assert builder.undo()
        assert builder.to_json() == facts
        assert builder.open_states() == open_


def _shares(free: list[int], draw: int) -> dict[int, Fraction]:
    first, second = free[draw % len(free)], free[draw // 7 % len(free)]
    return {first: Fraction(1)} if first == second else {first: Fraction(1, 3), second: Fraction(2, 3)}


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "two.build.json"
    paper().save(file)
    assert Builder.load(file).to_notation() == paper().to_notation()
    assert list(tmp_path.iterdir()) == [file]
    for text, message in [
        ("{", "is not JSON"),
        ("[]", "not a strategy in the making"),
        (file.read_text().replace('"format": 1', '"format": 9'), "format 9"),
        (file.read_text().replace("a2:0.5", "a2:0.4"), "the shares sum to 0.9"),
        (file.read_text().replace('"player"', '"plaier"'), "damaged"),
    ]:
        file.write_text(text)
        with pytest.raises(BadFile, match=message) as caught:
            Builder.load(file)
        assert "two.build.json" in str(caught.value)


def test_what_cannot_be_built_is_refused() -> None:
    with pytest.raises(BadSetting, match="take leak=silent"):
        Builder("dark_hex(rows=2,cols=2,leak=noisy)", 0)
    with pytest.raises(BadSetting, match="kuhn is not Dark Hex"):
        Builder("kuhn", 0)
    abrupt = Builder(ABRUPT, 0)
    with pytest.raises(BadAnswer, match="1 information states are not answered yet"):
        abrupt.to_policy()
    abrupt.complete()
    with pytest.raises(BadSetting, match="the classic game alone"):
        abrupt.to_notation()


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_an_unfinished_strategy_is_written_and_read_back(data: st.DataObject) -> None:
    game, recall = data.draw(st.sampled_from(["dark_hex:2x2", "dark_hex:3x2"])), data.draw(st.sampled_from(["board", "perfect"]))
    builder = Builder(game, data.draw(st.integers(0, 1)), recall, data.draw(st.booleans()))
    for _ in range(data.draw(st.integers(0, 6))):
        if (state := builder.current) is None:
            break
        free = st.sampled_from([builder.states.names[cell] for cell in builder.states.free(state)])
        answer = data.draw(st.one_of(st.just([ROAM]), st.lists(free, min_size=1, max_size=2, unique=True)))
        if answer == [ROAM]:
            builder.complete(state)
        else:
            builder.answer(state, " ".join(answer))
    again = Builder(game, builder.states.player, recall)
    again.replace(read_answers(parse(builder.to_notation()), again.states))
    assert set(again.open_states()) == set(builder.open_states())
    assert guarantee_so_far(again).wins == pytest.approx(guarantee_so_far(builder).wins, abs=1e-12)
    assert all(again.plays(state) == builder.plays(state) for state in builder.reached())


def test_reading_notation_is_one_step() -> None:
    builder = paper()
    before = builder.to_notation()
    builder.replace(read_answers(parse("rows: 2 cols: 2 player: black play = b1, {a2 | b2} ~ (?)"), builder.states))
    assert names(builder) == []
    builder.replace(read_answers(parse("rows: 2 cols: 2 player: black play = b1, a2 ~ (?)"), builder.states))
    assert names(builder) == [".x/o."]
    assert Builder.from_json(builder.to_json()).to_notation() == builder.to_notation()
    assert builder.undo()
    assert builder.undo()
    assert builder.to_notation() == before


def test_what_the_builder_cannot_read_is_refused() -> None:
    order = parse("rows: 3 cols: 2 player: black play = {a1 (b1 ~ (!), a2 ~ (!), !), b1 (a1 ~ (!), b2 ~ (!), !)}")
    with pytest.raises(BadStrategy, match=r"the order of moves counts at xx/\.\./\.\."):
        read_answers(order, Builder("dark_hex:3x2", 0).states)
    assert read_answers(order, Builder("dark_hex:3x2", 0, "perfect").states)
    with pytest.raises(BadStrategy, match="the header says otherwise"):
        read_answers(order, Builder("dark_hex:2x2", 0).states)
