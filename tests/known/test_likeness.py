"""Policies of one deck at a table with another: what they see there, what their moves come to, and who is refused."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nebel
from nebel.cli import main
from nebel.core.errors import BadFile, BadSetting
from nebel.core.kin import resemble
from nebel.core.state import State
from nebel.core.tree import grow
from nebel.match.agents import PolicyAgent
from nebel.match.arena import play_deals, play_pair
from nebel.match.deals import play_by_hand
from nebel.policy.adopt import adopt
from nebel.policy.io import save_policy
from nebel.policy.table import TablePolicy, Uniform, from_tree
from nebel.solve.sampled import Sampled
from nebel.solve.settings import ChanceSampling

LARGE = ("cheat:large", "cheat(ranks=5,suits=3,hand=6,hp=5)", "cheat(ranks=4,suits=2,hand=3,alike=true)", "cheat(ranks=2,suits=5,hand=4)")
SMALL = ("cheat:3", "cheat(put=counts)", "cheat(alike=true,hp=2)", "cheat(hand=1)", "cheat(ranks=2,suits=1,hand=1)")


@cache
def learned(recall: str, string: str = "cheat:3") -> TablePolicy:
    game = nebel.game(string)
    solver = Sampled(game, recall, grow(game, recall), ChanceSampling(), seed=1, memory=0)
    solver.run(100)
    return solver.policy({})


def met(game: Any, games: int) -> list[State]:
    """States of random play in which somebody is to move."""
    rng, found = random.Random(1), []
    for seed in range(games):
        state = game.start().deal(seed)
        while not state.over:
            found.append(state.copy())
            state.push(rng.choice(state.options()))
    return found


@pytest.mark.parametrize("string", ["cheat(alike=true)", "cheat(put=counts)", "cheat(ranks=5,suits=3,hand=4,alike=true)"])
@pytest.mark.parametrize("glance", ["memoryless", "hp-aware"])
def test_nothing_is_more_like_a_game_than_itself(string: str, glance: str) -> None:
    """Where suits cannot be told apart, a player sees by likeness what it would see anyway, and its moves are what it said."""
    game = nebel.game(string)
    like, name = resemble(game, game, glance)
    for state in met(like, 40):
        assert state.key(state.turn, name) == state.key(state.turn, glance)
        for move in state.options():
            said, meant = game.name_of_move(move), game.name_of_move(like.meant_at(name, state.position, move))
            fitting = "A23456789"[int(state.position.rank[0])]
            assert [said.count(fitting), len(said)] == [meant.count(fitting), len(meant)]


@pytest.mark.parametrize("large", LARGE)
@pytest.mark.parametrize("small", SMALL)
def test_what_is_seen_could_be_in_the_other_game(large: str, small: str) -> None:
    """The state that comes closest is a possible one, what cannot be true cannot be true there, and each move there is legal here."""
    game, other = nebel.game(large), nebel.game(small)
    liken, mean, _ = game.liken(other)
    suits, suits_there, in_play = game.options["suits"], other.options["suits"], 2 * other.options["hand"]
    impossible = 0
    for state in met(game, 30):
        player, s, t = state.turn, state.position[0], other.begin()
        liken(s, player, t[0])
        hands, last = [other.view(t[0], None).splitlines()[p] for p in range(2)], int(t[0].last)
        sizes = [int(line.partition("(")[2].partition(",")[0].rstrip(")")) for line in hands]
        assert sizes[player] >= 1
        assert sizes[0] + sizes[1] + t[0].claim <= in_play
        assert (last == 0) == (s.last == 0)
        assert int(t[0].hand[0]) & int(t[0].hand[1]) & last == 0 or other.options["alike"]
        if s.last:
            of_rank = fitting(game, s, player)
            impossible += of_rank + s.claim > suits
            assert (of_rank + s.claim > suits) == (fitting(other, t[0], player) + t[0].claim > suits_there) or in_play == 2
        for move in other.options_at(t):
            assert int(mean(s, t[0], move)) in state.options()
    assert impossible > 0


def fitting(game: Any, s: Any, player: int) -> int:
    hand = game.view(s, player).splitlines()[player].split()[2]
    return hand.count("A23456789"[int(s.rank)])


def test_only_what_the_player_knows_is_seen() -> None:
    """Whatever cards the other holds."""
    game, name = resemble(nebel.game("cheat:large"), nebel.game("cheat:3"), "hp-aware")
    rng = random.Random(1)
    for state in met(game, 20):
        player, twin = state.turn, state.position.copy()
        mine, theirs = (int(state.position[0].hand[p]) for p in (player, 1 - player))
        hidden = [rank for rank in range(7) for _ in range(4 - (mine >> 4 * rank & 15))]  # a rank has four bits
        rng.shuffle(hidden)
        twin[0].hand[1 - player] = sum(1 << 4 * rank for rank in hidden[: sum(theirs >> 4 * rank & 15 for rank in range(7))])
        assert game.glance_at(name, twin, player) == game.glance_at(name, state.position, player)


@pytest.mark.parametrize(("string", "deals"), [("cheat:large", 20), ("cheat(ranks=4,suits=3,hand=5)", 20)])
def test_compiled_and_by_hand_the_same_games(string: str, deals: int) -> None:
    game = nebel.game(string)
    agents = PolicyAgent("first", learned("memoryless")), PolicyAgent("second", learned("hp-aware"))
    for agent in agents:
        game = agent.join(game)
    fast, slow = play_deals(game, agents, deals, 1), play_by_hand(game, agents, deals, 1)
    assert np.array_equal(fast.scores, slow.scores)
    assert np.array_equal(fast.unknown, slow.unknown)
    state = game.start().deal(1)
    table = agents[0].policy
    assert isinstance(table, TablePolicy)
    assert list(table.probabilities(state)) == state.options()
    assert sum(table.probabilities(state).values()) == pytest.approx(1)


def test_small_deck_players_beat_random_play_in_the_large_game() -> None:
    game, won = nebel.game("cheat:large"), {}
    for recall in ("memoryless", "hp-aware"):
        agent = PolicyAgent(recall, learned(recall))
        result = play_pair(agent.join(game), agent, PolicyAgent("random", Uniform()), games=4000, seed=1)
        assert result.exact is None
        won[recall] = result.wins / result.games
    assert won["memoryless"] > 0.95
    assert 0.75 < won["hp-aware"] < won["memoryless"]


@pytest.mark.parametrize(
    ("policy", "recall", "game", "reason"),
    [
        ("cheat:1", "history-aware", "cheat:large", "by memoryless or hp-aware recall, not by history-aware"),
        ("cheat:1", "perfect", "cheat(hp=1,ranks=4)", "by memoryless or hp-aware recall, not by perfect"),
        ("cheat(ranks=1,hand=1)", "memoryless", "cheat:3", "a single rank nobody can lie"),
        ("goofspiel:3", "perfect", "goofspiel:4", "their moves are not the same"),
    ],
)
def test_who_cannot_find_the_way_is_refused(policy: str, recall: str, game: str, reason: str) -> None:
    made = from_tree(tree := grow(nebel.game(policy), recall), Uniform().on_tree(tree).strategies)
    with pytest.raises(BadFile, match=reason) as caught:
        PolicyAgent("small", made).join(nebel.game(game))
    assert "\n" not in str(caught.value)


def test_games_that_know_no_likeness_say_so() -> None:
    with pytest.raises(BadSetting, match="goofspiel does not say what in it is like goofspiel"):
        resemble(nebel.game("goofspiel:4"), nebel.game("goofspiel:3"), "perfect")


def test_by_likeness_one_can_play_but_not_be_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, other = tmp_path / "m3.nebel", "cheat(ranks=4,hp=1)"
    save_policy(learned("memoryless"), file)
    assert main(["match", str(file), "random", "heuristic", "--game", other, "--games", "200", "--json"]) == 0
    assert [pair["exact"] for pair in json.loads(capsys.readouterr().out)["pairs"]] == [None, None, None]
    assert main(["judge", str(file), "--game", other]) == 2
    assert "moves of the same number are not called the same" in capsys.readouterr().err
    with pytest.raises(BadFile, match="moves of the same number"):
        adopt(nebel.game(other), learned("memoryless"))
