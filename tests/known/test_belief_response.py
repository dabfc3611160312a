"""Best responses by beliefs: the same as on the tree, in all versions of Dark Hex, and beyond the tree's reach."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import nebel
from nebel.core.tree import grow
from nebel.judge.belief_response import believe
from nebel.judge.best_response import Judge
from nebel.judge.exact import judge
from nebel.policy.table import Uniform, from_tree
from nebel.solve.cfr import FullWidth

VERSIONS = list(itertools.product(("false", "true"), ("silent", "noisy", "flash")))


@pytest.mark.parametrize(("abrupt", "leak"), VERSIONS)
def test_the_same_as_on_the_tree(abrupt: str, leak: str) -> None:
    game = nebel.game(f"dark_hex(rows=3,cols=2,abrupt={abrupt},leak={leak})")
    tree = grow(game, "board")
    solver = FullWidth(tree, "cfr")
    solver.run(7)
    for policy in (Uniform(), from_tree(tree, solver.strategies())):
        verdict, _ = believe(game, policy)  # type: ignore[arg-type]
        wanted = Judge(tree).verdict(policy.on_tree(tree).strategies).best_response
        assert np.allclose(verdict.best_response, wanted, atol=1e-12)


def test_beyond_the_tree() -> None:
    """3x3 has 19 billion histories. Black, who has a sure win there, beats anybody; against uniform play White gets 0.8328."""
    verdict, means, _ = judge(nebel.game("dark_hex:3x3"), Uniform(), limit=1_000_000)
    assert means == "beliefs"
    assert verdict.best_response == pytest.approx((1.0, 0.8328042328), abs=1e-9)


def test_refusals() -> None:
    with pytest.raises(nebel.Problem, match="too many to enumerate"):
        judge(nebel.game("goofspiel:8"), Uniform(), limit=1000)
    with pytest.raises(nebel.Problem, match="steps"):
        believe(nebel.game("dark_hex:3x3"), Uniform(), patience=1000)  # type: ignore[arg-type]
