"""Merged positions of Geister against the tree: the same values, and best responses within the bounds."""

from __future__ import annotations

import numpy as np
import pytest

import nebel
from nebel.cli import main
from nebel.core.errors import BadSetting, TooLarge
from nebel.core.tree import grow, measure
from nebel.geister.belief import board_of
from nebel.geister.layers import Layers
from nebel.geister.positions import Positions, histories
from nebel.geister.respond import Responder, grid
from nebel.geister.variants import judged, layers_of, policy_of
from nebel.judge.best_response import Judge


@pytest.mark.parametrize("string", ["geister:x2y3g2b0(limit=8)", "geister:x2y4g3Rb0(limit=5)", "geister:x4y2g2b1(limit=6)"])
def test_values_and_best_responses_are_those_of_the_tree(string: str) -> None:
    game = nebel.game(string)
    layers = layers_of(game)
    judge = Judge(grow(game, "clock"))
    for iterations in (0, 20):
        for _ in range(iterations):
            layers.iterate()
        found = judged(layers)
        policy = policy_of(game, layers, found.share, {})
        exact = judge.verdict(policy.on_tree(judge.tree).strategies)
        assert found.value == pytest.approx(exact.value, abs=1e-9)
        for bounds, best in zip(found.responses, exact.best_response, strict=True):
            assert bounds.low - 1e-9 <= best <= bounds.high + 1e-9
            assert bounds.high - bounds.low < 0.05


def test_learning_makes_the_players_of_the_merged_game_harder_to_beat() -> None:
    """With two worlds the bounds are narrow, and 100 plies are no more trouble than 8."""
    layers = layers_of(nebel.game("geister:x2y3g2b0"))
    start = judged(layers).exploitability
    for _ in range(60):
        layers.iterate()
    end = judged(layers)
    assert end.exploitability.high < 0.3 * start.low
    assert end.exploitability.high - end.exploitability.low < 0.001
    assert abs(end.value) < 0.01
    assert sum(float(shares.sum()) for name, shares in end.endings.items() if name != "blue first") == pytest.approx(1.0)


def test_histories_are_those_of_the_tree() -> None:
    for variant in ("x2y3g2b0", "x3y3g3Bb0"):
        board = board_of(nebel.game(f"geister:{variant}"))
        for limit, count in zip((1, 2, 3, 4), histories(board, 100_000), strict=False):
            assert count == measure(nebel.game(f"geister:{variant}(limit={limit})"), 1_000_000).histories


def test_corners_of_beliefs() -> None:
    for worlds, one in enumerate(grid((1, 8, 5, 3)), 1):
        assert one.corner.shape == (one.count, worlds)
        assert np.allclose(one.corner.sum(axis=1), 1.0)
        assert sorted(one.found[one.found >= 0]) == list(range(one.count))


def test_finer_beliefs_bring_the_bounds_together() -> None:
    layers = Layers(Positions(board_of(nebel.game("geister:x3y3g2b0"))), 9)
    gaps = []
    for fine in (2, 8, 64):
        bounds = Responder(layers, (1, fine)).bounds(layers.share, 0)
        gaps.append(bounds.high - bounds.low)
    assert gaps[0] >= gaps[1] >= gaps[2] >= -1e-12


def test_what_cannot_be_merged_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TooLarge, match="positions"):
        layers_of(nebel.game("geister:x4y4g4b1"), 1000)
    with pytest.raises(BadSetting, match="setup=random"):
        layers_of(nebel.game("geister:x2y3g2b0(setup=chosen)"))
    assert main(["geister-solve", "leduc"]) == 2
    assert "not Geister" in capsys.readouterr().err
    assert main(["geister-solve", "geister:x2y3g2b0", "--iterations", "0"]) == 2
    assert main(["geister-solve", "geister:x2y3g2b0", "--out", "."]) == 2
    assert "is a folder" in capsys.readouterr().err
