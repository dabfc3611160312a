"""Full-width CFR+ on the positions of a Geister variant, ply by ply: what looks alike to the player to move at a ply is one decision.

Tammelin. Solving Large Imperfect Information Games Using CFR+. 2014. All histories that lead to a position at a ply are merged. Regrets are
those of the tree for players who know the board, what was captured and the ply. The average is weighted by the own reach of a view, the
other moving uniformly: with perfect recall that is the average of CFR.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.rule import kernel
from nebel.geister.positions import LAST_BLUE, LAST_RED, OUT, Positions

Reals = NDArray[np.float64]


class Graph(NamedTuple):
    """Of `Positions`, for compiled code."""

    first: Any
    child: Any
    seen: Any
    place: Any


@kernel
def spread(g: Graph, share: Any, reach: Any, plies: int, seat: int, even: bool) -> None:
    """reach[t + 1] from reach[t]: `seat` moves with weight 1, or as it does if `even`, and then the other uniformly."""
    for t in range(plies - 1):
        reach[t + 1, :] = 0.0
        for n in range(g.seen.size):
            if reach[t, n] == 0.0:
                continue
            at, width, own = g.place[g.seen[n]], g.first[n + 1] - g.first[n], t % 2 == seat
            for i in range(width):
                c = g.child[g.first[n] + i]
                if c >= 0:
                    weight = share[t, at + i] if own == even else 1.0 if own else 1.0 / width
                    reach[t + 1, c] += reach[t, n] * weight


@kernel
def back_up(g: Graph, share: Any, reach: Any, gains: Any, value: Any, plies: int, seat: int) -> None:
    """Values of positions to whoever is to move, from the limit on; gains[t]: what a move of `seat` is worth more, times reach."""
    value[plies % 2, :] = 0.0
    for t in range(plies - 1, -1, -1):
        later, now, at_home = value[(t + 1) % 2], value[t % 2], t % 2 == seat
        for n in range(g.seen.size):
            at, width, worth = g.place[g.seen[n]], g.first[n + 1] - g.first[n], 0.0
            for i in range(width):
                c = g.child[g.first[n] + i]
                worth += share[t, at + i] * (-later[c] if c >= 0 else -1.0 if c == LAST_RED else 1.0)
            now[n] = worth
            if at_home and reach[t, n] > 0.0:
                for i in range(width):
                    c = g.child[g.first[n] + i]
                    gains[t, at + i] += reach[t, n] * ((-later[c] if c >= 0 else -1.0 if c == LAST_RED else 1.0) - worth)


@kernel
def match(place: Any, regret: Any, gains: Any, share: Any, own: Any, average: Any, weight: float, plies: int, seat: int) -> None:
    """Average what was played, add the gains to the regrets, and play in proportion to what is positive."""
    for t in range(seat, plies, 2):
        for v in range(place.size - 1):
            if own[t, v] == 0.0:
                continue
            total = 0.0
            for i in range(place[v], place[v + 1]):
                average[t, i] += weight * own[t, v] * share[t, i]
                regret[t, i] = max(0.0, regret[t, i] + gains[t, i])
                total += regret[t, i]
                gains[t, i] = 0.0
            for i in range(place[v], place[v + 1]):
                share[t, i] = regret[t, i] / total if total > 0.0 else 1.0 / (place[v + 1] - place[v])


class Layers:
    """`layers.iterate(); layers.average()`: shares by ply and by place of a view's move."""

    def __init__(self, positions: Positions, limit: int) -> None:
        self.positions, self.limit, self.iterations = positions, limit, 0
        self.graph = Graph(positions.first, positions.child, positions.views.of, positions.place)
        nodes, places = len(positions.positions), int(positions.place[-1])
        even = np.repeat(1.0 / np.diff(positions.place), np.diff(positions.place))
        self.share = np.tile(even, (limit, 1))
        self._even = even
        self._regret, self._gains, self._sums = (np.zeros((limit, places)) for _ in range(3))
        self._reach, self._value = np.zeros((limit, nodes)), np.zeros((2, nodes))
        self._own = np.zeros((limit, len(positions.place) - 1))

    def reach(self, share: Reals, seat: int, even: bool = False) -> Reals:
        """Of positions by ply, moves of `seat` counting as certain; `even`: only those of `seat` count, the other moves uniformly."""
        self._reach[0] = 0.0
        self._reach[0, self.positions.starts] = 1.0 / len(self.positions.starts)
        spread(self.graph, share, self._reach, self.limit, seat, even)
        return self._reach

    def iterate(self) -> None:
        self.iterations += 1
        of = self.positions.views.of
        for seat in (0, 1):
            reach = self.reach(self.share, seat, even=True)
            for t in range(seat, self.limit, 2):
                self._own[t] = np.bincount(of, reach[t], len(self._own[t]))
            reach = self.reach(self.share, seat)
            back_up(self.graph, self.share, reach, self._gains, self._value, self.limit, seat)
            match(
                self.positions.place, self._regret, self._gains, self.share, self._own, self._sums, float(self.iterations), self.limit, seat
            )

    def average(self) -> Reals:
        """Uniform where nobody came."""
        place = self.positions.place
        total = np.repeat(np.add.reduceat(self._sums, place[:-1], axis=1), np.diff(place), axis=1)
        return np.divide(self._sums, total, out=np.tile(self._even, (self.limit, 1)), where=total > 0.0)

    def met(self, ply: int) -> NDArray[np.bool_]:
        """The views that the average comes to at a ply."""
        return np.add.reduceat(self._sums[ply], self.positions.place[:-1]) > 0.0

    def value(self, share: Reals) -> float:
        """To player 0, of both playing so."""
        back_up(self.graph, share, np.zeros((self.limit, 1)), self._gains, self._value, self.limit, -1)
        return float(self._value[0, self.positions.starts].mean())

    def endings(self, share: Reals) -> dict[str, Reals]:
        """How often games end how, by seat of the winner; and how often the first move is of a blue ghost."""
        p = self.positions
        source = np.repeat(np.arange(len(p.positions)), np.diff(p.first))
        place = p.place[p.views.of[source]] + np.arange(len(source)) - p.first[source]
        reach = np.zeros(len(p.positions))
        reach[p.starts] = 1.0 / len(p.starts)
        ways = {"escape": np.zeros(2), "blues taken": np.zeros(2), "reds taken": np.zeros(2)}
        reds = np.array([position[1] for position in p.positions])
        blue = float(np.sum((reach[source] * share[0, place])[(reds[source] >> (p.move // 4)) & 1 == 0]))
        for t in range(self.limit):
            flow = reach[source] * share[t, place]
            for kind, name in zip((OUT, LAST_BLUE, LAST_RED), ways, strict=True):
                ways[name][t % 2 if kind != LAST_RED else 1 - t % 2] += flow[p.child == kind].sum()
            on = p.child >= 0
            reach = np.bincount(p.child[on], flow[on], len(p.positions)).astype(float)
        return {**ways, "drawn": np.array([reach.sum()]), "blue first": np.array([blue])}
