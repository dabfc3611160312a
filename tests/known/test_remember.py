"""Memories as part of states: policies with perfect recall judged by beliefs, as on the tree; networks that are told all."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from nebel.cli import main
from nebel.core.errors import BadRules, UnknownGame
from nebel.core.registry import load
from nebel.core.remember import diaries_by_trial, keeping_diaries
from nebel.core.tree import Tree, grow
from nebel.judge.exact import judge
from nebel.policy.net import encode_side
from nebel.policy.table import TablePolicy, from_tree
from nebel.search.target import in_rules


def random_policy(tree: Tree, seed: int) -> TablePolicy:
    """About every third move is never made."""
    rng = np.random.default_rng(seed)
    strategies = []
    for side in tree.sides:
        weight = rng.random(len(side.move)) * (rng.random(len(side.move)) > 0.3) + 1e-9
        total = np.add.reduceat(weight, side.row[:-1])
        strategies.append(weight / np.repeat(total, np.diff(side.row)))
    return from_tree(tree, (strategies[0], strategies[1]))


@pytest.mark.parametrize(
    "name", ["kuhn", "leduc", "goofspiel:3", "dark_hex(rows=2,cols=2,leak=noisy)", "dark_hex(rows=3,cols=2,abrupt=true)"]
)
def test_beliefs_agree_with_the_tree(name: str) -> None:
    game = load(name)
    policy = random_policy(grow(game, "perfect"), seed=3)
    on_tree, by_beliefs = judge(game, policy), judge(game, policy, limit=5)
    assert (on_tree.means, by_beliefs.means) == ("tree", "beliefs")
    assert by_beliefs.verdict.best_response == pytest.approx(on_tree.verdict.best_response, abs=1e-9)
    assert by_beliefs.verdict.value == pytest.approx(on_tree.verdict.value, abs=1e-9)


@pytest.mark.parametrize("options", ["rows=3,cols=2", "rows=2,cols=2,leak=noisy", "rows=2,cols=2,abrupt=true,leak=flash"])
def test_diaries_tell_all_information_states_apart_and_change_nothing_else(options: str) -> None:
    plain, game = load(f"dark_hex({options})"), load(f"dark_hex({options},diary=true)")
    assert game.fingerprint == plain.fingerprint
    tree, same = grow(game, "perfect"), grow(plain, "perfect")
    assert [side.states for side in tree.sides] == [side.states for side in same.sides]
    for player, side in enumerate(tree.sides):
        assert len(np.unique(encode_side(tree, player, "perfect"), axis=0)) == side.states


@pytest.mark.parametrize("recall", ["history-aware", "general"])
def test_histories_of_cheat_are_told(recall: str) -> None:
    tree = grow(load("cheat(hp=1,diary=true)"), recall)
    for player, side in enumerate(tree.sides):
        assert len(np.unique(encode_side(tree, player, recall), axis=0)) == side.states


@pytest.mark.parametrize("options", ["put=counts", "hp=100"])
def test_histories_that_cannot_be_told_are_refused(options: str) -> None:
    with pytest.raises(UnknownGame, match="diary"):
        load(f"cheat({options},diary=true)")


@pytest.mark.parametrize(
    ("string", "pages", "tokens"), [("kuhn", 4, 8), ("liars_dice(faces=3)", 8, 20), ("goofspiel(cards=3,order=random)", 9, 20)]
)
def test_any_game_can_be_told_to_networks(string: str, pages: int, tokens: int) -> None:
    game = keeping_diaries(in_rules(load(string)), pages, tokens)
    tree = grow(game, "perfect")
    rows = [encode_side(tree, player, "perfect") for player in range(2)]
    assert len(np.unique(np.concatenate(rows), axis=0)) == tree.sides[0].states + tree.sides[1].states


@pytest.mark.parametrize(
    ("string", "also"),
    [("kuhn", ""), ("dark_hex:3x2", "board"), ("cheat:1", "hp-aware"), ("geister(width=2,height=3,ghosts=2,buffer=0,limit=5)", "board")],
)
def test_diaries_are_measured_by_trial(string: str, also: str) -> None:
    plain = in_rules(load(string))
    game = diaries_by_trial(plain, 1000, also)
    assert game is not None
    assert game.fingerprint == plain.fingerprint
    tree = grow(game, "perfect")
    for player, side in enumerate(tree.sides):
        assert len(np.unique(encode_side(tree, player, "perfect"), axis=0)) == side.states


def test_what_no_trial_met_is_told_as_one_and_full_diaries_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """One game of Liar's dice: most bids and most dice are unheard of, and later games are longer."""
    monkeypatch.setattr("nebel.core.remember.TRIAL", 1)
    game = diaries_by_trial(in_rules(load("liars_dice(faces=3)")), 1000)
    assert game is not None
    tree = grow(game, "perfect")
    for player, side in enumerate(tree.sides):
        rows = encode_side(tree, player, "perfect")
        assert 1 < len(np.unique(rows, axis=0)) < side.states
        assert set(np.unique(rows)) == {0.0, 1.0}


def test_a_diary_that_takes_too_many_numbers_is_not_kept() -> None:
    assert diaries_by_trial(in_rules(load("geister")), 1000) is None
    assert diaries_by_trial(in_rules(load("kuhn")), 10) is None


@pytest.mark.parametrize(("pages", "tokens"), [(2, 8), (4, 1)])
def test_what_does_not_fit_into_a_diary_is_said(pages: int, tokens: int) -> None:
    with pytest.raises(BadRules, match=r"more steps than there are pages|a token that is too large"):
        grow(keeping_diaries(in_rules(load("kuhn")), pages, tokens), "perfect")


def test_networks_with_perfect_recall_learn_play_and_are_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game, net = "dark_hex(rows=2,cols=2,abrupt=true,diary=true)", str(tmp_path / "net.nebel")
    few = ["--boards", "32", "--iterations", "60", "--hidden", "32"]
    assert main(["learn", game, "--with", "nfsp", "--recall", "perfect", *few, "--out", net, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["recall"] == "perfect"
    assert main(["judge", net, "--json"]) == 0
    assert 0.0 <= json.loads(capsys.readouterr().out)["exploitability"] < 0.6  # evenly played: 0.71
    table = str(tmp_path / "table.nebel")
    assert main(["solve", "dark_hex(rows=2,cols=2,abrupt=true)", "--iterations", "200", "--out", table]) == 0
    capsys.readouterr()
    assert main(["match", net, table, "--game", game, "--games", "2000", "--json"]) == 0
    pair = json.loads(capsys.readouterr().out)["pairs"][0]
    assert pair["interval"][0] - 0.05 < pair["exact"] < pair["interval"][1] + 0.05
    assert main(["match", net, table, "--game", "dark_hex(rows=2,cols=2,abrupt=true)", "--games", "10"]) == 2
    assert "diary=true" in capsys.readouterr().err
