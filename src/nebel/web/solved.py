"""Solve small games on the spot, so that moves are judged by a strategy that nobody can exploit by much."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import TooLarge
from nebel.core.game import BaseGame, Game
from nebel.core.sequence import uniform_strategy
from nebel.core.tree import Tree, grow, measure
from nebel.judge.best_response import Judge
from nebel.match.agents import PolicyAgent
from nebel.policy.table import from_tree
from nebel.solve.cfr import FullWidth

SOLVED = "solved"
"""The name of the strategy that is found here."""
TREE, PLAIN_TREE = 400_000, 50_000
"""Histories of a game that is solved: of one in rules, and of another."""
WORK, MOST_ITERATIONS, FIRST = 500_000_000, 4096, 16
"""Histories gone through in all, iterations at most, and before the first look at how good the strategy is."""
CLOSE = 1e-4
"""Exploitability that will do, as a share of the range of scores."""
TREMBLE, SELDOM = 1e-3, 1e-4
"""How often the other player errs when the answers off the strategy's path are found, and how seldom a state is met to be off it."""

Reals = NDArray[np.float64]


def small(game: BaseGame) -> bool:
    """Return whether the game is solved on the spot."""
    return measure(game, TREE if isinstance(game, Game) else PLAIN_TREE).complete


def solve(game: BaseGame) -> PolicyAgent:
    """Find an approximate equilibrium of a small game by DCFR+, within bounds of work that are the same on every machine.

    An average strategy says nothing of use where it never leads itself. There the best response to the other player's strategy, who
    errs now and then, takes its place, so that what follows a mistake is judged as if both went on well.

    Raises `TooLarge` if the game is not small.
    """
    most = TREE if isinstance(game, Game) else PLAIN_TREE
    if not small(game):
        raise TooLarge(f"{game.string} has more than {most:,} histories: too many to solve on the spot")
    tree = grow(game, limit=most)
    solver, judge = FullWidth(tree, "dcfr+"), Judge(tree)
    goal, iterations = CLOSE * float(np.ptp(tree.nodes.score)), max(FIRST, min(MOST_ITERATIONS, WORK // tree.histories))
    while solver.iterations < iterations:
        solver.run(min(max(FIRST, solver.iterations), iterations - solver.iterations))
        if judge.verdict(solver.strategies()).exploitability <= goal:
            break
    strategies = _completed(tree, judge, solver.strategies())
    exploitability = judge.verdict(strategies).exploitability
    return PolicyAgent(SOLVED, from_tree(tree, strategies, {"method": "dcfr+", "exploitability": exploitability}))


def _completed(tree: Tree, judge: Judge, strategies: tuple[Reals, Reals]) -> tuple[Reals, Reals]:
    even = map(uniform_strategy, tree.sides)
    trembling = tuple((1 - TREMBLE) * mine + TREMBLE * other for mine, other in zip(strategies, even, strict=True))
    found = []
    for player, side in enumerate(tree.sides):
        mine = strategies[player].copy()
        best = judge.best_response(player, (trembling[0], trembling[1]))
        reach = np.ones(side.sequences)
        for point, first in enumerate(side.points.first[:-1]):
            spot, width = side.spot[point], side.points.first[point + 1] - first
            reach[first : first + width] = reach[side.points.parent[point]] * strategies[player][spot : spot + width]
            if reach[side.points.parent[point]] < SELDOM:
                mine[spot : spot + width] = np.arange(width) == best[point]
        found.append(mine)
    return found[0], found[1]
