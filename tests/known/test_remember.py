"""Memories as part of states: policies with perfect recall judged by beliefs, as they are judged on the tree."""

from __future__ import annotations

import numpy as np
import pytest

from nebel.core.registry import load
from nebel.core.tree import Tree, grow
from nebel.judge.exact import judge
from nebel.policy.table import TablePolicy, from_tree


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
