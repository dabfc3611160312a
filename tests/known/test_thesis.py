"""The thesis's program: its published figure, what it is beside the exact one, and that the short cut changes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import nebel
from nebel.cli import main
from nebel.core.errors import BadSetting
from nebel.core.tree import grow
from nebel.judge import thesis
from nebel.judge.exact import judge
from nebel.judge.thesis import _Node, _Program, by_thesis
from nebel.policy.table import TablePolicy, Uniform, from_tree


def random_policy(game: nebel.Game, seed: int, recall: str = "board") -> TablePolicy:
    tree, rng = grow(game, recall), np.random.default_rng(seed)
    strategies = []
    for side in tree.sides:
        weight = rng.exponential(size=len(side.move)) ** 3
        strategies.append(weight / np.repeat(np.add.reduceat(weight, side.row[:-1]), np.diff(side.row)))
    return from_tree(tree, (strategies[0], strategies[1]))


def test_s2_gets_the_thesis_figure(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """0.75 as the thesis has it, by the board alone; what that policy guarantees is another figure."""
    file = str(tmp_path / "s2.nebel")
    assert main(["strategy", "s2", "--recall", "board", "--blend", "--out", file]) == 0
    capsys.readouterr()
    assert main(["judge", file, "--by", "thesis", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["best_response"], told["bound"]) == (False, False)
    [judged] = told["judged"]
    assert judged["player"] == 1
    assert judged["wins"] == pytest.approx(0.75, abs=1e-12)
    assert judged["exact"] == pytest.approx(0.5035714, abs=1e-6)


@pytest.mark.parametrize("recall", ["board", "perfect"])
def test_it_promises_too_much(recall: str) -> None:
    game = nebel.game("dark_hex(rows=2,cols=2)")
    assert isinstance(game, nebel.Game)
    above = 0
    for seed in range(3):
        policy = random_policy(game, seed, recall)
        wins = judge(game, policy).wins
        assert wins is not None
        for each in by_thesis(game, policy):
            assert each.exact == pytest.approx(wins[each.player], abs=1e-9)
            assert each.wins >= each.exact - 1e-9, "it is what the policy wins against some responder"  # type: ignore[operator]
            above += each.wins > each.exact + 1e-6  # type: ignore[operator]
    assert above or recall == "perfect"


def plain_visits(node: _Node, ends: dict[int, float]) -> float:
    """Visit by visit, as the program is written."""
    if not node.children:
        ends[node.number] = node.value = node.value * node.reach
        return node.value
    sums = [sum(plain_visits(after, ends) for after in pair if after) for pair in node.children.values()]
    node.value = sum(sums) if node.waits else max(sums)
    return node.value


@pytest.mark.parametrize("player", [0, 1])
def test_values_are_those_of_plain_visits(player: int) -> None:
    game = nebel.game("dark_hex(rows=3,cols=2)")
    assert isinstance(game, nebel.Game)
    policy = random_policy(game, 5)
    fast, slow = _Program(game, policy, player), _Program(game, policy, player)
    slow.weigh = lambda: plain_visits(slow.nodes[0], {})  # type: ignore[assignment, method-assign, return-value]
    assert fast.wins() == slow.wins()
    assert [node.value for node in fast.nodes] == [node.value for node in slow.nodes]


@pytest.mark.parametrize(("string", "words"), [("kuhn", "not of kuhn"), ("dark_hex(rows=2,cols=2,abrupt=true)", "classic silent")])
def test_other_games_are_refused(string: str, words: str) -> None:
    with pytest.raises(BadSetting, match=words):
        by_thesis(nebel.game(string), Uniform())
    with pytest.raises(BadSetting, match="tables of Dark Hex"):
        by_thesis(nebel.game("dark_hex(rows=2,cols=2)"), Uniform())


def test_it_says_what_it_is_not(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = str(tmp_path / "hex.nebel")
    assert main(["solve", "dark_hex(rows=2,cols=2)", "--recall", "board", "--iterations", "20", "--out", file, "--with", "cfr+"]) == 0
    capsys.readouterr()
    assert main(["judge", file, "--by", "thesis"]) == 0
    said = capsys.readouterr().out
    assert "not a best response" in said
    assert "not bounds" in said
    assert said.count("guarantees (exact)") == 2


def test_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thesis, "MOST_STATES", 100)
    game = nebel.game("dark_hex(rows=3,cols=2)")
    with pytest.raises(nebel.Problem, match="more than 100 full states"):
        by_thesis(game, random_policy(game, 1))  # type: ignore[arg-type]
