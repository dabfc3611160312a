"""`--preset geister` of Deep CFR and of DREAM: the algorithms, inputs and networks of the two papers."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nebel
from nebel.cli import main
from nebel.core.game import Game
from nebel.learn import drive
from nebel.learn.deep_cfr import DeepCfr, DeepCfrSettings
from nebel.learn.dream import Dream, DreamSettings
from nebel.learn.memory import Experience, Lessons, LossWeighted
from nebel.learn.nets import Dense, Values
from nebel.learn.presets import PRESETS
from nebel.learn.spread import Plain
from nebel.learn.traverse import OVER
from nebel.learn.workers import Alone
from nebel.policy.io import load_policy
from nebel.policy.nets import NetsPolicy
from nebel.search.target import in_rules

MOST = 1e6
FEW: dict[str, Any] = {"traversals": 8, "steps": 2, "batch": 64, "room": 4000}


def rules_of(string: str) -> Game:
    return in_rules(nebel.game(string))


class Uneven(Plain):
    """A strategy far from even, so that reach differs from sampling."""

    def __init__(self, size: int, actions: int) -> None:
        self.weights = np.random.default_rng(4).normal(scale=2.0, size=(2, size, actions))

    def __call__(self, player: int, rows: Any, legal: Any) -> Any:
        shares = np.where(legal, np.exp(rows.astype(np.float64) @ self.weights[player]), 0.0)
        return shares / shares.sum(axis=1, keepdims=True)


def collect_samples(d: Any, r: int, p: int, reach: float, sampling: float, found: dict[int, Any]) -> tuple[float, float]:
    """Algorithm 2 of the paper, as it is printed, along a sampled game, values cut off: figures, and weights without floor((t + 1) / 2), by
    decision."""
    a = d.move[r]
    sigma = float(d.share[r, a])
    after = sampling * float(d.odds[r])
    ours = d.player[r] == p
    deeper = reach if ours else reach * sigma
    if d.then[r] == OVER:
        u, tail = float(np.clip((d.score[r] if p == 0 else -d.score[r]) / after, -MOST, MOST)), 1.0
    else:
        u, tail = collect_samples(d, d.then[r], p, deeper, after, found)
    if ours:
        values = np.array([(u - u * sigma) if i == a else -u * sigma for i in range(d.legal.shape[1])])
        found[r] = np.where(d.legal[r], values, 0.0), reach * tail
    else:
        found[r] = d.share[r], reach / sampling
    return u, tail * sigma


@pytest.mark.parametrize("player", [0, 1])
def test_samples_are_those_of_algorithm_2(player: int, monkeypatch: pytest.MonkeyPatch) -> None:
    game = rules_of("geister:x3y3g3Rb0(limit=9)")
    settings = DeepCfrSettings(sampling="outcome", estimate="paper", memory="reservoir", hidden="8", traversals=200, room=4000)
    it = DeepCfr(game, "six-channels", settings, 1, Alone())
    monkeypatch.setattr(it, "mind", lambda: Uneven(it.games.size, game.actions))
    samples, d = it.sample(player, 5), it.games.run(200, it.mind(), 5, player, settings.explore)
    found: dict[int, Any] = {}
    for first in set(range(len(d.move))) - set(d.then.tolist()):
        collect_samples(d, first, player, 1.0, 1.0, found)
    own, others = np.flatnonzero(d.player == player), np.flatnonzero(d.player != player)
    assert samples.gains.figures == pytest.approx(np.array([found[r][0] for r in own]), rel=1e-4, abs=1e-4)
    it.gather(player, 5, np.random.default_rng(1))
    for memory, at in ((it._memory[player], own), (it._strategies, others)):
        wanted = [min(max(found[r][1], 1 / MOST), MOST) for r in at]
        assert np.exp(memory._weights[: memory.held]) == pytest.approx(np.array(wanted), rel=1e-4)
    assert max(found[r][1] for r in others) > 100  # the traverser's sampling is far from even


def test_weights_are_cut_off_and_count_by_the_iteration() -> None:
    """floor((t + 1) / 2), where the paper's t counts both players' rounds, is the number of our iteration."""
    it = DeepCfr(rules_of("geister"), "six-channels", DeepCfrSettings(**PRESETS["deep-cfr"]["geister"].settings | FEW), 1, Alone())
    it.iterate()
    it.iterations = 2
    it.gather(0, 4, np.random.default_rng(1))
    held = np.exp(it._strategies._weights[: it._strategies.held])
    assert held.max() == pytest.approx(3 * MOST)
    assert held.min() == pytest.approx(1.0)  # nothing was sampled before: of the first iteration


def test_the_second_player_meets_the_first_network_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the first iteration, too, where the second player itself still moves evenly."""
    it = DeepCfr(rules_of("geister"), "six-channels", DeepCfrSettings(**PRESETS["deep-cfr"]["geister"].settings | FEW), 1, Alone())
    faced, sample = [], it.sample

    def watch(player: int, stream: int) -> Any:
        rows, legal = np.random.default_rng(1).random((2, it.games.size), dtype=np.float32), np.ones((2, 144), np.bool_)
        faced.append([it.mind()(p, rows, legal) for p in range(2)])
        return sample(player, stream)

    monkeypatch.setattr(it, "sample", watch)
    it.iterate()
    (first, second), (learned, untaught) = faced
    assert np.stack([first, second, untaught]) == pytest.approx(np.full((3, 2, 144), 1 / 144))
    assert learned != pytest.approx(first)


def test_inputs_are_those_of_the_papers() -> None:
    game = rules_of("geister(limit=100)")
    state = game.start().play("ABCD ABCD")
    while not state.position[0].taken[0].any():
        captures = [move for move in state.legal() if takes(state, move)]
        state.push(captures[0] if captures and state.turn == 0 else forward(state))
    names = ("six-channels", "eleven-channels", "board-and-numbers", "board")
    rows = {name: np.zeros(game.encodings[name].size, np.float32) for name in names}
    for name, row in rows.items():
        game.encodings[name].write(state.position[0], 0, row)
    red, blue = (int(n) for n in state.position[0].taken[0])
    ply = int(state.position[0].ply)
    six, eleven = rows["six-channels"].reshape(6, 36), rows["eleven-channels"].reshape(11, 36)
    assert (six[:3].ravel() == rows["board"]).all()
    assert (six[3:, 0] == np.array([blue / 3, red / 3, ply / 100], np.float32)).all()
    assert (six == six[:, :1])[3:].all()
    assert (eleven[:6] == six).all()
    assert eleven[6:9].sum() == six[:3].sum() + 1  # one ghost more before it was taken
    assert not eleven[9:].any()
    numbers = rows["board-and-numbers"]
    assert (numbers[:108] == rows["board"]).all()
    assert (numbers[108:] == np.array([blue / 4, red / 4, ply / 100, 0.0], np.float32)).all()  # player 1 is to move


def takes(state: Any, move: str) -> bool:
    after = state.copy().push(move)
    return int(after.position[0].taken.sum()) > int(state.position[0].taken.sum())


def forward(state: Any) -> str:
    """A move that goes up if there is one."""
    up = [move for move in state.legal() if "out" not in move and move[4] > move[1] and not takes(state, move)]
    found: str = (up or state.legal())[0]
    return found


def test_samples_are_drawn_alike_and_weigh_the_loss() -> None:
    rng, rows = np.random.default_rng(1), np.eye(4, dtype=np.float32)
    memory = LossWeighted(Lessons.blank(4, 4, 2))
    memory.add(Lessons(rows, np.zeros((4, 2), np.float32), np.ones((4, 2), np.bool_)), np.log([1.0, 10.0, 100.0, 1000.0]), rng)
    found, weights = memory.draw_weighted(20_000, rng, 0.5)
    assert found.rows.mean(axis=0) == pytest.approx(np.full(4, 0.25), abs=0.02)
    assert weights == pytest.approx(found.rows @ np.array([0.5, 5.0, 50.0, 500.0], np.float32))
    assert memory.effective() == pytest.approx(1111.0**2 / 1_010_101)

    game = rules_of("kuhn")
    same, legal = np.ones((2, 7), np.float32), np.ones((2, 2), np.bool_)
    figures, weights = np.eye(2, dtype=np.float32), np.array([3.0, 1.0], np.float32)
    values, shares = Values.of(game, "perfect", "8", 0.02, 1), Dense.of(game, "perfect", "8", 0.02, 1)
    for _ in range(600):
        values.step(Lessons(same, figures, legal), 1.0, weights)
        shares.step(Experience(same, figures, legal), 1.0, weights)
    assert values(same)[0] == pytest.approx([0.75, 0.25], abs=0.02)
    odds = np.exp(shares(same)[0])
    assert odds / odds.sum() == pytest.approx([0.75, 0.25], abs=0.05)


def dream(**more: Any) -> Dream:
    settings = {**PRESETS["dream"]["geister"].settings, **FEW, "baseline_steps": 5, "baseline_room": 4000, **more}
    return Dream(rules_of("geister:x2y3g2b0"), "board-and-numbers", DreamSettings(**settings), 1, Alone())


def test_each_player_has_a_baseline_with_convolutions_for_both_views() -> None:
    it, rng = dream(steps=1), np.random.default_rng(1)
    for baseline in it._baselines:
        shapes = [tuple(p.shape) for name, p in baseline.net.named_parameters() if name.endswith("planes.weight")]
        assert shapes == 2 * [(16, 3, 3, 3), (32, 16, 3, 3), (16, 32, 3, 3)]
        small = [tuple(p.shape) for name, p in baseline.net.named_parameters() if name.endswith("rest.weight")]
        assert small == 2 * [(8, 4), (16, 8)]
    it.sample(0, 0)
    before = [baseline.save() for baseline in it._baselines]
    it.extra(0, rng)
    changed = [any((now != then).any() for now, then in zip(b.save().values(), old.values(), strict=False))
               for b, old in zip(it._baselines, before, strict=True)]  # fmt: skip
    assert changed == [True, False]
    d = it._last
    assert d is not None
    rows = d.table()
    for place in (0, 3 * 6 + 2, 22, 22 + 3 * 6 + 2):  # a cell, and the turn, of either view
        other = rows.copy()
        other[:, place] += 1.0
        assert (it._baselines[0](other) != it._baselines[0](rows)).any()


def test_baselines_learn_from_all_iterations() -> None:
    it, held = dream(), []
    for _ in range(3):
        it.iterate()
        held.append([each._memory.held for each in it._buffered])
    assert all(a < b < c for a, b, c in zip(*held, strict=True))
    small = dream(baseline_room=20, traversals=40)
    small.iterate()
    assert [each._memory.held for each in small._buffered] == [20, 20]


def test_a_buffered_baseline_guesses_the_score() -> None:
    """Of decisions that end games, on which it need not guess on."""
    it, rng = dream(traversals=200, baseline_room=100_000, rate=3e-3), np.random.default_rng(1)
    it.sample(0, 0)
    d = it._last
    assert d is not None
    ends = np.flatnonzero(d.then == OVER)
    loss = it._buffered[0].learn(d, 0, 150, 256, rng)
    guess = it._baselines[0].guess(d)[ends, d.move[ends]]
    assert np.corrcoef(guess, d.score[ends])[0, 1] > 0.7
    assert math.isfinite(loss)


def test_four_networks_and_no_strategies() -> None:
    """Advantage networks play, one of them drawn for a game; nothing is held for an average network."""
    it = dream()
    for _ in range(2):
        it.iterate()
    assert it._strategies.held == 0
    policy = it.policy({})
    assert isinstance(policy, NetsPolicy)
    assert "average_loss" not in it.metrics


SMALL = ["--traversals", "20", "--steps", "2", "--batch", "64", "--room", "2000"]
CASES = [
    ("geister:x2y3g2b0", "deep-cfr", "six-channels", [*SMALL, "--average-steps", "2"]),
    ("geister:x2y3g2b0", "dream", "board-and-numbers", [*SMALL, "--baseline-steps", "2", "--baseline-room", "2000"]),
]


@pytest.mark.parametrize(("game", "method", "recall", "few"), CASES, ids=[method for _, method, _, _ in CASES])
def test_presets_run_resume_and_play(
    game: str, method: str, recall: str, few: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drive, "GAMES", 20)
    learn = ["learn", game, "--with", method, "--preset", "geister", *few]
    whole, part = tmp_path / "whole", tmp_path / "part"
    assert main([*learn, "--iterations", "3", "--run", str(whole), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["recall"] == recall
    assert told["settings"]["memory"] == "reservoir"
    assert main([*learn, "--iterations", "1", "--run", str(part)]) == 0
    assert main(["learn", "--resume", str(part), "--iterations", "3"]) == 0
    assert (whole / "policy.nebel").read_bytes() == (part / "policy.nebel").read_bytes()
    assert main(["match", str(part / "policy.nebel"), "random", "--game", game, "--games", "40"]) == 0
    assert load_policy(part / "policy.nebel").recall == recall


def test_a_recall_that_is_given_goes_before_the_presets(capsys: pytest.CaptureFixture[str]) -> None:
    learn = ["learn", "geister:x2y3g2b0", "--with", "deep-cfr", "--preset", "geister", *CASES[0][3], "--iterations", "1", "--json"]
    assert main([*learn, "--recall", "eleven-channels"]) == 0
    assert json.loads(capsys.readouterr().out)["recall"] == "eleven-channels"
    assert main(["learn", "kuhn", "--with", "deep-cfr", "--preset", "geister", "--iterations", "1"]) == 2
    assert "kuhn has no recall 'six-channels'" in capsys.readouterr().err
