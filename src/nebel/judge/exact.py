"""Exact judging by whatever means a game allows: on its tree, else by beliefs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nebel.core.errors import TooLarge, UnknownInformationState
from nebel.core.game import END, BaseGame, Game
from nebel.core.recall import PERFECT
from nebel.core.tree import DEFAULT_LIMIT, Tree, grow, measure
from nebel.judge.abstract import value_of
from nebel.judge.belief_response import PATIENCE, respond
from nebel.judge.best_response import Judge, Verdict
from nebel.judge.informed import both_follow
from nebel.policy.table import Policy, TablePolicy, Uniform


class Judgement(NamedTuple):
    verdict: Verdict  # the value is nan if it is not known: by beliefs, when too many states can be met
    means: str  # "tree" or "beliefs"
    unknown: tuple[int, int]  # by player: information states (on a tree) or decisions (by beliefs) at which the policy knew nothing
    wins: tuple[float, float] | None  # how often each side of the policy wins at least, in games that pay +1 and -1 only


def judge(game: BaseGame, policy: Policy, limit: int = DEFAULT_LIMIT, patience: int = PATIENCE) -> Judgement:
    """Both best responses to a policy, with perfect recall: on the tree if it has at most `limit` histories, else by beliefs."""
    if isinstance(policy, TablePolicy):
        policy.check_game(game)
    if measure(game, limit).complete:
        return _by_tree(grow(game, policy.recall, limit), policy)
    if isinstance(game, Game) and game.glances and (isinstance(policy, Uniform) or policy.recall != PERFECT):
        return _by_beliefs(game, policy, patience)
    raise TooLarge(
        f"{game.string} has more than {limit:,} histories, too many to enumerate, and only policies that remember a glance can be "
        "judged without; take a smaller variant"
    )


def _by_tree(tree: Tree, policy: Policy) -> Judgement:
    laid = policy.on_tree(tree)
    verdict = Judge(tree).verdict(laid.strategies)
    won_or_lost = bool(np.all(np.abs(tree.nodes.score[tree.nodes.turn == END]) == 1))
    first, second = verdict.best_response
    return Judgement(verdict, "tree", laid.unknown, ((1 - second) / 2, (1 - first) / 2) if won_or_lost else None)


def _by_beliefs(game: Game, policy: Policy, patience: int) -> Judgement:
    first, second = respond(game, policy, 0, patience), respond(game, policy, 1, patience)
    value = _value(game, policy)
    verdict = Verdict(float("nan") if value is None else value, (first.value, second.value))
    wins = (second.guarantee, first.guarantee)
    unknown = (0, 0) if isinstance(policy, Uniform) else (second.unknown, first.unknown)
    return Judgement(verdict, "beliefs", unknown, None if wins[0] is None or wins[1] is None else (wins[0], wins[1]))


def _value(game: Game, policy: Policy) -> float | None:
    """By merged states of Dark Hex, if they fit and the policy knows them all; else over all states, if they are few."""
    if game.name == "dark_hex":
        try:
            return value_of(game, policy)
        except (TooLarge, UnknownInformationState):
            pass
    return both_follow(game, policy)
