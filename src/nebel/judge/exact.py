"""Exact judging by whatever means a game allows: on its tree, else by beliefs."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from nebel.core.errors import BadPolicy, BadSetting, TooLarge
from nebel.core.game import END, BaseGame, Game
from nebel.core.recall import PERFECT
from nebel.core.remember import MEMORY, remembering
from nebel.core.tree import DEFAULT_LIMIT, Tree, grow, measure
from nebel.dark_hex.merged import count_states, mergeable, merged_kind
from nebel.judge.abstract import value_of
from nebel.judge.belief_response import Response, respond
from nebel.judge.best_response import Judge, Verdict
from nebel.judge.informed import both_follow, follow_all
from nebel.judge.patience import PATIENCE, News, Patience, quiet
from nebel.judge.tabulate import fitting_kind, merged_of, tabulated
from nebel.policy.net import NetPolicy
from nebel.policy.table import MadePolicy, Policy, TablePolicy, Uniform, laid_on


class Judgement(NamedTuple):
    verdict: Verdict  # the value is nan if it is not known: by beliefs, when too many states can be met
    means: str  # "tree" or "beliefs"
    unknown: tuple[int, int]  # by player: information states (on a tree) or decisions (by beliefs) at which the policy knew nothing
    wins: tuple[float, float] | None  # how often each side of the policy wins at least, in games that pay +1 and -1 only


def judge(game: BaseGame, policy: Policy, limit: int = DEFAULT_LIMIT, patience: int = PATIENCE, news: News = quiet) -> Judgement:
    """Return both best responses to a policy, with perfect recall: on the tree if it has at most `limit` histories, else by beliefs.

    Raises `BadPolicy` if the policy's shares are not probabilities of the legal moves, and `TooLarge` if the game is too large to judge.

    patience: states to look at, at most, when histories are counted and when beliefs are searched
    news:     told the stage of the work, the steps taken so far and the most that may be taken
    """
    allowed = Patience(patience, news)
    if not isinstance(game, BaseGame):
        raise BadSetting(f"judge takes a game, such as nebel.game('kuhn'), and then a policy; {game!r:.60} is not a game")
    if not isinstance(policy, Policy):
        raise BadPolicy(f"judge takes a Policy, such as load_policy(file) returns; {policy!r:.60} is not one")
    if not isinstance(getattr(policy, "recall", None), str):
        raise BadPolicy(f"a policy needs a recall, such as '{PERFECT}', to be judged; {type(policy).__name__} has none")
    game.try_out()
    if isinstance(policy, MadePolicy):
        policy.check_game(game)
    most = min(limit, patience)
    news(f"counting the histories of {game.string}, up to {most:,}", 0, patience)
    size = measure(game, most)
    if size.complete:
        allowed.begin(f"laying out {size.histories:,} histories of {game.string}")
        return _by_tree(grow(game, policy.recall, limit), policy, allowed)
    if isinstance(game, Game) and isinstance(policy, NetPolicy) and mergeable(game, policy.recall):
        policy = tabulated_network(game, policy, allowed)
    if isinstance(game, Game) and (isinstance(policy, TablePolicy) or (isinstance(policy, Uniform) and game.glances)):
        return _by_beliefs(game, policy, allowed)
    raise TooLarge(
        f"{game.string} has more than {most:,} histories, too many to enumerate, and only tables, games in rules that have a glance, and "
        "networks that remember the board of Dark Hex can be judged without; take a smaller variant"
        + (", or --by learned for a lower bound" if isinstance(game, Game) else "")
    )


def _by_tree(tree: Tree, policy: Policy, allowed: Patience) -> Judgement:
    laid = laid_on(tree, policy)
    allowed.begin(f"judging {tree.histories:,} histories of {tree.game.string}")
    verdict = Judge(tree).verdict(laid.strategies)
    won_or_lost = bool(np.all(np.abs(tree.nodes.score[tree.nodes.turn == END]) == 1))
    first, second = verdict.best_response
    return Judgement(verdict, "tree", laid.unknown, ((1 - second) / 2, (1 - first) / 2) if won_or_lost else None)


def tabulated_network(game: Game, policy: NetPolicy, allowed: Patience) -> TablePolicy:
    """The network asked about every board, if there are not too many."""
    if count_states(*fitting_kind(game)) > allowed.left:
        states = f"the merged states of {game.string} are more than the {allowed.most:,} steps allowed"
        raise TooLarge(f"{states}; allow more (--patience), or take a smaller board")
    allowed.begin(f"asking the network about every board of {game.string}")
    return tabulated(game, merged_of(game).views, policy)


def _by_beliefs(game: Game, policy: Policy, allowed: Patience) -> Judgement:
    first, second = (_response(game, policy, me, allowed) for me in range(2))
    value = _value(game, policy, allowed)
    verdict = Verdict(float("nan") if value is None else value, (first.value, second.value))
    wins = (second.guarantee, first.guarantee)
    return Judgement(
        verdict, "beliefs", (second.unknown, first.unknown), None if wins[0] is None or wins[1] is None else (wins[0], wins[1])
    )


def _response(game: Game, policy: Policy, me: int, allowed: Patience) -> Response:
    allowed.begin(f"searching player {me}'s best response on {game.string} by beliefs")
    return respond(*as_glance(game, policy, (1 - me,)), me, allowed)


def as_glance(game: Game, policy: Policy, players: tuple[int, ...]) -> tuple[Game, Policy]:
    """Beliefs are over states, so what a policy with perfect recall remembers has to be part of them; without a table that is nothing."""
    if isinstance(policy, TablePolicy) and policy.recall == PERFECT:
        return remembering(game, tuple(p for p in players if len(policy.shares[p].keys))), replace(policy, recall=MEMORY)
    return game, policy


def _value(game: Game, policy: Policy, allowed: Patience) -> float | None:
    """By merged states of Dark Hex, if they fit and the policy knows them all; else over all states, if they are few.

    Tables are compared with all states of the game on the way: a row that is missing, or one of another game, need not have been met yet.
    """
    allowed.begin(f"computing the value of the policy on {game.string}")
    if game.name == "dark_hex" and (isinstance(policy, Uniform) or policy.recall != PERFECT):
        try:
            if count_states(*merged_kind(game)) <= allowed.left:
                return value_of(game, policy)
        except TooLarge:
            pass
    game, policy = as_glance(game, policy, (0, 1))
    if isinstance(policy, TablePolicy):
        try:
            return follow_all(game, policy, patience=allowed)
        except TooLarge:
            pass
    return both_follow(game, policy, patience=allowed)
