"""The abstract best response: both the policy and its opponent remember the board only. An optimistic figure.

Tapkan. Dark Hex: A Large Scale Imperfect Information Game. 2022 ("Ab-BR", section 3.3)

At each of the responder's views the move is taken that is best on average over all histories that look the same, each weighted by
the other player's part in it, as if the responder had come there by all orders of moves at once. A real responder remembers
how it came there and gets at least as much, so a policy looks better here than it is: the figure guarantees nothing. The
responder found may not even be the best of those that forget. What following a policy is worth is exact all the same: if
neither side remembers more than the board, merged states tell all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadSetting, TooLarge, UnknownInformationState
from nebel.core.game import BaseGame
from nebel.core.rule import kernel, rule
from nebel.dark_hex.merged import BOARD, Blocks, Merged, Views, count_states
from nebel.dark_hex.sweeps import Work, back_rows, sweep_back, sweep_forth, work_for
from nebel.judge.best_response import Verdict
from nebel.judge.patience import PATIENCE, News, quiet
from nebel.judge.tabulate import fitting_kind, merged_of, tabulated
from nebel.policy.checked import in_words, strange_keys, strange_row
from nebel.policy.net import NetPolicy
from nebel.policy.table import MadePolicy, Policy, TablePolicy, Uniform

FUZZ = 1e-13
"""Gains below this share of a view's reach are rounding."""

Reals = NDArray[np.float64]


class Abstract(NamedTuple):
    verdict: Verdict  # its exploitability and best responses are optimistic, its value is exact
    unknown: tuple[int, int]  # information states that the policy does not know, where it plays uniformly


@rule
def _choose(views: Views, me: int, gain: Any, strategy: Any) -> None:
    """In each view the move with the largest gain, the first of equals."""
    for i in range(views.start[me], views.start[me + 1]):
        best = views.first[i]
        for k in range(views.first[i], views.first[i + 1]):
            strategy[k] = 0.0
            if gain[k] > gain[best]:
                best = k
        strategy[best] = 1.0


@kernel
def _respond(blocks: Blocks, views: Views, me: int, strategy: Any, fuzz: float, value: Any, reach: Any, gain: Any, work: Work) -> float:
    """Level by level, and in classic by the number of stones met, most first: the gains of all views there, the best moves, and then
    the values when these are played. Returns the value to player 0."""
    for level in range(blocks.level.size - 2, -1, -1):
        begin, end = blocks.level[level], blocks.level[level + 1]
        mine = blocks.mover[begin] == me
        by_size = mine and not blocks.abrupt
        for size in range(blocks.cells if by_size else 0, -1, -1):
            for learning in range(1 if mine else 0, -1, -1):
                learner = me if learning else -1
                for i in range(begin, end):
                    lo, n = 0, blocks.met_count[i]
                    if by_size:
                        stones = blocks.size[blocks.other[i]]
                        lo, n = blocks.below[stones, size], blocks.below[stones, size + 1] - blocks.below[stones, size]
                    if n > 0 and work.reached[i]:
                        back_rows(blocks, views, strategy, learner, fuzz, i, lo, n, value, reach, gain, work)
                if learning:
                    _choose(views, me, gain, strategy)
    return value[0]


class _Table(NamedTuple):
    """A game's merged states and a policy laid out on their views."""

    merged: Merged
    strategy: Reals
    unknown: tuple[int, int]
    value: Reals
    work: Work

    def follow(self) -> float:
        blocks, views, _ = self.merged
        nothing = np.zeros(1)
        return float(sweep_back(blocks, views, self.strategy, -1, FUZZ, self.value, nothing, nothing, self.work))


def _table(game: BaseGame, policy: Policy) -> _Table:
    if isinstance(policy, MadePolicy):
        policy.check_game(game)
    if not isinstance(policy, (TablePolicy, NetPolicy, Uniform)):
        raise BadSetting(f"the abstract best response is for tables, networks and the uniform policy, not for a {type(policy).__name__}")
    if policy.recall != BOARD and not isinstance(policy, Uniform):
        raise BadSetting(f"the abstract best response is for policies that remember the board, and this one has {policy.recall} recall")
    merged = merged_of(game)
    if isinstance(policy, NetPolicy):
        policy = tabulated(game, merged.views, policy)
    strategy, unknown = _lay(game, merged.views, policy)
    return _Table(merged, strategy, unknown, np.zeros(merged.states), work_for(merged, np.float64))


def _lay(game: BaseGame, views: Views, policy: Policy) -> tuple[Reals, tuple[int, int]]:
    width = np.diff(views.first)
    strategy, unknown = np.repeat(1.0 / width, width), [0, 0]
    if isinstance(policy, TablePolicy):
        text = game.glances[BOARD].text
        for p in range(2):
            rows, held = slice(*views.start[p : p + 2]), policy.shares[p]
            keys, found, at = np.intersect1d(views.key[rows], held.keys, assume_unique=True, return_indices=True)
            unknown[p] = len(views.key[rows]) - len(keys)
            if unknown[p] and policy.missing == "error":
                example = text(int(np.setdiff1d(views.key[rows], keys)[0]))
                raise UnknownInformationState(f"the policy lacks {unknown[p]:,} information states, such as player {p}'s '{example}'")
            if len(keys) < len(held.keys) and policy.missing == "error":
                foreign = np.setdiff1d(held.keys, keys)
                raise strange_keys(p, in_words(game, p, BOARD)(int(foreign[0])), len(foreign), game.string)
            first, wide = views.first[rows][found], width[rows][found]
            fits = np.diff(held.first)[at] == wide
            if fits.all():
                places = np.repeat(first - (np.cumsum(wide) - wide), wide) + np.arange(wide.sum())
                source = np.repeat(held.first[at] - (np.cumsum(wide) - wide), wide) + np.arange(wide.sum())
                strategy[places] = held.share[source]
                fits[np.repeat(np.arange(len(wide)), wide)[held.move[source] != views.move[places]]] = False
            if not fits.all():
                raise strange_row(p, text(int(keys[np.argmin(fits)])))
    return strategy, (unknown[0], unknown[1])


def value_of(game: BaseGame, policy: Policy) -> float:
    """What player 0 gets when both follow a policy that remembers the board of Dark Hex, or nothing: exact, without the tree."""
    return _table(game, policy).follow()


def abstract(game: BaseGame, policy: Policy, patience: int = PATIENCE, news: News = quiet) -> Abstract:
    """Return both abstract best responses to a policy that remembers the board of Dark Hex, or nothing.

    Raises `TooLarge` where the game has more merged states than `patience`, or than memory holds.
    """
    states = count_states(*fitting_kind(game))
    if states > patience:
        raise TooLarge(f"{game.string} has {states:,} merged states, more than the {patience:,} steps allowed; allow more (--patience)")
    news(f"laying out {states:,} merged states of {game.string}", 0, patience)
    table = _table(game, policy)
    news(f"searching abstract best responses on {game.string}", states, patience)
    value = table.follow()
    blocks, views, states = table.merged
    reach, best = np.zeros(states), []
    for me in range(2):
        strategy, gain = table.strategy.copy(), np.zeros(len(views.move))
        sweep_forth(blocks, views, strategy, np.ones_like(strategy), me, reach, table.work)
        got = float(_respond(blocks, views, me, strategy, FUZZ, table.value, reach, gain, table.work))
        best.append(got if me == 0 else -got)
    return Abstract(Verdict(value, (best[0], best[1])), table.unknown)
