"""Strategies against their best responses as trees of play: their sums are the judge's figures, and nothing is left out silently."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from nebel.cli import main
from nebel.core.errors import TooLarge
from nebel.core.registry import load
from nebel.core.tree import grow
from nebel.judge.exact import judge
from nebel.judge.replies import Replies, best_replies
from nebel.judge.tree_of_play import RESPONSE, STRATEGY, Node, tree_of_play
from nebel.policy.io import save_policy
from nebel.policy.strategy import read_strategy
from nebel.policy.table import TablePolicy, Uniform, from_tree
from nebel.report.boards import SVG
from nebel.report.tree_picture import with_hidden


def drawn(string: str, recall: str, seed: int = 3) -> TablePolicy:
    """A policy with drawn shares, some of them 0."""
    tree, rng = grow(load(string), recall), np.random.default_rng(seed)
    strategies = []
    for side in tree.sides:
        weights = rng.random(int(side.row[-1])) * (rng.random(int(side.row[-1])) > 0.4)
        weights[side.row[:-1]] += 0.1
        sums = np.add.reduceat(weights, side.row[:-1])
        strategies.append(weights / np.repeat(sums, np.diff(side.row)))
    return from_tree(tree, (strategies[0], strategies[1]))


def check_sums(start: Node, player: int) -> None:
    """Each board is reached as often as its branches together, and gets their mean; nothing is left out."""
    for node in start.all():
        assert node.reach > 0
        if node.score is None:
            assert sum(then.reach for then in node.next) == pytest.approx(node.reach, abs=1e-12)
            assert sum(then.gain for then in node.next) == pytest.approx(node.gain, abs=1e-12)
            if node.state.turn == 1 - player:
                assert [then.by for then in node.next] == [RESPONSE]
            elif node.state.turn == player:
                assert {then.by for then in node.next} == {STRATEGY}
    assert start.all_left_out().branches == 0


def is_one_strategy(start: Node, responder: int) -> bool:
    """Whether the responder makes the same move wherever it knows the same."""
    moves: dict[int, set[str]] = {}
    for node in start.all():
        if node.state.turn == responder:
            moves.setdefault(node.state.key(responder), set()).update(then.move for then in node.next)
    return all(len(found) == 1 for found in moves.values())


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(
    ("string", "recall"), [("kuhn", "perfect"), ("leduc", "perfect"), ("dark_hex:2x2", "board"), ("dark_hex:3x2", "board")]
)
def test_the_sum_over_all_games_is_the_exact_best_response(string: str, recall: str, player: int) -> None:
    game, policy = load(string), drawn(string, recall)
    replies = best_replies(game, policy, 1 - player)
    start = tree_of_play(game, policy, player, replies)
    assert replies.value == judge(game, policy).verdict.best_response[1 - player]
    assert start.gain == pytest.approx(-replies.value, abs=1e-12)
    check_sums(start, player)
    assert is_one_strategy(start, 1 - player)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("string", ["dark_hex:2x2", "dark_hex:3x2"])
def test_beliefs_and_trees_give_responses_of_the_same_value(string: str, player: int) -> None:
    game = load(string)
    policy = drawn(string, "board", (9, 2)[player])  # against which on 3x2 the move with the highest bound is not always the best
    replies = best_replies(game, policy, 1 - player, limit=1)
    assert replies.means == "beliefs"
    start = tree_of_play(game, policy, player, replies)
    assert start.gain == pytest.approx(-best_replies(game, policy, 1 - player).value, abs=1e-9)
    assert start.gain == pytest.approx(-replies.value, abs=1e-9)
    check_sums(start, player)
    assert is_one_strategy(start, 1 - player)


def s2() -> tuple[TablePolicy, Replies]:
    policy = read_strategy("s2").policy_with_memory()
    return policy, best_replies(load(policy.game), policy, 0)


def test_s2_of_the_thesis_wins_five_games_in_eight() -> None:
    policy, replies = s2()
    start = tree_of_play(load(policy.game), policy, 1, replies)
    assert replies.wins == pytest.approx(0.625, abs=1e-9)
    ends = [node for node in start.all() if node.score is not None]
    assert sum(node.reach for node in ends if node.score == 1) == pytest.approx(0.625, abs=1e-9)
    assert {node.move for node in start.all() if node.by == STRATEGY and len(node.state.steps) == 2} == {"c1", "a4"}
    check_sums(start, 1)

    cut = tree_of_play(load(policy.game), policy, 1, replies, plies=6, least=0.2)
    out = cut.all_left_out()
    assert out.counted
    assert out.games + sum(node.score is not None for node in cut.all()) == len(ends)
    assert cut.gain == pytest.approx(0.25, abs=1e-9)
    assert max(len(node.state.steps) for node in cut.all()) == 6
    assert min(node.reach for node in cut.all()) >= 0.2


def test_games_that_are_too_many_to_count_are_said_to_be() -> None:
    game, policy = load("dark_hex:3x2"), Uniform()
    replies = best_replies(game, policy, 0)
    for most in (1, 5, 40):
        cut = tree_of_play(game, policy, 1, replies, least=0.05, most=most)
        assert not cut.all_left_out().counted
        shown = sum(node.reach for node in cut.all() if node.score is not None)
        assert shown + cut.all_left_out().reach == pytest.approx(1.0, abs=1e-12)


def test_what_is_hidden_is_faint() -> None:
    state = load("dark_hex:2x2").start().play("a1 a1 b2")  # White has found a1 and put b2, which Black does not know
    parts = list(ET.fromstring(with_hidden(state.svg(0), state.svg("truth"))))
    faint = [part for part in parts if part.get("opacity")]
    assert {(part.get("fill"), part.get("r")) for part in faint} == {("#ffffff", "17"), ("none", "20.5")}
    goofspiel = load("goofspiel").start()
    pair = ET.fromstring(with_hidden(goofspiel.svg(0), goofspiel.svg("truth")))
    assert len([part for part in pair if part.tag == f"{{{SVG}}}svg"]) == 2


def test_command(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    show = ["show", "uniform", "--game", "dark_hex:2x2", "--against-best-response", "--player", "1"]
    assert main(show) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].endswith("the strategy of player 1 gets -1 and wins with probability 0 against player 0's best response")
    assert printed[1:6] == [
        "response b1",
        "  strategy a1 0.25",
        "    response a2  -> strategy loses, reached with probability 0.25",
        "  strategy b1 taken 0.25",
        "    strategy a1 0.333333",
    ]
    assert printed[-1] == "nothing is left out; over all games shown the strategy gets -1"
    assert main([*show, "--plies", "1"]) == 0
    assert "left out: 4 branches with 6 games, probability 1; with them the strategy gets -1" in capsys.readouterr().out
    assert main([*show, "--json", "--least-probability", "0.3"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["value"], told["wins"], told["sum_of_games"], told["player"]) == (-1, 0, -1, 1)
    assert told["left_out"]["games"] > 0
    assert told["tree"]["next"][0]["by"] == "response"
    for name in ("tree.svg", "tree.html"):
        assert main([*show, "--out", name]) == 0
        assert main([*show, "--out", name]) == 0  # a tree may be replaced by a tree
    capsys.readouterr()
    picture = ET.parse(tmp_path / "tree.svg").getroot()
    assert len(picture.findall(f".//{{{SVG}}}svg")) == 17
    assert "<script" not in (tmp_path / "tree.html").read_text()


def test_what_cannot_be_shown_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save_policy(drawn("kuhn", "perfect"), tmp_path / "kuhn.nebel")
    (tmp_path / "other.svg").write_text("<svg/>")
    for words, message in [
        ("kuhn.nebel --against-best-response", "say whose is to be answered: --player 0 or --player 1"),
        ("uniform --against-best-response --player 0", "fits any game; say which with --game"),
        ("kuhn.nebel --plies 3", "go with --against-best-response"),
        ("kuhn.nebel --out a.svg", "go with --against-best-response"),
        ("kuhn.nebel --against-best-response --player 0 --plies 0", "--plies 0 is out of range"),
        ("kuhn.nebel --against-best-response --player 0 --least-probability 2", "--least-probability 2 is out of range"),
        ("kuhn.nebel --against-best-response --player 0 --out a.png", "must end in .svg or .html"),
        ("kuhn.nebel --against-best-response --player 0 --out other.svg", "other.svg"),
        ("kuhn.nebel K --against-best-response --player 0", "shows the whole game"),
    ]:
        assert main(["show", *words.split()]) == 2
        assert message in capsys.readouterr().err
    assert (tmp_path / "other.svg").read_text() == "<svg/>"
    with pytest.raises(TooLarge):
        best_replies(load("kuhn"), Uniform(), 0, limit=1)
