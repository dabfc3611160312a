"""What a Dark Hex strategy in the making guarantees: the exact best response to it, with perfect recall.

The search is that of `guarantee.py`, over beliefs about the strategy's information state, in the classic and in the abrupt game.
Where the strategy has no answer yet, it has lost.
"""

from __future__ import annotations

from collections import defaultdict

from nebel.core.errors import TooLarge
from nebel.core.interrupt import check
from nebel.judge.guarantee import MOST_BELIEFS, Guarantee
from nebel.policy.builder import Builder
from nebel.policy.states import Seen
from nebel.policy.terrain import Terrain

Weights = dict[Seen, float]


def guarantee_so_far(builder: Builder, limit: int = MOST_BELIEFS) -> Guarantee:
    """Return how often the strategy wins at least, from its initial board on.

    Before play the opponent chooses where its hidden stones stand and, in the abrupt game, which of the player's stones it has bumped
    into; it knows the strategy and the player's stones on the initial board.
    """
    search, states = _Search(builder, limit), builder.states
    first = search.best if states.initial.waits else search.onward
    lost = max(first(theirs.own, theirs.met, {states.start: 1.0}) for theirs in states.boards.opponents(states.initial))
    return Guarantee(1 - lost, len(search.known))


class _Search:
    def __init__(self, builder: Builder, limit: int) -> None:
        self.builder, self.states, self.limit = builder, builder.states, limit
        self.mine, self.theirs = (Terrain(self.states.rows, self.states.cols, p) for p in (self.states.player, 1 - self.states.player))
        self.known: dict[tuple[int, int, frozenset[tuple[Seen, float]]], float] = {}
        self._replies: dict[tuple[Seen, int], tuple[float, Weights]] = {}

    def reply(self, state: Seen, hidden: int) -> tuple[float, Weights]:
        """The strategy's turn against the stones `hidden`: how often it has no answer, and where it stands afterwards, not having won."""
        if (state, hidden) in self._replies:
            return self._replies[state, hidden]
        check()
        shares = self.builder.plays(state)
        lost, after = float(shares is None), defaultdict[Seen, float](float)
        for cell, share in (shares or {}).items():
            hit, part = bool(hidden >> cell & 1), float(share)
            then = self.states.step(state, cell, hit)
            if hit and not self.states.abrupt:
                more, further = self.reply(then, hidden)
                lost += part * more
                for last, q in further.items():
                    after[last] += part * q
            elif self.mine.lacking(then.own, then.met):
                after[then] += part
        self._replies[state, hidden] = lost, after
        return lost, after

    def onward(self, own: int, met: int, stages: Weights) -> float:
        """The strategy is to move: how much of the weight of `stages` the responder can win at most."""
        lost, after = 0.0, defaultdict[Seen, float](float)
        for state, weight in stages.items():
            more, further = self.reply(state, own)
            lost += weight * more
            for then, q in further.items():
                after[then] += weight * q
        return lost + self.best(own, met, after)

    def best(self, own: int, met: int, stages: Weights) -> float:
        """The same when the responder is to move."""
        total = sum(stages.values())
        if not total:
            return 0.0
        key = (own, met, frozenset((state, round(w / total, 10)) for state, w in stages.items()))
        if key in self.known:
            return self.known[key] * total
        if len(self.known) >= self.limit:
            raise TooLarge(f"the best response to this strategy takes more than {self.limit:,} beliefs; use '!' less, or a smaller board")
        check()
        top = 0.0
        for cell in range(self.states.cells):
            stone = 1 << cell
            if (own | met) & stone:
                continue
            hit = {state: w for state, w in stages.items() if state.own & stone}
            placed = {state: w for state, w in stages.items() if not state.own & stone}
            value = (self.onward if self.states.abrupt else self.best)(own, met | stone, hit)
            chance = sum(placed.values())
            if value + chance <= top:
                continue
            value += self.onward(own | stone, met, placed) if self.theirs.lacking(own | stone, met) else chance
            top = max(top, value)
            if top >= total * (1 - 1e-13):
                break
        self.known[key] = top / total
        return top
