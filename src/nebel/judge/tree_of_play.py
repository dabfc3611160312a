"""One player's strategy against its best response as a tree of play, with exact probabilities.

After Figs. 3.10, 3.11, 3.16 to 3.18 and 4.6 to 4.11 of Tapkan's thesis, for any game. Every history that can occur is a node: one branch
for each move that the strategy plays and for each outcome of chance, one for the responder's move. What is left out is counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from nebel.core.game import CHANCE, BaseGame
from nebel.core.state import State
from nebel.judge.replies import Replies
from nebel.policy.table import Policy

STRATEGY, RESPONSE, CHANCE_MOVES = "strategy", "response", "chance"
"""Who makes a move."""
MOST_COUNTED = 200_000
"""Histories that are looked at in all; further ones are left out without their games being counted."""


@dataclass
class LeftOut:
    """Branches that a tree does not show.

    branches  branches that are left out
    reach     the probability of coming to one of them
    games     games that end in them, as far as they were counted
    counted   whether all of them were counted
    """

    branches: int = 0
    reach: float = 0.0
    games: int = 0
    counted: bool = True

    def add(self, other: LeftOut) -> None:
        self.branches += other.branches
        self.reach += other.reach
        self.games += other.games
        self.counted = self.counted and other.counted


@dataclass
class Node:
    """A history, and the move that led there.

    by, move, probability  who made the last move, its name, and how likely it was ("" and 1 at the start)
    reach                  the probability of coming here
    score                  at the end of a game, what the strategy's player gets
    gain                   this node's part in what the strategy's player gets: the sum of reach times score over all games from here
    next                   branches that are shown, the likeliest first
    left_out               branches from here that are not shown
    """

    state: State
    by: str
    move: str
    probability: float
    reach: float
    score: float | None = None
    gain: float = 0.0
    next: list[Node] = field(default_factory=list)
    left_out: LeftOut = field(default_factory=LeftOut)

    @property
    def value(self) -> float:
        """Return what the strategy's player gets from here, on average."""
        return self.gain / self.reach

    def all(self) -> Iterator[Node]:
        """Yield this node and all that are shown after it, parents first."""
        todo = [self]
        while todo:
            node = todo.pop()
            yield node
            todo += node.next[::-1]

    def all_left_out(self) -> LeftOut:
        """Sum up what is left out from here on."""
        total = LeftOut()
        for node in self.all():
            total.add(node.left_out)
        return total


class _Players:
    """The strategy of one player, its best response, and chance."""

    def __init__(self, policy: Policy, player: int, replies: Replies) -> None:
        self.policy, self.player, self.replies = policy, player, replies

    def branches(self, node: Node) -> list[Node]:
        """Return what can come next, the likeliest first."""
        state = node.state
        if state.turn == CHANCE:
            by, shares = CHANCE_MOVES, dict(zip(state.options(), state.odds(), strict=True))
        elif state.turn == self.player:
            by, shares = STRATEGY, self.policy.probabilities(state)
        else:
            by, shares = RESPONSE, {self.replies.move(state): 1.0}
        found = []
        for option, share in sorted(shares.items(), key=lambda pair: -pair[1]):
            if node.reach * share > 0.0:
                then = state.copy().push(option)
                score = then.score()
                mine = None if score is None else score if self.player == 0 else -score
                found.append(Node(then, by, state.name(option), share, node.reach * share, mine))
        return found


def tree_of_play(
    game: BaseGame, policy: Policy, player: int, replies: Replies, plies: int | None = None, least: float = 0.0, most: int = MOST_COUNTED
) -> Node:
    """Return the start of the game with all that can happen when `player` follows the policy and the opponent replies best.

    plies   moves of a game that are shown, chance's too (None: all)
    least   branches that are reached with a smaller probability are left out
    most    histories to look at in all, those of left-out branches too, for their games to be counted

    The start's `gain` is what the strategy's player gets, and equals `-replies.value`, if everything was counted.

    >>> import nebel
    >>> from nebel.judge.replies import best_replies
    >>> from nebel.policy.table import Uniform
    >>> game, policy = nebel.game("dark_hex:2x2"), Uniform()
    >>> start = tree_of_play(game, policy, 1, best_replies(game, policy, responder=0))
    >>> [(node.move, round(node.reach, 4), node.score) for node in start.all()][1:4]
    [('b1', 1.0, None), ('a1', 0.25, None), ('a2', 0.25, -1.0)]
    """
    players, left = _Players(policy, player, replies), most
    start = Node(game.start(), "", "", 1.0, 1.0)
    order, todo = [], [(start, 0)]
    while todo:
        node, depth = todo.pop()
        order.append(node)
        left -= 1
        if node.score is not None:
            continue
        for branch in players.branches(node) if left > 0 else [node]:
            if branch is node:
                node.left_out.add(LeftOut(1, node.reach, 0, counted=False))
            elif (plies is not None and depth >= plies) or branch.reach < least:
                out, gain, left = _count(players, branch, left)
                node.left_out.add(out)
                node.gain += gain
            else:
                node.next.append(branch)
        todo += [(branch, depth + 1) for branch in node.next[::-1]]
    for node in reversed(order):
        node.gain += node.reach * node.score if node.score is not None else sum(branch.gain for branch in node.next)
    return start


def _count(players: _Players, branch: Node, left: int) -> tuple[LeftOut, float, int]:
    """Count the games of a branch that is left out; also return its `gain`, and how many histories may still be looked at."""
    out, gain, todo = LeftOut(1, branch.reach), 0.0, [branch]
    while todo and left > 0:
        node = todo.pop()
        left -= 1
        if node.score is None:
            todo += players.branches(node)
        else:
            out.games += 1
            gain += node.reach * node.score
    out.counted = not todo
    return out, gain, left
