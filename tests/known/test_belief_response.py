"""Best responses by beliefs: the same as on the tree, as by plain enumeration, without bounds, and beyond the tree's reach."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

import nebel
from nebel.cli import main
from nebel.core.errors import TooLarge
from nebel.core.game import END, Game, Hints
from nebel.core.tree import grow
from nebel.judge.belief_response import respond
from nebel.judge.best_response import Judge
from nebel.judge.exact import judge
from nebel.judge.informed import Informed, both_follow, follow_all
from nebel.policy.table import Policy, Shares, TablePolicy, Uniform, from_tree
from nebel.solve.cfr import FullWidth

VERSIONS = list(itertools.product(("false", "true"), ("silent", "noisy", "flash")))


def dark_hex(board: str, abrupt: str = "false", leak: str = "silent") -> Game:
    rows, cols = board.split("x")
    game = nebel.game(f"dark_hex(rows={rows},cols={cols},abrupt={abrupt},leak={leak})")
    assert isinstance(game, Game)
    return game


tree_of = functools.lru_cache(maxsize=16)(lambda game: grow(game, "board"))


def random_policy(game: Game, seed: int) -> TablePolicy:
    """Shares of all kinds: certain moves, moves that are never played, equal ones, and any others."""
    rng = np.random.default_rng(seed)
    strategies = []
    for side in tree_of(game).sides:
        shares = []
        for width in np.diff(side.row):
            weight = rng.choice([0.0, 0.0, 1.0, 1.0, rng.random()], width)
            weight[rng.integers(width)] += 1e-3 + rng.random()
            shares.append(weight / weight.sum())
        strategies.append(np.concatenate(shares))
    return from_tree(tree_of(game), (strategies[0], strategies[1]))


def enumerate_response(game: Game, policy: Policy, me: int) -> float:
    """The slow way: every history with its probability, gathered by all that the responder has seen and done.

    Nothing is merged but what perfect recall cannot tell apart, and nothing is cut.
    """

    def best(together: list[tuple[Any, float]]) -> float:
        """`together`: states that the responder, who is to move, cannot tell apart, with their probabilities."""
        return max(follow([(state.copy(), p, option) for state, p in together]) for option in together[0][0].options())

    def follow(moved: list[tuple[Any, float, int | None]]) -> float:
        ended, waiting = 0.0, defaultdict(list)
        for state, p, option in moved:
            if option is not None:
                state.push(option)
            for then, q in replies(state):
                if then.turn == END:
                    ended += p * q * (then.score() if me == 0 else -then.score())
                else:
                    waiting[tuple(then.transcript(me))].append((then, p * q))
        return ended + sum(best(together) for together in waiting.values())

    def replies(state: Any) -> list[tuple[Any, float]]:
        if state.turn in (END, me):
            return [(state, 1.0)]
        found = []
        for option, p in policy.probabilities(state).items():
            if p:
                then = state.copy()
                then.push(option)
                found += [(last, p * q) for last, q in replies(then)]
        return found

    return follow([(game.start(), 1.0, None)])


@pytest.mark.parametrize(("abrupt", "leak"), VERSIONS)
def test_the_same_as_on_the_tree(abrupt: str, leak: str) -> None:
    game = dark_hex("3x2", abrupt, leak)
    tree = grow(game, "board")
    solver = FullWidth(tree, "cfr")
    solver.run(7)
    for policy in (Uniform(), from_tree(tree, solver.strategies()), *(random_policy(game, seed) for seed in range(10))):
        wanted = Judge(tree).verdict(policy.on_tree(tree).strategies)
        found = [respond(game, policy, me).value for me in range(2)]
        assert found == pytest.approx(wanted.best_response, abs=1e-12)
        assert both_follow(game, policy) == pytest.approx(wanted.value, abs=1e-12)


@pytest.mark.parametrize(("board", "abrupt", "leak"), [("2x3", "false", "silent"), ("2x2", "false", "noisy"), ("2x2", "true", "flash")])
def test_the_same_as_by_enumeration(board: str, abrupt: str, leak: str) -> None:
    game = dark_hex(board, abrupt, leak)
    for seed, me in itertools.product(range(1 if board == "2x3" else 5), range(2)):
        policy = random_policy(game, seed)
        assert respond(game, policy, me).value == pytest.approx(enumerate_response(game, policy, me), abs=1e-12)


@pytest.mark.parametrize(("board", "abrupt", "leak"), [("2x3", "false", "silent"), ("3x2", "false", "flash"), ("3x2", "true", "noisy")])
def test_bounds_and_hints_change_nothing(board: str, abrupt: str, leak: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game = dark_hex(board, abrupt, leak)
    plain = dataclasses.replace(game, hints=Hints())
    policies = [random_policy(game, seed) for seed in range(4)]
    fast = [respond(game, policy, me) for policy in policies for me in range(2)]
    for i, (policy, me) in enumerate(itertools.product(policies, range(2))):
        assert respond(plain, policy, me).value == pytest.approx(fast[i].value, abs=1e-11)
    monkeypatch.setattr(Informed, "worth", lambda self, states, tries=(-1,): np.full((len(states), len(tries)), np.inf))
    slow = [respond(game, policy, me) for policy in policies for me in range(2)]
    assert [r.value for r in slow] == pytest.approx([r.value for r in fast], abs=1e-11)
    assert sum(r.beliefs for r in slow) > sum(r.beliefs for r in fast), "bounds save work"


def test_a_bound_is_never_below_the_value() -> None:
    game = dark_hex("3x2", "true")
    for seed, me in itertools.product(range(5), range(2)):
        response = respond(game, random_policy(game, seed), me)
        assert response.value <= response.ceiling + 1e-12


def test_beyond_the_tree() -> None:
    """3x3 has 19 billion histories. Black, who has a sure win there, beats anybody; against uniform play White gets 0.8328."""
    verdict, means, unknown, wins = judge(dark_hex("3x3"), Uniform(), limit=1_000_000)
    assert (means, unknown) == ("beliefs", (0, 0))
    assert verdict.best_response == pytest.approx((1.0, 0.8328042328), abs=1e-9)
    assert wins == pytest.approx((0.0835978836, 0.0), abs=1e-9)
    assert -verdict.best_response[1] < verdict.value < verdict.best_response[0]


def test_uniform_play_on_4x3() -> None:
    """Win probabilities of the best responses: those of an independent program in C++ with single precision, 0.96835025 and 0.99826397.
    In double precision they turn out to be simple fractions."""
    game = dark_hex("4x3")
    found = [1 - guarantee for guarantee in (respond(game, Uniform(), me).guarantee for me in range(2)) if guarantee is not None]
    assert found == pytest.approx([0.96835025, 0.99826397], abs=1e-7)
    assert found == pytest.approx([1438 / 1485, 575 / 576], abs=1e-12)


def test_refusals() -> None:
    with pytest.raises(nebel.Problem, match="too many to enumerate"):
        judge(nebel.game("goofspiel:8"), Uniform(), limit=1000)
    with pytest.raises(nebel.Problem, match=r"more than 1,000 steps \(it gets 1 at most"):
        respond(dark_hex("3x3"), Uniform(), 0, patience=1000)
    game = dark_hex("3x2")
    policy = random_policy(game, 0)
    half = policy.shares[1]
    hollow = Shares(half.keys[:5], half.first[:6], half.move[: half.first[5]], half.share[: half.first[5]])
    lacking = dataclasses.replace(policy, shares=(policy.shares[0], hollow))
    respond(game, lacking, 1)  # only the other's table is asked
    with pytest.raises(nebel.Problem, match="player 1 has no answer"):
        respond(game, lacking, 0)
    with pytest.raises(nebel.Problem, match="perfect recall"):
        respond(game, dataclasses.replace(policy, recall="perfect"), 0)


@pytest.mark.parametrize("patience", [0, 1, 100, 5000])
def test_patience_bounds_all_stages(patience: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the first look at all states with everything seen, which alone takes more."""
    told: list[tuple[str, int, int]] = []
    monkeypatch.setattr("nebel.judge.informed.PIECE", 1000)
    with pytest.raises(TooLarge, match=f"more than {patience:,} steps"):
        judge(dark_hex("3x3"), Uniform(), patience=patience, news=lambda stage, steps, most: told.append((stage, steps, most)))
    assert told[0] == (f"counting the histories of dark_hex, up to {patience:,}", 0, patience)
    assert all(0 <= steps <= most == patience for _, steps, most in told)
    assert told[1][0].startswith("searching player 0's best response")
    assert len(told) >= 2 + patience // 1000


def test_pauses_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    game = dark_hex("3x2")
    policies = [random_policy(game, seed) for seed in range(3)]
    whole = [judge(game, policy, limit=10).verdict for policy in policies]
    monkeypatch.setattr("nebel.judge.informed.PIECE", 200)
    assert [judge(game, policy, limit=10).verdict for policy in policies] == whole
    monkeypatch.setattr("nebel.judge.exact.value_of", lambda game, policy: follow_all(game, policy))
    assert [judge(game, policy, limit=10).verdict.value for policy in policies] == pytest.approx([v.value for v in whole], abs=1e-12)
    assert [follow_all(game, policy) for policy in policies] == [both_follow(game, policy) for policy in policies]


def test_the_command_line_says_at_once_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", "uniform", "--game", "dark_hex:3x3", "--patience", "2k", "--json"]) == 2
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert lines[0] == "counting the histories of dark_hex, up to 2,000: 0 of at most 2,000 steps"
    assert lines[1].startswith("searching player 0's best response on dark_hex by beliefs: 0 of at most 2,000")
    assert lines[-1].startswith("nebel: the best response of player 0 on dark_hex takes more than 2,000 steps")


@pytest.mark.parametrize(("abrupt", "leak"), [("false", "silent"), ("false", "noisy"), ("true", "flash")])
def test_opponents_who_remember_what_they_heard(abrupt: str, leak: str) -> None:
    """They may answer a bump, so hints that hold against the board only must not be taken."""
    game = dark_hex("2x3", abrupt, leak)
    tree = grow(game)
    rng = np.random.default_rng(5)
    for _ in range(20):
        shares = [rng.choice([0.001, 1.0], len(side.move)) for side in tree.sides]
        strategies = [
            weight / np.repeat(np.add.reduceat(weight, side.row[:-1]), np.diff(side.row))
            for weight, side in zip(shares, tree.sides, strict=True)
        ]
        policy = from_tree(tree, (strategies[0], strategies[1]))
        by_beliefs = judge(game, policy, limit=10)
        assert by_beliefs.means == "beliefs"
        assert by_beliefs.verdict.best_response == pytest.approx(judge(game, policy).verdict.best_response, abs=1e-12)
