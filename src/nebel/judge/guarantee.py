"""What a Dark Hex strategy in notation guarantees: the exact best response to it, with perfect recall, without the game's tree.

Against a fixed strategy the responder needs to know only the own board and how likely each stage of the strategy is by now
(where it stands, its stones, what it has discovered). Orders of moves that lead to the same belief are searched once, so
boards whose trees could never be held are judged, as long as the strategy does not roam much by `!`.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from nebel.core.errors import TooLarge
from nebel.core.interrupt import check
from nebel.policy.initial_board import BoardRules
from nebel.policy.program import Program, Rest
from nebel.policy.strategy import Strategy
from nebel.policy.terrain import Terrain

MOST_BELIEFS = 1_000_000

Stage = tuple[Rest, int, int]
"""What is left to play, own stones, discovered stones."""
Weights = dict[Stage, float]


class Guarantee(NamedTuple):
    """The probability with which the strategy wins at least, and how many beliefs of the responder were looked at."""

    wins: float
    beliefs: int


def guarantee(strategy: Strategy, limit: int = MOST_BELIEFS) -> Guarantee:
    """Return how often a complete strategy wins at least, from its initial board on.

    Before play the opponent chooses where its hidden stones stand; it knows the strategy and its stones on the initial board.
    """
    strategy.require_complete()
    search, board = _Search(strategy, limit), strategy.text.start
    start: Stage = ((search.program.main, None), board.own, board.met)
    lost = 0.0
    for theirs in BoardRules(strategy.text.rows, strategy.text.cols, strategy.player).opponents(board):
        stages = {start: 1.0} if board.waits else search.reply(start, theirs.own)
        lost = max(lost, search.best(theirs.own, theirs.met, stages))
    return Guarantee(1 - lost, len(search.known))


class _Search:
    def __init__(self, strategy: Strategy, limit: int) -> None:
        text = strategy.text
        self.program = Program(text)
        self.mine = Terrain(text.rows, text.cols, text.player)
        self.theirs = Terrain(text.rows, text.cols, 1 - text.player)
        self.limit = limit
        self.known: dict[tuple[int, int, frozenset[tuple[Stage, float]]], float] = {}
        self._replies: dict[tuple[Stage, int], Weights] = {}

    def reply(self, stage: Stage, hidden: int) -> Weights:
        """The stages after the strategy's turn against the stones `hidden`; those in which it has won are left out."""
        known = self._replies.get((stage, hidden))
        if known is not None:
            return known
        check()
        rest, own, met = stage
        after: Weights = defaultdict(float)
        free = [c for c in range(self.mine.cells) if not (own | met) >> c & 1]
        for p, cell, left in self.program.moves(rest, own, met):
            for c in free if cell == -1 else [cell]:
                assert c is not None, "complete strategies always move"
                part = float(p) / (len(free) if cell == -1 else 1)
                if hidden >> c & 1:
                    for then, q in self.reply((self.program.collide(left), own, met | 1 << c), hidden).items():
                        after[then] += part * q
                elif self.mine.lacking(own | 1 << c, met):
                    after[self.program.settle(left), own | 1 << c, met] += part
        self._replies[stage, hidden] = after
        return after

    def best(self, own: int, met: int, stages: Weights) -> float:
        """The responder is to move: how much of the weight of `stages` can be won at most."""
        total = sum(stages.values())
        if not total:
            return 0.0
        key = (own, met, frozenset((stage, round(w / total, 10)) for stage, w in stages.items()))
        if key in self.known:
            return self.known[key] * total
        if len(self.known) >= self.limit:
            raise TooLarge(f"the best response to this strategy takes more than {self.limit:,} beliefs; use '!' less, or a smaller board")
        check()
        top = 0.0
        for cell in range(self.mine.cells):
            stone = 1 << cell
            if (own | met) & stone:
                continue
            hit = {stage: w for stage, w in stages.items() if stage[1] & stone}
            placed = {stage: w for stage, w in stages.items() if not stage[1] & stone}
            value, chance = self.best(own, met | stone, hit), sum(placed.values())
            if value + chance <= top:
                continue
            if not self.theirs.lacking(own | stone, met):
                value += chance
            else:
                after: Weights = defaultdict(float)
                for stage, w in placed.items():
                    for then, q in self.reply(stage, own | stone).items():
                        after[then] += w * q
                value += self.best(own | stone, met, after)
            top = max(top, value)
            if top >= total * (1 - 1e-13):
                break
        self.known[key] = top / total
        return top
