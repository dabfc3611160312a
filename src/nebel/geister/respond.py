"""How much a strategy of `Layers` can lose to somebody who remembers everything: bounds from both sides, by position, ply and belief.

The responder knows the position but for the other's reds, and has a belief over those few colourings, which every move of the other
changes. What it can win is a convex function of the belief. It is computed on a grid of beliefs from the limit on: values in between are at
most those interpolated between the grid's corners (Freudenthal's triangulation), and at least those of the plans that are best at the
corners. Where the bounds meet, that is the exact best response in the game with perfect recall.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nebel.core.rows import copy
from nebel.core.rule import kernel, rule
from nebel.geister.layers import Layers, Reals
from nebel.geister.positions import LAST_RED, Groups, Positions

MOST_WORLDS = 6
GAIN = -1
"""In place of a group that follows: the game ends."""


class Grid(NamedTuple):
    """Beliefs over 1 .. MOST_WORLDS colourings: corner k of those with w worlds is corner[w, k]; found[w] finds it by partial sums."""

    fine: int
    count: Any
    corner: Any
    found: Any


def grid(fine: tuple[int, ...]) -> tuple[Grid, ...]:
    """fine[w - 1]: into how many steps the beliefs over w worlds are divided."""
    grids = []
    for worlds, steps in enumerate(fine, 1):
        corners = []
        for bars in combinations_with_replacement(range(steps + 1), worlds - 1):
            ends = (0, *bars, steps)
            corners.append([ends[i + 1] - ends[i] for i in range(worlds)])
        found = np.full((steps + 1) ** max(worlds - 1, 0), -1, np.int64)
        for k, corner in enumerate(corners):
            found[_slot(np.cumsum(corner[::-1])[::-1], steps)] = k
        grids.append(Grid(steps, len(corners), np.array(corners, np.float64) / steps, found))
    return tuple(grids)


def _slot(sums: Any, steps: int) -> int:
    """Of partial sums from the back, the first of which is all."""
    at = 0
    for y in sums[1:]:
        at = at * (steps + 1) + int(y)
    return at


class Course(NamedTuple):
    """What can follow in a group: its choices, of each the events that can be seen, of each the worlds in which it happens.

    Group g has choices first[g]:first[g+1]; choice c has events event[c]:event[c+1]; event e leads to group then[e], or ends the game with
    `gain` for whoever responds; items item[e]:item[e+1] say from which world to which, and by which place of the mover's strategy (-1: by
    the responder's own choice).
    """

    first: Any
    event: Any
    then: Any
    gain: Any
    item: Any
    source: Any
    target: Any
    place: Any


class Item(NamedTuple):
    """From a world to a world, by a place of the mover's strategy."""

    source: int
    target: int
    place: int


def course(p: Positions, home: bool) -> Course:
    """At home the responder is to move (groups are views, and what follows are aways), else the other is."""
    here: Groups = p.views if home else p.aways
    next_: Groups = p.aways if home else p.views
    first, event, then, gain, item = [0], [0], [], [], [0]
    source, target, place = [], [], []
    for g in range(len(here.first) - 1):
        events: dict[int, dict[tuple[int, int], list[Item]]] = {}  # by move, and by what follows
        for i, n in enumerate(here.members[here.first[g] : here.first[g + 1]].tolist()):
            for k in range(int(p.first[n]), int(p.first[n + 1])):
                c, at = int(p.child[k]), -1 if home else int(p.place[p.views.of[n]] + k - p.first[n])
                if c >= 0:
                    led, to = (int(next_.of[c]), 0), int(next_.rank[c])
                else:
                    led, to = (GAIN, -1 if (c == LAST_RED) == home else 1), 0
                events.setdefault(int(p.move[k]), {}).setdefault(led, []).append(Item(i, to, at))
        for seen in events.values():
            for (group, end), items in seen.items():
                then.append(group)
                gain.append(float(end))
                source += [x.source for x in items]
                target += [x.target for x in items]
                place += [x.place for x in items]
                item.append(len(source))
            if home:
                event.append(len(then))
        if not home:  # the other chooses: all that may happen is one choice
            event.append(len(then))
        first.append(len(event) - 1)
    longs = [np.array(x, np.int64) for x in (first, event, then, item, source, target, place)]
    return Course(longs[0], longs[1], longs[2], np.array(gain), longs[3], longs[4], longs[5], longs[6])


@rule
def corners_at(fine: int, found: Any, belief: Any, worlds: int, total: float, which: Any, weight: Any, sums: Any, order: Any) -> None:
    """The corners of the simplex of the grid that holds a belief, and their weights. Both sum up from the last world on."""
    sums[worlds] = 0.0
    for i in range(worlds - 1, 0, -1):
        sums[i] = sums[i + 1] + belief[i] / total * fine
    for i in range(1, worlds):  # by how far beyond a corner, the farthest first
        k = i - 1
        rest = min(sums[i], float(fine)) - np.floor(min(sums[i], float(fine)))
        while k > 0 and rest > sums[order[k]] - np.floor(sums[order[k]]):
            order[k + 1] = order[k]
            k -= 1
        order[k + 1] = i
        sums[i] = min(sums[i], float(fine))
    slot = 0
    for i in range(1, worlds):
        slot = slot * (fine + 1) + int(np.floor(sums[i]))
    before = 1.0
    for k in range(worlds):
        which[k] = found[slot]
        beyond = sums[order[k + 1]] - np.floor(sums[order[k + 1]]) if k + 1 < worlds else 0.0
        weight[k] = before - beyond
        before = beyond
        if k + 1 < worlds and beyond > 0.0:
            step = 1
            for _ in range(worlds - 1 - order[k + 1]):
                step *= fine + 1
            slot += step


@rule
def _empty(values: Any, n: int) -> None:
    for i in range(n):
        values[i] = 0.0


@kernel
def respond(
    c: Course, share: Any, worlds: Any, at: Any, plans_at: Any, next_worlds: Any, next_at: Any, next_plans_at: Any, fines: Any, counts: Any,
    corners: Any, founds: Any, upper: Any, plans: Any, next_upper: Any, next_plans: Any,
) -> None:  # fmt: skip
    """One ply earlier: upper bounds and plans at the corners of all groups, from those of the groups that follow."""
    belief, then = np.zeros(8), np.zeros(8)
    which, weight, sums, order = np.zeros(8, np.int64), np.zeros(8), np.zeros(9), np.zeros(9, np.int64)
    plan, best = np.zeros(8), np.zeros(8)
    for g in range(worlds.size):
        w = worlds[g]
        for k in range(counts[w]):
            for i in range(w):
                belief[i] = corners[w, k, i]
            most, most_low = -np.inf, -np.inf
            for choice in range(c.first[g], c.first[g + 1]):
                high = 0.0
                _empty(plan, w)
                for e in range(c.event[choice], c.event[choice + 1]):
                    group, total = c.then[e], 0.0
                    n = next_worlds[group] if group >= 0 else 1
                    _empty(then, n)
                    for x in range(c.item[e], c.item[e + 1]):
                        p = belief[c.source[x]] * (share[c.place[x]] if c.place[x] >= 0 else 1.0)
                        then[c.target[x]] += p
                        total += p
                    if group < 0:
                        high += c.gain[e] * total
                        for x in range(c.item[e], c.item[e + 1]):
                            plan[c.source[x]] += c.gain[e] * (share[c.place[x]] if c.place[x] >= 0 else 1.0)
                        continue
                    if total <= 0.0:  # nothing is lost by any plan
                        which[0], weight[0] = 0, 1.0
                        used, low = 0, 0.0
                    else:
                        corners_at(fines[n], founds[n], then, n, total, which, weight, sums, order)
                        used, low = 0, -np.inf
                        for q in range(n):
                            if weight[q] > 0.0:
                                high += total * weight[q] * next_upper[next_at[group] + which[q]]
                            worth = 0.0
                            if which[q] >= 0:
                                for j in range(n):
                                    worth += then[j] * next_plans[next_plans_at[group] + which[q] * n + j]
                                if worth > low:
                                    used, low = q, worth
                    for x in range(c.item[e], c.item[e + 1]):
                        p = share[c.place[x]] if c.place[x] >= 0 else 1.0
                        plan[c.source[x]] += p * next_plans[next_plans_at[group] + which[used] * n + c.target[x]]
                low = 0.0
                for i in range(w):
                    low += belief[i] * plan[i]
                most = max(most, high)
                if low > most_low:
                    most_low = low
                    copy(plan, best)
            upper[at[g] + k] = most
            for i in range(w):
                plans[plans_at[g] + k * w + i] = best[i]


class Bounds(NamedTuple):
    """What the best response gets, at least and at most."""

    low: float
    high: float


class Responder:
    """Of a variant: `responder.bounds(share, seat)`."""

    def __init__(self, layers: Layers, fine: tuple[int, ...] = (1, 64, 20, 8, 6, 4)) -> None:
        self.layers, p = layers, layers.positions
        self._grids = grid(fine)
        self._home, self._away = course(p, True), course(p, False)
        self._worlds = {True: np.diff(p.views.first), False: np.diff(p.aways.first)}
        counts = np.array([0, *(g.count for g in self._grids)])
        self._at = {home: np.concatenate([[0], np.cumsum(counts[w])]) for home, w in self._worlds.items()}
        self._plans_at = {home: np.concatenate([[0], np.cumsum(counts[w] * w)]) for home, w in self._worlds.items()}
        size = max(g.count for g in self._grids)
        self._corners = np.zeros((len(fine) + 1, size, len(fine)))
        self._founds = np.full((len(fine) + 1, max(len(g.found) for g in self._grids)), -1, np.int64)
        for w, g in enumerate(self._grids, 1):
            self._corners[w, : g.count, :w] = g.corner
            self._founds[w, : len(g.found)] = g.found
        self._fines, self._counts = np.array([0, *(g.fine for g in self._grids)]), counts

    def bounds(self, share: NDArray[np.float64], seat: int) -> Bounds:
        """Of the best response of `seat` to the strategy of the other seat, in that player's own gains."""
        limit, p = self.layers.limit, self.layers.positions
        home = limit % 2 == seat
        upper, plans = (np.zeros(self._at[home][-1]), np.zeros(self._plans_at[home][-1]))
        for t in range(limit - 1, -1, -1):
            later, home = home, t % 2 == seat
            new, new_plans = np.zeros(self._at[home][-1]), np.zeros(self._plans_at[home][-1])
            respond(
                self._home if home else self._away, share[t], self._worlds[home], self._at[home], self._plans_at[home],
                self._worlds[later], self._at[later], self._plans_at[later], self._fines, self._counts, self._corners, self._founds,
                new, new_plans, upper, plans,
            )  # fmt: skip
            upper, plans = new, new_plans
        groups = p.views if home else p.aways
        found = Bounds(0.0, 0.0)
        starts = np.unique(groups.of[p.starts])
        for g in starts:
            found = Bounds(*(a + b / len(starts) for a, b in zip(found, self._at_start(int(g), home, upper, plans), strict=True)))
        return found

    def _at_start(self, g: int, home: bool, upper: Reals, plans: Reals) -> Bounds:
        """All colourings of the other are equally likely."""
        w = int(self._worlds[home][g])
        which, weight = np.zeros(8, np.int64), np.zeros(8)
        corners_at(int(self._fines[w]), self._founds[w], np.full(w, 1.0 / w), w, 1.0, which, weight, np.zeros(9), np.zeros(9, np.int64))
        high = sum(weight[q] * upper[self._at[home][g] + which[q]] for q in range(w) if weight[q] > 0.0)
        by_corner = plans[self._plans_at[home][g] : self._plans_at[home][g + 1]].reshape(-1, w)
        return Bounds(float(by_corner.mean(axis=1).max()), float(high))
