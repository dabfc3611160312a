"""Responders that learn: near the exact best response on small games, and never beyond it by more than luck."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nebel
from nebel.cli import main
from nebel.judge.best_response import Judge
from nebel.learn.dqn import NO_STATE, Gathered, Q, Transitions
from nebel.learn.respond import ResponseSettings, respond
from nebel.match.agents import PolicyAgent, read
from nebel.policy.io import save_policy
from nebel.policy.table import Uniform, from_tree
from nebel.search.target import in_rules
from nebel.solve import Budget, Job, solve

ENCODED = in_rules(nebel.game("kuhn")).encodings["perfect"]
FAST = ResponseSettings(seeds=1, iterations=40, ages=2, boards=128, hidden="48-48", games=20_000)


@pytest.mark.parametrize(("string", "responder"), [("kuhn", "dqn"), ("kuhn", "ppo"), ("goofspiel:4", "ppo")])
def test_learned_responses_come_near_the_exact_ones(string: str, responder: str) -> None:
    game = in_rules(nebel.game(string))
    tree = nebel.grow(game)
    exact = Judge(tree).verdict(Uniform().on_tree(tree).strategies).best_response
    settings = ResponseSettings(**{**vars(FAST), "responder": responder, "iterations": 40 if responder == "dqn" else 120})
    for found, best in zip(respond(game, read("uniform"), settings, 1), exact, strict=True):
        assert best - 0.06 < found.mean < best + 2 * found.half


@pytest.mark.parametrize("string", ["dark_hex(rows=2,cols=2,abrupt=true)", "geister(width=2,height=3,ghosts=2,buffer=0,limit=5)"])
def test_responders_remember_what_the_game_puts_into_numbers_for_nobody(string: str) -> None:
    """Against a policy that remembers: by the board alone less can be won."""
    game = in_rules(nebel.game(string))
    policy = solve(Job(string, "cfr+"), Budget(iterations=3)).policy
    tree = nebel.grow(game)
    exact = Judge(tree).verdict(policy.on_tree(tree).strategies).best_response
    settings = ResponseSettings(**{**vars(FAST), "iterations": 80, "ages": 1})
    for found, best in zip(respond(game, PolicyAgent("solved", policy), settings, 1), exact, strict=True):
        assert "perfect recall" in found.chosen
        assert best - 0.03 < found.mean < best + 2 * found.half


def test_leduc_is_answered_within_a_few_hundredths() -> None:
    game = in_rules(nebel.game("leduc"))
    settings = ResponseSettings(seeds=1, iterations=80, ages=1, hidden="64-64", games=10_000)
    for found, best in zip(respond(game, read("uniform"), settings, 1), (2.0875, 2.65972), strict=True):
        assert best - 0.08 < found.mean < best + 2 * found.half


def test_no_lower_bound_for_what_is_no_policy() -> None:
    """Not for shares that are none, nor for a row that is missing, even where no game would have come there."""
    game = in_rules(nebel.game("kuhn"))
    tree = nebel.grow(game)
    policy = from_tree(tree, Uniform().on_tree(tree).strategies)
    first = policy.shares[0]
    twice = first._replace(share=np.where(np.arange(len(first.share)) == 0, 0.6, first.share))
    cut = first._replace(keys=first.keys[1:], first=first.first[1:])
    for table, said in [(twice, "sum to 1.1"), (cut, "lacks 1 information state")]:
        with pytest.raises(nebel.Problem, match=said):
            respond(game, PolicyAgent("bad", replace(policy, shares=(table, policy.shares[1]))), FAST, 1)


def some_transitions(rng: np.random.Generator, count: int) -> Transitions:
    """Of three information states of Kuhn poker, after which comes another or the end; rewards are luck."""
    size, key, move, over = ENCODED.size, rng.integers(1, 4, count), rng.integers(0, 2, count), rng.integers(0, 2, count) > 0
    rows = np.eye(4, size, dtype=np.float32)
    after = np.where(over, NO_STATE, 4 - key)
    reward = np.where(over, rng.normal(size=count), 0.0).astype(np.float32)
    legal = np.broadcast_to(~over[:, None], (count, 2))
    return Transitions(key, rows[key], move, reward, np.ones(count, np.float32), after, rows[4 - key], legal)


def test_what_is_met_again_counts_more_often_and_teaches_the_same() -> None:
    game, made = in_rules(nebel.game("kuhn")), some_transitions(np.random.default_rng(3), 500)
    gathered = Gathered(Transitions.blank(50, ENCODED.size, 2))
    for part in range(0, 500, 100):
        gathered.add(Transitions(*(column[part : part + 100] for column in made)))
    held = gathered.all()
    assert gathered.held == 3 * 2 * 2
    assert held.weight.sum() == 500
    assert (held.weight * held.reward).sum() == pytest.approx(made.reward.sum(), abs=1e-3)
    one, other = (Q(game, "perfect", "16", 0.01, 5, 3) for _ in range(2))
    for _ in range(8):
        one.step(made)
        other.step(gathered.draw(100, np.random.default_rng(0)))
    rows = np.eye(4, ENCODED.size, dtype=np.float32)
    assert one(rows) == pytest.approx(other(rows), abs=1e-4)
    assert np.abs(one(rows)).max() > 0.01


def test_what_fades_counts_less_and_teaches_what_its_means_are() -> None:
    """As by hand: everything before counts a tenth of what it did, each time; however little counts, its mean is what is learned."""
    rng = np.random.default_rng(4)
    made = some_transitions(rng, 400)
    gathered = Gathered(Transitions.blank(50, ENCODED.size, 2))
    for part in range(0, 400, 100):
        gathered.add(Transitions(*(column[part : part + 100] for column in made)), kept=0.1)
    ages, held = 0.1 ** (3 - np.arange(400) // 100), gathered.all()
    for key, move, after, weight, reward in zip(held.key, held.move, held.next, held.weight, held.reward, strict=True):
        same = (made.key == key) & (made.move == move) & (made.next == after)
        assert weight == pytest.approx(ages[same].sum(), rel=1e-5)
        assert reward == pytest.approx(ages[same] @ made.reward[same] / ages[same].sum(), abs=1e-5)
    q, ended = Q(in_rules(nebel.game("kuhn")), "perfect", "16", 0.02, 5, 3), Gathered(Transitions.blank(50, ENCODED.size, 2))
    row = np.eye(1, ENCODED.size, dtype=np.float32)
    one = np.ones(1, np.int64)
    ended.add(Transitions(one, row, one, np.float32([0.7]), np.float32([1e-3]), one * NO_STATE, row, np.zeros((1, 2), bool)))
    for _ in range(200):
        q.step(ended.draw(10, rng))
    assert q(row)[0, 1] == pytest.approx(0.7, abs=0.02)
    gathered.add(Transitions(*(column[:0] for column in made)), kept=0.1)
    assert gathered.all().weight.sum() == pytest.approx(held.weight.sum())  # where nothing is new nothing fades


def test_transitions_are_kept_and_go_on() -> None:
    one, two = (Gathered(Transitions.blank(9, ENCODED.size, 2)) for _ in range(2))
    made = some_transitions(np.random.default_rng(6), 300)
    for part in range(0, 200, 10):
        one.add(Transitions(*(column[part : part + 10] for column in made)), kept=0.9)
        one.draw(4, np.random.default_rng(part))
    two.restore({name: array.copy() for name, array in one.save("some.").items()}, "some.")
    for gathered in (one, two):
        gathered.add(Transitions(*(column[200:] for column in made)), kept=0.9)
    for a, b in zip(one.draw(4, np.random.default_rng(1)), two.draw(4, np.random.default_rng(1)), strict=True):
        assert np.array_equal(a, b)


def test_the_oldest_make_room() -> None:
    gathered, made = Gathered(Transitions.blank(7, ENCODED.size, 2)), some_transitions(np.random.default_rng(3), 300)
    for part in range(0, 300, 20):
        gathered.add(Transitions(*(column[part : part + 20] for column in made)))
    held = gathered.all()
    assert gathered.held == 7
    assert len(set(zip(held.key.tolist(), held.move.tolist(), held.next.tolist(), strict=True))) == 7
    assert held.weight.min() >= 1


def test_against_a_table_and_a_bot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    solved = solve(Job("kuhn", "cfr+"), Budget(iterations=500))
    save_policy(solved.policy, tmp_path / "kuhn.nebel")
    few = ["--seeds", "1", "--iterations", "20", "--boards", "64", "--games", "4000", "--ages", "1", "--json"]
    assert main(["judge", str(tmp_path / "kuhn.nebel"), "--by", "learned", *few]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["by"] == "learned"
    assert told["lower_bound"] is True
    assert 0.0 <= told["exploitability"] < 0.05
    assert told["interval"][0] <= told["exploitability"] <= told["interval"][1]
    assert main(["judge", "rush", "--game", "geister:x2y3g2b0", "--by", "learned", *few]) == 0
    assert json.loads(capsys.readouterr().out)["exploitability"] > 0.2


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["oos:100", "--game", "kuhn"], "cannot play thousands of games in step"),
        (["uniform"], "say which with --game"),
        (["uniform", "--game", "kuhn", "--seeds", "0"], "at least 1"),
        (["uniform", "--game", "kuhn", "--recall", "sideways"], "sideways"),
    ],
)
def test_what_cannot_be_is_refused(words: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", *words, "--by", "learned"]) == 2
    assert reason in capsys.readouterr().err
