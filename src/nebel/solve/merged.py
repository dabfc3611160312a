"""Full-width CFR over merged states: Dark Hex for players who remember the board only, beyond the tree's reach.

The regrets are those of the tree with the same recall (`solve/cfr.py`): a state's counterfactual value, times its reach, is the sum
over all histories that were merged into it. So all methods of the family come by the same weights. The average differs: here
it is weighted by the own reach of a view, there by the number of histories too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nebel.core.errors import BadSetting
from nebel.core.game import BaseGame
from nebel.core.rule import kernel
from nebel.core.sequence import shares_of
from nebel.dark_hex.merged import Merged, count_bytes, in_views, merge, merged_kind
from nebel.dark_hex.sweeps import follow, sweep_back, sweep_forth, work_for
from nebel.judge.tabulate import on_views
from nebel.policy.table import TablePolicy
from nebel.solve.cfr import Reals, Table, match_regrets, weights_of
from nebel.solve.run import Steady, fill

ROUNDING = 8
"""Gains below this many units of the last digit, of a view's reach, are none."""


A_MOVE = 80
"""Bytes of a move in tables and while the policy is made, beside those that `count_bytes` has counted."""


def merged_bytes(game: BaseGame) -> int:
    """What solving takes, at most."""
    rows, cols, abrupt = merged_kind(game)
    moves = (0.5 if abrupt else 0.32) * rows * cols * 3 ** (rows * cols)  # more than there are
    return count_bytes(rows, cols, abrupt, np.float32) + int(A_MOVE * moves)


@kernel
def _match(first: Any, begin: int, end: int, table: Table, weights: Any) -> None:
    for i in range(begin, end):
        match_regrets(table, first[i], first[i + 1], (weights[0], weights[1], weights[2], weights[3], weights[4]), 1e-15)


class MergedStates(Steady):
    """Any method of the CFR family on the merged states of a Dark Hex game. Of an iteration that is cut off a player who has not learned
    yet learns nothing."""

    can_be_cut = True

    def __init__(
        self, game: BaseGame, method: str, threads: int = 1, pone: bool = False, merged: Merged | None = None, kind: Any = np.float32
    ) -> None:
        if threads > 1:
            raise BadSetting(f"merged states are swept by one thread; leave out --threads {threads}")
        self.game, self.method, self.kind, self.iterations = game, method, kind, 0
        self._merged = merged or merge(*merged_kind(game))
        self._work = work_for(self._merged, kind)
        states, views = self._merged.states, self._merged.views
        width, places = np.diff(views.first), len(views.move)
        shares = np.repeat(1.0 / width, width).astype(kind)
        by_place = (np.zeros(places), shares, np.zeros(places), np.zeros(places))
        self._table = Table(*by_place, reach=np.zeros(states, kind), value=np.zeros(states, kind))
        self._own_reach = np.zeros(places)
        self._sure = np.zeros(places, np.bool_)  # moves in sure wins, and those of them that win
        self._winning = np.zeros(0, kind)
        if pone:
            self._know_sure_wins()
        self._hand = np.where(self._sure, 0.0, 1.0).astype(kind)

    def _know_sure_wins(self) -> None:
        """In sure wins the winning move is played from the start, and nothing else is tried."""
        self._sure, winning = in_views(self.game, self._merged)
        self._winning = winning[self._sure].astype(self.kind)
        self._table.strategy[self._sure] = self._winning

    def prepare(self) -> None:
        """Compile, or load what was compiled, by an iteration on a small board."""
        MergedStates(self.game, self.method, merged=merge(2, 2, self._merged.blocks.abrupt), kind=self.kind).run(1)

    def stop(self) -> None:
        """Cut off the iteration that is under way in another thread."""
        self._work.halt[0] = 1

    def run(self, iterations: int) -> None:
        self.cut = False
        self._work.halt[0] = 0
        for weights in weights_of(self.method, self.iterations + 1, iterations):
            for player in range(2):
                self._update(player, weights)
                if self.cut:
                    return
            self.iterations += 1

    def _update(self, player: int, weights: Reals) -> None:
        (blocks, views, _), table = self._merged, self._table
        begin, end = (int(i) for i in views.start[player : player + 2])
        mine = slice(views.first[begin], views.first[end])
        table.average[mine] *= weights[5]
        follow(blocks, views, player, table.strategy, self._own_reach, weights[6], table.average)
        table.instant[mine] = 0.0
        sweep_forth(blocks, views, table.strategy, self._hand, player, table.reach, self._work)
        fuzz = ROUNDING * float(np.finfo(self.kind).eps)
        sweep_back(blocks, views, table.strategy, player, fuzz, table.value, table.reach, table.instant, self._work)
        self.cut = bool(self._work.halt[0])
        if self.cut:
            return
        _match(views.first, begin, end, table, weights)
        table.strategy[self._sure] = self._winning

    def strategies(self) -> tuple[Reals, Reals]:
        """The average strategies; in views that were never reached, the current ones."""
        first, start = self._merged.views.first, self._merged.views.start
        total = np.repeat(np.add.reduceat(self._table.average, first[:-1]), np.diff(first))
        shares = shares_of(first, np.where((total > 0) & ~self._sure, self._table.average, self._table.strategy))
        cut = first[start[1]]
        return shares[:cut], shares[cut:]

    def policy(self, facts: dict[str, Any]) -> TablePolicy:
        return on_views(self.game, self._merged.views, np.concatenate(self.strategies()), facts)

    def save(self) -> dict[str, NDArray[Any]]:
        return {name: getattr(self._table, name) for name in ("regret", "strategy", "average")}

    def restore(self, arrays: dict[str, NDArray[Any]], iterations: int) -> None:
        for name, array in arrays.items():
            fill(getattr(self._table, name), array)
        self.iterations = iterations
