"""An independent checker of behaviour strategies of classic silent Dark Hex: plain Python, fractions, the standard library.

It shares no code with the rest of nebel but with the other checker (`judge/verify.py`). Given the probabilities of moves by what a
player remembers, it finds the largest probability with which any opponent, remembering everything, can win. The format is described in
`judge/row_certificate.py`. Where the strategy has no answer, or an impossible one, it loses on the spot.

The opponent knows the own stones, the cells tried, and how likely each stand of the strategy is. Equal beliefs are judged once. What an
opponent who sees everything would win bounds them. Trying a cell costs nothing and is heard by nobody, so a cell that would complete the
chain is tried first, and a cell that is surely taken is not tried.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from nebel.judge.verify import LETTERS, PATIENCE, Board, Unproven, joins

Row = dict[str, Fraction]
"""Probabilities by the letter of the cell."""


class World(NamedTuple):
    """A stand of the strategy: what it remembers of the order of events, if anything, its stones, and those it has met."""

    memory: str
    own: int
    met: int


Belief = dict[World, Fraction]


def check_rows(board: Board, rows: dict[str, Row], actions: int, denominator: int) -> None:
    """Raise `Unproven` unless all rows are probabilities of at most so many cells, with one denominator of at most so much."""
    for name, row in rows.items():
        if sum(row.values()) != 1 or any(p <= 0 for p in row.values()):
            raise Unproven(f"the probabilities of {name or 'the start'!r} are not greater than 0 with a sum of 1")
        if any(len(cell) != 1 or not 0 <= LETTERS.find(cell) < board.cells for cell in row):
            raise Unproven(f"{name or 'the start'!r} has a move that is not a cell of the board")
        if len(row) > actions:
            raise Unproven(f"{name or 'the start'!r} has {len(row)} moves, and the file claims at most {actions}")
        common = math.lcm(*(p.denominator for p in row.values()))
        if common > denominator:
            raise Unproven(f"{name or 'the start'!r} has the denominator {common}, and the file claims at most {denominator}")


def guarantee_of_rows(board: Board, player: int, recall: str, rows: dict[str, Row], patience: int = PATIENCE) -> Fraction:
    """Return the probability with which the strategy wins at least; `patience` limits the steps of the search."""
    if board.abrupt or board.leak != "silent":
        raise Unproven("strategies by rows are checked in classic silent Dark Hex only")
    return 1 - _Search(board, player, recall, rows, patience).most()


class _Search:
    """Looks for the best answer to a behaviour strategy."""

    def __init__(self, board: Board, player: int, recall: str, rows: dict[str, Row], patience: int) -> None:
        self.board, self.player, self.me = board, player, 1 - player
        self.perfect, self.rows = recall == "perfect", rows
        self.patience = self.left = patience
        self.known: dict[tuple[int, int, frozenset[tuple[World, Fraction]]], Fraction] = {}
        self.informed: dict[tuple[int, World], Fraction] = {}
        self.replies: dict[tuple[World, int], tuple[Belief, Fraction]] = {}
        self.joined: dict[tuple[int, int], bool] = {}

    def joins(self, player: int, stones: int) -> bool:
        name = (player, stones)
        if name not in self.joined:
            self.joined[name] = joins(self.board, player, stones)
        return self.joined[name]

    def step(self) -> None:
        """Count a step of the search, or give up."""
        self.left -= 1
        if self.left < 0:
            raise Unproven(f"the search for the best answer takes more than {self.patience:,} steps")

    def row(self, world: World) -> Row:
        if self.perfect:
            return self.rows.get(world.memory, {})
        marks = (".ox"[(world.own >> c & 1) + 2 * (world.met >> c & 1)] for c in range(self.board.cells))
        return self.rows.get("".join(marks), {})

    def reply(self, world: World, stones: int) -> tuple[Belief, Fraction]:
        """A turn of the strategy against the opponent's stones: where it may stand then, and how likely it has no answer."""
        name = (world, stones)
        if name not in self.replies:
            self.step()
            after: Belief = {}
            lost = Fraction(0)
            row = self.row(world)
            if not row:
                lost = Fraction(1)
            for letter, p in row.items():
                stone = 1 << LETTERS.index(letter)
                if (world.own | world.met) & stone:
                    lost += p  # it knows that the cell is taken
                elif stones & stone:
                    memory = world.memory + letter + "-" if self.perfect else ""
                    then, more = self.reply(World(memory, world.own, world.met | stone), stones)
                    lost += p * more
                    for each, q in then.items():
                        after[each] = after.get(each, Fraction(0)) + p * q
                elif not self.joins(self.player, world.own | stone):
                    memory = world.memory + letter + "+" if self.perfect else ""
                    each = World(memory, world.own | stone, world.met)
                    after[each] = after.get(each, Fraction(0)) + p
            self.replies[name] = after, lost
        return self.replies[name]

    def ceiling(self, own: int, world: World) -> Fraction:
        """What an opponent on the move wins who sees everything."""
        name = (own, world)
        if name not in self.informed:
            self.step()
            free = [1 << c for c in range(self.board.cells) if not (own | world.own) >> c & 1]
            best = Fraction(any(self.joins(self.me, own | stone) for stone in free))
            for stone in free:
                if best == 1:
                    break
                after, won = self.reply(world, own | stone)
                best = max(best, won + sum((p * self.ceiling(own | stone, each) for each, p in after.items()), Fraction(0)))
            self.informed[name] = best
        return self.informed[name]

    def bound(self, own: int, belief: Belief) -> Fraction:
        return sum((p * self.ceiling(own, world) for world, p in belief.items()), Fraction(0))

    def most(self) -> Fraction:
        """Return the most that the opponent can win."""
        start = World("", 0, 0)
        if self.player == 1:
            return self.best(0, 0, {start: Fraction(1)})
        belief, won = self.reply(start, 0)
        return won + self.best(0, 0, belief)

    def best(self, own: int, tried: int, belief: Belief) -> Fraction:
        """How much of a belief's weight the opponent on the move can win."""
        belief = {world: p for world, p in belief.items() if self.ceiling(own, world) > 0}
        total = sum(belief.values(), Fraction(0))
        if not total:
            return total
        name = (own, tried, frozenset((world, p / total) for world, p in belief.items()))
        if name not in self.known:
            self.step()
            self.known[name] = self._best(own, tried, belief) / total
        return self.known[name] * total

    def _best(self, own: int, tried: int, belief: Belief) -> Fraction:
        choices = []
        for stone in self._worth_trying(own, tried, belief):
            taken = {world: p for world, p in belief.items() if world.own & stone}
            free = {world: p for world, p in belief.items() if not world.own & stone}
            won, after = Fraction(0), Belief()
            if self.joins(self.me, own | stone):
                won = sum(free.values(), Fraction(0))
            else:
                for world, p in free.items():
                    then, lost = self.reply(world, own | stone)
                    won += p * lost
                    for each, q in then.items():
                        after[each] = after.get(each, Fraction(0)) + p * q
            choices.append((won, (own, tried | stone, taken), (own | stone, tried | stone, after)))
        bounds = [(won + self.bound(met[0], met[2]) + self.bound(placed[0], placed[2])) for won, met, placed in choices]
        found = Fraction(0)
        for i in sorted(range(len(choices)), key=lambda i: -bounds[i]):
            if bounds[i] <= found:
                break
            won, met, placed = choices[i]
            value = won + self.best(*placed)
            if value + self.bound(met[0], met[2]) > found:
                found = max(found, value + self.best(*met))
        return found

    def _worth_trying(self, own: int, tried: int, belief: Belief) -> list[int]:
        free = [1 << c for c in range(self.board.cells) if not tried >> c & 1]
        finishing = [stone for stone in free if self.joins(self.me, own | stone)]
        return finishing[:1] or [stone for stone in free if not all(world.own & stone for world in belief)]
