"""From answers to notation: a strategy as its builder keeps it, written as definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

from nebel.core.errors import TooLarge
from nebel.policy.ahead import Ahead
from nebel.policy.states import Seen
from nebel.policy.syntax import MAIN, Mixture, Move, Name, Node, Open, Random, Sequence, Try

if TYPE_CHECKING:
    from nebel.policy.builder import Builder

LONGEST = 8
"""Moves that a part of a written strategy may have before it gets a line of its own."""


class Writer:
    """A strategy as definitions: what is used twice, or is long, gets a name."""

    def __init__(self, builder: Builder, most: int) -> None:
        self.builder, self.states, self.most = builder, builder.states, most
        self.open = set(builder.open_states())
        self.special = {state for state, answer in builder.answered().items() if isinstance(answer, dict)} | self.open
        self.ahead = Ahead(self.special)
        self.sign = cache(self._sign)
        self.size = cache(self._size)
        self.uses = self._count()
        self.names: dict[Seen, str] = {}
        self.waiting: list[Seen] = []

    def definitions(self) -> dict[str, Node]:
        if not self.uses:
            return {MAIN: self.sign(self.states.start) or Random()}
        found = {MAIN: self.body(self.states.start)}
        while self.waiting:
            state = self.waiting.pop(0)
            found[self.names[state]] = self.body(state)
        return found

    def _sign(self, state: Seen) -> Node | None:
        """`?` where it is open; `!` if that says it all: roaming, and not on the way to a board that is answered or open."""
        if state in self.open:
            return Open()
        return None if self.ahead(state) else Random()

    def moves(self, state: Seen) -> Iterator[tuple[int, Fraction, dict[bool, Seen]]]:
        for cell, share in (self.builder.plays(state) or {}).items():
            yield cell, share, dict(self.states.after(state, cell))

    def _count(self) -> Counter[Seen]:
        """How often each state is written that no sign says."""
        uses: Counter[Seen] = Counter()
        todo = [self.states.start] if self.states.occurs(self.states.start) and not self.sign(self.states.start) else []
        while todo:
            state = todo.pop()
            uses[state] += 1
            if len(uses) > self.most:
                raise TooLarge(f"the notation would write more than {self.most:,} information states; use '!' later, or a smaller board")
            if uses[state] == 1:
                todo += [then for _, _, ways in self.moves(state) for then in ways.values() if not self.sign(then)]
        return uses

    def _size(self, state: Seen) -> int:
        """How many moves are written for a state."""
        below = [then for _, _, ways in self.moves(state) for then in ways.values()]
        return len(self.builder.plays(state) or {}) + sum(1 if self.sign(t) or self.apart(t) else self.size(t) for t in below)

    def apart(self, state: Seen) -> bool:
        return self.size(state) > (1 if self.uses[state] > 1 else LONGEST)

    def node(self, state: Seen) -> Node:
        if sign := self.sign(state):
            return sign
        if not self.apart(state):
            return self.body(state)
        if state not in self.names:
            self.names[state] = f"s_{len(self.names) + 1}"
            self.waiting.append(state)
        return Name(self.names[state])

    def body(self, state: Seen) -> Node:
        """`b2 ~ (what follows a collision), what follows`, or several such with their shares."""
        options: list[Node] = []
        shares = []
        for cell, share, ways in self.moves(state):
            move: Node = Move(self.states.names[cell])
            if True in ways:
                move = Try(move, self.node(ways[True]))
            options.append(_then(move, self.node(ways[False])) if False in ways else move)
            shares.append(share)
        if len(options) == 1:
            return options[0]
        return Mixture(tuple(options), None if len(set(shares)) == 1 else tuple(shares))


def _then(first: Node, second: Node) -> Node:
    return Sequence((first, *(second.items if isinstance(second, Sequence) else (second,))))
