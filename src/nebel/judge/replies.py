"""The moves of a best response: the strongest answer to one player's strategy, asked position by position.

On the game's tree where it fits, else by beliefs, as `judge/exact.py` judges.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from nebel.core.errors import TooLarge
from nebel.core.game import END, BaseGame, Game
from nebel.core.state import State
from nebel.core.tree import DEFAULT_LIMIT, Tree, grow, measure
from nebel.dark_hex.merged import mergeable
from nebel.judge.belief_response import Responder
from nebel.judge.best_response import Judge
from nebel.judge.exact import as_glance, tabulated_network
from nebel.judge.patience import PATIENCE, News, Patience, quiet
from nebel.policy.net import NetPolicy
from nebel.policy.table import MadePolicy, Policy, TablePolicy, Uniform, laid_on


class Replies(ABC):
    """A best response of one player to the other's strategy.

    value  what the responder gets
    wins   how often the strategy wins, in games that pay +1 and -1 only
    means  "tree" or "beliefs"
    """

    value: float
    wins: float | None
    means: str

    @abstractmethod
    def move(self, state: State) -> int:
        """Return the best move where the responder is to move, in a state that is possible against the strategy."""


class TreeReplies(Replies):
    """A best response on the game's tree."""

    means = "tree"

    def __init__(self, tree: Tree, policy: Policy, responder: int) -> None:
        strategies = laid_on(tree, policy).strategies
        judge, scores = Judge(tree), tree.nodes.score[tree.nodes.turn == END]
        self.value = judge.verdict(strategies).best_response[responder]
        self.wins = (1 - self.value) / 2 if bool(np.all(np.abs(scores) == 1)) else None
        self._best = dict(zip(tree.sides[responder].points.key.tolist(), judge.best_response(responder, strategies).tolist(), strict=True))
        self._responder = responder

    def move(self, state: State) -> int:
        return state.options()[self._best[state.key(self._responder)]]


class BeliefReplies(Replies):
    """A best response by beliefs over what is hidden."""

    means = "beliefs"

    def __init__(self, game: Game, policy: Policy, responder: int, patience: Patience) -> None:
        self._responder = Responder(game, policy, responder, patience)
        self.value, self.wins = self._responder.response.value, self._responder.response.guarantee

    def move(self, state: State) -> int:
        return self._responder.move(state.steps)


def best_replies(
    game: BaseGame, policy: Policy, responder: int, limit: int = DEFAULT_LIMIT, patience: int = PATIENCE, news: News = quiet
) -> Replies:
    """Return the best response of one player to the other's policy; `BadPolicy` and `TooLarge` as in `judge`.

    patience: states to look at, at most, when histories are counted and when beliefs are searched
    news:     told the stage of the work, the steps taken so far and the most that may be taken

    >>> import nebel
    >>> from nebel.policy.table import Uniform
    >>> replies = best_replies(nebel.game("kuhn"), Uniform(), responder=1)
    >>> round(replies.value, 6)
    0.416667
    >>> state = nebel.game("kuhn").start().play("J Q bet")
    >>> state.name(replies.move(state))
    'bet'
    """
    allowed = Patience(patience, news)
    game.try_out()
    if isinstance(policy, MadePolicy):
        policy.check_game(game)
    if measure(game, min(limit, patience)).complete:
        allowed.begin(f"laying out the histories of {game.string}")
        return TreeReplies(grow(game, policy.recall, limit), policy, responder)
    if isinstance(game, Game) and isinstance(policy, NetPolicy) and mergeable(game, policy.recall):
        policy = tabulated_network(game, policy, allowed)
    if isinstance(game, Game) and (isinstance(policy, TablePolicy) or (isinstance(policy, Uniform) and game.glances)):
        allowed.begin(f"searching player {responder}'s best response on {game.string} by beliefs")
        return BeliefReplies(*as_glance(game, policy, (1 - responder,)), responder, allowed)
    raise TooLarge(
        f"{game.string} has too many histories to enumerate, and only tables, games in rules that have a glance, and networks that "
        "remember the board of Dark Hex have an exact best response without; take a smaller variant"
    )
