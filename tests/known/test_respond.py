"""Responders that learn: near the exact best response on small games, and never beyond it by more than luck."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nebel
from nebel.cli import main
from nebel.judge.best_response import Judge
from nebel.learn.respond import ResponseSettings, respond
from nebel.match.agents import read
from nebel.policy.io import save_policy
from nebel.policy.table import Uniform
from nebel.search.target import in_rules
from nebel.solve import Budget, Job, solve

FAST = ResponseSettings(seeds=1, iterations=40, ages=2, boards=128, hidden="48-48", games=20_000)


@pytest.mark.parametrize(("string", "responder"), [("kuhn", "dqn"), ("kuhn", "ppo"), ("goofspiel:4", "ppo")])
def test_learned_responses_come_near_the_exact_ones(string: str, responder: str) -> None:
    game = in_rules(nebel.game(string))
    tree = nebel.grow(game)
    exact = Judge(tree).verdict(Uniform().on_tree(tree).strategies).best_response
    settings = ResponseSettings(**{**vars(FAST), "responder": responder, "iterations": 40 if responder == "dqn" else 120})
    for found, best in zip(respond(game, read("uniform"), settings, 1), exact, strict=True):
        assert best - 0.06 < found.mean < best + 2 * found.half


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
