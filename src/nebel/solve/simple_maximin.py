"""The simple policy that guarantees the most: at most so many moves in each information state, and fractions of small denominators.

From a policy to begin with, each player's table is searched for by itself, as what it guarantees does not depend on the other one: by steps
among simple tables (`solve/simple_climb.py`), first with more moves and finer fractions than asked for, then with fewer and coarser ones;
and on trees that are small enough at last by a mixed-integer programme (`solve/simple_tree.py`), which may prove that there is none better.
The figures are those of the exact judge for the policy that is returned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import TooLarge
from nebel.core.game import BaseGame, Game
from nebel.core.tree import grow, measure
from nebel.dark_hex.forest import board_of
from nebel.dark_hex.sure_wins import on_board
from nebel.judge.exact import Judgement, judge
from nebel.policy.hex_table import BOARD
from nebel.policy.table import TablePolicy, from_tree
from nebel.solve.board_table import board_table, reachable
from nebel.solve.merged import MergedStates
from nebel.solve.simple_arena import Arena, BoardArena, TreeArena
from nebel.solve.simple_climb import Climb
from nebel.solve.simple_tree import MOST_CHOICES, count_choices, optimum
from nebel.solve.size import MOST_BOARD_CELLS

Reals = NDArray[np.float64]

MOST_HISTORIES = 500_000
"""Of games that are searched on their trees."""
PROVED = 1e-6
"""A bound that is no farther from what a policy guarantees proves that no simple policy guarantees more: the solver's tolerance."""
FINE = 60
"""The denominator while moves become fewer."""
STEPS = 100
"""Of a climb, if nothing else is said."""
START = 2
"""Iterations of CFR+ that say what to do on boards which the policy does not come by."""


class Simplest(NamedTuple):
    """A simple policy, the judgements of the policy before and of this one, and bounds of what simple policies can guarantee, by player and
    in utilities."""

    policy: TablePolicy
    before: Judgement
    after: Judgement
    bounds: tuple[float, float]

    @property
    def guarantees(self) -> tuple[float, float]:
        """Return what each player gets at least, in utilities."""
        first, second = self.after.verdict.best_response
        return -second, -first

    @property
    def proved(self) -> tuple[bool, bool]:
        """Return whether there is no better simple strategy, by player."""
        first, second = (bound - got <= PROVED for bound, got in zip(self.bounds, self.guarantees, strict=True))
        return first, second


def simplest(
    game: BaseGame, policy: TablePolicy, actions: int, denominator: int, steps: int = STEPS,
    news: Callable[[float, str], None] = lambda share, text: None,
) -> Simplest:  # fmt: skip
    """Return the best simple policy that is found, beginning with a policy of the same recall.

    steps: of each climb, at most, and nodes of the search for a proof
    news:  told which part of the work is done, and what is being done

    Raises `TooLarge` if the game has too large a tree and is not classic silent Dark Hex of up to 12 cells by the board.

    >>> from nebel.solve import Budget, Job, solve
    >>> import nebel
    >>> halves = simplest(nebel.game("kuhn"), solve(Job("kuhn"), Budget(iterations=100)).policy, actions=2, denominator=2)
    >>> [round(got, 4) + 0.0 for got in halves.guarantees], halves.proved
    ([-0.0833, 0.0], (True, True))
    """
    if measure(game, MOST_HISTORIES).complete:
        found, bounds = _on_tree(game, policy, (actions, denominator), steps, news)
    else:
        _check_boards(game, policy)
        found, bounds = _on_boards(game, policy, (actions, denominator), steps, news), (np.inf, np.inf)
    news(1.0, "judging")
    before, after = judge(game, policy), judge(game, found)
    limit = before.verdict.best_response  # nobody can guarantee more than what is got at best against some policy
    best = min(bounds[0], limit[0]), min(bounds[1], limit[1])
    entry = {"actions": actions, "denominator": denominator, "steps": steps, "bounds": list(best)}
    result = Simplest(found, before, after, best)
    entry |= {"guarantees": list(result.guarantees), "proved": list(result.proved)}
    return result._replace(policy=replace(found, facts={**policy.facts, "simplest": entry}))


def _check_boards(game: BaseGame, policy: TablePolicy) -> None:
    options = game.options
    if (
        not isinstance(game, Game) or game.name != "dark_hex" or options["abrupt"] or options["leak"] != "silent" or policy.recall != BOARD
        or options["rows"] * options["cols"] > MOST_BOARD_CELLS
    ):  # fmt: skip
        raise TooLarge(
            f"{game.string} has more than {MOST_HISTORIES:,} histories: too many to search for a simple policy by {policy.recall} recall; "
            f"take a smaller variant, or classic silent Dark Hex of up to {MOST_BOARD_CELLS} cells and a policy that goes by the board"
        )


def _on_tree(
    game: BaseGame, policy: TablePolicy, limits: tuple[int, int], steps: int, news: Callable[[float, str], None]
) -> tuple[TablePolicy, tuple[float, float]]:
    tree = grow(game, policy.recall, MOST_HISTORIES)
    laid = policy.on_tree(tree).strategies
    found: list[Reals] = []
    bounds = []
    for p in range(2):
        news(p / 2, f"searching for player {p}")
        climb, bound = _climbed(TreeArena(tree, p), laid[p], limits, steps), np.inf
        best = climb.best
        if count_choices(tree, p, *limits) <= MOST_CHOICES:
            news(p / 2 + 0.25, f"proving the optimum of player {p}")
            whole = optimum(tree, p, *limits, best, steps)
            bound = whole.bound
            if whole.promised > climb.guarantee + PROVED:
                best = whole.strategy
        found.append(best)
        bounds.append(bound)
    return from_tree(tree, (found[0], found[1])), (bounds[0], bounds[1])


def _on_boards(game: BaseGame, policy: TablePolicy, limits: tuple[int, int], steps: int, news: Callable[[float, str], None]) -> TablePolicy:
    news(0.0, "preparing boards")
    board = board_of(game)
    first, second = on_board(game.options["rows"], game.options["cols"]).moves[:2]
    start = MergedStates(game, "cfr+")
    start.run(START)
    others = start.policy({})
    shares = []
    for p, sure in enumerate((first, second)):
        news(p / 2, f"searching for player {p}")
        table, fill = (board_table(board, held.shares[p], sure) for held in (policy, others))
        unknown = np.flatnonzero(~table.any(axis=1) & fill.any(axis=1))
        table[unknown, np.argmax(fill[unknown], axis=1)] = 1.0
        climb = _climbed(BoardArena(board, p, (first, second)), table.ravel(), limits, steps)
        shares.append(reachable(board, climb.best.reshape(table.shape), sure))
    return TablePolicy(game.string, game.fingerprint, BOARD, (shares[0], shares[1]), missing="uniform")


def _climbed(arena: Arena, table: Reals, limits: tuple[int, int], steps: int) -> Climb:
    """Return the better of two climbs: straight to the limits, and by way of tables that are less simple."""
    best = climb = Climb(arena, table, *limits)
    best.run(steps)
    for actions, denominator in _ladder(arena, table, *limits):
        climb = Climb(arena, table, actions, denominator, climb.responses)
        climb.run(steps)
        table = climb.best
    return climb if climb.guarantee > best.guarantee else best


def _ladder(arena: Arena, table: Reals, actions: int, denominator: int) -> list[tuple[int, int]]:
    """Return limits from loose to those that are asked for."""
    starts = np.unique(arena.row_of(np.flatnonzero(table)))
    widest = int(np.bincount(np.searchsorted(starts, arena.row_of(np.flatnonzero(table)))).max())
    fine = max(denominator, FINE)
    fewer = [(k, fine) for k in range(min(widest, 12), actions, -1)]
    coarser, n = [], fine
    while n > denominator:
        coarser.append((actions, n))
        n = max(denominator, 2 * n // 3)
    return [*fewer, *coarser, (actions, denominator)]
