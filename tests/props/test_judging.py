"""Property: of a policy that is no policy of the game, no judge returns a number; of one that is, each does."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import nebel
from nebel.core.errors import BadPolicy, Problem
from nebel.core.game import BaseGame
from nebel.core.tree import Tree, grow
from nebel.judge.abstract import abstract, value_of
from nebel.judge.belief_response import respond
from nebel.judge.best_response import Judge
from nebel.judge.exact import judge
from nebel.judge.informed import Informed, both_follow, follow_all
from nebel.judge.values import Values
from nebel.match.agents import Agent, PolicyAgent, read
from nebel.match.arena import Arena, Terms
from nebel.match.deals import play_by_hand
from nebel.policy.io import save_policy
from nebel.policy.net import Layer, NetPolicy
from nebel.policy.nets import NetsPolicy
from nebel.policy.table import MadePolicy, OnTree, Policy, Shares, TablePolicy, Uniform, from_tree, sorted_shares
from nebel.search.target import in_rules

HEX = "dark_hex(rows=3,cols=2)"
GAMES = [("kuhn", "perfect"), ("leduc", "perfect"), (HEX, "board")]
OTHER = {"kuhn": "leduc", "leduc": "kuhn", HEX: "dark_hex:2x2"}

Judging = Callable[[BaseGame, TablePolicy], Any]


@cache
def tree_of(string: str, recall: str) -> Tree:
    return grow(nebel.game(string), recall)


@cache
def valid(string: str, recall: str) -> TablePolicy:
    """Random shares, some of them 0."""
    rng, strategies = np.random.default_rng(4), []
    for side in tree_of(string, recall).sides:
        weight = np.maximum(rng.random(len(side.move)) - 0.3, 0.0)
        weight[side.row[:-1]] += 0.01
        strategies.append(weight / np.repeat(np.add.reduceat(weight, side.row[:-1]), np.diff(side.row)))
    return from_tree(tree_of(string, recall), (strategies[0], strategies[1]))


def on_tree(game: BaseGame, policy: TablePolicy) -> float:
    return judge(game, policy).verdict.exploitability


def by_beliefs(game: BaseGame, policy: TablePolicy) -> float:
    found = judge(game, policy, limit=5)
    assert found.means == "beliefs"
    return found.verdict.exploitability


def values(game: BaseGame, policy: TablePolicy) -> float:
    tree = tree_of(game.string, policy.recall)
    return Values(tree, policy.on_tree(tree).strategies).value


def best_responses(game: BaseGame, policy: TablePolicy) -> float:
    tree = tree_of(game.string, policy.recall)
    return sum(float(Judge(tree).best_response(player, policy.on_tree(tree).strategies).sum()) for player in range(2))


def by_board(game: BaseGame, policy: TablePolicy) -> float:
    return abstract(game, policy).verdict.exploitability


JUDGES: list[tuple[str, str, Judging]] = [
    *((string, recall, judging) for string, recall in GAMES for judging in (on_tree, values, best_responses, by_beliefs)),
    (HEX, "perfect", on_tree),
    (HEX, "board", follow_all),
    (HEX, "board", by_board),
    (HEX, "board", value_of),
]


@cache
def figure_of_valid(string: str, recall: str, judging: Judging) -> float:
    return float(judging(nebel.game(string), valid(string, recall)))


def with_table(policy: TablePolicy, player: int, table: Shares) -> TablePolicy:
    tables = list(policy.shares)
    tables[player] = table
    return dataclasses.replace(policy, shares=(tables[0], tables[1]))


def changed_share(policy: TablePolicy, player: int, place: int, by: float) -> TablePolicy:
    table = policy.shares[player]
    share = table.share.copy()
    share[place % len(share)] += by
    return with_table(policy, player, table._replace(share=share))


def moved_share(policy: TablePolicy, player: int, row: int, by: float) -> TablePolicy:
    """More than all of a row's last share moved to its first: they still sum to 1."""
    table = policy.shares[player]
    rows = np.flatnonzero(np.diff(table.first) > 1)
    at = rows[row % len(rows)]
    share, first, last = table.share.copy(), table.first[at], table.first[at + 1] - 1
    moved = share[last] + abs(by)
    share[first] += moved
    share[last] -= moved
    return with_table(policy, player, table._replace(share=share))


def of_the_opponent(policy: TablePolicy, player: int) -> TablePolicy:
    """The table of one player in the place of the other's, too."""
    return with_table(policy, 1 - player, policy.shares[player])


def forgiving(policy: TablePolicy, perturb: Callable[..., TablePolicy], *how: Any) -> TablePolicy:
    """The same of a table that stands for uniform play where it says nothing."""
    return dataclasses.replace(perturb(policy, *how), missing="uniform")


def without_row(policy: TablePolicy, player: int, row: int) -> TablePolicy:
    table = policy.shares[player]
    row %= len(table.keys)
    width = np.diff(table.first)
    held = np.repeat(np.arange(len(width)) != row, width)
    kept = sorted_shares(np.delete(table.keys, row), np.delete(width, row), table.move[held], table.share[held])
    return with_table(policy, player, kept)


def with_foreign_row(policy: TablePolicy, player: int, row: int, under_own_key: bool) -> TablePolicy:
    """A row of another game, beside the policy's own, or in the place of one that has other moves."""
    other = valid(OTHER[policy.game], policy.recall).shares[player]
    row %= len(other.keys)
    here = slice(other.first[row], other.first[row + 1])
    key, table = other.keys[row], policy.shares[player]
    if under_own_key:
        same = [list(table.move[a:b]) == list(other.move[here]) for a, b in zip(table.first[:-1], table.first[1:], strict=True)]
        at = int(np.argmin(same))
        assume(not same[at])
        key, policy = table.keys[at], without_row(policy, player, at)
        table = policy.shares[player]
    added = sorted_shares(
        np.append(table.keys, key),
        np.append(np.diff(table.first), here.stop - here.start),
        np.append(table.move, other.move[here]),
        np.append(table.share, other.share[here]),
    )
    return with_table(policy, player, added)


SMALL, LARGE = 1.001e-6, 2.0
BY = st.one_of(st.floats(SMALL, LARGE), st.floats(-LARGE, -SMALL), st.sampled_from([math.nan, math.inf, -math.inf]))
PLAYER, PLACE = st.integers(0, 1), st.integers(0, 10**6)
NO_SHARES = st.one_of(
    st.tuples(st.just(changed_share), PLAYER, PLACE, BY),
    st.tuples(st.just(moved_share), PLAYER, PLACE, st.floats(SMALL, LARGE)),
    st.tuples(st.just(with_foreign_row), PLAYER, PLACE, st.just(True)),
)
PERTURBED = st.one_of(
    NO_SHARES,
    NO_SHARES.map(lambda change: (forgiving, *change)),
    st.tuples(st.just(without_row), PLAYER, PLACE),
    st.tuples(st.just(with_foreign_row), PLAYER, PLACE, st.just(False)),
    st.tuples(st.just(of_the_opponent), PLAYER),
)


@pytest.mark.parametrize(("string", "recall", "judging"), JUDGES)
@settings(max_examples=30, deadline=None)
@given(change=PERTURBED)
def test_no_judge_returns_a_number_for_what_is_no_policy(string: str, recall: str, judging: Judging, change: tuple[Any, ...]) -> None:
    game, policy = nebel.game(string), valid(string, recall)
    assert math.isfinite(figure_of_valid(string, recall, judging))
    perturb, *how = change
    with pytest.raises(Problem):
        judging(game, perturb(policy, *how))


@settings(max_examples=60, deadline=None)
@given(player=PLAYER, place=PLACE, by=BY, game=st.sampled_from(GAMES))
def test_no_judge_of_arrays_returns_a_number_for_what_is_no_strategy(player: int, place: int, by: float, game: tuple[str, str]) -> None:
    tree = tree_of(*game)
    strategies = [shares.copy() for shares in valid(*game).on_tree(tree).strategies]
    strategies[player][place % len(strategies[player])] += by
    for judging in (Judge(tree).verdict, partial(Judge(tree).best_response, 0), partial(Values, tree)):
        with pytest.raises(BadPolicy, match=f"player {player}'s shares"):
            judging((strategies[0], strategies[1]))


def test_judging_by_states_refuses_shares_and_rows_whoever_asks_it() -> None:
    game, policy = nebel.game(HEX), valid(HEX, "board")
    start = np.asarray(game.begin())
    judges: list[Callable[[TablePolicy], Any]] = [
        lambda bad: both_follow(game, bad),
        lambda bad: respond(game, bad, 1),
        lambda bad: Informed(game, bad, 1).worth(start),
    ]
    for judging in judges:
        assert np.isfinite(judging(policy)).all() if judging is not judges[1] else math.isfinite(judging(policy).value)
        with pytest.raises(BadPolicy, match=r"sum to 1\.5"):
            judging(changed_share(policy, 0, 0, 0.5))
    first = int(np.flatnonzero(policy.shares[0].keys == game.start().key(0, "board"))[0])
    with pytest.raises(Problem, match="does not know player 0's state"):
        both_follow(game, without_row(policy, 0, first))


def test_policies_of_ones_own_are_asked() -> None:
    """A class derived from one whose policy judges know would not be."""
    for kind in (Uniform, TablePolicy):
        with pytest.raises(BadPolicy, match=f"derive a policy of your own from Policy, not from {kind.__name__}"):
            type("Own", (kind,), {})
    whole = valid("kuhn", "perfect")
    wrong: list[dict[str, Any]] = [{"missing": "junk"}, {"shares": whole.shares[:1]}, {"shares": None}, {"shares": ([1], [2])}]
    for change in wrong:
        with pytest.raises(BadPolicy, match=r"^(missing='junk' is not understood|the shares of a table are two tables)[^\n]*$"):
            dataclasses.replace(whole, **change)
    for game, policy in [("kuhn", whole), (nebel.game("kuhn"), "uniform"), (nebel.game("kuhn"), Uniform), (None, None)]:
        with pytest.raises(Problem, match=r"^judge takes a [^\n]*$"):
            judge(game, policy)  # type: ignore[arg-type]
    with pytest.raises(Problem, match="no player is to move at the start"):
        Uniform().probabilities(nebel.game("kuhn").start())


@settings(max_examples=60, deadline=None)
@given(player=PLAYER, place=PLACE, by=BY)
def test_matches_and_files_refuse_shares_that_are_none(player: int, place: int, by: float) -> None:
    game, bad = nebel.game("kuhn"), changed_share(valid("kuhn", "perfect"), player, place, by)
    for opponent in ("uniform", PolicyAgent("valid", valid("kuhn", "perfect"))):
        other = read(opponent) if isinstance(opponent, str) else opponent
        with pytest.raises(Problem, match="they have to be 0 or more and sum to 1"):
            Arena(game).play(PolicyAgent("bad", bad), other, Terms(2, 1))
    with pytest.raises(BadPolicy, match=rf"player {player}'s shares in the information state"):
        save_policy(bad, "never_written.nebel")


def test_the_message_names_player_information_state_and_sum() -> None:
    tree = tree_of("kuhn", "perfect")
    strategies = [np.full(len(side.move), 0.3) for side in tree.sides]
    for judging in (Judge(tree).verdict, lambda both: Judge(tree).best_response(1, both), lambda both: Values(tree, both)):
        with pytest.raises(BadPolicy, match=r"player 0's shares in the information state 'J' sum to 0.6: they have to be"):
            judging((strategies[0], strategies[1]))
    negative = changed_share(changed_share(valid("kuhn", "perfect"), 1, 0, -1.5), 1, 1, 1.5)
    with pytest.raises(BadPolicy, match=r"player 1's shares in the information state '[JQK] [^']*' hold -[0-9.]+ and sum to 1:"):
        judge(nebel.game("kuhn"), negative)
    board = changed_share(valid(HEX, "board"), 0, 0, 0.5)
    with pytest.raises(BadPolicy, match=r"player 0's shares in the information state '\S+/\S+' sum to 1.5"):
        judge(nebel.game(HEX), board, limit=5)


@pytest.mark.parametrize("wrong", [None, (1,), ([0.5], [0.5]), (np.zeros((2, 2)), np.zeros(3)), ("a", "b"), ([[1], [1, 2]], [1])])
def test_strategies_of_wrong_shape_are_one_line(wrong: Any) -> None:
    class Own(Policy):
        recall = "perfect"

        def on_tree(self, tree: Tree) -> OnTree:
            return OnTree(wrong, (0, 0))

        def probabilities(self, state: nebel.State) -> dict[int, float]:
            return {}

    with pytest.raises(BadPolicy, match=r"^[^\n]+$"):
        Judge(tree_of("kuhn", "perfect")).verdict(wrong)
    with pytest.raises(BadPolicy, match=r"^[^\n]+$"):
        judge(nebel.game("kuhn"), Own())


def test_only_tables_are_judged_by_beliefs() -> None:
    """A user's policy is not taken for the uniform one where the game is too large for a tree."""

    class Own(Policy):
        recall = "board"

        def on_tree(self, tree: Tree) -> OnTree:
            return valid(HEX, "board").on_tree(tree)

        def probabilities(self, state: nebel.State) -> dict[int, float]:
            return valid(HEX, "board").probabilities(state)

    game = nebel.game(HEX)
    wanted = judge(game, valid(HEX, "board")).verdict
    assert judge(game, Own()).verdict == wanted
    for judging in (lambda: judge(game, Own(), limit=5), lambda: abstract(game, Own())):
        with pytest.raises(Problem, match="tables"):
            judging()


@pytest.mark.parametrize("missing", ["error", "uniform"])
def test_a_policy_asked_about_another_game_refuses(missing: str) -> None:
    policy = dataclasses.replace(valid("leduc", "perfect"), missing=missing)
    state = nebel.game("kuhn").start().play("K J")
    asks: list[Callable[[], object]] = [
        lambda: policy.probabilities(state),
        lambda: PolicyAgent("leduc", policy).choose(state, np.array([1, 0])),
        lambda: PolicyAgent("leduc", policy).shares(state),
        lambda: policy.on_tree(tree_of("kuhn", "perfect")),
        lambda: judge(nebel.game("kuhn"), policy),
    ]
    for ask in asks:
        with pytest.raises(Problem, match="made for leduc, not for kuhn"):
            ask()
    assert policy.probabilities(nebel.game("leduc").start().play("Ks Qs")).keys() == {1, 2}


def test_agents_are_named_when_they_choose_what_is_not_legal() -> None:
    class Odd(Agent):
        def __init__(self, name: str, move: Any) -> None:
            self.name, self.move = name, move

        def choose(self, state: nebel.State, rng: Any) -> Any:
            return self.move

    game = nebel.game("kuhn")
    for move, said in [(7, "odd chose a move that is not legal: 7 is not legal for player 0 after"), (None, "odd chose None after")]:
        with pytest.raises(Problem, match=said):
            play_by_hand(game, (Odd("odd", move), read("uniform")), 1, 1)


def test_probabilities_of_a_users_policy_are_checked_at_the_board() -> None:
    class Own(Policy):
        recall = "perfect"

        def __init__(self, shares: Any) -> None:
            self.given = shares

        def on_tree(self, tree: Tree) -> OnTree:
            return valid("kuhn", "perfect").on_tree(tree)

        def probabilities(self, state: nebel.State) -> dict[int, float]:
            return self.given  # type: ignore[no-any-return]

    state = nebel.game("kuhn").start().play("K J")
    wrong: list[tuple[Any, str]] = [
        ({0: 0.5, 1: 0.6}, "sum to 1.1"),
        ({0: 1.0, 5: 0.0}, "not a legal move"),
        ([0.5, 0.5], "dictionary"),
        ({}, "sum to 0"),
    ]
    for shares, said in wrong:
        with pytest.raises(BadPolicy, match=said):
            PolicyAgent("own", Own(shares)).choose(state, np.array([1, 0]))


def small_network(**changes: Any) -> NetPolicy:
    """A network for Kuhn poker that says nothing about any move, with changes of its one layer."""
    game = in_rules(nebel.game("kuhn"))
    inputs = game.encodings["perfect"].size
    layer = Layer(np.zeros((inputs, game.actions), np.float32), np.zeros(game.actions, np.float32), "")
    return NetPolicy(game.string, game.fingerprint, "perfect", (layer._replace(**changes),))


def test_networks_whose_layers_do_not_fit_are_not_judged() -> None:
    game, tree, whole = nebel.game("kuhn"), tree_of("kuhn", "perfect"), small_network()
    uniform = judge(game, Uniform()).verdict
    weights, biases = whole.layers[0].weights, whole.layers[0].biases
    stacked = (Layer(np.stack([weights] * 2), np.stack([biases] * 2), ""),)
    many = NetsPolicy(whole.game, whole.fingerprint, "perfect", (stacked, stacked), (np.ones(2), np.ones(2)))
    assert judge(game, whole).verdict == uniform
    wrong: list[MadePolicy] = [
        dataclasses.replace(whole, layers=()),
        small_network(weights=weights[:, :1]),
        small_network(weights=weights[:-1]),
        small_network(weights=weights + np.float32(np.nan)),
        *(dataclasses.replace(many, weights=(np.array(odds), np.ones(2))) for odds in ([1.0], [1.0, -1.0], [0.0, 0.0], [1.0, np.nan])),
    ]
    for policy in wrong:
        for judging in (lambda bad: judge(game, bad), lambda bad: Values(tree, bad.on_tree(tree).strategies)):
            with pytest.raises(Problem, match=r"^[^\n]+$"):
                judging(policy)
    for policy in (whole, many):
        with pytest.raises(Problem, match="made for kuhn, not for leduc"):
            policy.on_tree(tree_of("leduc", "perfect"))
