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

from nebel.core.rule import kernel, parallel_kernel, prange, rule
from nebel.core.sequence import Half, halves, shares_of, spread, uniform_strategy, weigh
from nebel.core.tree import Side, Tree
from nebel.policy.table import TablePolicy, from_tree
from nebel.solve.heritage import Held, Heritage, lay_down, sorted_held
from nebel.solve.run import Steady, fill

Reals = NDArray[np.float64]


class Weights(NamedTuple):
    """What an iteration t does: R <- R * (keep_gain if R > 0 else keep_loss) + r, floored at 0 if `floor`; the next strategy is
    proportional to [R * foresee + guess * r]+; the average S <- S * keep + add * reach. Each may be one number, or one an iteration."""

    keep_gain: Any = 1.0
    keep_loss: Any = 1.0
    floor: Any = 0.0
    foresee: Any = 1.0
    guess: Any = 0.0
    keep: Any = 1.0
    add: Any = 1.0


AVERAGE = Weights._fields.index("keep")
"""From here on weights are about the average."""


def _ratio(t: Reals, power: float, plus: float = 1.0) -> Reals:
    return t**power / (t**power + plus)


SCHEDULES: dict[str, Callable[[Reals], Weights]] = {
    "cfr": lambda t: Weights(),
    "cfr+": lambda t: Weights(floor=1.0, add=t),
    "linear": lambda t: Weights(keep_gain=(t - 1) / t, keep_loss=(t - 1) / t, keep=(t - 1) / t),
    "dcfr": lambda t: Weights(keep_gain=_ratio(t - 1, 1.5), keep_loss=0.5, keep=((t - 1) / t) ** 2),
    "pcfr+": lambda t: Weights(floor=1.0, guess=1.0, add=t**2),
    "dcfr+": lambda t: Weights(keep_gain=_ratio(t - 1, 1.5, 1.5), floor=1.0, add=t**4),
    "pdcfr+": lambda t: Weights(keep_gain=_ratio(t - 1, 2.3), floor=1.0, foresee=_ratio(t, 2.3), guess=1.0, add=t**5),
}


def weights_of(method: str, first: int, count: int) -> Reals:
    """A row a iteration, from iteration `first` on."""
    columns = SCHEDULES[method](np.arange(first, first + count, dtype=np.float64))
    return np.ascontiguousarray(np.broadcast_arrays(*columns, np.empty(count))[:-1]).T.copy()


class Table(NamedTuple):
    """One player's numbers: by place in the table, and by sequence."""

    regret: Any
    strategy: Any
    average: Any
    instant: Any  # regrets of this iteration
    reach: Any
    value: Any


@rule
def match_regrets(table: Table, first: int, last: int, weights: Any, tiny: float) -> None:
    """The schedule's update of an information state's regrets, and the strategy that follows. Moves of equal worth differ by
    rounding alone: regrets below `tiny` count as none, or noise would turn equal shares into pure strategies."""
    keep_gain, keep_loss, floor, foresee, guess = weights
    total = 0.0
    for k in range(first, last):
        regret = table.regret[k]
        regret = regret * (keep_gain if regret > 0.0 else keep_loss) + table.instant[k]
        if floor > 0.0 and regret < 0.0:
            regret = 0.0
        table.regret[k] = regret
        share = regret * foresee + guess * table.instant[k]
        share = share if share > tiny else 0.0
        table.strategy[k] = share
        total += share
    if total > 0.0:
        for k in range(first, last):
            table.strategy[k] /= total  # a product with 1 / total would not give equal gains exactly equal shares
    else:
        for k in range(first, last):
            table.strategy[k] = 1.0 / (last - first)


@rule
def improve(side: Half, table: Table, weights: Any, merged: bool, tiny: float) -> None:
    """Regrets from the values of the own sequences, last decisions first, and new strategies. Points that share an information
    state add up their regrets before it changes."""
    value, instant = table.value, table.instant
    if merged:
        instant[:] = 0.0
    for i in range(side.parent.size - 1, -1, -1):
        first, spot = side.first[i], side.spot[i]
        n = side.first[i + 1] - first
        mean = 0.0
        for a in range(n):
            mean += table.strategy[spot + a] * value[first + a]
        value[side.parent[i]] += mean
        if merged:
            for a in range(n):
                instant[spot + a] += value[first + a] - mean
        else:
            for a in range(n):
                instant[spot + a] = value[first + a] - mean
            match_regrets(table, spot, spot + n, weights, tiny)
    if merged:
        for i in range(side.row.shape[0]):
            match_regrets(table, side.row[i, 0], side.row[i, 1], weights, tiny)


@rule
def follow(side: Half, table: Table, keep: float, add: float, merged: bool) -> None:
    """Reach of the strategy just played, into the average; then the reach of the new one, in its place."""
    average, reach, strategy = table.average, table.reach, table.strategy
    if merged:
        for k in range(average.size):
            average[k] *= keep
        keep = 1.0
    for i in range(side.parent.size):
        first, spot = side.first[i], side.spot[i]
        here = reach[side.parent[i]]
        weight = add * side.visits[i] if merged else add
        for a in range(side.first[i + 1] - first):
            average[spot + a] = average[spot + a] * keep + weight * reach[first + a]
            reach[first + a] = here * strategy[spot + a]


@rule
def learn(side: Half, table: Table, weights: Any, merged: bool, tiny: float) -> None:
    """From the values of the own sequences to the next strategy."""
    improve(side, table, (weights[0], weights[1], weights[2], weights[3], weights[4]), merged, tiny)
    follow(side, table, weights[5], weights[6], merged)


def sweeper(threads: int) -> Any:
    """The compiled sweep; with more threads each sums the payoffs of its part of the sequences, to the same result."""

    def sweep(schedule: Any, sides: Any, tables: Any, merged: bool, tiny: float) -> None:
        first0, other0, pay0 = sides[0].pay_first, sides[0].pay_other, sides[0].pay_value
        first1, other1, pay1 = sides[1].pay_first, sides[1].pay_other, sides[1].pay_value
        reach0, reach1, value0, value1 = tables[0].reach, tables[1].reach, tables[0].value, tables[1].value
        for t in range(schedule.shape[0]):
            for part in prange(threads):
                weigh(first0, other0, pay0, reach1, value0, part, threads)
            learn(sides[0], tables[0], schedule[t], merged, tiny)
            for part in prange(threads):
                weigh(first1, other1, pay1, reach0, value1, part, threads)
            learn(sides[1], tables[1], schedule[t], merged, tiny)

    return parallel_kernel(sweep) if threads > 1 else kernel(sweep)


@kernel
def _spread(side: Half, strategy: Any, reach: Any) -> None:
    spread(side, strategy, reach)


class FullWidth(Steady):
    """Any method of the family on a tree, perfect recall or not."""

    def __init__(self, tree: Tree, method: str, threads: int = 1) -> None:
        self.tree, self.method = tree, method
        self._sweep = sweeper(threads)
        self.iterations, self.ages = 0, (0, 0)
        self._halves = halves(tree)
        self._merged = any(side.states < len(side.points.key) for side in tree.sides)
        self._tables = tuple(_table(side, half.sequences) for side, half in zip(tree.sides, self._halves, strict=True))
        self._tiny = 1e-15 * float(np.abs(tree.nodes.score).max())
        self._refresh()

    def prepare(self) -> None:
        """Compile, or load what was compiled."""
        self._sweep(np.zeros((0, len(Weights._fields))), self._halves, self._tables, self._merged, self._tiny)

    def run(self, iterations: int) -> None:
        while iterations > 0:
            count = min(iterations, 1 << 16)
            weights, later = (weights_of(self.method, age + self.iterations + 1, count) for age in self.ages)
            weights[:, AVERAGE:] = later[:, AVERAGE:]
            self._sweep(weights, self._halves, self._tables, self._merged, self._tiny)
            self.iterations += count
            iterations -= count

    def strategies(self) -> tuple[Reals, Reals]:
        """The average strategies, by table place."""
        sides = self.tree.sides
        return shares_of(sides[0].row, self._tables[0].average), shares_of(sides[1].row, self._tables[1].average)

    def policy(self, facts: dict[str, Any]) -> TablePolicy:
        return from_tree(self.tree, self.strategies(), facts)

    def held(self) -> tuple[Held, Held]:
        """Regrets and sums, for a solver of a larger game."""
        first, second = (
            sorted_held(side.keys, np.diff(side.row), side.move, table.regret, table.average)
            for side, table in zip(self.tree.sides, self._tables, strict=True)
        )
        return first, second

    def inherit(self, heritage: Heritage) -> None:
        """Begin with what was learned in a smaller game."""
        self.ages = heritage.ages
        for side, table, (regret, total, first) in zip(self.tree.sides, self._tables, lay_down(heritage, self.tree), strict=True):
            table.regret[:], table.average[:] = regret, total
            table.strategy[:] = shares_of(side.row, first, shares_of(side.row, np.maximum(regret, 0.0)))
        self._refresh()

    def save(self) -> dict[str, NDArray[Any]]:
        return {f"{name}{p}": getattr(self._tables[p], name) for p in range(2) for name in ("regret", "strategy", "average")}

    def restore(self, arrays: dict[str, NDArray[Any]], iterations: int) -> None:
        for name, array in arrays.items():
            fill(getattr(self._tables[int(name[-1])], name[:-1]), array)
        self.iterations = iterations
        self._refresh()

    def _refresh(self) -> None:
        for p in range(2):
            _spread(self._halves[p], self._tables[p].strategy, self._tables[p].reach)


def _table(side: Side, sequences: int) -> Table:
    places = len(side.move)
    by_place = (np.zeros(places), uniform_strategy(side), np.zeros(places), np.zeros(places))
    return Table(*by_place, np.zeros(sequences), np.zeros(sequences))
