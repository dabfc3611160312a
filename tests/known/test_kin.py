"""Policies of smaller games in larger ones: what they see there, what they play, and where they do not fit."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import nebel
from nebel.cli import main
from nebel.core.errors import BadFile, BadSetting
from nebel.core.kin import borrow, same, variant
from nebel.core.rng import generator
from nebel.core.tree import Tree, grow
from nebel.judge.best_response import Judge
from nebel.policy.adopt import adopt
from nebel.policy.io import save_policy
from nebel.policy.table import TablePolicy, from_tree

GLANCES = ("memoryless", "hp-aware", "history-aware", "general")


def noisy(tree: Tree, seed: int = 1) -> TablePolicy:
    """Random probabilities, none of them alike."""
    rng = np.random.default_rng(seed)
    strategies = []
    for side in tree.sides:
        share = rng.exponential(size=len(side.move))
        strategies.append(share / np.repeat(np.add.reduceat(share, side.row[:-1]), np.diff(side.row)))
    return from_tree(tree, (strategies[0], strategies[1]))


@cache
def small(recall: str, string: str = "cheat:2") -> TablePolicy:
    return noisy(grow(nebel.game(string), recall), seed=len(recall))


def test_variants() -> None:
    game = nebel.game("cheat(hp=5,starter=0,alike=true)")
    assert variant(game, "hp", "2").string == nebel.game("cheat(hp=2,starter=0,alike=true)").string
    assert variant(game, "limit", "7").options["limit"] == 7
    with pytest.raises(BadSetting, match="no option 'cards' that could be varied; its options: ranks, suits, hand, hp"):
        variant(game, "cards", "3")


@pytest.mark.parametrize("glance", GLANCES)
def test_in_a_larger_game_a_policy_plays_by_what_its_own_would_show(glance: str) -> None:
    """Legal moves, and the very row that the smaller game's glance finds in the larger game's state: more health is the most it knows."""
    own, large, policy = nebel.game("cheat:2"), nebel.game("cheat:5"), small(glance)
    game, adopted = adopt(large, policy)
    assert (game.string, adopted.game, adopted.missing) == (large.string, large.string, "uniform")
    rng, known, healthier = generator(7), 0, 0
    for _ in range(150):
        state = game.start().deal(rng)
        while not state.over:
            player = state.turn
            shares = adopted.probabilities(state)
            assert list(shares) == state.options()
            found = policy.lookup(player, own.glance_at(glance, state.position, player))
            assert shares == (found or dict.fromkeys(state.options(), 1 / len(shares)))
            if found:
                known += 1
                healthier += max(state.position[0].hp) > 2
            state.push(state.options()[int(rng[1] + known) % len(shares)]).deal(rng)
    assert known > 200
    assert healthier > 100


def test_health_is_clamped() -> None:
    own, large = nebel.game("cheat:2"), nebel.game("cheat:5")
    begin, deal = large.start().play("As2s-2h3s-0"), nebel.game("cheat:2").start().play("As2s-2h3s-0")
    assert own.glance_at("hp-aware", begin.position, 0) == own.glance_at("hp-aware", deal.position, 0)
    hurt = begin.play("2s challenge")  # a lie: player 0 has 4 health points of 5
    clamped = own.glance_at("hp-aware", hurt.position, 1)
    assert "health 2 against 2" in own.glance_text("hp-aware", clamped)
    assert "health 5 against 4" in large.glance_text("hp-aware", large.glance_at("hp-aware", hurt.position, 1))
    game, adopted = adopt(large, small("hp-aware"))
    assert adopted.lookup(1, game.start().play("As2s-2h3s-0 2s challenge").key(1, adopted.recall)) == small("hp-aware").lookup(1, clamped)


def test_longer_games_that_random_play_cannot_tell_apart() -> None:
    """Their fingerprints are the same, what their glances say of health is not."""
    six, seven = nebel.game("cheat:6"), nebel.game("cheat:7")
    assert six.fingerprint == seven.fingerprint
    assert not same(six, seven)
    larger, recall = borrow(seven, six, "hp-aware")
    state = larger.start().play("As2s-2h3s-0")
    assert state.key(0, recall) == six.glance_at("hp-aware", state.position, 0) != state.key(0, "hp-aware")
    empty = TablePolicy(six.string, six.fingerprint, "hp-aware", small("hp-aware").shares)
    assert adopt(seven, empty)[1].recall == recall
    assert adopt(six, empty) == (six, empty)


def test_one_game_under_two_names_is_no_other() -> None:
    whole, longest = nebel.game("goofspiel:3"), nebel.game("goofspiel(cards=3,turns=3)")
    policy = noisy(grow(whole))
    assert same(whole, longest)
    assert adopt(longest, policy) == (longest, policy)


@pytest.mark.parametrize(
    ("policy", "game", "reason"),
    [
        ("cheat:2", "cheat(hp=5,ranks=4)", "moves of the same number are not called the same"),
        ("cheat:2", "cheat:large", "moves of the same number are not called the same"),
        ("cheat:2", "cheat(hp=5,alike=true)", "moves of the same number are not called the same"),
        ("cheat:2", "cheat(hp=5,suits=1,ranks=4)", "moves of the same number are not called the same"),
        ("cheat:2", "leduc", "not games of one family"),
    ],
)
@pytest.mark.parametrize("recall", ["memoryless", "perfect"])
def test_other_decks_and_other_games_are_refused(policy: str, game: str, reason: str, recall: str) -> None:
    with pytest.raises(BadFile, match=reason) as caught:
        adopt(nebel.game(game), small(recall, policy))
    assert "this policy was made for cheat(ranks=3,suits=2,hand=2,hp=2), not for" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_fewer_moves_are_refused_although_they_are_called_the_same() -> None:
    """A curriculum may carry regrets there, but a policy would not know what to do with the other moves."""
    few, many = nebel.game("goofspiel:3"), nebel.game("goofspiel:4")
    assert borrow(many, few, "perfect") == (many, "perfect")
    with pytest.raises(BadFile, match="their moves are not the same"):
        adopt(many, noisy(grow(few)))


def test_judged_in_a_larger_game(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "small.nebel"
    save_policy(small("memoryless"), file)
    assert main(["judge", str(file), "--game", "cheat:3", "--json"]) == 0
    judged = json.loads(capsys.readouterr().out)
    tree = grow(nebel.game("cheat:3"), "memoryless")  # what is seen without health is the same in both games
    strategies = []
    for player, side in enumerate(tree.sides):
        found = [small("memoryless").lookup(player, int(key)) for key in side.keys]
        width = np.diff(side.row)
        strategies.append(np.concatenate([list(row.values()) if row else np.full(n, 1 / n) for row, n in zip(found, width, strict=True)]))
        assert judged["unknown"][player] == sum(row is None for row in found)
    verdict = Judge(tree).verdict((strategies[0], strategies[1]))
    assert judged["exploitability"] == verdict.exploitability
    assert judged["value"] == verdict.value
    assert judged["game"] == "cheat"


def test_refused_on_the_command_line_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "small.nebel"
    save_policy(small("memoryless"), file)
    for words in (["judge", str(file), "--game", "cheat(hp=3,ranks=4)"], ["match", str(file), "random", "--game", "leduc"]):
        assert main(words) == 2
        error = capsys.readouterr().err
        assert "was made for cheat(ranks=3,suits=2,hand=2,hp=2), not for" in error
        assert error.count("\n") == 1


def test_larger_hands_are_as_large_as_the_smaller_game_knows() -> None:
    """A glance of a game of one card each, in which nobody ever has more than two, looks at a hand of three."""
    own, game = nebel.game("cheat(hand=1)"), nebel.game("cheat(hand=2)")
    larger, recall = borrow(game, own, "memoryless")
    state = larger.start().play("As2s-2h3s-0 As challenge")
    assert state.information(0, "memoryless") == "2s, 2 is on, the other has 3"
    assert state.information(0, recall) == "2s, 2 is on, the other has 2"
    assert state.push("2h3s").information(0, recall) == "2s, asked to believe 2 x 2, the other has 1"


def test_matches_between_sizes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two policies of different recalls and one smaller game, in the larger one."""
    files = [str(tmp_path / f"{recall}.nebel") for recall in ("memoryless", "hp-aware")]
    for file, recall in zip(files, ("memoryless", "hp-aware"), strict=True):
        save_policy(small(recall, "cheat:1"), Path(file))
    assert main(["match", *files, "--game", "cheat:2", "--games", "2000", "--json"]) == 0
    played = json.loads(capsys.readouterr().out)["pairs"][0]
    assert played["wins"] + played["losses"] == 2000
    error = (played["interval"][1] - played["interval"][0]) / 2 / 1.96
    assert error > 0
    assert abs(played["score"] - played["exact"]) < 4 * error
