"""Agents that think: how they are called, that they remember a game and no other, and matches between them."""

from __future__ import annotations

import dataclasses
import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import nebel
from nebel.cli import main
from nebel.core.errors import BadFile, BadSetting
from nebel.core.game import Clues
from nebel.core.rng import generator
from nebel.core.tree import grow
from nebel.judge.best_response import Judge
from nebel.match.agents import PolicyAgent, load_game, read
from nebel.match.arena import Arena, Terms, play_deals, play_pair
from nebel.match.deals import play_by_hand
from nebel.match.thinkers import Mind, Thinker
from nebel.policy.io import save_policy
from nebel.policy.net import Layer, NetPolicy
from nebel.policy.table import from_tree
from nebel.search.budget import Budget
from nebel.search.ismcts import IsmctsSettings
from nebel.search.oos import OosSettings


def thinker(text: str) -> Thinker:
    agent = read(text)
    assert isinstance(agent, Thinker)
    return agent


def net(string: str, seed: int) -> NetPolicy:
    """A network of random weights."""
    game, rng = nebel.game(string), np.random.default_rng(seed)
    sizes = [game.encodings["perfect"].size, 16, game.actions]  # type: ignore[attr-defined]
    layers = [
        Layer(rng.normal(size=(a, b)).astype(np.float32), rng.normal(size=b).astype(np.float32), "relu") for a, b in pairwise(sizes)
    ]
    return NetPolicy(game.string, game.fingerprint, "perfect", (*layers[:-1], layers[-1]._replace(bend="")))


@pytest.fixture
def kuhn_file(tmp_path: Path) -> str:
    tree = grow(nebel.game("kuhn"))
    path = tmp_path / "kuhn.nebel"
    save_policy(from_tree(tree, (np.tile([0.3, 0.7], 6), np.tile([0.4, 0.6], 6))), path)
    return str(path)


def test_a_share_of_the_budget_and_what_is_remembered() -> None:
    agent = thinker("oos:100")
    assert agent.nbytes == 0
    state = nebel.game("kuhn").start().play("K J")
    assert agent.choose_within(state, generator(1), 0.25) in state.options()
    assert agent.minds[0].simulations == 25
    assert agent.nbytes > 1000
    agent.forget()
    assert (agent.nbytes, agent.minds) == (0, {})
    assert Budget(seconds=2.0).part(0.25) == Budget(seconds=0.5)
    assert Budget(simulations=2).part(0.1) == Budget(simulations=1)


def test_names(kuhn_file: str) -> None:
    oos = thinker("oos:10k,epsilon=0.55,target=public")
    assert (oos.budget, oos.settings, oos.guide) == (Budget(simulations=10_000), OosSettings(epsilon=0.55, target="public"), None)
    assert thinker("oos:500ms").budget == Budget(seconds=0.5)
    assert thinker("ismcts:1e+3,selection=rm").settings == IsmctsSettings(selection="rm")
    for text in (f"policy:{kuhn_file}+oos:2k", f"{kuhn_file}+oos:2k"):
        guided = thinker(text)
        assert guided.guide is not None
        assert load_game(None, [guided, read("uniform")]).string == "kuhn"
    digests = [read(text).digest for text in ("oos:10k", "oos:1k", "oos:10k,epsilon=0.55", f"{kuhn_file}+oos:10k", "ismcts:10k", "oos:10s")]
    assert len(set(digests)) == len(digests)
    assert read("oos:10000").digest == digests[0]


def test_wrong_names_get_one_line(kuhn_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = {
        "oos:": "'' is no budget; write simulations as 2000, 10k",
        "oos:soon": "'soon' is no budget",
        "oos:0": "must be more than nothing",
        "oos:1k,epsilon=2": "oos:1k,epsilon=2: epsilon 2.0 is out of range: it must be between",
        "oos:1k,speed=2": "with a name among: epsilon, delta, gamma",
        "ismcts:1k,target=public": "with a name among: selection",
        f"{kuhn_file}+ismcts:1k": "write POLICY+oos:BUDGET",
        "heuristic+oos:1k": "heuristic is no policy",
        "missing.nebel+oos:1k": "no agent 'missing.nebel'",
        "oos": "oos needs a budget: oos:1k or oos:1s",
    }
    for text, said in wrong.items():
        assert main(["match", text, "uniform", "--game", "kuhn", "--games", "2"]) == 2, text
        out, err = capsys.readouterr()
        assert said in err
        assert err.count("\n") == 1
        assert out == ""


def test_games_that_do_not_fit(kuhn_file: str) -> None:
    with pytest.raises(BadFile, match="made for kuhn, not for leduc"):
        read(f"{kuhn_file}+oos:10").join(nebel.game("leduc"))
    with pytest.raises(BadSetting, match="does not say what is public"):
        read("oos:10,target=public").join(dataclasses.replace(nebel.game("kuhn"), clues=Clues()))  # type: ignore[type-var]


@pytest.mark.parametrize("text", ["oos:200", "ismcts:200"])
def test_a_game_is_remembered_and_no_other(text: str) -> None:
    game, agent, rng = nebel.game("goofspiel:5"), thinker(text), generator(1)
    state = game.start()
    state.push(agent.choose(state, rng))
    first = agent.minds[0]
    assert isinstance(first, Mind)
    state.push("0")
    agent.choose(state, rng)
    assert agent.minds[0].search is first.search
    assert agent.minds[0].nodes > 0
    agent.choose(game.start(), rng)
    assert agent.minds[0].search is not first.search
    assert agent.sit().minds == {}


def test_a_single_move_needs_no_thought() -> None:
    game, agent, rng = nebel.game("goofspiel:3"), thinker("oos:50"), generator(1)
    state = game.start().play("0 1 1 0")
    assert len(state.options()) == 1
    assert agent.choose(state, rng) == state.options()[0]
    assert agent.minds == {}
    assert rng[1] == 0


def test_it_looks_only_at_what_it_knows() -> None:
    """In positions that it cannot tell apart it plays the same."""
    game = nebel.game("leduc")
    for text in ("oos:500", "ismcts:500"):
        shares = []
        for cards in ("Ks Js", "Ks Qh", "Ks Kh"):
            state = game.start().play(cards)
            shares.append(thinker(text).think(state, generator(4)))
        assert shares[0] == shares[1] == shares[2]


def test_matches_do_not_depend_on_threads() -> None:
    game = nebel.game("goofspiel:5")
    a, b = read("oos:100"), read("ismcts:100,selection=rm")
    results = [Arena(game).play(a, b, Terms(24, 3, threads)) for threads in (1, 3)]
    counts = [(r.wins, r.draws, r.losses, r.score, r.interval) for r in results]
    assert counts[0] == counts[1]
    assert all(seconds is not None and seconds > 0 for r in results for seconds in r.seconds)
    assert play_pair(game, a, a, 10, 1).score == 0
    assert play_pair(game, a, b, 24, 4).score != results[0].score


def test_thinking_beats_not_thinking() -> None:
    game = nebel.game("goofspiel:5")
    for text in ("oos:2k", "ismcts:2k"):
        result = play_pair(game, read(text), read("random"), 60, 1)
        assert result.wins + result.draws / 2 > 40


def test_a_guided_search_plays(kuhn_file: str) -> None:
    game = nebel.game("goofspiel:5")
    guided = Thinker("net+oos", Budget(simulations=200), OosSettings(), net("goofspiel:5", 1))
    result = play_pair(game, guided, read("random"), 10, 1)
    assert result.wins + result.draws + result.losses == 10
    assert play_pair(nebel.game("kuhn"), read(f"{kuhn_file}+oos:100"), read("random"), 4, 1).games == 4


@pytest.mark.parametrize("string", ["goofspiel:5", "leduc"])
def test_networks_in_step_play_the_games_that_they_play_one_by_one(string: str) -> None:
    game = nebel.game(string)
    one, two, even = PolicyAgent("one", net(string, 1)), PolicyAgent("two", net(string, 2)), read("uniform")
    table = PolicyAgent("table", from_tree(grow(game), two.policy.on_tree(grow(game)).strategies))  # type: ignore[union-attr]
    for seats in ((one, even), (even, one), (one, two), (table, one)):
        quick, slow = play_deals(game, seats, 600, 5), play_by_hand(game, seats, 600, 5)
        assert quick.scores.tolist() == slow.scores.tolist()
        moving = np.array([isinstance(agent.policy, NetPolicy) for agent in seats])
        assert quick.moves[moving].tolist() == slow.moves[moving].tolist()
        assert (quick.seconds[moving] > 0).all()


def test_networks_are_refused_at_other_games() -> None:
    with pytest.raises(BadFile, match=r"net: .*made for leduc, not for kuhn"):
        PolicyAgent("net", net("leduc", 1)).join(nebel.game("kuhn"))


def test_networks_are_judged_exactly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, policy, tree = str(tmp_path / "net.nebel"), net("leduc", 1), grow(nebel.game("leduc"))
    save_policy(policy, file)
    assert main(["judge", file, "--json"]) == 0
    judged = json.loads(capsys.readouterr().out)
    assert judged["exploitability"] == pytest.approx(Judge(tree).verdict(policy.on_tree(tree).strategies).exploitability)
    assert main(["judge", file, "--game", "kuhn"]) == 2
    assert "made for leduc, not for kuhn" in capsys.readouterr().err


def test_times_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["match", "oos:50", "ismcts:50", "random", "--game", "kuhn", "--games", "6", "--threads", "2"]
    assert main([*words, "--json"]) == 0
    pairs = json.loads(capsys.readouterr().out)["pairs"]
    assert [pair["seconds"][0] > 0 for pair in pairs] == [True] * 3
    assert main(words) == 0
    assert "time a move" in capsys.readouterr().out
