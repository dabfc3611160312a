"""ExIt-OOS: networks that learn from searches, and what they learn from."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import nebel
from nebel.core.errors import BadFile, BadSetting
from nebel.core.game import Game
from nebel.core.recall import PERFECT
from nebel.core.tree import grow
from nebel.judge.best_response import Judge
from nebel.learn.drive import learn
from nebel.learn.exit_oos import ExitOosSettings
from nebel.learn.memory import Experience, Reservoir
from nebel.learn.nets import Dense, read_shape
from nebel.learn.self_play import Played, Task, play
from nebel.learn.workers import Ray, hire
from nebel.policy.io import load_policy, load_table, save_policy
from nebel.policy.net import Layer, NetPolicy, encode, encoding_of
from nebel.search.online import Searches
from nebel.search.oos import OosSettings
from nebel.solve.run import Budget, Job


def load(string: str) -> Game:
    game = nebel.game(string)
    assert isinstance(game, Game)
    return game


def network(game: Game, seed: int = 1, recall: str = PERFECT) -> NetPolicy:
    """Random weights, in the last layer too."""
    rng, sizes = np.random.default_rng(seed), (encoding_of(game, recall).size, 16, 8, game.actions)
    pairs, bends = list(pairwise(sizes)), ("relu", "relu", "")
    weights = [(rng.normal(size=pair).astype(np.float32), rng.normal(size=pair[1]).astype(np.float32)) for pair in pairs]
    return NetPolicy(game.string, game.fingerprint, recall, tuple(Layer(*both, bend) for both, bend in zip(weights, bends, strict=True)))


def numbered(first: int, count: int) -> Experience:
    new = Experience.blank(count, 1, 2)
    new.rows[:, 0] = np.arange(first, first + count)
    return new


def test_a_reservoir_keeps_all_until_it_is_full_and_then_the_newer_the_rather() -> None:
    rng = np.random.default_rng(1)
    few = Reservoir(Experience.blank(100, 1, 2), 2.0)
    few.add(numbered(0, 60), rng)
    few.add(numbered(60, 30), rng)
    assert few.save()["rows"][:, 0].tolist() == list(range(90))
    many = Reservoir(Experience.blank(1000, 1, 2), 2.0)
    for first in range(0, 10_000, 100):
        many.add(numbered(first, 100), rng)
    held = many.save()["rows"][:, 0]
    assert (many.held, many.seen) == (1000, 10_000)
    # Half of what comes in is kept, so of the last 2000 about 1000 (1 - 1/e) are left
    assert np.count_nonzero(held >= 8000) == pytest.approx(632, abs=60)
    assert 0 < np.count_nonzero(held < 6000) < 200


def test_networks_learn_what_experts_do() -> None:
    """Targets that depend on the input, and illegal moves that must not count."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(512, 4)).astype(np.float32)
    legal = np.tile(np.array([True, True, False]), (512, 1))
    first = 1 / (1 + np.exp(-2 * rows[:, 0]))
    shares = np.stack([first, 1 - first, 0 * first], 1).astype(np.float32)
    net = Dense(4, read_shape("16-8"), 3, 1e-2, seed=1)
    losses = [net.step(Experience(rows, shares, legal)) for _ in range(300)]
    assert losses[-1] < 0.005 < 0.1 < losses[0]
    game = load("kuhn")
    policy = NetPolicy(game.string, game.fingerprint, PERFECT, net.layers())
    logits = policy.logits(rows)[:, :2].astype(float)
    assert np.abs(1 / (1 + np.exp(logits[:, 1] - logits[:, 0])) - first).max() < 0.2


@pytest.mark.parametrize("string", ["kuhn", "leduc", "goofspiel:4", "goofspiel(cards=3,order=random)"])
def test_a_network_on_a_tree_is_the_network_at_each_state(string: str) -> None:
    game = load(string)
    net, tree = network(game), grow(game)
    for player, laid in enumerate(net.on_tree(tree).strategies):
        side = tree.sides[player]
        for i in range(0, side.states, 1 + side.states // 40):
            expected = net.probabilities(tree.state_of(player, i))
            assert laid[side.row[i] : side.row[i + 1]] == pytest.approx(list(expected.values()), abs=1e-5)


def test_networks_as_files(tmp_path: Path) -> None:
    game = load("leduc")
    net = network(game)
    save_policy(net, tmp_path / "net")
    read = load_policy(tmp_path / "net")
    assert isinstance(read, NetPolicy)
    state = game.start().play("Js Qh")
    assert read.probabilities(state) == net.probabilities(state)
    with pytest.raises(BadFile, match="is a network, and this takes a table"):
        load_table(tmp_path / "net")
    with pytest.raises(BadFile, match="made for leduc, not for kuhn"):
        read.check_game(load("kuhn"))


@pytest.mark.parametrize(("string", "moves"), [("leduc", "Js Qh"), ("goofspiel:5", "1 3")])
def test_playouts_by_a_network_go_by_its_odds(string: str, moves: str) -> None:
    """In the long run a search by advice finds what one without finds; with great trust it follows the network."""
    game = load(string)
    net, state = network(game), load(string).start().play(moves)
    searches = Searches(game, OosSettings(trust=1e6), policy=net, together=8)
    searches.think(state, simulations=2000)
    assert searches.shares(state) == pytest.approx(net.probabilities(state), abs=0.01)
    one, many = (Searches(game, policy=net, together=together) for together in (1, 32))
    for each in (one, many):
        each.think(state, simulations=50)
        assert each.nodes() > 10
    tree = grow(game)
    free = Searches(game, OosSettings(target="none", trust=10.0), policy=net)
    before = Judge(tree).verdict(free.on_tree(tree)).exploitability
    free.simulate(np.array([100_000]))
    assert Judge(tree).verdict(free.on_tree(tree)).exploitability < before / 1.3


def test_a_lesson_goes_from_the_advice_towards_what_is_worth_more() -> None:
    """With a king a bet is called: that is worth 2, and folding -1, whatever the other has."""
    game = load("kuhn")
    net, state = network(game), game.start().play("Q K bet")
    searches = Searches(game, OosSettings(trust=100.0), policy=net, together=4)
    assert searches.lesson(state, 5.0) == net.probabilities(state)  # nothing is known
    searches.think(state, simulations=4000)
    fold, call = net.probabilities(state)
    before = net.probabilities(state)
    assert searches.lesson(state, 0.0) == pytest.approx(before)
    for stride in (0.1, 0.5):
        after = searches.lesson(state, stride)
        odds = after[call] / after[fold] / (before[call] / before[fold])
        assert math.log(odds) == pytest.approx(3 * stride, rel=0.1)
        assert sum(after.values()) == pytest.approx(1.0)


def same(one: Played, other: Played) -> bool:
    return all(np.array_equal(a, b) for a, b in zip((*one.experience, one.game), (*other.experience, other.game), strict=True))


def task(game: Game, net: NetPolicy, first: int, games: int) -> Task:
    return Task(game.string, PERFECT, net.layers, OosSettings(), 20, 2.0, 0.0, 7, first, games)


def test_what_comes_of_a_task_depends_on_the_task_alone() -> None:
    game = load("leduc")
    net = network(game)
    found = play(task(game, net, 0, 4))
    play(task(game, net, 40, 4))
    again = play(task(game, net, 0, 4))
    assert same(found, again)
    assert {*found.game} == {0, 1, 2, 3}
    others = play(task(game, net, 4, 4))
    assert {*others.game} == {4, 5, 6, 7}
    lessons = found.experience
    assert not np.array_equal(lessons.shares[:4], others.experience.shares[:4])
    assert lessons.shares.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    assert not lessons.shares[~lessons.legal].any()
    assert {*lessons.legal.sum(axis=1)} <= {2, 3}
    assert lessons.rows[0].tolist() in [encode(game.start().play(f"{a} {b}"), PERFECT).tolist() for a in DECK for b in DECK if a != b]


DECK = ("Js", "Jh", "Qs", "Qh", "Ks", "Kh")


def weights(policy: NetPolicy) -> list[NDArray[np.float32]]:
    return [array for layer in policy.layers for array in (layer.weights, layer.biases)]


SMALL = {"simulations": 50, "games": 20, "steps": 20, "hidden": "16"}


def test_a_run_is_the_same_whoever_works_on_it_and_wherever_it_was_killed(tmp_path: Path) -> None:
    job = Job("kuhn", "exit-oos", settings=SMALL)
    whole = learn(job, Budget(iterations=4))
    learn(job, Budget(iterations=2), tmp_path / "run")
    rest = learn(Job("kuhn"), Budget(iterations=4), tmp_path / "run", resume=True, workers="2")
    for one, other in zip(weights(whole.policy), weights(rest.policy), strict=True):
        assert np.array_equal(one, other)
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [line["iterations"] for line in lines] == [1, 2, 3, 4]
    assert lines[0].keys() >= {"seconds", "loss", "games", "experiences", "simulations_per_second", "exploitability"}
    kept = load_policy(tmp_path / "run" / "policy.nebel")
    assert kept.facts["iterations"] == 4
    with pytest.raises(BadFile, match="already holds a run"):
        learn(job, Budget(iterations=4), tmp_path / "run")


def test_kuhn_is_learned() -> None:
    settings = {"simulations": 300, "games": 32, "steps": 64, "hidden": "32", "stride": 2.0, "trust": 100.0}
    result = learn(Job("kuhn", "exit-oos", settings=settings), Budget(iterations=15))
    assert result.metrics["exploitability"] < 0.12  # the uniform policy has 0.458


def test_what_cannot_be_learned_is_refused() -> None:
    for job, words in (
        (Job("kuhn", "exit-oos", settings={"hidden": "128-x"}), "sizes of layers '128-x' are not understood"),
        (Job("cheat:1", "exit-oos", recall="general"), "no encoding for networks"),
        (Job("kuhn", "cfr+"), "no method 'cfr.' .*; methods that learn: exit-oos"),
        (Job("kuhn", "exit-oos", recall="board"), "has no recall 'board'"),
    ):
        with pytest.raises(BadSetting, match=words):
            learn(job, Budget(iterations=1))
    for text in ("0", "two", "spark:2", "ray:", "ray:0"):
        with pytest.raises(BadSetting, match=f"--workers {text} is not understood"):
            hire(text)
    with pytest.raises(BadSetting, match="steps"):
        ExitOosSettings(steps=0)


def test_a_ray_cluster_does_the_same_work() -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    game = load("kuhn")
    net = network(game)
    crew = hire("ray:1")
    assert isinstance(crew, Ray)
    try:
        (found,) = crew.map(play, [task(game, net, 0, 4)])
    finally:
        crew.close()
    assert same(found, play(task(game, net, 0, 4)))
