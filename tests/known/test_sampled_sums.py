"""The sums of tabular samplers count every strategy by its player's own reach, however the traverser explores; so averages converge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nebel
from nebel.core.game import CHANCE
from nebel.core.tree import Tree, grow
from nebel.judge.best_response import Judge
from nebel.solve.pool import scatter
from nebel.solve.sampled import Sampled
from nebel.solve.settings import ChanceSampling, ExternalSampling, OutcomeSampling, Sampling

FIRM = 1e14
"""Regrets so large that no sample changes what they are played as."""
OWN = "stochastically-weighted"


@pytest.fixture(scope="module")
def leduc() -> Tree:
    return grow(nebel.game("leduc(suits=false)"))


def expected_sums(tree: Tree, shares: Any) -> Any:
    """By table place: the strategy times its player's reach times the chance of the deals, the other player's moves not counted."""
    nodes, found = tree.nodes, [np.zeros(len(side.move)) for side in tree.sides]
    own, dealt = np.ones((tree.histories, 2)), np.ones(tree.histories)
    for at in range(tree.histories):
        p = nodes.turn[at]
        if p in (0, 1):
            row = int(tree.sides[p].spot[nodes.point[at]])
            here = shares[p][row : row + nodes.breadth[at]]
            found[p][row : row + nodes.breadth[at]] += dealt[at] * own[at, p] * here
        for i in range(nodes.breadth[at]):
            child = nodes.first[at] + i
            own[child], dealt[child] = own[at], dealt[at] * (nodes.odds[child] if p == CHANCE else 1.0)
            if p != CHANCE:
                own[child, p] *= here[i]
    return np.concatenate(found)


def fixed(tree: Tree, recall: str, settings: Sampling) -> tuple[Sampled, list[Any]]:
    """A solver whose strategies stay what they are, and these strategies."""
    solver = Sampled(tree.game, recall, tree, settings, seed=1, memory=1 << 28)
    rng = np.random.default_rng(3)
    strategies = [np.empty(len(side.move)) for side in tree.sides]
    for side, shares in zip(tree.sides, strategies, strict=True):
        for begin, end in zip(side.row[:-1], side.row[1:], strict=True):
            shares[begin:end] = rng.dirichlet(np.ones(end - begin))
    scatter(solver._pool, solver._starts(), False, FIRM * np.concatenate(strategies))
    return solver, strategies


@pytest.mark.parametrize(
    ("settings", "iterations"),
    [
        (OutcomeSampling(), 2_000_000),
        (OutcomeSampling(epsilon=0.1), 2_000_000),
        (OutcomeSampling(averaging=OWN), 8_000_000),
        (ExternalSampling(), 200_000),
        (ExternalSampling(averaging=OWN), 400_000),
        (ChanceSampling(weights="plain"), 20_000),
        (ChanceSampling(weights="plain", deals=1), 40_000),
    ],
    ids=str,
)
def test_sums_count_by_own_reach(leduc: Tree, settings: Sampling, iterations: int) -> None:
    solver, strategies = fixed(leduc, "perfect", settings)
    solver.run(iterations)
    wanted, sums = expected_sums(leduc, strategies), solver._gathered(True)
    error = np.abs(sums / sums.sum() - wanted / wanted.sum()).sum()
    assert error < 0.03


@pytest.mark.parametrize("settings", [OutcomeSampling(), OutcomeSampling(averaging=OWN), ExternalSampling(averaging=OWN)], ids=str)
def test_sums_count_histories_of_a_board_by_own_reach(settings: Sampling) -> None:
    """Where the order of moves is forgotten, an information state has histories of different own reach."""
    tree = grow(nebel.game("dark_hex:2x2"), "board")
    solver, strategies = fixed(tree, "board", settings)
    solver.run(2_000_000)
    wanted, sums = expected_sums(tree, strategies), solver._gathered(True)
    assert np.abs(sums / solver.iterations - wanted).sum() < 0.02 * wanted.sum()


@pytest.mark.parametrize("settings", [OutcomeSampling(averaging=OWN, baseline=True), ExternalSampling(averaging=OWN)], ids=str)
def test_stochastically_weighted_averages_resume_and_converge(settings: Sampling) -> None:
    tree = grow(nebel.game("kuhn"))
    whole, first, second = (Sampled(tree.game, "perfect", tree, settings, seed=4, memory=1 << 28) for _ in range(3))
    whole.run(300_000)
    first.run(100_000)
    second.restore({name: array.copy() for name, array in first.save().items()}, first.iterations)
    second.run(200_000)
    assert all(np.array_equal(array, second.save()[name]) for name, array in whole.save().items())
    assert Judge(tree).verdict(whole.strategies()).exploitability < 0.01


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_goofspiel_comes_below_a_hundredth(seed: int) -> None:
    tree = grow(nebel.game("goofspiel:5"))
    solver = Sampled(tree.game, "perfect", tree, OutcomeSampling(weights="linear"), seed, memory=1 << 28)
    solver.run(3_000_000)
    assert Judge(tree).verdict(solver.strategies()).exploitability < 0.01
