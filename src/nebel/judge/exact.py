"""Exact judging by whatever means a game allows: on its tree, else by beliefs."""

from __future__ import annotations

from typing import NamedTuple

from nebel.core.errors import TooLarge
from nebel.core.game import BaseGame, Game
from nebel.core.recall import PERFECT
from nebel.core.tree import DEFAULT_LIMIT, grow, measure
from nebel.judge.belief_response import believe
from nebel.judge.best_response import Judge, Verdict
from nebel.policy.table import Policy, TablePolicy, Uniform


class Judgement(NamedTuple):
    verdict: Verdict
    means: str  # "tree" or "beliefs"
    unknown: tuple[int, int]  # information states (on a tree) or decisions (by beliefs) at which the policy knew nothing


def judge(game: BaseGame, policy: Policy, limit: int = DEFAULT_LIMIT) -> Judgement:
    """Both best responses to a policy, with perfect recall. By beliefs, the value of following it is not known (nan)."""
    if isinstance(policy, TablePolicy):
        policy.check_game(game)
    forgetful = isinstance(policy, Uniform) or policy.recall != PERFECT
    if measure(game, limit).complete:
        tree = grow(game, policy.recall, limit)
        laid = policy.on_tree(tree)
        return Judgement(Judge(tree).verdict(laid.strategies), "tree", laid.unknown)
    if isinstance(game, Game) and game.glances and forgetful:
        verdict, unknown = believe(game, policy)
        return Judgement(verdict, "beliefs", unknown)
    raise TooLarge(
        f"{game.string} has more than {limit:,} histories, too many to enumerate, and only policies that remember a glance can be "
        "judged without; take a smaller variant"
    )
