"""The CFR family: one sweep over the tree, several schedules of weights.

CFR      Zinkevich, Johanson, Bowling, Piccione. Regret Minimization in Games with Incomplete Information. 2007
CFR+     Tammelin. Solving Large Imperfect Information Games Using CFR+. 2014
Linear CFR, DCFR   Brown, Sandholm. Solving Imperfect-Information Games via Discounted Regret Minimization. 2019
PCFR+    Farina, Kroer, Sandholm. Faster Game Solving via Predictive Blackwell Approachability. 2021
DCFR+, PDCFR+   Xu, Li, Liu, Fu, Fu, Xing, Cheng. Minimizing Weighted Counterfactual Regret with Optimistic Online Mirror Descent. 2024

Updates alternate: a player's strategy is recomputed right after that player's regrets, and the other player answers the new
one. Where it departs from the papers: regrets are computed in the sequence form (the same numbers as the recursion over
histories, to rounding), and with a recall other than perfect the regrets of all decision points that share an information
state are added up, the average weighted by the histories that lead there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.rule import kernel, rule
from nebel.core.sequence import Half, halves, spread, uniform_strategy, weigh
from nebel.core.tree import Tree

Reals = NDArray[np.float64]


class Weights(NamedTuple):
    """What an iteration t does: R <- R * (keep_gain if R > 0 else keep_loss) + r, floored at 0 if `floor`; the next strategy is
    proportional to [R * foresee + guess * r]+; the average S <- S * keep + add * reach."""

    keep_gain: float = 1.0
    keep_loss: float = 1.0
    floor: float = 0.0
    foresee: float = 1.0
    guess: float = 0.0
    keep: float = 1.0
    add: float = 1.0


def _ratio(t: float, power: float, plus: float = 1.0) -> float:
    return t**power / (t**power + plus)


SCHEDULES: dict[str, Callable[[int], Weights]] = {
    "cfr": lambda t: Weights(),
    "cfr+": lambda t: Weights(floor=1, add=t),
    "linear": lambda t: Weights(keep_gain=(t - 1) / t, keep_loss=(t - 1) / t, keep=(t - 1) / t),
    "dcfr": lambda t: Weights(keep_gain=_ratio(t - 1, 1.5), keep_loss=_ratio(t - 1, 0), keep=((t - 1) / t) ** 2),
    "pcfr+": lambda t: Weights(floor=1, guess=1, add=t**2),
    "dcfr+": lambda t: Weights(keep_gain=_ratio(t - 1, 1.5, 1.5), floor=1, add=t**4),
    "pdcfr+": lambda t: Weights(keep_gain=_ratio(t - 1, 2.3), floor=1, foresee=_ratio(t, 2.3), guess=1, add=t**5),
}


class Table(NamedTuple):
    """One player's numbers: by place in the table, and by sequence."""

    regret: Any
    strategy: Any
    average: Any
    instant: Any  # regrets of this iteration
    reach: Any
    value: Any


@rule
def match_regrets(side: Half, table: Table, weights: Any) -> None:
    """The schedule's update of the regrets, and the strategy that follows from them."""
    keep_gain, keep_loss, floor, foresee, guess = weights[0], weights[1], weights[2], weights[3], weights[4]
    for i in range(side.row.size - 1):
        first, last = side.row[i], side.row[i + 1]
        total = 0.0
        for k in range(first, last):
            regret = table.regret[k]
            regret = regret * (keep_gain if regret > 0.0 else keep_loss) + table.instant[k]
            if floor > 0.0 and regret < 0.0:
                regret = 0.0
            table.regret[k] = regret
            share = regret * foresee + guess * table.instant[k]
            share = share if share > 0.0 else 0.0
            table.strategy[k] = share
            total += share
        if total > 0.0:
            for k in range(first, last):
                table.strategy[k] /= total
        else:
            for k in range(first, last):
                table.strategy[k] = 1.0 / (last - first)


@rule
def regret_of(side: Half, table: Table, merged: bool) -> None:
    """Instantaneous regrets from the values of the sequences, last decisions first."""
    if merged:
        table.instant[:] = 0.0
    for i in range(side.parent.size - 1, -1, -1):
        first, spot = side.first[i], side.spot[i]
        n = side.first[i + 1] - first
        mean = 0.0
        for a in range(n):
            mean += table.strategy[spot + a] * table.value[first + a]
        if merged:
            for a in range(n):
                table.instant[spot + a] += table.value[first + a] - mean
        else:
            for a in range(n):
                table.instant[spot + a] = table.value[first + a] - mean
        table.value[side.parent[i]] += mean


@rule
def add_average(side: Half, table: Table, keep: float, add: float, merged: bool) -> None:
    """Own reach of the strategy just played, into the average."""
    if not merged:
        for k in range(table.average.size):
            table.average[k] = table.average[k] * keep + add * table.reach[k + 1]
        return
    for k in range(table.average.size):
        table.average[k] *= keep
    for i in range(side.parent.size):
        first, spot = side.first[i], side.spot[i]
        for a in range(side.first[i + 1] - first):
            table.average[spot + a] += add * side.visits[i] * table.reach[first + a]


def _sweep(schedule: Any, sides: Any, tables: Any, merged: bool) -> None:
    for t in range(schedule.shape[0]):
        weights = schedule[t]
        for p in range(2):
            side, table, other = sides[p], tables[p], tables[1 - p]
            weigh(side, other.reach, table.value)
            regret_of(side, table, merged)
            match_regrets(side, table, weights)
            add_average(side, table, weights[5], weights[6], merged)
            spread(side, table.strategy, table.reach)


class CFR:
    """Any full-width method on a tree, perfect recall or not."""

    def __init__(self, tree: Tree, method: str = "cfr+", threads: int = 1) -> None:
        self.tree, self.method, self.threads = tree, method, threads
        self.iterations = 0
        self._halves = halves(tree)
        self._merged = any(side.states < len(side.points.key) for side in tree.sides)
        self._tables = tuple(_table(tree, p) for p in range(2))
        for p in range(2):
            _start(self._halves[p], self._tables[p])

    def run(self, iterations: int) -> None:
        schedule = SCHEDULES[self.method]
        rows = np.array([schedule(t) for t in range(self.iterations + 1, self.iterations + iterations + 1)], np.float64)
        _swept(rows.reshape(-1, len(Weights._fields)), self._halves, self._tables, self._merged)
        self.iterations += iterations


@kernel
def _start(side: Half, table: Table) -> None:
    spread(side, table.strategy, table.reach)


_swept = kernel(_sweep)


def _table(tree: Tree, player: int) -> Table:
    side = tree.sides[player]
    places = len(side.move)
    return Table(np.zeros(places), uniform_strategy(side), np.zeros(places), np.zeros(places), np.zeros(side.sequences), np.zeros(side.sequences))


def average_strategy(row: Any, average: Reals) -> Reals:
    """Shares from sums; where nothing was added up, equal shares."""
    width = np.diff(row)
    total = np.add.reduceat(average, row[:-1]) if len(width) else np.zeros(0)
    spread_out = np.repeat(total, width)
    equal = np.repeat(1.0 / width, width)
    return np.divide(average, spread_out, out=equal, where=spread_out > 0)
