"""Networks that remember the board of Dark Hex, as tables: the same strategies, and judged beyond the tree as on it."""

from __future__ import annotations

import numpy as np
import pytest

import nebel
from nebel.core.tree import grow
from nebel.judge.abstract import abstract
from nebel.judge.best_response import Judge
from nebel.judge.exact import judge
from nebel.judge.tabulate import merged_of, tabulated
from nebel.policy.net import Layer, NetPolicy


def network(game: nebel.Game, seed: int = 1) -> NetPolicy:
    """A random one."""
    rng, sizes = np.random.default_rng(seed), (game.encodings["board"].size, 12, game.actions)
    layers = [
        Layer(rng.normal(size=(a, b)).astype(np.float32), rng.normal(size=b).astype(np.float32), bend)
        for a, b, bend in zip(sizes, sizes[1:], ("relu", ""), strict=False)
    ]
    return NetPolicy(game.string, game.fingerprint, "board", tuple(layers))


@pytest.mark.parametrize("abrupt", ["false", "true"])
def test_the_table_is_the_network(abrupt: str) -> None:
    game = nebel.game(f"dark_hex(rows=3,cols=2,abrupt={abrupt})")
    policy, tree = network(game), grow(game, "board")
    table = tabulated(game, merged_of(game).views, policy)
    for mine, wanted in zip(table.on_tree(tree).strategies, policy.on_tree(tree).strategies, strict=True):
        assert mine == pytest.approx(wanted, abs=1e-6)


def test_it_is_judged_beyond_the_tree() -> None:
    game = nebel.game("dark_hex:3x2")
    policy, tree = network(game), grow(game, "board")
    found = judge(game, policy, limit=100)
    wanted = Judge(tree).verdict(policy.on_tree(tree).strategies)
    assert found.means == "beliefs"
    assert found.verdict.best_response == pytest.approx(wanted.best_response, abs=1e-6)
    assert found.verdict.value == pytest.approx(wanted.value, abs=1e-6)
    assert abstract(game, policy).verdict.value == pytest.approx(wanted.value, abs=1e-6)


def test_other_networks_are_refused() -> None:
    game = nebel.game("geister")
    rows = Layer(np.zeros((game.encodings["clock"].size, game.actions), np.float32), np.zeros(game.actions, np.float32), "")
    with pytest.raises(nebel.Problem, match="--by learned"):
        judge(game, NetPolicy(game.string, game.fingerprint, "clock", (rows,)), limit=1000)
