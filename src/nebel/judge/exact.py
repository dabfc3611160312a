"""Exact judging by whatever means a game allows: on its tree, else by beliefs."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from nebel.core.errors import TooLarge, UnknownInformationState
from nebel.core.game import END, BaseGame, Game
from nebel.core.recall import PERFECT
from nebel.core.remember import MEMORY, remembering
from nebel.core.tree import DEFAULT_LIMIT, Tree, grow, measure
from nebel.dark_hex.merged import mergeable
from nebel.judge.abstract import value_of
from nebel.judge.belief_response import PATIENCE, respond
from nebel.judge.best_response import Judge, Verdict
from nebel.judge.informed import both_follow
from nebel.judge.tabulate import merged_of, tabulated
from nebel.policy.net import NetPolicy
from nebel.policy.table import Policy, TablePolicy, Uniform


class Judgement(NamedTuple):
    verdict: Verdict  # the value is nan if it is not known: by beliefs, when too many states can be met
    means: str  # "tree" or "beliefs"
    unknown: tuple[int, int]  # by player: information states (on a tree) or decisions (by beliefs) at which the policy knew nothing
    wins: tuple[float, float] | None  # how often each side of the policy wins at least, in games that pay +1 and -1 only


def judge(game: BaseGame, policy: Policy, limit: int = DEFAULT_LIMIT, patience: int = PATIENCE) -> Judgement:
    """Both best responses to a policy, with perfect recall: on the tree if it has at most `limit` histories, else by beliefs."""
    if isinstance(policy, (TablePolicy, NetPolicy)):
        policy.check_game(game)
    if measure(game, limit).complete:
        return _by_tree(grow(game, policy.recall, limit), policy)
    if isinstance(game, Game) and isinstance(policy, NetPolicy) and mergeable(game, policy.recall):
        policy = tabulated(game, merged_of(game).views, policy)
    if isinstance(game, Game) and (game.glances or isinstance(policy, TablePolicy)) and not isinstance(policy, NetPolicy):
        return _by_beliefs(game, policy, patience)
    raise TooLarge(
        f"{game.string} has more than {limit:,} histories, too many to enumerate, and only tables, games in rules that have a glance, and "
        "networks that remember the board of Dark Hex can be judged without; take a smaller variant"
        + (", or --by learned for a lower bound" if isinstance(game, Game) else "")
    )


def _by_tree(tree: Tree, policy: Policy) -> Judgement:
    laid = policy.on_tree(tree)
    verdict = Judge(tree).verdict(laid.strategies)
    won_or_lost = bool(np.all(np.abs(tree.nodes.score[tree.nodes.turn == END]) == 1))
    first, second = verdict.best_response
    return Judgement(verdict, "tree", laid.unknown, ((1 - second) / 2, (1 - first) / 2) if won_or_lost else None)


def _by_beliefs(game: Game, policy: Policy, patience: int) -> Judgement:
    first, second = (respond(*_as_glance(game, policy, (1 - me,)), me, patience) for me in range(2))
    value = _value(game, policy)
    verdict = Verdict(float("nan") if value is None else value, (first.value, second.value))
    wins = (second.guarantee, first.guarantee)
    return Judgement(
        verdict, "beliefs", (second.unknown, first.unknown), None if wins[0] is None or wins[1] is None else (wins[0], wins[1])
    )


def _as_glance(game: Game, policy: Policy, players: tuple[int, ...]) -> tuple[Game, Policy]:
    """Beliefs are over states, so what a policy with perfect recall remembers has to be part of them; without a table that is nothing."""
    if isinstance(policy, TablePolicy) and policy.recall == PERFECT:
        return remembering(game, tuple(p for p in players if len(policy.shares[p].keys))), replace(policy, recall=MEMORY)
    return game, policy


def _value(game: Game, policy: Policy) -> float | None:
    """By merged states of Dark Hex, if they fit and the policy knows them all; else over all states, if they are few."""
    if game.name == "dark_hex" and (isinstance(policy, Uniform) or policy.recall != PERFECT):
        try:
            return value_of(game, policy)
        except (TooLarge, UnknownInformationState):
            pass
    return both_follow(*_as_glance(game, policy, (0, 1)))
