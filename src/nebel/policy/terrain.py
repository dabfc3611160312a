"""The board of Dark Hex as bits: who can still join the own edges, and where hidden stones can stand."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

SMALL = 16
"""Free cells of boards whose information states are few."""


class Terrain:
    """The board as bits."""

    def __init__(self, rows: int, cols: int, player: int) -> None:
        self.cells, self.player, self._side = rows * cols, player, min(rows, cols)
        at = {(r, c): r * cols + c for r in range(rows) for c in range(cols)}
        around = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))
        self.near = [[at[r + i, c + j] for i, j in around if (r + i, c + j) in at] for r, c in at]
        self.source = [n for (r, c), n in at.items() if (c if player else r) == 0]
        self.target = {n for (r, c), n in at.items() if (c == cols - 1 if player else r == rows - 1)}
        self._lacking: dict[tuple[int, int], int] = {}

    def lacking(self, own: int, met: int) -> int:
        """How many more stones the player needs at least to join the own edges (more than there are cells: it is impossible)."""
        known = self._lacking.get((own, met))
        if known is None:
            known = self._lacking[own, met] = self._search(own, met)
        return known

    def _search(self, own: int, met: int) -> int:
        impossible = self.cells + 1
        best = [impossible] * self.cells
        layer = {n for n in self.source if not met >> n & 1}
        for cost in range(impossible):
            todo = [n for n in layer if own >> n & 1 and best[n] > cost]
            waiting = {n for n in layer if not own >> n & 1 and best[n] > cost}
            while todo:
                n = todo.pop()
                best[n] = cost
                if n in self.target:
                    return cost
                todo += [m for m in self.near[n] if own >> m & 1 and best[m] > cost]
                waiting |= {m for m in self.near[n] if not (own | met) >> m & 1 and best[m] > cost}
            if not waiting:
                return impossible
            for n in waiting:
                best[n] = cost + 1
            if waiting & self.target:
                return cost + 1
            layer = {m for n in waiting for m in self.near[n] if not met >> m & 1 and best[m] > cost + 1}
        return impossible

    def possible(self, own: int, met: int, hidden: int) -> bool:
        """Whether the other player can have `hidden` more stones somewhere and not have won.

        Exactly if they can stand beside one of the player's ways across: a full board has one winner.
        """
        return 0 <= hidden <= self.cells - (own | met).bit_count() - self.lacking(own, met)

    def ways_on(self, own: int, met: int) -> int:
        """Estimate from below how many boards random play leads to from here: those on which surely neither player has won.

        It is 0 where so few cells are free that they can all be visited.
        """
        free, count = self.cells - (own | met).bit_count(), 0
        if free <= SMALL:
            return 0
        for stones in range(min(self.lacking(own, met), free // 4)):
            for found in range(min(stones + 1, self._side - met.bit_count())):
                count += comb(free, stones) * comb(free - stones, found)
        return count

    def after(self, own: int, met: int, cell: int) -> Iterator[tuple[bool, int, int]]:
        """Where a move can lead in the classic game, as long as it goes on: (whether it hit a hidden stone, own, discovered)."""
        for hit in (False, True):
            mine, theirs = own | (not hit) << cell, met | hit << cell
            if self.lacking(mine, theirs) and self.possible(mine, theirs, mine.bit_count() + self.player - theirs.bit_count()):
                yield hit, mine, theirs
