"""Traversals in step are unbiased; networks learn from them, go on where they stopped, and stay finite in long games."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nebel
from nebel.cli import main
from nebel.core.game import CHANCE
from nebel.core.rng import generator
from nebel.core.state import State
from nebel.judge.best_response import Judge
from nebel.learn.drive import Yardstick
from nebel.learn.memory import Lessons
from nebel.learn.tallies import Means, group
from nebel.learn.traverse import Traverser, pass_back
from nebel.learn.vr_deep_dcfr import VrDeepDcfr, VrDeepDcfrSettings
from nebel.learn.workers import Alone
from nebel.policy.nets import match_regrets
from nebel.search.target import in_rules

FAST = VrDeepDcfrSettings(traversals=1000, steps=60, baseline_steps=30, average_steps=40, hidden="32-32", average_hidden="32-32")


def even(player: int, rows: np.ndarray, legal: np.ndarray) -> np.ndarray:
    return legal / legal.sum(axis=1, keepdims=True)


def exact_gains(state: State, me: int, reach: float, found: dict[int, np.ndarray], weights: dict[int, float]) -> float:
    """By information state of `me`: sums over histories of the others' reach times the gains of moves, all moving uniformly."""
    if state.over:
        score = state.score()
        assert score is not None
        return score if me == 0 else -score
    options = state.options()
    odds = state.odds() if state.turn == CHANCE else [1 / len(options)] * len(options)
    values = []
    for option, p in zip(options, odds, strict=True):
        turn = state.turn
        state.push(option)
        values.append(exact_gains(state, me, reach if turn == me else reach * p, found, weights))
        state.undo()
    worth = float(np.dot(odds, values))
    if state.turn == me:
        key = state.key(me)
        found.setdefault(key, np.zeros(10))[options] += reach * (np.array(values) - worth)
        weights[key] = weights.get(key, 0.0) + reach
    return worth


@pytest.mark.parametrize("baseline", [False, True])
@pytest.mark.parametrize("me", [0, 1])
def test_sampled_gains_are_unbiased(me: int, baseline: bool) -> None:
    game = in_rules(nebel.game("kuhn"))
    traverser = Traverser(game, "perfect", boards=512)
    sums, counts = {}, {}
    for round_ in range(30):
        d = traverser.run(4000, even, me, 0.6, generator(1, round_))
        guess = np.random.default_rng(3).normal(size=d.legal.shape).astype(np.float32) if baseline else np.zeros(d.legal.shape, np.float32)
        values, gains = np.zeros(len(d.move)), np.zeros(d.legal.shape)
        pass_back(d, guess, 1.0 if me == 0 else -1.0, values, gains)
        own = d.player == me
        for key, size, mean in zip(*group(d.key[own], gains[own])[0::2], group(d.key[own], gains[own]).mean, strict=True):
            sums[int(key)] = sums.get(int(key), 0.0) + size * mean
            counts[int(key)] = counts.get(int(key), 0) + size
    found: dict[int, np.ndarray] = {}
    weights: dict[int, float] = {}
    exact_gains(game.start(), me, 1.0, found, weights)
    assert set(found) == set(sums)
    for key, exact in found.items():
        assert sums[key] / counts[key] == pytest.approx(exact[: game.actions] / weights[key], abs=0.12 if baseline else 0.06)


def test_every_traversal_is_a_whole_game() -> None:
    game = in_rules(nebel.game("leduc"))
    d = Traverser(game, "perfect", boards=64).run(500, even, 0, 0.5, generator(2))
    assert np.count_nonzero(d.then < 0) == 500
    later = d.then[d.then >= 0]
    assert len(np.unique(later)) == len(later) == len(d.move) - 500
    assert np.all(d.then[d.then >= 0] > np.flatnonzero(d.then >= 0))
    assert np.all(d.legal[np.arange(len(d.move)), d.move])


def test_regrets_without_a_positive_one_play_the_best() -> None:
    legal = np.array([[True, True, False], [True, False, True]])
    shares = match_regrets(np.array([[-3.0, -1.0, 5.0], [1.0, 9.0, 3.0]], np.float32), legal)
    assert shares.tolist() == [[0.0, 1.0, 0.0], [0.25, 0.0, 0.75]]


def test_it_learns_kuhn() -> None:
    game = in_rules(nebel.game("kuhn"))
    learner = VrDeepDcfr(game, "perfect", FAST, 1, Alone())
    yardstick = Yardstick(game)
    start = yardstick.measure(learner.policy({}))["exploitability"]
    for _ in range(25):
        learner.iterate()
    assert yardstick.measure(learner.policy({}))["exploitability"] < 0.06 < 0.2 * start


def test_it_goes_on_where_it_stopped() -> None:
    game = in_rules(nebel.game("kuhn"))
    whole, part, rest = (VrDeepDcfr(game, "perfect", FAST, 7, Alone()) for _ in range(3))
    for _ in range(4):
        whole.iterate()
    for _ in range(2):
        part.iterate()
    rest.restore({name: array.copy() for name, array in part.save().items()}, 2)
    for _ in range(2):
        rest.iterate()
    for one, two in zip(whole.policy({}).layers, rest.policy({}).layers, strict=True):
        assert np.array_equal(one[0], two[0])
        assert np.array_equal(one[1], two[1])


def test_long_games_stay_finite() -> None:
    game = in_rules(nebel.game("geister"))
    learner = VrDeepDcfr(
        game, "clock", VrDeepDcfrSettings(traversals=12, steps=3, baseline_steps=3, average_steps=3, room=2000), 1, Alone()
    )
    for _ in range(2):
        learner.iterate()
    assert all(np.isfinite(value) for value in learner.metrics.values())
    assert all(np.isfinite(weights).all() for layer in learner.policy({}).layers for weights in (layer.weights, layer.biases))
    assert learner._strategies.held == 2000


def test_means_hold_no_more_than_they_may() -> None:
    means, rng = Means(Lessons.blank(3, 1, 2)), np.random.default_rng(1)
    for row in range(10):
        for figures, weight in (([[0.0, 1.0]], 3.0), ([[1.0, 0.0]], 1.0)):
            new = Lessons(np.full((1, 1), row, np.float32), np.array(figures, np.float32), np.ones((1, 2), bool))
            means.add(new, np.log([weight]), rng)
    drawn = means.draw(10, rng)
    assert drawn.figures.tolist() == [pytest.approx([0.25, 0.75])] * 3


def test_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "kuhn.nebel"
    words = ["learn", "kuhn", "--with", "vr-deep-dcfr+", "--iterations", "3", "--traversals", "300", "--out", str(out)]
    assert main(words) == 0
    policy = nebel.load_policy(out)
    tree = nebel.grow(nebel.game("kuhn"))
    assert Judge(tree).verdict(policy.on_tree(tree).strategies).exploitability < 0.6
    spread = tmp_path / "spread.nebel"
    assert main([*words[:-1], str(spread), "--workers", "2"]) == 0
    state = nebel.game("kuhn").start().play("Q K")
    assert nebel.load_policy(spread).probabilities(state) == policy.probabilities(state)
    assert main([*words, "--workers", "some"]) == 2
    assert "--workers some is not understood" in capsys.readouterr().err
